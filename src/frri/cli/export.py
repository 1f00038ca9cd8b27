"""Write a saved model in another language: the same rules, the same predictions.

SQL is tested in SQLite (3.35 or later) and DuckDB, each in its own dialect. --dialect ansi is standard SQL
with LEAST, GREATEST and EXTRACT(EPOCH ...): PostgreSQL and its relatives are likely to understand it. The
query reads a table named data.
"""

import argparse

from frri._util.names import find_name
from frri.cli.files import check_output, load_model, write_whole
from frri.cli.parser import Parser
from frri.export import FORMATS, to_sql
from frri.export.sql_dialect import DIALECTS

EXAMPLES = """\
frri export model.json --to sql > model.sql
frri export model.json --to sql --dialect duckdb > model.sql
frri export model.json --to latex -o rules.tex"""


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    parser.add_argument("model", help="a saved model, - for standard input")
    parser.add_argument("--to", required=True, metavar="FORMAT", help=", ".join(FORMATS))
    parser.add_argument(
        "--dialect", metavar="NAME", help=f"of SQL: {', '.join(DIALECTS)}; default: sqlite"
    )
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="default: - (stdout)")


def run(arguments: argparse.Namespace) -> int:
    """The text of the export to standard output or a file."""
    if arguments.to.lower() == "pmml":
        raise ValueError("PMML was removed; use --to python, javascript or sql.")
    name = find_name(arguments.to, FORMATS, "frri export", "format")
    check_output(arguments.output, [arguments.model])
    if arguments.dialect is None:
        content = FORMATS[name](load_model(arguments.model))
    elif name == "sql":
        find_name(arguments.dialect, DIALECTS, "frri export", "dialect")
        content = to_sql(load_model(arguments.model), dialect=arguments.dialect)
    else:
        raise ValueError("--dialect belongs to --to sql.")
    write_whole(arguments.output, content if content.endswith("\n") else content + "\n")
    return 0

"""Write a saved model in another language: the same rules, the same predictions.

SQL is tested in SQLite (3.35 or later) and DuckDB, each in its own dialect. --dialect ansi is
standard SQL with LEAST, GREATEST and EXTRACT(EPOCH ...): PostgreSQL and its relatives are likely to
understand it. The query reads the table of --table, of which it needs the columns that rules use. A
database returns rows in any order: --keep shows a key beside the prediction.

$ frri export model.json --to sql > model.sql
$ frri export model.json --to sql --dialect duckdb --table patients --keep patient_id > model.sql
$ frri export model.json --to sql --table patients --keep patient_id --view risks > model.sql
$ frri export model.json --to latex -o rules.tex
"""

from frri._util import find_name
from frri.cli.console import Arguments, Parser, say
from frri.cli.files import load_model, write_output
from frri.export import FORMATS, to_sql
from frri.export.sql_dialects import DIALECTS

# Other names of dialects.
ALIASES = {"postgres": "ansi", "postgresql": "ansi", "sqlite3": "sqlite"}


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    add = parser.add
    parser.add_model()
    add("--to FORMAT", ", ".join(FORMATS), required=True)
    add("--dialect NAME", f"of SQL: {', '.join(DIALECTS)}, postgres for ansi (default: sqlite)")
    add("--table NAME", "of SQL: table to read (default: data)")
    add("--schema NAME", "of SQL: schema of the table")
    keep = "of SQL: columns to show beside the prediction, as a key (default: those of rules)"
    add("--keep A,B", keep, action="extend", type="names")
    add("--view NAME", "of SQL: create a view instead of selecting")
    add("-o --output FILE", "file to write (default: -, standard output)", default="-")


def run(arguments: Arguments) -> None:
    """Write the export to standard output or a file."""
    if arguments.to.lower() == "pmml":
        raise ValueError("PMML was removed; use --to python, javascript or sql.")
    name = find_name(arguments.to, FORMATS, "frri export", "format")
    if name != "sql":
        arguments.refuse(("dialect", "table", "schema", "keep", "view"), "--to sql")
        content = FORMATS[name](load_model(arguments.model))
    else:
        dialect = (arguments.dialect or "sqlite").lower()
        dialect = find_name(ALIASES.get(dialect, dialect), DIALECTS, "frri export", "dialect")
        if not arguments.keep:
            order = "a database returns rows in any order"
            say(f"note: {order}; --keep shows a key beside the prediction.")
        table = [part for part in (arguments.schema, arguments.table or "data") if part]
        shown = {"keep": arguments.keep, "as_view": arguments.view}
        content = to_sql(load_model(arguments.model), table, dialect=dialect, **shown)
    write_output(arguments.output, content if content.endswith("\n") else content + "\n")

"""Export a saved model to another language, with the same predictions.

SQL is tested in SQLite (3.35 or later) and DuckDB, each in its own dialect. --dialect ansi is
standard SQL with LEAST, GREATEST and EXTRACT(EPOCH ...), for PostgreSQL and similar databases; it
is not tested on them. The query reads the columns that rules use from the table of --table. A
database returns rows in any order, so use --keep to add a key to the result.

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
    add("--to FORMAT", f"format: {', '.join(FORMATS)}", required=True)
    add("--dialect NAME", f"SQL: {', '.join(DIALECTS)}, postgres for ansi (default: sqlite)")
    add("--table NAME", "SQL: table to read (default: data)")
    add("--schema NAME", "SQL: schema of the table")
    keep = "SQL: columns to add to the result, such as a key (default: those of rules)"
    add("--keep A,B", keep, action="extend", type="names")
    add("--view NAME", "SQL: create a view instead of a query")
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
            say(f"note: {order}; --keep adds a key to the result.")
        table = [part for part in (arguments.schema, arguments.table or "data") if part]
        shown = {"keep": arguments.keep, "as_view": arguments.view}
        content = to_sql(load_model(arguments.model), table, dialect=dialect, **shown)
    write_output(arguments.output, content if content.endswith("\n") else content + "\n")

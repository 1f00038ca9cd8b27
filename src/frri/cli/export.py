"""Export a saved model to another language or engine, with the same predictions.

`frri export --to` without a format lists the formats. SQL is tested in SQLite (3.35 or later),
DuckDB, PostgreSQL and MariaDB; for SQL Server, BigQuery, Snowflake and Spark it is parsed but not
executed in the tests. The query reads the columns that rules use from the table of --table. A
database returns rows in any order, so use --keep to add a key to the result.

$ frri export --to
$ frri export model.json --to python -o model.py
$ frri export model.json --to sql --dialect duckdb --table patients --keep patient_id > model.sql
$ frri export model.json --to sql --table patients --keep patient_id --view risks > model.sql
$ frri export model.json --to dbt --dialect snowflake --table patients -o models/risks.sql
$ frri export model.json --to onnx -o model.onnx
$ frri export model.json --to excel -o model.xlsx
$ frri export model.json --to latex -o rules.tex
"""

from pathlib import Path

from frri._util import find_name, write_atomically
from frri.cli.console import Arguments, Parser, say
from frri.cli.files import load_model, write_output
from frri.export import FORMATS, to_dbt, to_sql
from frri.export.sql_dialects import DIALECTS, find_dialect

_SQL_OPTIONS = ("dialect", "table", "schema", "keep", "view")


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    add = parser.add
    add("model", "a saved model, - for standard input", reads=True, nargs="?")
    formats = f"format: {', '.join(FORMATS)}; without one, list the formats"
    add("--to FORMAT", formats, nargs="?", const="", required=True)
    dialects = f"SQL: {', '.join(DIALECTS)}, or a common alias (default: sqlite)"
    add("--dialect NAME", dialects)
    add("--table NAME", "SQL: table to read (default: data)")
    add("--schema NAME", "SQL: schema of the table; dbt: its source")
    keep = "SQL: columns to add to the result, such as a key (default: those that rules use)"
    add("--keep A,B", keep, action="extend", type="names")
    add("--view NAME", "SQL: create a view instead of a query")
    add("-o --output FILE", "file to write (default: -, standard output)", default="-")


def run(arguments: Arguments) -> None:
    """Write the export to standard output or a file, or list the formats."""
    if not arguments.to:
        arguments.refuse(_SQL_OPTIONS, "--to sql")
        write_output(arguments.output, _list_formats())
        return
    if arguments.to.lower() == "pmml":
        raise ValueError("PMML was removed; use --to onnx, dmn, python, javascript or sql.")
    name = find_name(arguments.to, FORMATS, "frri export", "format")
    if arguments.model is None:
        raise ValueError(f"--to {name} needs a saved model; see frri export --help.")
    if name in {"sql", "dbt"}:
        content: str | bytes = (_write_sql if name == "sql" else _write_dbt)(arguments)
        if not arguments.keep:
            say("note: a database returns rows in any order; --keep adds a key to the result.")
    else:
        arguments.refuse(_SQL_OPTIONS, "--to sql")
        content = FORMATS[name](load_model(arguments.model))
    if isinstance(content, bytes):
        if arguments.output == "-":
            file = FORMATS[name].file
            raise ValueError(f"--to {name} writes a binary file; name it, such as -o {file}.")
        write_atomically(arguments.output, content)
        return
    write_output(arguments.output, content if content.endswith("\n") else content + "\n")


def _write_sql(arguments: Arguments) -> str:
    dialect = find_dialect(arguments.dialect or "sqlite").name
    table = [part for part in (arguments.schema, arguments.table or "data") if part]
    shown = {"keep": arguments.keep, "as_view": arguments.view}
    return to_sql(load_model(arguments.model), table, dialect=dialect, **shown)


def _write_dbt(arguments: Arguments) -> str:
    """Write the schema file beside the model, and return the model."""
    arguments.refuse(("view",), "--to sql")
    output = Path(arguments.output)
    if output.suffix != ".sql":
        raise ValueError("--to dbt writes a model and a schema file; use -o NAME.sql.")
    if arguments.dialect is None:
        raise ValueError("--to dbt needs --dialect, the database of the project.")
    place = {"table": arguments.table or "data", "source": arguments.schema}
    options = {"dialect": arguments.dialect, "name": output.stem, "keep": arguments.keep}
    content, schema = to_dbt(load_model(arguments.model), **place, **options)
    write_output(str(output.with_suffix(".yml")), schema)
    return content


def _list_formats() -> str:
    """Return a table of the formats."""
    rows = [("format", "file", "extra", "for", "expresses")]
    rows += [(n, f.file, f.extra or "-", f.about, f.expresses) for n, f in FORMATS.items()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join(lines) + "\n"

"""Write a table to try things with: 200 patients, whose risk is high or low.

The table is artificial (no patient in it has ever lived) and has what real ones have: numbers,
categories, dates, and unexpected rows. An existing file is left alone.
"""

from importlib.resources import files
from pathlib import Path

from frri._util import find_name
from frri.cli.console import say
from frri.cli.files import check_output, write_output
from frri.cli.options import Arguments, Parser

EXAMPLES = """\
frri example patients.csv
frri example patients.csv -o - | head"""

EXAMPLE_TABLES = ("patients.csv",)


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    parser.add("name", f"the table: {', '.join(EXAMPLE_TABLES)}")
    parser.add("-o --output FILE", "file to write (default: the name of the table)")


def run(arguments: Arguments) -> int:
    """Write the table to a file or to standard output."""
    find_name(arguments.name, EXAMPLE_TABLES, "frri", "example")
    output = arguments.name if arguments.output is None else arguments.output
    check_output(output)
    content = (files("frri.cli") / arguments.name).read_text(encoding="utf-8")
    path = Path(output)
    if output != "-" and path.is_file():
        if path.read_bytes() != content.encode():
            raise ValueError(f"{output} is there already; name another file (-o FILE).")
    else:
        write_output(output, content)
    if output != "-":
        say(f"Wrote {output}, a made-up table. Next: frri fit {output} --target risk -o model.json")
    return 0

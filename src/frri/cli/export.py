"""Write a saved model in another language: the same rules, the same predictions."""

import argparse

from frri.cli.files import check_output, load_model, write_whole
from frri.cli.parser import Parser
from frri.export import FORMATS
from frri.readers.names import find_name

EXAMPLES = """\
frri export model.json --to sql > model.sql
frri export model.json --to latex -o rules.tex"""


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    parser.add_argument("model", help="a saved model, - for standard input")
    parser.add_argument("--to", required=True, metavar="FORMAT", help=", ".join(FORMATS))
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="default: - (stdout)")


def run(arguments: argparse.Namespace) -> int:
    """The text of the export to standard output or a file."""
    name = find_name(arguments.to, FORMATS, "frri export", "format")
    check_output(arguments.output, [arguments.model])
    content = FORMATS[name](load_model(arguments.model))
    write_whole(arguments.output, content if content.endswith("\n") else content + "\n")
    return 0

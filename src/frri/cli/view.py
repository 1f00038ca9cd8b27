"""Show a model in the browser."""

import tempfile
import webbrowser
from pathlib import Path

from frri.cli.console import say
from frri.cli.files import write_output
from frri.cli.options import Arguments, Parser
from frri.cli.report import add_page_arguments, page_of

EXAMPLES = """\
frri view model.json
frri view model.json patients.csv --target risk"""


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    add_page_arguments(parser)


def run(arguments: Arguments) -> int:
    """Write the page to a temporary file, and open it in the browser."""
    page = page_of(arguments)
    target = Path(tempfile.mkdtemp(prefix="frri-")) / "report.html"
    write_output(str(target), page)
    say(f"Wrote {target}.")
    if not webbrowser.open(target.as_uri()):
        say("No browser was found: open this file in one.")
    return 0

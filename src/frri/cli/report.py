"""Write one HTML file that shows a model, for any browser."""

from frri._util import Progress
from frri.cli.console import say
from frri.cli.files import (
    check_inputs,
    check_output,
    load_model,
    read_labelled,
    stability_of,
    write_output,
)
from frri.cli.options import Arguments, Parser
from frri.report.facts import MAX_ROWS, SUPPORTED
from frri.report.page import report_html

EXAMPLES = """\
frri report model.json
frri report model.json patients.csv --target risk
frri report model.json patients.csv --stability 20"""


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    add_page_arguments(parser)
    parser.add("-o --output FILE", "file to write (default: report.html)", default="report.html")


def run(arguments: Arguments) -> int:
    """Write the page to a file or to standard output."""
    check_output(arguments.output, [one for one in (arguments.model, arguments.data) if one])
    write_output(arguments.output, page_of(arguments))
    if arguments.output != "-":
        say(f"Wrote {arguments.output}.")
    return 0


def add_page_arguments(parser: Parser) -> None:
    """Add the model, and the rows to show it on."""
    add = parser.add
    parser.add_model()
    add(
        "data",
        "rows to show it on, in any form that frri fit reads, - for standard input; rows that it "
        "was not learned from give an honest accuracy",
        nargs="?",
    )
    add("--target COLUMN", "column of the classes or numbers (default: the model's target)")
    add("--names COLUMN", "column of the names of the rows")
    parser.add_reading_options(labelled=True)
    sample = f"embed a random sample of N rows where there are more (default: {MAX_ROWS})"
    add("--max-rows N", sample, type="from 0", default=MAX_ROWS)
    add(
        "--stability N",
        "learn N times from resamples of the rows, and show how often each rule comes back",
        type="from 0",
    )


def page_of(arguments: Arguments) -> str:
    """Return the page that those arguments ask for."""
    source = arguments.data
    check_inputs(arguments.model, source)
    ruleset = load_model(arguments.model)
    SUPPORTED.require(ruleset.semantics)
    table, labels, names, found = None, None, None, None
    if source is not None:
        table, labels = read_labelled(ruleset, source, arguments, optional=True)
        if labels is None:
            answers = "classes" if ruleset.classes else "numbers"
            say(
                f"{source} has no column {ruleset.target!r}: the page shows its rows without their "
                f"{answers} (--target names another column)."
            )
    if table is not None and arguments.names is not None:
        if arguments.names not in table.columns:
            raise ValueError(
                f"{source} has no column {arguments.names!r} to take the names of rows from."
            )
        names = table[arguments.names].tolist()
    if arguments.stability is not None:
        found = stability_of(ruleset, table, labels, arguments.stability)
    with Progress("writing the page"):
        return report_html(
            ruleset, table, labels, max_rows=arguments.max_rows, names=names, stability=found
        )

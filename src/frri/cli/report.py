"""Write one HTML file that shows a model, for any browser."""

from typing import Any

from frri._util import Progress
from frri.cli.console import notes, say
from frri.cli.files import (
    category_values,
    check_inputs,
    check_output,
    load_model,
    stability_of,
    take_labelled,
    write_output,
)
from frri.cli.options import Arguments, Parser
from frri.readers import read_table
from frri.report.facts import MAX_ROWS, SUPPORTED
from frri.report.page import report_html
from frri.rules import RuleSet

EXAMPLES = """\
frri report model.json
frri report model.json patients.csv --target risk
frri report model.json patients.csv --stability 20"""


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    add_page_arguments(parser)
    parser.add("-o --output FILE", "default: report.html", default="report.html")


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
        "rows to show it on, in any form that frri fit reads, - for standard input; rows that "
        "it was "
        "not learned from give an honest accuracy",
        nargs="?",
    )
    add("--target COLUMN", "the classes or numbers of the rows; default: the model's target")
    add("--names COLUMN", "a column of the data that says what the rows are called")
    parser.add_reading_options(labelled=True)
    sample = f"embed a random sample of N rows where there are more; default: {MAX_ROWS}"
    add("--max-rows N", sample, type="from 0", default=MAX_ROWS)
    add(
        "--stability N",
        "learn N times from resamples of the rows, and show how often each rule comes back",
        type="from 0",
    )


def page_of(arguments: Arguments) -> str:
    """Return the page that those arguments ask for."""
    check_inputs(arguments.model, arguments.data)
    ruleset = load_model(arguments.model)
    SUPPORTED.require(ruleset.semantics)
    table, labels = None, None
    if arguments.data is not None:
        with notes():
            table, labels = _labelled(ruleset, arguments)
    names = None if table is None else _names(table, arguments)
    found = None
    if arguments.stability is not None:
        found = stability_of(ruleset, table, labels, arguments.stability)
    with Progress("writing the page"):
        return report_html(
            ruleset, table, labels, max_rows=arguments.max_rows, names=names, stability=found
        )


def _names(table: Any, arguments: Arguments) -> Any:
    """Return the names of the rows, if a column has them."""
    if arguments.names is None:
        return None
    if arguments.names not in table.columns:
        raise ValueError(
            f"{arguments.data} has no column {arguments.names!r} to take the names of rows from."
        )
    return table[arguments.names].tolist()


def _labelled(ruleset: RuleSet, arguments: Arguments) -> tuple[Any, Any]:
    """Return the table, and the classes or numbers of its rows if it has them."""
    source, column = arguments.data, arguments.target
    answers = "classes" if ruleset.classes else "numbers"
    target = ruleset.target if column is None else column
    texts = category_values(ruleset, target)
    table = read_table(source, texts, **arguments.reading_options)
    if target in table.columns:
        return take_labelled(ruleset, table, target, drop=arguments.drop_unlabelled)
    if column is not None:
        raise ValueError(f"{source} has no column {column!r} to take the {answers} from.")
    say(
        f"{source} has no column {target!r}: the page shows its rows without their {answers} "
        "(--target names another column)."
    )
    return table, None

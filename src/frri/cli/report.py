"""The commands `frri report` and `frri view`: a saved model and a table in, the page out.

Like all commands they leave complaints to `frri.cli`, which makes one sentence of each.
"""

import argparse
import tempfile
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from frri.cli.console import Progress, say
from frri.cli.files import check_inputs, check_output, load_model, write_whole
from frri.cli.parser import Parser, whole_number
from frri.cli.tables import labels_of
from frri.readers import read_table
from frri.report.facts import MAX_ROWS
from frri.report.page import report_html
from frri.rules import RuleSet


def main_report(argv: Sequence[str]) -> int:
    """`frri report model.json [data.csv] -o report.html`; returns the exit code.

    Examples
    --------
    >>> main_report(["no-such-model.json"])
    Traceback (most recent call last):
        ...
    ValueError: There is no file no-such-model.json.
    """
    parser = _parser("report", "Write one HTML file that shows a model, for any browser.")
    parser.add_argument(
        "-o", "--output", default="report.html", metavar="FILE", help="default: report.html"
    )
    arguments = parser.parse_intermixed_args(argv)
    check_output(arguments.output, [one for one in (arguments.model, arguments.data) if one])
    write_whole(arguments.output, _page(arguments))
    if arguments.output != "-":
        say(f"Wrote {arguments.output}.")
    return 0


def main_view(argv: Sequence[str]) -> int:
    """`frri view model.json [data.csv]`: write the page to a temporary file and open the browser.

    Examples
    --------
    >>> main_view(["no-such-model.json"])
    Traceback (most recent call last):
        ...
    ValueError: There is no file no-such-model.json.
    """
    arguments = _parser("view", "Show a model in the browser.").parse_intermixed_args(argv)
    page = _page(arguments)
    target = Path(tempfile.mkdtemp(prefix="frri-")) / "report.html"
    write_whole(str(target), page)
    say(f"Wrote {target}.")
    if not webbrowser.open(target.as_uri()):
        say("No browser was found: open this file in one.")
    return 0


def _parser(name: str, description: str) -> Parser:
    examples = f"frri {name} model.json\nfrri {name} model.json patients.csv --target risk"
    parser = Parser(f"frri {name}", description, examples)
    parser.add_argument("model", help="a saved model, - for standard input")
    parser.add_argument(
        "data",
        nargs="?",
        help="rows to show it on (CSV, Parquet, ARFF, KEEL), - for standard input; rows that it was "
        "not learned from give an honest accuracy",
    )
    parser.add_argument(
        "--target", metavar="COLUMN", help="the classes of the rows; default: the model's target"
    )
    parser.add_argument(
        "--max-rows",
        type=whole_number,
        default=MAX_ROWS,
        metavar="N",
        help=f"embed a random sample of N rows where there are more; default: {MAX_ROWS}",
    )
    return parser


def _page(arguments: argparse.Namespace) -> str:
    check_inputs(arguments.model, arguments.data)
    ruleset = load_model(arguments.model)
    table, labels = None, None
    if arguments.data is not None:
        table, labels = _labelled(ruleset, arguments.data, arguments.target)
    with Progress("writing the page"):
        return report_html(ruleset, table, labels, max_rows=arguments.max_rows)


def _labelled(ruleset: RuleSet, source: str, column: str | None) -> tuple[Any, Any]:
    """The table, and the classes of its rows if it has them."""
    target = ruleset.target if column is None else column
    texts = {a.name: a.categories for a in ruleset.attributes if a.categories is not None}
    texts[target] = tuple(str(label) for label in ruleset.classes)
    table = read_table(source, texts)
    if target in table.columns:
        return table, labels_of(table[target], ruleset)
    if column is not None:
        raise ValueError(f"{source} has no column {column!r} to take the classes from.")
    say(
        f"{source} has no column {target!r}: the page shows its rows without their classes "
        "(--target names another column)."
    )
    return table, None

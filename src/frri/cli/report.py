"""Report a model on one HTML page: frri report writes it, frri view opens it in the browser.

$ frri report model.json
$ frri report model.json patients.csv --target risk
$ frri report model.json patients.csv --stability 20
$ frri report model.json patients.csv --title "Who has diabetes?" --unit patients --fixed age,sex
$ frri view model.json patients.csv
"""

import tempfile
import webbrowser
from pathlib import Path

from frri._util import Progress, find_name
from frri.cli.console import Arguments, Parser, say
from frri.cli.files import load_model, read_labelled, stability_of, write_output
from frri.report.facts import MAX_ROWS
from frri.report.page import report_html


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    add = parser.add
    parser.add_model()
    rows = (
        "labelled table for accuracy, cases and charts, preferably held-out rows; - for standard "
        "input"
    )
    add("data", rows, nargs="?", reads=True)
    add("--target COLUMN", "column of the classes or numbers (default: the model's target)")
    add("--names COLUMN", "column with the names of the rows")
    add("--title TEXT", "title of the page (default: Rules for TARGET)")
    add("--unit NOUN", "plural noun for the rows in the headline (default: rows)", default="rows")
    fixed = "columns that counterfactuals must not change, such as age,sex"
    add("--fixed COLUMNS", fixed, type="names", default=())
    parser.add_reading_options(labelled=True)
    sample = f"maximum number of embedded rows, sampled at random (default: {MAX_ROWS})"
    add("--max-rows N", sample, type="from 0", default=MAX_ROWS)
    stability = "train on N bootstrap samples of the rows and show the stability of each rule"
    add("--stability N", stability, type="from 2")
    if parser.prog == "frri report":
        add("-o --output FILE", "file to write (default: report.html)", default="report.html")


def run(arguments: Arguments) -> None:
    """Write the page to a file or to standard output, or open it in the browser."""
    source, ruleset = arguments.data, load_model(arguments.model)
    table, labels, names, found = None, None, None, None
    if source is not None:
        table, labels = read_labelled(ruleset, source, arguments, optional=True)
        if labels is None:
            answers = "classes" if ruleset.classes else "numbers"
            say(
                f"{source} has no column {ruleset.target!r}: the page shows its rows without their "
                f"{answers} (--target names another column)."
            )
        if arguments.names is not None:
            names = table[find_name(arguments.names, table.columns, source)].tolist()
    if arguments.stability is not None:
        found = stability_of(ruleset, table, labels, arguments.stability)
    options = {name: getattr(arguments, name) for name in ("max_rows", "title", "unit", "fixed")}
    with Progress("writing the page"):
        page = report_html(ruleset, table, labels, names=names, stability=found, **options)
    is_view = "output" not in arguments
    output = f"{tempfile.mkdtemp(prefix='frri-')}/report.html" if is_view else arguments.output
    write_output(output, page)
    if output != "-":
        say(f"Wrote {output}.")
    if is_view and not webbrowser.open(Path(output).as_uri()):
        say("No browser was found: open this file in one.")

"""Apply a saved model to a table; a row of CSV for every row of it.

Further columns of the table are passed over. A category that the model has never seen fits no condition
on its column; a missing value is treated as the model says. A class that a spreadsheet would take for a
formula (it begins with =, +, -, @, a tab or a line break, and is no number) has an apostrophe in front.
"""

import argparse
import json
from typing import Any

import numpy as np

from frri.cli.console import Progress
from frri.cli.files import check_inputs, check_output, load_model, write_whole
from frri.cli.parser import Parser
from frri.cli.tables import add_reading_options, read_for, reading
from frri.export.csv import csv_text
from frri.rules import RuleSet

EXAMPLES = """\
frri predict model.json new.csv > predictions.csv
frri predict model.json new.parquet --proba --rules -o predictions.csv
cat new.csv | frri predict model.json -"""


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    parser.add_argument("model", help="a saved model, - for standard input")
    parser.add_argument("data", help="a table (CSV, Parquet, ARFF, KEEL), - for standard input")
    add_reading_options(parser)
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="default: - (stdout)")
    parser.add_argument("--proba", action="store_true", help="add the share of every class")
    parser.add_argument(
        "--rules",
        action="store_true",
        help="add the rule that decided and all that fired, as numbered by frri rules",
    )
    parser.add_argument("--json", action="store_true", help="JSON instead of CSV")


def run(arguments: argparse.Namespace) -> int:
    """Predictions to standard output or a file."""
    check_inputs(arguments.model, arguments.data)
    check_output(arguments.output, (arguments.model, arguments.data))
    ruleset = load_model(arguments.model)
    frame = read_for(ruleset, arguments.data, **reading(arguments))
    with Progress(f"predicting {len(frame)} rows"):
        columns = _columns(ruleset, frame, proba=arguments.proba, rules=arguments.rules)
        content = _json(columns) if arguments.json else _csv(columns)
    write_whole(arguments.output, content)
    return 0


def _columns(ruleset: RuleSet, frame: Any, *, proba: bool, rules: bool) -> dict[str, list[Any]]:
    decision = ruleset.decide(frame)
    columns: dict[str, list[Any]] = {"prediction": decision.answers.tolist()}
    if proba:
        for label, share in zip(ruleset.classes, decision.probabilities.T, strict=True):
            columns[f"probability_{label}"] = share.tolist()
    if rules:
        # A rule that the fallback went by has not fired.
        deciding = np.where(decision.silent, -1, decision.deciding)
        columns["rule"] = [None if r < 0 else r + 1 for r in deciding.tolist()]
        columns["fired"] = [(np.flatnonzero(row > 0.0) + 1).tolist() for row in decision.degrees]
    return columns


def _csv(columns: dict[str, list[Any]]) -> str:
    cells = [
        [" ".join(map(str, cell)) if isinstance(cell, list) else cell for cell in column]
        for column in columns.values()
    ]
    return csv_text(columns, zip(*cells, strict=True))


def _json(columns: dict[str, list[Any]]) -> str:
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return json.dumps(rows, indent=1, ensure_ascii=False) + "\n"

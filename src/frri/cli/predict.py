"""Apply a saved model to a table; a row of CSV for every row of it, in the same order.

The table needs the columns that rules use. Of others, --keep shows some beside the prediction, such as a
key, and --keep-all shows the whole table. A category that the model has never seen fits no condition on
its column, which is noted; a missing value is treated as the model says. A text that a spreadsheet would
take for a formula (it begins with =, +, -, @, a tab or a line break, and is no number) has an apostrophe
in front.
"""

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from frri._util.names import find_name
from frri._util.progress import Progress
from frri.cli.console import one_line, say
from frri.cli.files import check_inputs, check_output, load_model, write_whole
from frri.cli.parser import Parser, positive_number
from frri.cli.tables import add_reading_options, listed, read_for, reading
from frri.export.csv import csv_text
from frri.rules import RuleSet
from frri.rules.decision import Decision
from frri.rules.intervals import half_width
from frri.table import Attribute
from frri.table.checks import listing

if TYPE_CHECKING:
    import pandas as pd

EXAMPLES = """\
frri predict model.json new.csv > predictions.csv
frri predict model.json new.csv --keep patient_id > predictions.csv
frri predict model.json new.parquet --proba --rules -o predictions.csv
frri predict prices.json new.csv --interval 0.9 > predictions.csv
cat new.csv | frri predict model.json -"""


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    parser.add_argument("model", help="a saved model, - for standard input")
    parser.add_argument("data", help="a table (CSV, Parquet, ARFF, KEEL), - for standard input")
    add_reading_options(parser)
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="default: - (stdout)")
    parser.add_argument(
        "--keep",
        action="extend",
        type=listed,
        default=[],
        metavar="A,B",
        help="columns to show beside the prediction, such as a key",
    )
    parser.add_argument("--keep-all", action="store_true", help="show all columns of the table")
    parser.add_argument("--proba", action="store_true", help="add the share of every class")
    parser.add_argument(
        "--interval",
        type=positive_number,
        metavar="LEVEL",
        help="of numbers: add from where to where they lie, at a level such as 0.9",
    )
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
    if arguments.proba and ruleset.task == "regression":
        raise ValueError(
            f"The rules for {ruleset.target!r} predict numbers, which have no probabilities; "
            "leave --proba out."
        )
    frame = read_for(
        ruleset, arguments.data, verbatim=True, keep=arguments.keep, **reading(arguments)
    )
    where = "standard input" if arguments.data == "-" else arguments.data
    kept = [find_name(name, frame.columns, where) for name in dict.fromkeys(arguments.keep)]
    shown = list(frame.columns) if arguments.keep_all else kept
    with Progress(f"predicting {len(frame)} rows"):
        decision = ruleset.decide(frame)
        columns = _columns(ruleset, decision, proba=arguments.proba, rules=arguments.rules)
        if arguments.interval is not None:
            reach = half_width(ruleset, arguments.interval)
            columns |= {"low": (decision.answers - reach).tolist()}
            columns |= {"high": (decision.answers + reach).tolist()}
        twice = [name for name in shown if name in columns]
        if twice:
            raise ValueError(
                f"{where} has a column {twice[0]!r} of its own; keep others (--keep A,B) or rename it."
            )
        beside = {name: _cells(frame[name]) for name in shown}
        content = (_json if arguments.json else _csv)(beside | columns)
    for note in _notes(ruleset, frame, decision):
        say(f"note: {one_line(note)}")
    write_whole(arguments.output, content)
    return 0


def _notes(ruleset: RuleSet, frame: "pd.DataFrame", decision: Decision) -> Iterator[str]:
    """What rules look at and training has not had: never-seen categories, other types."""
    for attribute, values in zip(ruleset.attributes, decision.matrix.T, strict=True):
        if attribute.name not in ruleset.used_attributes:
            continue
        column = frame[attribute.name]
        held, had = _changed(column, attribute)
        rows = f"of {len(frame)} rows"
        parts = (
            [f"holds {held} in {column.count()} {rows} where training had {had}"] if held else []
        )
        strange = column.notna().to_numpy() & ~(values >= 0) & (attribute.categories is not None)
        if strange.any():
            different = column[strange].astype(str).unique()
            what = "category" if len(different) == 1 else "categories"
            counted = (
                "these count as missing"
                if attribute.kind == "ordinal"
                else "no condition on it holds there"
            )
            parts.append(
                f"holds {len(different)} {what} never seen in training ({listing(different, 3)}) in "
                f"{strange.sum()} {rows}: {counted}"
            )
        if parts:
            yield f"column {attribute.name!r} {', and '.join(parts)}."


def _changed(column: "pd.Series[Any]", attribute: Attribute) -> tuple[str, str]:
    """What a column holds and had in training, if these are of different types."""
    known = column.dropna().unique()
    if not len(known):
        return "", ""
    kinds = {"i": "numbers", "u": "numbers", "f": "numbers", "M": "dates"}
    held = kinds.get(column.dtype.kind, "")
    if all(isinstance(value, bool | np.bool_) for value in known):
        held = "truth values"
    if attribute.categories is None:
        return (held, "numbers") if held == "truth values" else ("", "")
    alike = {str(value) for value in known} & set(attribute.categories)
    return ("" if alike else held), listing(attribute.categories)


def _cells(column: "pd.Series[Any]") -> list[Any]:
    """Values as they are written: whole numbers without a point, moments in ISO form."""
    absent, known = column.isna(), column.dropna()
    if column.dtype.kind == "M":
        column = column.astype(str)
    elif column.dtype.kind == "f" and ((known == known.round()) & (known.abs() < 2**53)).all():
        column = column.astype("Int64")
    values = zip(column.tolist(), absent, strict=True)
    return [
        None if gone else value if isinstance(value, str | int | float) else str(value)
        for value, gone in values
    ]


def _columns(
    ruleset: RuleSet, decision: Decision, *, proba: bool, rules: bool
) -> dict[str, list[Any]]:
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

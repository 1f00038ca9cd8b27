"""Apply a saved model to a table; write one row of CSV for each row, in the same order.

The table needs the columns that rules use. --keep adds further columns, such as a key, to the
output, and --keep-all adds all. Unseen categories satisfy no condition and are counted in a note;
missing values are treated as in training. A string that a spreadsheet would run as a formula (it
begins with =, +, -, @, a tab or a line break, and is no number) is preceded by an apostrophe. Large
CSV and Parquet files are read in parts, so that the table may be larger than memory; the output
appears when it is complete.

$ frri predict model.json new.csv > predictions.csv
$ frri predict model.json new.csv --keep patient_id > predictions.csv
$ frri predict model.json new.parquet --proba --rules -o predictions.csv
$ frri predict prices.json new.csv --interval 0.9 > predictions.csv
$ cat new.csv | frri predict model.json -
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from frri._util import Progress, find_name
from frri.cli.console import Arguments, Parser, notes
from frri.cli.files import UnseenValues, batches_for, load_model, write_output
from frri.export.text_formats import csv_text
from frri.rules import RuleSet
from frri.rules.conformal import half_width
from frri.rules.inference import Decision
from frri.table import EncodedTable
from frri.table.columns import Column

# Degrees of rules that are kept at a time, where all rules that fired are asked for.
MOST_DEGREES = 1 << 22


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    add = parser.add
    parser.add_model(table=True)
    parser.add_reading_options()
    add("-o --output FILE", "file to write (default: -, standard output)", default="-")
    keep = "columns of the table to add to the output, such as a key"
    add("--keep A,B", keep, action="extend", type="names", default=[])
    add("--keep-all", "add all columns of the table")
    add("--proba", "add the probability of each class")
    interval = "regression: add prediction intervals of a level such as 0.9"
    add("--interval LEVEL", interval, type="number")
    add("--rules", "add the numbers of the deciding rule and of all rules that hold")
    add("--json", "write JSON instead of CSV")


def run(arguments: Arguments) -> None:
    """Write the predictions to standard output or a file."""
    ruleset = load_model(arguments.model)
    if arguments.proba and ruleset.task == "regression":
        raise ValueError(
            f"The rules for {ruleset.target!r} predict numbers, which have no probabilities; "
            "leave --proba out."
        )
    if arguments.interval is not None and ruleset.task != "regression":
        raise ValueError(
            f"The rules for {ruleset.target!r} predict classes, and intervals are of numbers; "
            "leave --interval out, --proba adds the probability of each class."
        )
    unseen = UnseenValues(ruleset)
    where = "standard input" if arguments.data == "-" else arguments.data
    with notes(), Progress(f"predicting {where}") as progress:
        tables = _predict(arguments, ruleset, where, unseen, progress)
        write_output(arguments.output, (_to_json if arguments.json else _to_csv)(tables))
    unseen.say_notes()


Columns = dict[str, list[Any]]


def _predict(
    arguments: Arguments, ruleset: RuleSet, where: str, unseen: UnseenValues, progress: Progress
) -> Iterator[Columns]:
    """Yield the columns of the output for each part of the table."""
    keep = list(dict.fromkeys(arguments.keep))
    wanted = None if arguments.keep_all else keep
    for batch in batches_for(ruleset, arguments.data, wanted, **arguments.reading_options):
        for name in keep:
            find_name(name, batch.frame.columns, where)
        shown = list(batch.frame.columns) if arguments.keep_all else keep
        rows = len(batch.frame)
        if arguments.rules and len(ruleset):  # degrees of all rules must fit into memory
            rows = max(MOST_DEGREES // len(ruleset), 1)
        for first in range(0, len(batch.frame), rows):
            frame = batch.frame.iloc[first : first + rows].reset_index(drop=True)
            start = batch.start + first
            try:
                table = EncodedTable.of(frame, ruleset.attributes, ruleset.used_attributes)
            except ValueError as error:
                if not start:
                    raise
                raise ValueError(
                    f"After row {start} of {where}, rows counted from there: {error}"
                ) from None
            decision = ruleset.decide(table)
            columns = _columns(ruleset, decision, arguments)
            twice = [name for name in shown if name in columns]
            if twice:
                raise ValueError(
                    f"{where} has a column {twice[0]!r} of its own; keep others (--keep A,B) or "
                    "rename it."
                )
            unseen.count(frame)
            yield {name: _cells(frame[name]) for name in shown} | columns
        progress.set_step(batch.done)


def _columns(ruleset: RuleSet, decision: Decision, arguments: Arguments) -> Columns:
    columns: Columns = {"prediction": decision.answers.tolist()}
    if arguments.proba:
        for label, share in zip(ruleset.classes, decision.probabilities.T, strict=True):
            columns[f"probability_{label}"] = share.tolist()
    if arguments.rules:
        # A rule that the fallback went by has not fired.
        deciding = np.where(decision.silent, -1, decision.deciding)
        columns["rule"] = [None if r < 0 else r + 1 for r in deciding.tolist()]
        columns["fired"] = [(np.flatnonzero(row > 0.0) + 1).tolist() for row in decision.degrees]
    if arguments.interval is not None:
        reach = half_width(ruleset, arguments.interval)
        columns["low"] = (decision.answers - reach).tolist()
        columns["high"] = (decision.answers + reach).tolist()
    return columns


def _cells(column: Column) -> list[Any]:
    """Return values as they are written: integers without a point, times in ISO form."""

    def cell(value: Any) -> Any:
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            return int(value)
        return value if isinstance(value, str | int | float) else str(value)

    texts = column.astype(str) if column.dtype.kind == "M" else column
    values = zip(texts.tolist(), column.isna(), strict=True)
    return [None if absent else cell(value) for value, absent in values]


def _to_csv(tables: Iterable[Columns]) -> Iterator[str]:
    for part, columns in enumerate(tables):
        cells = [
            [" ".join(map(str, cell)) if isinstance(cell, list) else cell for cell in column]
            for column in columns.values()
        ]
        rows = zip(*cells, strict=True)
        yield csv_text(rows if part else [columns, *rows])


def _to_json(tables: Iterable[Columns]) -> Iterator[str]:
    """Yield the parts of one list."""
    for part, columns in enumerate(tables):
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        text = json.dumps(rows, indent=1, ensure_ascii=False)
        yield ("," if part else "[") + text.removeprefix("[").removesuffix("\n]")
    yield "\n]\n"

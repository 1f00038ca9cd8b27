"""Compare a saved model with a table that has the true classes, or numbers.

Shown are the accuracy with a 95% interval (Wilson), next to it what always answering the commonest class of
the table would reach, the Brier score of the probabilities (0 is perfect), precision, recall, F1 and AUC of
every class, and who is taken for whom.

Rules that fire less, or err more, than in training (beyond what chance explains) are pointed out. Keep rows
apart from learning and evaluate on those: on the rows that rules were learned from, accuracy flatters. A note
says so if the rules do exactly what they did in training.

Of numbers, R2 (1 is perfect, 0 no better than the mean), the root mean squared error and the mean absolute
error are shown with 95% intervals, next to those of always answering the mean of the table. Of ordered
classes, also by how many classes answers are off, and how far they agree beyond chance (quadratic kappa).
"""

import argparse
import sys
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri.cli.console import json_text, one_line, say
from frri.cli.files import check_inputs, load_model, read_labelled
from frri.cli.options import Parser, add_reading_options
from frri.cli.unseen_values import UnseenValues
from frri.rules import RuleSet
from frri.rules.drift import RuleDrift, drift, is_training_table
from frri.rules.measures import (
    accuracy,
    balanced_accuracy,
    brier_score,
    confusion,
    majority,
    measure_classes,
    measure_ordinal,
    measure_regression,
    wilson,
)
from frri.rules.rule_statistics import class_positions
from frri.table import EncodedTable

EXAMPLES = """\
frri evaluate model.json test.csv
frri evaluate model.json this-year.csv --target outcome --json"""

# More rules than this are listed only if they have drifted.
MOST_LISTED = 20


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    parser.add_argument("model", help="a saved model, - for standard input")
    parser.add_argument(
        "data", help="a table, in any form that frri fit reads; - for standard input"
    )
    add_reading_options(parser, labelled=True)
    parser.add_argument(
        "--target", metavar="COLUMN", help="column of the true values; default: the model's target"
    )
    parser.add_argument("--json", action="store_true", help="everything as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Measures to standard output."""
    check_inputs(arguments.model, arguments.data)
    ruleset = load_model(arguments.model)
    frame, truth = read_labelled(ruleset, arguments.data, arguments)
    table = EncodedTable.of(frame, ruleset.attributes, ruleset.used_attributes)
    unseen = UnseenValues(ruleset)
    unseen.look(frame, table.matrix)
    for note in unseen.notes():
        say(f"note: {one_line(note)}")
    if ruleset.task == "regression":
        quality = measure_regression(truth, ruleset.predict(table))
        facts, text = asdict(quality), _text_of_numbers(asdict(quality))
    else:
        facts, text = _class_facts(ruleset, table, truth)
    sys.stdout.write(json_text(facts) if arguments.json else text)
    return 0


def _class_facts(
    ruleset: RuleSet, table: EncodedTable, truth: NDArray[Any]
) -> tuple[dict[str, Any], str]:
    """What is known about classes, and the same for people."""
    classes = class_positions(ruleset, truth, len(table))
    decided = ruleset.predict_index(table.matrix)
    probabilities = ruleset.probabilities(table.matrix)
    common, baseline = majority(classes)
    cells = np.zeros((len(ruleset.classes), len(ruleset.classes)), dtype=np.int64)
    for true, taken_for, rows in confusion(classes, decided):
        cells[true, taken_for] = rows
    drifted: tuple[RuleDrift, ...] = ()
    if all(rule.statistics is not None for rule in ruleset):
        drifted = drift(ruleset, table, truth)
        if is_training_table(ruleset, table, truth):
            say(
                "note: every rule does just what it did in training: these seem to be the rows that the "
                "rules were learned from, where accuracy flatters; evaluate on others."
            )
    else:
        say("The rules carry no statistics from training: their drift cannot be told.")
    facts = {
        "rows": len(table),
        "accuracy": accuracy(classes, decided),
        "accuracy_interval": wilson(int((classes == decided).sum()), len(table)),
        "majority_class": ruleset.classes[common],
        "majority_accuracy": baseline,
        "balanced_accuracy": balanced_accuracy(classes, decided),
        "brier_score": brier_score(classes, probabilities),
        "classes": list(ruleset.classes),
        "class_measures": [
            {"class": label, **asdict(one)}
            for label, one in zip(
                ruleset.classes, measure_classes(classes, decided, probabilities), strict=True
            )
        ],
        "confusion": cells.tolist(),
        "rules": [asdict(rule) | {"rule": rule.rule + 1} for rule in drifted],
    }
    if ruleset.task == "ordinal":
        quality = measure_ordinal(classes, decided, len(ruleset.classes))
        facts |= asdict(quality) | {"median": ruleset.classes[quality.median]}
    return facts, _text(facts, drifted)


def _text_of_numbers(facts: dict[str, Any]) -> str:
    table = [["rows", str(facts["rows"]), "", "always the mean", ""]]
    always = {"r2": 0.0, "rmse": facts["mean_rmse"], "mae": facts["mean_mae"]}
    words = {"r2": "R2", "rmse": "root mean squared error", "mae": "mean absolute error"}
    for name, title in words.items():
        low, high = facts[f"{name}_interval"]
        form = ".3f" if name == "r2" else ".6g"
        interval = f"(95% interval {low:{form}} to {high:{form}})"
        table.append([title, f"{facts[name]:{form}}", interval, f"{always[name]:{form}}", ""])
    table[0][3] = f"always {facts['mean']:.6g}, the mean"
    return "\n".join(_aligned(table)) + "\n"


def _text(facts: dict[str, Any], drifted: tuple[RuleDrift, ...]) -> str:
    low, high = facts["accuracy_interval"]
    always = one_line(str(facts["majority_class"]))
    lines = [
        f"rows               {facts['rows']}",
        f"accuracy           {facts['accuracy']:.3f}  (95% interval {low:.3f} to {high:.3f})",
        f"majority class     {facts['majority_accuracy']:.3f}  (always answering {always})",
        f"balanced accuracy  {facts['balanced_accuracy']:.3f}",
        f"Brier score        {facts['brier_score']:.3f}",
        *_ordered_lines(facts),
        "",
    ]
    labels = [one_line(str(label)) for label in facts["classes"]]
    table = [["class", "rows", "precision", "recall", "F1", "AUC"]]
    table += [
        [
            label,
            str(one["rows"]),
            *(_decimals(one[k]) for k in ("precision", "recall", "f1", "auc")),
        ]
        for label, one in zip(labels, facts["class_measures"], strict=True)
    ]
    lines += [*_aligned(table), ""]
    table = [["actual \\ predicted", *labels]]
    table += [
        [label, *map(str, row)] for label, row in zip(labels, facts["confusion"], strict=True)
    ]
    lines += _aligned(table)
    remarkable = [rule for rule in drifted if rule.fires_less or rule.errs_more]
    listed = drifted if len(drifted) <= MOST_LISTED else remarkable
    if len(drifted) > MOST_LISTED:
        calm = len(drifted) - len(remarkable)
        lines += ["", f"{calm} of {len(drifted)} rules do as in training (--json has them all)"]
    if listed:
        table = [["rule", "covers", "in training", "right", "in training", ""]]
        table += [
            [
                str(rule.rule + 1),
                f"{rule.new_coverage:.1%}",
                f"{rule.coverage:.1%}",
                _share(rule.new_precision),
                _share(rule.precision),
                _remark(rule),
            ]
            for rule in listed
        ]
        lines += ["", *_aligned(table)]
    return "\n".join(lines) + "\n"


def _ordered_lines(facts: dict[str, Any]) -> list[str]:
    """Of ordered classes, how far answers are off."""
    if "mae" not in facts:
        return []
    always = one_line(str(facts["median"]))
    low, high = facts["mae_interval"]
    lines = [
        f"off by             {facts['mae']:.3f}  classes in the mean (95% interval {low:.3f} to {high:.3f})",
        f"median class       {facts['median_mae']:.3f}  (always answering {always})",
    ]
    low, high = facts["kappa_interval"]
    kappa = f"quadratic kappa    {facts['kappa']:.3f}  (95% interval {low:.3f} to {high:.3f})"
    return [*lines, kappa]


def _decimals(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _remark(rule: RuleDrift) -> str:
    remarks = ["fires less"] * rule.fires_less + ["errs more"] * rule.errs_more
    return ", ".join(remarks)


def _aligned(table: list[list[str]]) -> list[str]:
    """Columns under each other: the first and the last to the left, all others to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if j == 0 or not table[0][j] else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]

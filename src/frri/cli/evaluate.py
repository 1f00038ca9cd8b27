"""Evaluate a saved model on a labelled table, preferably held-out rows.

Classification: accuracy with a 95 % interval (Wilson), majority-class baseline, balanced accuracy,
Brier score (0 is perfect), precision, recall, F1 and AUC of every class, and the confusion matrix.
Ordinal classification: also the mean absolute error in classes and the quadratic kappa. Regression:
R² (1 is perfect, 0 no better than the mean), root mean squared error and mean absolute error with
95 % intervals, and those of the mean as baseline.

The last table compares every rule with its statistics in training and marks rules whose coverage
or precision is lower, or whose mean target differs, by more than chance explains (drift). Results
on training rows are too optimistic; a note appears if the table seems to be the training table.

$ frri evaluate model.json test.csv
$ frri evaluate model.json this-year.csv --target outcome --json
"""

import sys
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri.cli.console import Arguments, Parser, align_columns, json_text, one_line, say
from frri.cli.files import UnseenValues, load_model, read_labelled
from frri.rules import RuleSet, measures
from frri.rules.rule_statistics import RuleDrift, class_positions, drift, is_training_table
from frri.table import EncodedTable

# More rules than this are listed only if they have drifted.
MOST_LISTED = 20


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    parser.add_model(table=True)
    parser.add_reading_options(labelled=True)
    parser.add("--target COLUMN", "column of the true values (default: the model's target)")
    parser.add("--json", "print all results as JSON")


def run(arguments: Arguments) -> None:
    """Print the measures."""
    ruleset = load_model(arguments.model)
    frame, truth = read_labelled(ruleset, arguments.data, arguments)
    table = EncodedTable.of(frame, ruleset.attributes, ruleset.used_attributes)
    unseen = UnseenValues(ruleset)
    unseen.count(frame)
    unseen.say_notes()
    drifted: tuple[RuleDrift, ...] = ()
    if any(rule.statistics is None for rule in ruleset):
        say("The rules contain no statistics from training, so their drift is unknown.")
    else:
        drifted = drift(ruleset, table, truth)
        if is_training_table(ruleset, table, truth):
            say(
                "note: all rules have the statistics of training: these seem to be the training "
                "rows, so results are too optimistic; use held-out rows."
            )
    if ruleset.task == "regression":
        facts = measures.measure_regression(truth, ruleset.predict(table))
        lines = _regression_lines(facts)
    else:
        facts = _class_facts(ruleset, table, truth)
        lines = _class_lines(facts)
    facts["rules"] = [asdict(rule) | {"rule": rule.rule + 1} for rule in drifted]
    text = "\n".join([*lines, *_drift_lines(drifted)]) + "\n"
    sys.stdout.write(json_text(facts) if arguments.json else text)


def _class_facts(ruleset: RuleSet, table: EncodedTable, truth: NDArray[Any]) -> dict[str, Any]:
    classes = class_positions(ruleset, truth, len(table))
    decided = ruleset.predict_index(table.matrix)
    probabilities = ruleset.probabilities(table.matrix)
    common, baseline = measures.majority(classes)
    confusion = np.zeros((len(ruleset.classes), len(ruleset.classes)), dtype=np.int64)
    np.add.at(confusion, (classes, decided), 1)
    by_class = measures.measure_classes(classes, decided, probabilities)
    measured = zip(ruleset.classes, by_class, strict=True)
    facts = {
        "rows": len(table),
        "accuracy": measures.accuracy(classes, decided),
        "accuracy_interval": measures.wilson(int((classes == decided).sum()), len(table)),
        "majority_class": ruleset.classes[common],
        "majority_accuracy": baseline,
        "balanced_accuracy": measures.balanced_accuracy(classes, decided),
        "brier_score": measures.brier_score(classes, probabilities),
        "classes": list(ruleset.classes),
        "class_measures": [{"class": label, **one} for label, one in measured],
        "confusion": confusion.tolist(),
    }
    if ruleset.task == "ordinal":
        quality = measures.measure_ordinal(classes, decided, len(ruleset.classes))
        facts |= quality | {"median": ruleset.classes[quality["median"]]}
    return facts


def _regression_lines(facts: dict[str, Any]) -> list[str]:
    table = [["rows", str(facts["rows"]), "", f"baseline: mean {facts['mean']:.6g}", ""]]
    for title, name, always, form in (
        ("R²", "r2", 0.0, ".3f"),
        ("root mean squared error", "rmse", facts["mean_rmse"], ".6g"),
        ("mean absolute error", "mae", facts["mean_mae"], ".6g"),
    ):
        interval = _interval(facts[f"{name}_interval"], form)
        table.append([title, f"{facts[name]:{form}}", f"({interval})", f"{always:{form}}", ""])
    return align_columns(table)


def _class_lines(facts: dict[str, Any]) -> list[str]:
    majority = one_line(str(facts["majority_class"]))
    measured = [
        ("accuracy", "accuracy", f"  ({_interval(facts['accuracy_interval'])})"),
        ("majority-class baseline", "majority_accuracy", f"  (always {majority})"),
        ("balanced accuracy", "balanced_accuracy", ""),
        ("Brier score", "brier_score", ""),
    ]
    if "mae" in facts:  # ordinal classification
        median = f"always {one_line(str(facts['median']))}"
        error = f"  classes ({_interval(facts['mae_interval'])})"
        measured += [
            ("mean absolute error", "mae", error),
            ("median baseline", "median_mae", f"  ({median})"),
            ("quadratic kappa", "kappa", f"  ({_interval(facts['kappa_interval'])})"),
        ]
    lines = [f"{'rows':<25}{facts['rows']}"]
    lines += [f"{title:<25}{facts[name]:.3f}{remark}" for title, name, remark in measured]
    labels = [one_line(str(label)) for label in facts["classes"]]
    by_class = [["class", "rows", "precision", "recall", "F1", "AUC"]]
    for label, one in zip(labels, facts["class_measures"], strict=True):
        values = [one[name] for name in ("precision", "recall", "f1", "auc")]
        by_class.append([label, str(one["rows"]), *(_shown(value, ".3f") for value in values)])
    cells = [["actual \\ predicted", *labels]]
    for label, row in zip(labels, facts["confusion"], strict=True):
        cells.append([label, *map(str, row)])
    return [*lines, "", *align_columns(by_class), "", *align_columns(cells)]


def _drift_lines(drifted: tuple[RuleDrift, ...]) -> list[str]:
    """List the rules that have drifted, and the others if they are few."""
    listed, lines = drifted, [""]
    if len(drifted) > MOST_LISTED:
        listed = tuple(
            one for one in drifted if one.fires_less or one.errs_more or one.mean_differs
        )
        calm = len(drifted) - len(listed)
        lines = ["", f"{calm} of {len(drifted)} rules agree with training (--json lists all)", ""]
    means = any(rule.mean is not None for rule in drifted)
    table = [["rule", "covers", "in training", "mean" if means else "precision", "in training", ""]]
    for rule in listed:
        remarks = ["lower coverage"] * rule.fires_less
        remarks += ["lower precision"] * rule.errs_more
        remarks += ["mean differs"] * rule.mean_differs
        values, form = (rule.new_precision, rule.precision), ".1%"
        if means:
            values, form = (rule.new_mean, rule.mean), ".4g"
        shown = [f"{rule.new_coverage:.1%}", f"{rule.coverage:.1%}"]
        shown += [_shown(value, form) for value in values]
        table.append([str(rule.rule + 1), *shown, ", ".join(remarks)])
    return [*lines, *align_columns(table)] if listed else lines[:-1]


def _interval(bounds: tuple[float, float], form: str = ".3f") -> str:
    return f"95 % interval {bounds[0]:{form}} to {bounds[1]:{form}}"


def _shown(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)

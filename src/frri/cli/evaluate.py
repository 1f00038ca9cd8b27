"""Compare a saved model with a table that has the true classes, or numbers.

Of classes, the output is the accuracy with a 95% interval (Wilson) beside the majority-class
baseline, the Brier score of the probabilities (0 is perfect), precision, recall, F1 and AUC of
every class, and the confusion matrix; of ordered classes also the mean error in classes and the
quadratic kappa.

Rules that fire less, or err more, than in training (beyond chance) are pointed out. Evaluate on
rows that were held out from learning: on the rows of training, accuracy flatters. A note appears if
the rules do exactly what they did in training.

Of numbers, R2 (1 is perfect, 0 no better than the mean), the root mean squared error and the mean
absolute error are shown with 95% intervals, beside those of always answering the mean of the table.

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
    parser.add("--json", "write everything as JSON")


def run(arguments: Arguments) -> None:
    """Print the measures."""
    ruleset = load_model(arguments.model)
    frame, truth = read_labelled(ruleset, arguments.data, arguments)
    table = EncodedTable.of(frame, ruleset.attributes, ruleset.used_attributes)
    unseen = UnseenValues(ruleset)
    unseen.count(frame)
    unseen.say_notes()
    if ruleset.task == "regression":
        facts = measures.measure_regression(truth, ruleset.predict(table))
        lines = _regression_lines(facts)
    else:
        drifted: tuple[RuleDrift, ...] = ()
        if any(rule.statistics is None for rule in ruleset):
            say("The rules carry no statistics from training: their drift cannot be told.")
        else:
            drifted = drift(ruleset, table, truth)
            if is_training_table(ruleset, table, truth):
                say(
                    "note: every rule does just what it did in training: these seem to be the rows "
                    "that the rules were learned from, where accuracy flatters; evaluate on others."
                )
        facts = _class_facts(ruleset, table, truth)
        facts["rules"] = [asdict(rule) | {"rule": rule.rule + 1} for rule in drifted]
        lines = [*_class_lines(facts), *_drift_lines(drifted)]
    text = "\n".join(lines) + "\n"
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
    table = [["rows", str(facts["rows"]), "", f"always {facts['mean']:.6g}, the mean", ""]]
    for title, name, always, form in (
        ("R2", "r2", 0.0, ".3f"),
        ("root mean squared error", "rmse", facts["mean_rmse"], ".6g"),
        ("mean absolute error", "mae", facts["mean_mae"], ".6g"),
    ):
        interval = _interval(facts[f"{name}_interval"], form)
        table.append([title, f"{facts[name]:{form}}", f"({interval})", f"{always:{form}}", ""])
    return align_columns(table)


def _class_lines(facts: dict[str, Any]) -> list[str]:
    common = f"always answering {one_line(str(facts['majority_class']))}"
    figures = [
        ("accuracy", "accuracy", f"  ({_interval(facts['accuracy_interval'])})"),
        ("majority class", "majority_accuracy", f"  ({common})"),
        ("balanced accuracy", "balanced_accuracy", ""),
        ("Brier score", "brier_score", ""),
    ]
    if "mae" in facts:  # ordered classes
        median = f"always answering {one_line(str(facts['median']))}"
        error = f"  classes in the mean ({_interval(facts['mae_interval'])})"
        figures += [
            ("off by", "mae", error),
            ("median class", "median_mae", f"  ({median})"),
            ("quadratic kappa", "kappa", f"  ({_interval(facts['kappa_interval'])})"),
        ]
    lines = [f"rows               {facts['rows']}"]
    lines += [f"{title:<19}{facts[name]:.3f}{remark}" for title, name, remark in figures]
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
        listed = tuple(rule for rule in drifted if rule.fires_less or rule.errs_more)
        calm = len(drifted) - len(listed)
        lines = ["", f"{calm} of {len(drifted)} rules do as in training (--json has them all)", ""]
    table = [["rule", "covers", "in training", "right", "in training", ""]]
    for rule in listed:
        remarks = ["fires less"] * rule.fires_less + ["errs more"] * rule.errs_more
        values = (rule.new_coverage, rule.coverage, rule.new_precision, rule.precision)
        shown = [_shown(value, ".1%") for value in values]
        table.append([str(rule.rule + 1), *shown, ", ".join(remarks)])
    return [*lines, *align_columns(table)] if listed else lines[:-1]


def _interval(bounds: tuple[float, float], form: str = ".3f") -> str:
    return f"95% interval {bounds[0]:{form}} to {bounds[1]:{form}}"


def _shown(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)

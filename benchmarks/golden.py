"""Compare hashes of models, predictions and exports of every estimator on many tables with recorded ones.

`python -m benchmarks.golden --check` prints the differences and exits with 1 if there are any;
`--record` writes `benchmarks/golden.json`. `--only frri,ripper` restricts both to some estimators,
`--tables wine,mixed0` to some tables. Hashes cover the model file without its provenance, predicted labels,
probabilities (ten digits), the certificate, and the predictions of exported SQL (SQLite), Python and JavaScript.
"""

import argparse
import hashlib
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

import frri
from frri.compare import NAMES, dataset
from frri.export import to_javascript, to_python, to_sql

PATH = Path(__file__).with_suffix(".json")
MOST_EXPORTED_RULES = 60
EXPORTED_ROWS = 40

NODE = """
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const [path, rows] = JSON.parse(readFileSync(0, "utf-8"));
const m = await import(pathToFileURL(path));
process.stdout.write(JSON.stringify(rows.map((row) => m.predict(row))));
"""


def maker(kind, **parameters):
    """Return a function that creates an estimator.

    A parameter `a_or_b` is the one of the parameters `a` and `b` that the class has.
    """

    def make():
        names = kind().get_params()
        chosen = {}
        for name, value in parameters.items():
            (known,) = [one for one in name.split("_or_") if one in names]
            chosen[known] = value
        return kind(**chosen)

    return make


additive_bagging = getattr(frri, "AdditiveRulesBaggingClassifier", None)
if additive_bagging is None:
    additive_bagging = frri.BaggedRulesClassifier
n_estimators = "n_bags_or_n_estimators"
CLASSIFIERS = {
    "frri": maker(frri.FRRIClassifier),
    "compact": maker(frri.CompactFRRIClassifier),
    "ripper": maker(frri.RIPPERClassifier, random_state=0),
    "furia": maker(frri.FURIAClassifier, random_state=0),
    "modlem": maker(frri.MODLEMClassifier),
    "modlem-entropy": maker(frri.MODLEMClassifier, criterion="entropy"),
    "additive": maker(frri.AdditiveRulesClassifier),
    "additive-bagging": maker(additive_bagging, random_state=0, **{n_estimators: 3}),
    "frri-bagging": maker(frri.FRRIBaggingClassifier, random_state=0, **{n_estimators: 3}),
    "quickrules": maker(frri.QuickRulesClassifier),
}
ORDINAL = {
    "frri-ordinal": maker(frri.FRRIOrdinalClassifier),
    "additive-ordinal": maker(frri.AdditiveRulesOrdinalClassifier),
}
REGRESSORS = {
    "frri-regressor": maker(frri.FRRIRegressor),
    "additive-regressor": maker(frri.AdditiveRulesRegressor),
}


def mixed_table(seed):
    """Return a random table and a score for its target.

    It has categories, ordered categories, dates, integers, missing values, duplicates and contradictions.
    """
    random = np.random.default_rng(seed)
    n = int(random.integers(40, 160))
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 90, n).astype(float),
            "income": random.integers(0, 400, n) / 8,
            "color": random.choice(["red", "green", "blue", "grey"], n),
            "size": pd.Categorical(
                random.choice(["s", "m", "l"], n), categories=["s", "m", "l"], ordered=True
            ),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 90, n), "D"),
            "flag": random.integers(0, 2, n).astype(bool),
        }
    )
    score = (
        frame["age"] / 90
        + (frame["color"] == "red") * 0.5
        + frame["income"] / 50
        + random.integers(0, 8, n) / 20
    )
    frame.loc[random.integers(0, n, n // 10), "age"] = np.nan
    frame.loc[random.integers(0, n, n // 12), "color"] = None
    frame = pd.concat([frame, frame[: n // 8]], ignore_index=True)
    score = pd.concat([score, score[: n // 8] + (seed % 2)], ignore_index=True)
    return frame, score


def tables():
    """Yield name, samples, target, task and weights of every table."""
    for name in NAMES:
        data = dataset(name)
        yield name, data.X[::2], data.y[::2], "classification", None
    diabetes = load_diabetes(as_frame=True)
    yield "diabetes", diabetes.data[::2], diabetes.target[::2], "regression", None
    wine = dataset("winequality-red")
    yield "wine-quality", wine.X[::4], wine.y[::4].astype(int), "ordinal", None
    cleveland = dataset("cleveland")
    yield "heart-degree", cleveland.X, cleveland.y.astype(int), "ordinal", None
    for seed in range(12):
        frame, score = mixed_table(seed)
        weights = None
        if seed % 3 == 2:
            weights = np.random.default_rng(seed).integers(1, 4, len(frame)).astype(float)
        grades = np.array(["c", "b", "a"])[pd.cut(score, 3, labels=False)]
        yield f"mixed{seed}", frame, grades, "classification", weights
        if seed % 3 == 0:
            yield f"mixed{seed}-number", frame, score.to_numpy(), "regression", None
            yield f"mixed{seed}-ordinal", frame, pd.cut(score, 4, labels=False), "ordinal", None


def collect_results(make, X, y, weights):
    """Return the compared results, as strings by name."""
    estimator = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            estimator.fit(X, y, **({} if weights is None else {"sample_weight": weights}))
        except (TypeError, ValueError) as error:
            return {"refused": type(error).__name__}
    rules = estimator.ruleset_
    model = json.loads(rules.to_json())
    model.pop("about")
    labels = np.asarray(estimator.predict(X))
    found = {"model": json.dumps(model), "labels": json.dumps(labels.tolist(), default=str)}
    if rules.task != "regression":
        found["probabilities"] = json.dumps(np.round(estimator.predict_proba(X), 10).tolist())
    selection = getattr(estimator, "selection_", None)
    if selection is not None and "status" in selection:
        found["certificate"] = json.dumps([selection.status, int(selection.n_rules)])
    if len(rules.rules) <= MOST_EXPORTED_RULES:
        found.update(predict_with_exports(rules, pd.DataFrame(X)[:EXPORTED_ROWS]))
    return found


def predict_with_exports(rules, frame):
    """Return the predictions of exported SQL, Python and JavaScript for some rows."""
    frame = frame.copy()
    frame.columns = [attribute.name for attribute in rules.attributes]
    for name in frame:
        if frame[name].dtype.kind == "M":
            frame[name] = frame[name].dt.strftime("%Y-%m-%d")
        if isinstance(frame[name].dtype, pd.CategoricalDtype):
            frame[name] = frame[name].astype(object)
    frame = frame.astype(object).where(frame.notna(), None)
    rows = frame.to_dict("records")
    module = {}
    exec(compile(to_python(rules), "rules", "exec"), module)
    found = {"python": json.dumps([module["predict"](row) for row in rows])}
    database = sqlite3.connect(":memory:")
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in frame)
    database.execute(f"CREATE TABLE data ({names})")
    places = ", ".join("?" * len(frame.columns))
    values = frame.itertuples(index=False, name=None)
    database.executemany(f"INSERT INTO data VALUES ({places})", values)
    answers = database.execute(to_sql(rules, "data")).fetchall()
    # A database returns rows in any order.
    found["sql"] = json.dumps(sorted(json.dumps(round_floats(row)) for row in answers))
    database.close()
    if shutil.which("node"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rules.mjs"
            path.write_text(to_javascript(rules), encoding="utf-8")
            found["javascript"] = subprocess.run(
                ["node", "--input-type=module", "-e", NODE],
                input=json.dumps([str(path), rows]),
                capture_output=True,
                check=True,
                text=True,
            ).stdout
    return found


def round_floats(row):
    return [round(value, 10) if isinstance(value, float) else value for value in row]


def hashes(only, wanted):
    """Return the hashes by table, estimator and kind of result."""
    found = {}
    kinds = {"classification": CLASSIFIERS, "ordinal": ORDINAL, "regression": REGRESSORS}
    for table, X, y, task, weights in tables():
        if wanted and table not in wanted:
            continue
        for name, make in kinds[task].items():
            if only and name not in only:
                continue
            start = process_time()
            for kind, text in collect_results(make, X, y, weights).items():
                key = f"{table}/{name}/{kind}"
                found[key] = hashlib.sha256(text.encode()).hexdigest()[:12]
            print(f"{table} {name}: {process_time() - start:.1f} s", file=sys.stderr, flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the recorded hashes")
    parser.add_argument("--record", action="store_true", help="record the hashes again")
    parser.add_argument("--only", type=lambda text: text.split(","), help="names of estimators")
    parser.add_argument("--tables", type=lambda text: text.split(","), help="names of tables")
    options = parser.parse_args()
    found = hashes(options.only, options.tables)
    known = json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {}
    if options.record:
        ended = found if not (options.only or options.tables) else known | found
        PATH.write_text(json.dumps(ended, indent=0, sort_keys=True) + "\n", encoding="utf-8")
        return
    names = {key.rpartition("/")[0] for key in found}
    expected = {key: value for key, value in known.items() if key.rpartition("/")[0] in names}
    different = sorted(k for k in expected | found if expected.get(k) != found.get(k))
    print(f"{len(found)} hashes, {len(different)} different")
    print("\n".join(different))
    raise SystemExit(bool(different))


if __name__ == "__main__":
    main()

"""From a CSV file with all types of columns to rules, and equal predictions in every program."""

import csv
import io
import json
import warnings

import numpy as np
import pandas as pd
import pytest

from frri import (
    AdditiveRulesClassifier,
    AdditiveRulesRegressor,
    CompactFRRIClassifier,
    FRRIClassifier,
    FURIAClassifier,
    MODLEMClassifier,
    NumericCondition,
    QuickRulesClassifier,
    RIPPERClassifier,
    RuleSet,
    read_table,
)
from frri.cli import main
from frri.table import to_matrix
from programs import agree_in_decisions
from thorough import often

ROWS = often(10_000)
SIZES = ["S", "M", "L", "XL"]
JOBS = ["clerk", "driver", "nurse", 'chief "of" all', "it's, complicated"]
# The default of pandas 3.1 and later.
PANDAS = tuple(int(part) for part in pd.__version__.split(".")[:2])
EXACT = {"float_precision": "round_trip"} if PANDAS < (3, 1) else {}
# Learner, its options on the command line, whether the table has missing values and weights.
CASES = {
    "frri": (FRRIClassifier, {}, True, False),
    "ripper": (RIPPERClassifier, {"random_state": 4}, True, False),
    "furia": (FURIAClassifier, {"random_state": 1}, True, False),
    "modlem": (MODLEMClassifier, {}, True, False),
    "modlem with weights": (MODLEMClassifier, {}, True, True),
    "quickrules": (QuickRulesClassifier, {}, False, False),
    "compact": (CompactFRRIClassifier, {}, True, False),
    "additive": (AdditiveRulesClassifier, {}, True, False),
}


def training_table(n_rows=150):
    """Return numbers (17 digits), categories, ordinal categories, booleans, dates and weights, with missing values."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 80, n_rows),
            "income": random.normal(40, 15, n_rows),
            "job": random.choice(JOBS, n_rows),
            "size": random.choice(SIZES, n_rows),
            "member": random.random(n_rows) < 0.5,
            "since": pd.Timestamp("2015-01-01")
            + pd.to_timedelta(random.integers(0, 3000, n_rows), unit="D"),
            "weight": random.integers(1, 4, n_rows) / 2,
        }
    )
    points = (
        (frame["age"] > 45) * 1
        + (frame["income"] > 40) * 2
        + frame["job"].isin(JOBS[:2]) * 1
        + (frame["size"].map(SIZES.index) >= 2) * 1
        + frame["member"] * 1
        + (frame["since"] > "2019-06-01") * 1
    )
    noisy = points + (random.random(n_rows) < 0.05)
    frame["risk"] = np.select([noisy < 3, noisy < 5], ["low", "mid"], "high")
    return frame


def with_missing(frame, columns, share, random):
    """Return the table with some missing values."""
    gaps = random.random((len(frame), len(columns))) < share
    holed = frame.astype(object)
    for j, column in enumerate(columns):
        holed.loc[gaps[:, j], column] = None
    return holed


def bounds_of(ruleset, name):
    """Return the bounds of conditions on an attribute, and the neighboring numbers."""
    bounds = {
        bound
        for rule in ruleset
        for condition in rule.conditions
        if isinstance(condition, NumericCondition) and condition.attribute == name
        for bound in condition.trapezoid
        if np.isfinite(bound)
    }
    return [
        x for b in sorted(bounds) for x in (np.nextafter(b, -np.inf), b, np.nextafter(b, np.inf))
    ]


def new_rows(ruleset, training, n_rows=ROWS):
    """Return rows with values on the bounds of rules, between and beyond them, unseen values and missing values."""
    random = np.random.default_rng(1)
    pick = lambda pool: [pool[i] for i in random.integers(0, len(pool), n_rows)]  # noqa: E731
    seen = {name: training[name].dropna().tolist() for name in ("age", "income")}
    days = pd.Timestamp("1960-01-01") + pd.to_timedelta(random.integers(0, 40_000, 200), unit="D")
    moments = pd.Timestamp("2017-01-01") + pd.to_timedelta(random.integers(0, 10**8, 200), unit="s")
    known_days = [str(day)[:10] for day in pd.to_datetime(training["since"].dropna())]
    frame = pd.DataFrame(
        {
            "age": pick([*seen["age"], *bounds_of(ruleset, "age"), 0, 17.5, 130, -1e6]),
            "income": pick(
                [
                    *seen["income"],
                    *bounds_of(ruleset, "income"),
                    *random.normal(40, 40, 300).tolist(),
                    -1e9,
                    1e12,
                    0.0,
                ]
            ),
            "job": pick([*JOBS, *JOBS, "pilot", "Clerk", "Nobody"]),
            "size": pick([*SIZES, *SIZES, "XXL", "m"]),
            "member": pick(["True", "False", "true", "FALSE", "1", "0.0", "maybe"]),
            "since": pick(
                [
                    *known_days,
                    *[str(day)[:10] for day in days],
                    *[moment.isoformat() for moment in moments],
                ]
            ),
        }
    )
    holed = with_missing(frame, frame.columns, 0.08, random)
    return holed.astype({"age": float, "income": float})


@pytest.fixture(scope="module")
def tables():
    """Return the training table without and with missing values, as text of CSV files."""
    whole = training_table()
    columns = ["age", "income", "job", "size", "member", "since"]
    holed = with_missing(whole, columns, 0.05, np.random.default_rng(2))
    return {gaps: table.to_csv(index=False) for gaps, table in ((False, whole), (True, holed))}


def check_that_nothing_is_left_out(ruleset, rows, predicted):
    """Check that the rows have all relations to the conditions of the rules."""
    matrix = to_matrix(rows, ruleset.attributes)
    assert set(predicted) == set(ruleset.classes)
    assert np.isnan(matrix).any(axis=0).all()
    never_seen = (matrix == -1.0).any(axis=0)
    assert never_seen[[2, 4]].all()
    for j, attribute in enumerate(ruleset.attributes):
        if attribute.kind in {"numeric", "date"}:
            assert matrix[:, j][~np.isnan(matrix[:, j])].min() < attribute.low
            assert matrix[:, j][~np.isnan(matrix[:, j])].max() > attribute.high
    used = {name for rule in ruleset for name in rule.attributes}
    assert len(used) >= 3
    assert np.isin(matrix[:, 1], bounds_of(ruleset, "income")).any()


@pytest.mark.parametrize("case", CASES)
def test_all_programs_have_the_same_predictions(
    case, tables, tmp_path, monkeypatch, capsys, duck, bare_python, node
):
    learner, parameters, gaps, weighted = CASES[case]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text(tables[gaps])

    # From the file to the model, on the command line.
    options = ["--weights", "weight"] if weighted else ["--ignore", "weight"]
    options += ["--seed", str(parameters["random_state"])] if parameters else []
    command = ["fit", "table.csv", "--target", "risk", "-o", "model.json"]
    command += ["--learner", case.split()[0], "--ordinal", "size=" + "<".join(SIZES), "--no-check"]
    assert main([*command, *options]) == 0, capsys.readouterr().err
    ruleset = RuleSet.load("model.json")
    kinds = [attribute.kind for attribute in ruleset.attributes]
    assert kinds == ["numeric", "numeric", "nominal", "ordinal", "nominal", "date"]
    assert ruleset.attributes[4].categories == ("False", "True")

    # The same in Python: the same rules to the last bit.
    table = read_table("table.csv")
    table["size"] = pd.Categorical(table["size"], SIZES, ordered=True)
    X, y = table.drop(columns=["weight", "risk"]), table["risk"]
    extra = {"sample_weight": table["weight"]} if weighted else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # objects that no rule can cover
        clf = learner(**parameters).fit(X, y, **extra)
    assert clf.ruleset_ == ruleset

    # Predictions of all programs for new rows.
    values = pd.read_csv(io.StringIO(tables[gaps]), **EXACT)
    rows = new_rows(ruleset, values)
    expected = ruleset.predict(rows).tolist()
    check_that_nothing_is_left_out(ruleset, rows, expected)
    agree_in_decisions(ruleset, rows, duck, bare_python, node)
    answered = rows if gaps else rows[~np.isnan(to_matrix(rows, ruleset.attributes)).any(axis=1)]
    assert len(answered) > 1000
    assert clf.predict(answered).tolist() == [expected[i] for i in answered.index]

    # The command line again, from a separate file.
    rows.to_csv("new.csv", index=False)
    capsys.readouterr()
    assert main(["predict", "model.json", "new.csv", "-o", "predictions.csv"]) == 0
    with (tmp_path / "predictions.csv").open(newline="") as file:
        assert [row["prediction"] for row in csv.DictReader(file)] == expected
    assert main(["explain", "model.json", "new.csv", "--row", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["decision"] == expected[0]


def test_all_programs_predict_the_same_number(
    tables, tmp_path, monkeypatch, capsys, duck, bare_python, node
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text(tables[True])
    table = read_table("table.csv")
    X = table.drop(columns=["weight", "risk", "income"])
    y = np.where(table["income"].isna(), 40.0, table["income"])
    X["size"] = pd.Categorical(X["size"], SIZES, ordered=True)
    model = AdditiveRulesRegressor(max_rules=6).fit(X, y)
    model.ruleset_.save("model.json")
    ruleset = RuleSet.load("model.json")
    assert ruleset == model.ruleset_
    assert len(ruleset) >= 3
    rows = new_rows(ruleset, table, 1000).drop(columns="income")
    expected = ruleset.predict(rows)
    assert model.predict(rows).tolist() == expected.tolist()
    assert len(set(expected)) > 3
    agree_in_decisions(ruleset, rows, duck, bare_python, node)
    rows.to_csv("new.csv", index=False)
    assert main(["predict", "model.json", "new.csv", "-o", "predictions.csv"]) == 0, (
        capsys.readouterr()
    )
    with (tmp_path / "predictions.csv").open(newline="") as file:
        assert [float(row["prediction"]) for row in csv.DictReader(file)] == expected.tolist()

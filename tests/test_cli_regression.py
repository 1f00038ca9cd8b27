"""Regression on the command line, from a table to predictions, in every command."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from frri import RuleSet
from frri.cli import main
from frri.export import FORMATS
from frri.learners.registry import rule_learners
from frri.rules.measures import measure_regression

FIT = ["fit", "houses.csv", "--target", "price", "--task", "regression"]
# A given number of rules is not cross-validated.
SMALL = ["--max-rules", "5"]
ADDITIVE = ["--learner", "additive", *SMALL]


@pytest.fixture(scope="module")
def houses():
    generator = np.random.default_rng(0)
    area = generator.integers(40, 200, 90)
    garden = generator.choice(["none", "small", "large"], 90)
    price = 3.0 * area + 60 * (garden == "large") + generator.normal(0, 15, 90)
    frame = pd.DataFrame({"area": area, "garden": garden, "price": price.round(1)})
    frame.loc[3, "area"] = None
    return frame


@pytest.fixture
def folder(houses, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    houses.to_csv("houses.csv", index=False)
    return tmp_path


def run(argv, capsys):
    assert main(argv) == 0
    return capsys.readouterr().out


def asked(learner):
    return ADDITIVE if learner == "additive" else ["--learner", learner]


def refused(argv, capsys):
    assert main(argv) == 2
    output = capsys.readouterr().err.splitlines()
    assert len(output) == 1
    return output[0]


@pytest.mark.parametrize("learner", rule_learners("regression"))
@pytest.mark.usefixtures("folder")
def test_every_command_takes_every_regressor(learner, capsys):
    assert main([*FIT, *asked(learner), "-o", "m.json"]) == 0
    output = capsys.readouterr().err
    assert "5-fold cross-validation: R2 0." in output
    assert "mean baseline 0.00, mean absolute error " in output
    model = RuleSet.load("m.json")
    assert (model.task, model.target) == ("regression", "price")
    assert "THEN price " in run(["rules", "m.json"], capsys)
    answers = run(["predict", "m.json", "houses.csv", "--keep", "area", "--rules"], capsys)
    rows = list(csv.DictReader(answers.splitlines()))
    table = pd.read_csv("houses.csv")
    expected = model.predict(table[["area", "garden"]])
    assert [float(row["prediction"]) for row in rows] == expected.tolist()
    facts = json.loads(run(["evaluate", "m.json", "houses.csv", "--json"], capsys))
    assert facts["r2"] == pytest.approx(r2_score(table.price, expected))
    assert facts["r2"] > 0.6
    assert "mean absolute error" in run(["evaluate", "m.json", "houses.csv"], capsys)
    explained = run(["explain", "m.json", "houses.csv", "--row", "3"], capsys)
    assert f"Predicted price = {expected[2]:.6g}" in explained
    for name in FORMATS.keys() - {"dbt", "excel", "onnx"}:  # which write two files, or no text
        assert run(["export", "m.json", "--to", name], capsys)
    for name in ("excel", "onnx"):
        assert main(["export", "m.json", "--to", name]) == 2
        assert "writes a binary file; name it, such as -o rules." in capsys.readouterr().err
        assert main(["export", "m.json", "--to", name, "-o", f"rules.{name}"]) == 0
        assert len(Path(f"rules.{name}").read_bytes()) > 1000


@pytest.mark.usefixtures("folder")
def test_an_estimator_is_chosen_and_evaluated_on_held_out_rows(capsys):
    assert main([*FIT, "--test", "0.3", "--max-rules", "4", "-o", "m.json"]) == 0
    output = capsys.readouterr().err
    assert re.search(r"^Model \((additive|frri)\): ", output, re.MULTILINE)
    assert "Test set of 27 rows: R2 0." in output
    assert len(RuleSet.load("m.json")) <= 4


@pytest.mark.parametrize("options", [SMALL, ADDITIVE, ["--test", "0.3", *SMALL]])
def test_fitted_models_have_prediction_intervals(options, folder, capsys):
    generator = np.random.default_rng(3)
    area = generator.integers(40, 200, 500)
    price = (3.0 * area + generator.normal(0, 15, 500)).round(1)
    frame = pd.DataFrame({"area": area, "price": price})
    frame[:200].to_csv(folder / "houses.csv", index=False)
    frame[200:].to_csv(folder / "new.csv", index=False)
    assert main([*FIT, *options, "-o", "m.json"]) == 0
    capsys.readouterr()
    answers = run(["predict", "m.json", "new.csv", "--keep", "price", "--interval", "0.9"], capsys)
    rows = pd.DataFrame(csv.DictReader(answers.splitlines())).astype(float)
    assert rows.price.between(rows.low, rows.high).mean() > 0.84
    assert RuleSet.load("m.json").about["intervals"]["rows"] == (
        60 if options[:1] == ["--test"] else 200
    )


@pytest.mark.usefixtures("folder")
def test_models_that_were_not_checked_have_no_intervals(capsys):
    assert main([*FIT, *ADDITIVE, "--no-check", "-o", "m.json"]) == 0
    capsys.readouterr()
    output = refused(["predict", "m.json", "houses.csv", "--interval", "0.9"], capsys)
    assert output.endswith("or by frri fit with its check on held-out rows (--cv 5).")


@pytest.mark.parametrize("learner", rule_learners("regression"))
def test_regression_rules_have_statistics_and_drift(learner, folder, houses, capsys):
    assert main([*FIT, *asked(learner), "-o", "m.json"]) == 0
    capsys.readouterr()
    assert re.search(r"covers \d+ of 90, mean \S+, SD \S+\]", run(["rules", "m.json"], capsys))
    assert main(["evaluate", "m.json", "houses.csv"]) == 0
    out, err = capsys.readouterr()
    assert "these seem to be the training rows" in err
    assert "mean differs" not in out
    houses.assign(price=houses.price + 500).to_csv(folder / "inflated.csv", index=False)
    assert "mean differs" in run(["evaluate", "m.json", "inflated.csv"], capsys)
    facts = json.loads(run(["evaluate", "m.json", "inflated.csv", "--json"], capsys))
    assert any(rule["mean_differs"] for rule in facts["rules"])


def test_weights_count_in_fit_and_check(folder, houses, capsys):
    heavy = houses.assign(w=np.where(houses.garden == "large", 5.0, 1.0))
    heavy.to_csv(folder / "houses.csv", index=False)
    assert main([*FIT, "--weights", "w", *ADDITIVE, "-o", "m.json"]) == 0
    mean = np.average(heavy.price, weights=heavy.w)
    assert "mean baseline 0.00" in capsys.readouterr().err
    baseline = RuleSet.load("m.json").about["evaluation"]["baseline"]
    assert baseline["answer"] == f"the mean ({mean:.6g})"


@pytest.mark.usefixtures("folder")
def test_bad_requests_get_one_sentence(houses, capsys):
    assert refused([*FIT, "--learner", "ripper"], capsys).startswith(
        "frri: frri fit --task regression has no learner 'ripper'; it has "
    )
    assert "not allowed with" in refused([*FIT, "--bins", "3"], capsys)
    texts = ["fit", "houses.csv", "--target", "garden", "--task", "regression"]
    assert "The target 'garden' holds " in refused(texts, capsys)
    assert main([*FIT, *ADDITIVE, "--no-check", "-o", "m.json"]) == 0
    capsys.readouterr()
    assert refused(["predict", "m.json", "houses.csv", "--proba"], capsys) == (
        "frri: The rules for 'price' predict numbers, which have no probabilities; leave --proba out."
    )
    assert "leave --class out" in refused(["rules", "m.json", "--class", "3"], capsys)
    houses.assign(price=houses.price.where(houses.index > 1)).to_csv("gaps.csv", index=False)
    assert "'price' has no number in row 1 (2 of 90 rows)" in refused(
        ["evaluate", "m.json", "gaps.csv"], capsys
    )
    assert "no value in 2 of 90 rows" in refused(["fit", "gaps.csv", *FIT[2:]], capsys)
    assert main(["evaluate", "m.json", "gaps.csv", "--drop-unlabelled", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 88
    assert main(["fit", "gaps.csv", *FIT[2:], "--drop-unlabelled", *ADDITIVE]) == 0
    capsys.readouterr()
    houses.drop(columns="price").to_csv("bare.csv", index=False)
    assert "--target names the column of the numbers" in refused(
        ["evaluate", "m.json", "bare.csv"], capsys
    )


def test_measures_are_those_of_scikit_learn_and_intervals_hold_their_level():
    """In 400 samples, 95 % intervals miss the value of the population about one time in twenty."""
    generator = np.random.default_rng(1)
    x = generator.normal(size=200_000)
    y = x + generator.gamma(6.0, 0.3, len(x))
    answers = LinearRegression().fit(x[:, None], y).predict(x[:, None])
    weights = generator.uniform(size=50)
    found = measure_regression(y[:50], answers[:50], weights)
    same = {"sample_weight": weights}
    assert found["r2"] == pytest.approx(r2_score(y[:50], answers[:50], **same))
    assert found["rmse"] == pytest.approx(root_mean_squared_error(y[:50], answers[:50], **same))
    assert found["mae"] == pytest.approx(mean_absolute_error(y[:50], answers[:50], **same))
    whole = measure_regression(y, answers)
    parts = [
        measure_regression(y[k : k + 300], answers[k : k + 300]) for k in range(0, 120_000, 300)
    ]
    for name in ("r2", "rmse", "mae"):
        true = whole[name]
        held = [low <= true <= high for low, high in (p[f"{name}_interval"] for p in parts)]
        assert 0.91 <= np.mean(held) <= 0.98, name


def test_constant_targets_and_single_rows_are_evaluated():
    assert measure_regression(np.full(3, 2.0), np.full(3, 2.0))["r2"] == 1.0
    assert measure_regression(np.full(3, 2.0), np.full(3, 2.5))["r2"] == 0.0
    one = measure_regression(np.array([2.0]), np.array([3.0]))
    assert (one["mae"], one["rmse"], one["mae_interval"]) == (1.0, 1.0, (1.0, 1.0))

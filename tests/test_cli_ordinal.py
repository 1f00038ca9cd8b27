"""Ordinal classification on the command line, from a CSV file to a report."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from frri import RuleSet
from frri.cli import main
from frri.rules.measures import measure_ordinal, quadratic_kappa

ORDER = ["poor", "fair", "good"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a table of rated flats, and a model of each estimator."""
    folder = tmp_path_factory.mktemp("flats")
    random = np.random.default_rng(0)
    rooms, noise = random.integers(1, 7, 90), random.integers(35, 80, 90)
    street = random.choice(["quiet", "main"], 90)
    worth = 0.8 * rooms - 0.07 * noise + (street == "quiet") + random.normal(0, 0.4, 90)
    rating = np.array(ORDER)[np.digitize(worth, np.quantile(worth, [0.3, 0.7]))]
    table = pd.DataFrame({"rooms": rooms, "noise": noise, "street": street, "rating": rating})
    table.to_csv(folder / "flats.csv", index=False)
    for learner in ("frri", "additive"):
        fit = ["fit", str(folder / "flats.csv"), "--target", "rating", "--task", "ordinal"]
        fit += ["--order", "poor<fair<good", "--learner", learner, "--no-check"]
        fit += ["--set", "monotonic_cst={'rooms': 1}", "-o", str(folder / f"{learner}.json")]
        assert main(fit) == 0
    return folder


def test_a_learner_is_picked_and_checked(folder, capsys):
    args = ["fit", str(folder / "flats.csv"), "--target", "rating", "--task", "ordinal"]
    assert main([*args, "--order", "poor,fair,good", "--cv", "2", "-o", "-"]) == 0
    output = capsys.readouterr()
    assert RuleSet.from_json(output.out).classes == tuple(ORDER)
    assert "Model (additive): " in output.err
    assert "2-fold cross-validation: kappa 0." in output.err
    assert "classes; median-class baseline 0.00, mean absolute error 0." in output.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["--task", "ordinal"],
            "are strings: list them from lowest to highest, such as --order 'LOW<HIGH' (found: fair, good",
        ),
        (
            ["--task", "ordinal", "--order", "poor<good"],
            "--order lacks 'fair' of the column 'rating'",
        ),
        (["--task", "ordinal", "--order", "a<a"], "without repeated values, got 'a<a'"),
        (["--order", "poor<good"], "--order is for classes that have an order; add --task ordinal"),
    ],
)
def test_an_order_of_classes_is_required(folder, capsys, args, message):
    assert main(["fit", str(folder / "flats.csv"), "--target", "rating", *args]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("learner", ["frri", "additive"])
def test_all_commands_accept_an_ordinal_model(folder, capsys, learner):
    model, table = str(folder / f"{learner}.json"), str(folder / "flats.csv")
    ruleset = RuleSet.load(model)
    frame = pd.read_csv(table)

    assert main(["rules", model]) == 0
    shown = capsys.readouterr()
    assert (
        "THEN rating at least good" if learner == "frri" else "BASE rating at least fair"
    ) in shown.out
    assert "Proven: no prediction falls as rooms rises, other features unchanged." in shown.err

    assert main(["predict", model, table, "--proba", "--json"]) == 0
    predicted = pd.DataFrame(json.loads(capsys.readouterr().out))
    assert predicted["prediction"].tolist() == ruleset.predict(frame).tolist()
    shares = predicted[[f"probability_{label}" for label in ORDER]].to_numpy()
    np.testing.assert_allclose(shares, ruleset.predict_proba(frame))

    assert main(["evaluate", model, table, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    true, decided = (
        np.array([ORDER.index(label) for label in labels])
        for labels in (frame["rating"], predicted["prediction"])
    )
    assert found["mae"] == pytest.approx(np.abs(true - decided).mean())
    assert found["kappa"] == pytest.approx(cohen_kappa_score(true, decided, weights="quadratic"))
    assert found["mae_interval"][0] <= found["mae"] <= found["mae_interval"][1]
    assert main(["evaluate", model, table]) == 0
    assert "classes (95 % interval" in capsys.readouterr().out

    row = ["rooms=1", "noise=70", "street=main"]
    assert main(["explain", model, *row, "--at-least", "fair"]) == 0
    assert "leads to at least fair: 'fair' if" in capsys.readouterr().out
    assert main(["explain", model, *row, "--at-most", "best"]) == 2
    assert "best" in capsys.readouterr().err

    assert main(["report", model, table, "-o", str(folder / "page.html")]) == 0
    assert "Rules for rating" in (folder / "page.html").read_text("utf-8")


def test_measures_by_weight():
    """A row of weight 2 is two rows."""
    true, predicted = np.array([0, 1, 2, 3]), np.array([0, 2, 2, 1])
    weights = np.array([1.0, 2.0, 1.0, 3.0])
    rows = np.repeat(np.arange(4), weights.astype(int))
    assert quadratic_kappa(true, predicted, 4, weights) == pytest.approx(
        quadratic_kappa(true[rows], predicted[rows], 4)
    )
    one, other = (
        measure_ordinal(true, predicted, 4, weights),
        measure_ordinal(true[rows], predicted[rows], 4),
    )
    assert all(one[name] == other[name] for name in ("mae", "median", "median_mae"))
    assert quadratic_kappa(true[:1], true[:1], 4) == 0.0

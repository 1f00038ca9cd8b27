"""Random samples of files that are read in parts, and checks of rules against all rows."""

import numpy as np
import pandas as pd
import pytest

import naive_bagging
from frri import FRRIBaggingClassifier, RuleSet
from frri.cli import main
from frri.readers import files, training
from frri.readers.training import draw_sample
from test_bagging import Recording, plain_rules


def sampled(frame, size, cuts, target="y", seed=0):
    """Return the row numbers of a sample of a table that is read in parts."""
    bounds = zip([0, *cuts], [*cuts, len(frame)], strict=True)
    parts = [(f"from {start} on", frame.iloc[start:end]) for start, end in bounds]
    sample, n_rows = draw_sample(parts, size, seed, target)
    assert n_rows == len(frame)
    return sample["n"].tolist()


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    y = random.choice(["common", "other", "rare"], 500, p=[0.6, 0.39, 0.01])
    return pd.DataFrame({"n": range(500), "y": y})


@pytest.mark.parametrize("size", [15, 40, 200, 499])
def test_a_sample_does_not_depend_on_parts_and_loses_no_class(table, size):
    whole = sampled(table, size, [])
    assert len(whole) == size
    assert whole == sorted(whole)
    assert sampled(table, size, [1, 7, 8, 100, 350]) == whole
    assert sampled(table, size, list(range(10, 500, 10))) == whole
    assert sampled(table, size, [], seed=1) != whole
    counts = table.loc[whole, "y"].value_counts().sort_index()
    assert (counts >= np.minimum(table["y"].value_counts().sort_index(), training.LEAST)).all()
    # By definition: some rows of every class, then the rows with the smallest random numbers.
    random_numbers = pd.Series(np.random.default_rng(0).random(500))
    first = random_numbers.groupby(table["y"]).nsmallest(training.LEAST).index.get_level_values(1)
    others = random_numbers.drop(first).nsmallest(size - len(first)).index
    assert whole == sorted([*first, *others])


def test_small_files_and_targets_without_classes(table, monkeypatch):
    assert sampled(table, 500, [100]) == list(range(500))
    assert sampled(table, 10**6, [100]) == list(range(500))
    random_numbers = np.random.default_rng(0).random(500)
    assert sampled(table, 30, [100], None) == sorted(np.argsort(random_numbers)[:30])
    monkeypatch.setattr(training, "MOST_CLASSES", 2)
    assert sampled(table, 30, [100]) == sorted(np.argsort(random_numbers)[:30])
    monkeypatch.undo()
    with pytest.raises(
        ValueError, match=r"sample of 9 rows is too small for the 3 classes of 'y'; take 15"
    ):
        sampled(table, 9, [100])


def test_no_rule_covers_a_further_object_of_another_class():
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": random.random(90), "b": random.random(90), "kind": random.choice(["u", "v"], 90)}
    )
    y = np.where(X["a"] + 0.3 * random.random(90) > 0.6, "yes", "no")
    X.loc[::11, "b"] = np.nan
    X.loc[40, ["a", "kind"]] = [7.0, "never seen"]  # beyond the range, and strange
    model = Recording(n_estimators=3, max_samples=0.8, random_state=0, missing="similar")
    parts = ((X[start : start + 25], y[start : start + 25]) for start in range(30, 90, 25))
    with pytest.warns(UserWarning, match="covered by no rule of any bag"):
        model.fit(X[:30], y[:30], check_batches=parts)
    rules, known = model.ruleset_, model.table.attributes
    assert model.selection_.n_further == 60
    assert rules.about["selection"]["n_further"] == 60
    is_other_class = y[:, None] != [rule.consequent for rule in rules]
    assert not (rules.covers(X) & is_other_class).any()
    # The confidences are as large as possible.
    matrix = np.column_stack([X["a"], X["b"], X["kind"].map({"u": 0, "v": 1, "never seen": -1})])
    scaled = matrix.copy()
    for j in range(2):
        low, high = known[j].low, known[j].high
        scaled[:, j] = np.clip((matrix[:, j] - low) / (high - low), 0, 1)
    labels = (y == "yes").astype(int)
    reach = {
        (model.pool.sources[r], model.pool.bags[r]): naive_bagging.narrowed(
            rule, scaled, labels, [2]
        )
        for r, rule in enumerate(plain_rules(model))
    }
    for rule, u, bag in zip(rules, model.selected_, model.bags_, strict=True):
        assert rule.weight == pytest.approx(reach[u, bag], abs=1e-12)


def test_further_objects_of_other_classes():
    X, y = [[0.0], [0.2], [0.9], [1.0]], [0, 0, 1, 1]
    free = FRRIBaggingClassifier(n_estimators=1, max_samples=1.0).fit(X, y)
    bound = FRRIBaggingClassifier(n_estimators=1, max_samples=1.0).fit(
        X, y, check_batches=[([[0.25]], [5])]
    )
    assert free.ruleset_.covers([[0.25]]).any()
    assert not bound.ruleset_.covers([[0.25]]).any()


# ---------------------------------------------------------------- frri fit


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a table in two formats and in two files, read in parts."""
    random = np.random.default_rng(1)
    X = random.random((400, 2)).round(3)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "code": np.where(X[:, 0] > 0.5, "01", "1")})
    frame["y"] = np.where(X.sum(axis=1) > 1, "yes", "no")
    frame.to_csv(tmp_path / "big.csv", index=False)
    frame.to_parquet(tmp_path / "big.parquet")
    frame[:150].to_csv(tmp_path / "first.csv", index=False)
    frame[150:].to_csv(tmp_path / "second.csv", index=False)
    monkeypatch.setattr(files, "STRETCH", 1000)
    monkeypatch.setattr(files, "MOST_ROWS", 30)
    monkeypatch.chdir(tmp_path)
    return frame


def fit(*arguments):
    return main(["fit", *arguments, "--target", "y", "-o", "m.json", "--no-check"])


def test_a_sample_is_learned_from(folder, capsys):
    assert fit("big.csv", "--sample", "60", "--learner", "frri", "--nominal", "code") == 0
    assert "note: The sample has 60 rows, drawn at random of 400.\n" in capsys.readouterr().err
    rules = RuleSet.load("m.json")
    assert rules.about["rows"] == 60
    assert rules.attributes[2].categories == ("01", "1")
    assert (
        fit("first.csv", "second.csv", "--sample", "60", "--learner", "frri", "--nominal", "code")
        == 0
    )
    assert RuleSet.load("m.json") == rules
    assert (
        fit("big.csv", "--sample", "60", "--learner", "frri", "--nominal", "code", "--seed", "3")
        == 0
    )
    assert RuleSet.load("m.json") != rules
    capsys.readouterr()
    assert fit("big.parquet", "--sample", "4000", "--learner", "ripper", "--seed", "0") == 0
    assert "note: The sample has 400 rows, which are all.\n" in capsys.readouterr().err
    assert RuleSet.load("m.json").about["rows"] == len(folder)


def test_bags_are_checked_against_all_rows(folder, capsys):
    for source in ("big.csv", "big.parquet"):
        assert fit(source, "--bags", "3", "--sample", "20", "--nominal", "code", "--seed", "0") == 0
        output = capsys.readouterr().err
        assert "note: The sample has 60 rows, drawn at random of 400.\n" in output
        assert "All 400 rows were looked at: no rule covers one of another class\n" in output
        rules = RuleSet.load("m.json")
        assert rules.about["parameters"]["n_estimators"] == 3
        assert rules.about["parameters"]["max_samples"] == 20
        is_other_class = folder["y"].to_numpy()[:, None] != [rule.consequent for rule in rules]
        assert not (rules.covers(folder) & is_other_class).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["big.csv", "--sample", "3"],
            "A sample of 3 rows is too small for the 2 classes of 'y'; take 10 rows",
        ),
        (
            ["big.csv", "--sample", "0"],
            "argument --sample: expected an integer, 1 or more, got '0'",
        ),
        (
            ["big.csv", "--bags", "2", "--learner", "ripper"],
            "--bags is for the learner frri-bags; leave --learner",
        ),
        (
            ["big.csv", "--bags", "2", "--task", "regression"],
            "--bags learns classes; leave --task regression out",
        ),
        (["-", "--bags", "2"], "standard input (-) can be read once; name a file"),
        (["big.csv", "first.csv", "big.csv", "--sample", "50"], "big.csv is given twice"),
        (
            ["big.csv", "other.csv", "--sample", "50"],
            "other.csv has no column 'b', which big.csv has",
        ),
        (
            ["first.csv", "kinds.csv", "--sample", "80"],
            "Column 'a' holds numbers in first.csv and strings in kinds.csv",
        ),
        (["big.csv", "--sample", "50", "--set", "x=1"], "has no parameter 'x'"),
    ],
)
def test_conflicting_options_get_one_sentence(folder, arguments, message, capsys):
    folder.drop(columns="b").to_csv("other.csv", index=False)
    folder[:100].assign(a="much").to_csv("kinds.csv", index=False)
    assert fit(*arguments) == 2
    output = capsys.readouterr().err
    assert message in output
    assert output.strip().count("\n") == 0


def test_a_target_that_is_not_there_is_one_sentence(folder, capsys):
    assert len(folder) == 400
    assert main(["fit", "big.csv", "--target", "z", "--sample", "50"]) == 2
    assert "big.csv has no column 'z'" in capsys.readouterr().err

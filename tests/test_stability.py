"""Stability of rules: similarity and resampling."""

import json
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_diabetes, load_iris

from browser_pages import embedded
from frri import (
    AdditiveRulesClassifier,
    AdditiveRulesRegressor,
    Attribute,
    NominalCondition,
    NumericCondition,
    RIPPERClassifier,
    Rule,
    RuleSet,
)
from frri.cli import main
from frri.compare import dataset, run, stability
from frri.learners.registry import TASKS, learner_of
from frri.report import facts

X = pd.DataFrame({"x": np.arange(100.0), "kind": ["a", "b"] * 50})
Y = np.repeat(["no", "yes"], 50)
ATTRIBUTES = (Attribute("x"), Attribute("kind", categories=("a", "b")))


class Scripted(ClassifierMixin, BaseEstimator):
    """An estimator that returns given rule sets in order, for any data."""

    def __init__(self, script, seen):
        self.script, self.seen = script, seen

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y):
        self.ruleset_ = RuleSet(
            rules=self.script[len(self.seen)], attributes=ATTRIBUTES, classes=("no", "yes")
        )
        self.seen.append((X, y))
        return self


def rule(label, *conditions):
    return Rule(tuple(conditions), label)


def at_most(bound, fades=0.0):
    return NumericCondition("x", core_high=bound - fades, support_high=bound + fades)


def at_least(bound):
    return NumericCondition("x", core_low=bound, support_low=bound)


A, B = (NominalCondition("kind", frozenset(kind)) for kind in ("a", "b"))
NOT_A, NOT_B = (replace(condition, excludes=True) for condition in (A, B))


def test_exclusions_recur_if_they_exclude_the_same():
    script = [(rule("no", one),) for one in (NOT_A, NOT_A, NOT_B, A)]
    assert stability(Scripted(script, []), X, Y, n_resamples=3).returns == (1 / 3,)


def test_rules_recur_within_a_tenth():
    whole = (rule("no", at_most(44.5)), rule("yes", at_least(50.5), A))
    script = [
        whole,
        (
            rule("no", at_most(44.6, fades=3)),
            rule("yes", A, at_least(59.0)),
        ),  # both, in another order
        (rule("no", at_most(55.0)), rule("yes", at_least(75.0), A)),  # the first only
        (rule("yes", at_most(44.5)), rule("yes", at_least(50.5), B)),  # other class, other category
        (rule("no", at_most(44.5), A), rule("yes", at_least(50.5))),  # one condition more, one less
    ]
    found = stability(Scripted(script, []), X, Y, n_resamples=4)
    assert found.returns == (0.5, 0.25)
    first, second = str(found).splitlines()[1:]
    assert first.startswith("   50%  IF x <= 44.5 THEN")
    assert second.startswith("   25%  IF x >= 50.5 AND kind = a THEN")


def test_similarity_is_dices_of_all_pairs():
    one = (rule("no", at_most(44.5)), rule("yes", at_least(50.5)))
    two = (rule("no", at_most(44.9)), rule("yes", at_least(50.9), A))
    three = (rule("no"),)
    found = stability(Scripted([one, one, two, three], []), X, Y, n_resamples=3)
    assert found.similarity == pytest.approx((2 * 2 / 5 + 0 + 0) / 3)
    nothing = stability(Scripted([three] * 3, []), X, Y, n_resamples=2)
    assert nothing.similarity == 1.0
    assert nothing.returns == (1.0,)


def test_rows_are_drawn_with_replacement_and_classes_keep_their_sizes():
    script, seen = [(rule("no"),)] * 4, []
    stability(Scripted(script, seen), X, Y, n_resamples=3)
    assert seen[0][0] is X
    draws = [frame["x"].tolist() for frame, _ in seen[1:]]
    assert len({tuple(draw) for draw in draws}) == 3
    for frame, labels in seen[1:]:
        assert (np.asarray(labels) == "no").sum() == 50
        assert frame["x"].nunique() < 100
        assert ((frame["x"] >= 50) == (np.asarray(labels) == "yes")).all()


def test_the_same_seed_has_the_same_result():
    iris = load_iris(return_X_y=True)
    one, two = (stability(RIPPERClassifier(random_state=0), *iris, n_resamples=3) for _ in range(2))
    assert (one.similarity, one.returns) == (two.similarity, two.returns)
    assert 0 <= one.similarity <= 1


def test_regression():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    found = stability(AdditiveRulesRegressor(max_rules=4), X[:150], y[:150], n_resamples=3)
    assert len(found.returns) == len(found.ruleset) == 4


def test_one_resample_is_not_enough():
    with pytest.raises(ValueError, match="n_resamples must be at least 2, got 1"):
        stability(RIPPERClassifier(), X, Y, n_resamples=1)


def test_a_comparison_has_the_similarity_of_folds():
    whole, part = (rule("no", at_most(44.5), A),), (rule("no", A),)
    learner = Scripted([whole, whole, part], [])
    learner.predict = lambda X: np.repeat("no", len(X))
    results = run([dataset((X, Y), name="kinds")], {"scripted": learner}, n_folds=3, workers=0)
    marks = [set(cell["marks"]) for cell in results.cells]
    assert [len(found) for found in marks] == [2, 2, 1]
    assert marks[0] == marks[1] > marks[2]
    # Two folds have the same two conditions, and the third lacks one of them.
    expected = (1 + 2 / 3 + 2 / 3) / 3
    assert results.stability().loc["kinds", "scripted"] == pytest.approx(expected)


def test_given_rules_may_recur():
    whole = (rule("no", at_most(44.5)), rule("yes", at_least(50.5), A))
    given = RuleSet((whole[1], rule("yes", B)), ATTRIBUTES, ("no", "yes"))
    found = stability(Scripted([whole, whole], []), X, Y, n_resamples=2, ruleset=given)
    assert found.ruleset is given
    assert found.returns == (1.0, 0.0)


@pytest.mark.parametrize("task", TASKS)
def test_a_model_contains_the_name_of_its_estimator(task):
    table = X.head(40).assign(x=np.tile(np.arange(10.0), 4))
    truth = {"regression": table["x"].to_numpy() * 2.0}.get(task, np.tile(np.repeat([0, 1], 5), 4))
    for learner in TASKS[task].values():
        if not learner.rules or learner.parameters:
            continue
        estimator = learner.make()
        ruleset = estimator.fit(table, truth).ruleset_
        again = learner_of(RuleSet.from_dict(ruleset.to_dict()))
        assert type(again) is type(estimator)
        assert str(again.get_params()) == str(estimator.get_params())
    with pytest.raises(ValueError, match="says no learner, which cannot be run again"):
        learner_of(RuleSet((), ATTRIBUTES, ("no", "yes")))


@pytest.fixture(scope="module")
def sized(tmp_path_factory):
    """Return a model with tried sizes, its stability, and the folder with its file and rows."""
    rows, truth = (part[::4] for part in load_iris(return_X_y=True, as_frame=True))
    truth = truth.map({0: "setosa", 1: "versicolor", 2: "virginica"}).rename("kind")
    learner = AdditiveRulesClassifier().fit(rows, truth)
    folder = tmp_path_factory.mktemp("sized")
    learner.ruleset_.save(folder / "model.json")
    rows.assign(kind=truth).to_csv(folder / "rows.csv", index=False)
    return learner, stability(learner, rows, truth, n_resamples=2), folder


def test_the_page_has_sizes_and_stability(sized):
    learner, found, folder = sized
    known = facts(RuleSet.load(folder / "model.json"), stability=found)
    path = learner.path_
    assert known["path"] == json.loads(json.dumps(asdict(path)))
    assert known["path"]["chosen"] == path.chosen
    assert known["stability"]["returns"] == list(found.returns)
    assert facts(found.ruleset.without_rule(0))["stability"] is None
    with pytest.raises(ValueError, match="must have been measured for the"):
        facts(found.ruleset.without_rule(0), stability=found)


def test_commands_print_the_stability(sized, capsys):
    _, found, folder = sized
    model, table = str(folder / "model.json"), str(folder / "rows.csv")
    assert main(["rules", model, "--stability", table, "--resamples", "2"]) == 0
    output = capsys.readouterr()
    for line, share in zip(output.out.splitlines()[:-1], found.returns, strict=True):  # base last
        assert line.endswith(f"   recurs in {share:.0%}")
    assert f"similarity of their conditions {found.similarity:.2f}" in output.err
    page = folder / "page.html"
    assert main(["report", model, table, "--stability", "2", "-o", str(page)]) == 0
    assert embedded(page.read_text(encoding="utf-8"))["stability"]["n_resamples"] == 2
    for arguments, complaint in (
        (["report", model, "--stability", "3"], "the table needs the column 'kind'"),
        (["report", model, table, "--stability", "1"], "expected an integer, 2 or more, got '1'"),
        (["rules", model, "--resamples", "3"], "--resamples belongs to --stability DATA"),
        (["rules", model, "--stability", table, "--json"], "leave --json out"),
        (["rules", model, "--stability", table, "--tree", table], "ask for one"),
        (["rules", model, "--stability", table, "--cut", "2"], "--cut belongs to --tree DATA"),
    ):
        assert main(arguments) != 0
        assert complaint in capsys.readouterr().err

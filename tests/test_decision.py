"""Costs of misclassification: decisions in every engine and estimator."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

import naive_semantics
from frri import Attribute, NumericCondition, Rule, RuleSet
from frri.cli import main
from frri.export import to_latex, to_markdown, to_text
from frri.learners.registry import LEARNERS, RULE_LEARNERS, TASKS, learner_of
from frri.pareto import frontier
from frri.rules import _predict_kernels as bulk
from random_models import ATTRIBUTES, random_rows, random_ruleset
from thorough import often

X, CODES = load_breast_cancer(return_X_y=True, as_frame=True)
X, Y = X.iloc[::3, :8], pd.Series(np.where(CODES, "benign", "malignant"), name="tumor")[::3]

TWO = RuleSet(
    (
        Rule((NumericCondition("a", core_high=2, support_high=6),), "no", 0.9),
        Rule((NumericCondition("a", 3, 8),), "yes", 0.8),
    ),
    (Attribute("a", 0, 10),),
    ("no", "yes"),
    class_counts=(30.0, 10.0),
)

costs = st.fixed_dictionaries(
    {}, optional={label: st.sampled_from([0.01, 0.5, 2, 3.7, 100]) for label in "xyz"}
)


def naive_answers(ruleset, rows):
    content = ruleset.to_dict()
    frame = rows.astype(object).where(rows.notna(), None)
    days = pd.to_datetime(rows["day"]).dt.strftime("%Y-%m-%d").astype(object)
    frame["day"] = days.where(rows["day"].notna(), None)
    return [naive_semantics.decide(content, row) for row in frame.to_dict("records")]


# ---------------------------------------------------------------- rule sets


@settings(max_examples=often(60), deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["best", "sum", "first"]),
    st.sampled_from(["nearest", "stretched", "partial", "priors"]),
    st.sampled_from([1.0, 0.6]),
    st.one_of(st.just("balanced"), costs),
)
def test_scores_times_costs_by_the_definition(seed, combination, fallback, trust, decision):
    random = np.random.default_rng(seed)
    plain = random_ruleset(random, combination, fallback, "product")
    plain = replace(plain, trust=trust)
    ruleset, rows = plain.with_decision(decision), random_rows(random, 12)
    expected = naive_answers(ruleset, rows)
    decided = ruleset.decide(rows)
    assert decided.answers.tolist() == [one["answer"] for one in expected]
    for name in ("scores", "probabilities"):
        np.testing.assert_allclose(
            getattr(decided, name), [one[name] for one in expected], atol=1e-12
        )
    fires = ~decided.silent
    given_costs = np.array(ruleset.costs or (1.0, 1.0, 1.0))
    np.testing.assert_array_equal(decided.scores[fires], (plain.scores(rows) * given_costs)[fires])
    if fallback == "nearest":
        same = plain.decide(rows)
        assert decided.index[~fires].tolist() == same.index[~fires].tolist()
    assert ruleset.with_decision("accuracy") == plain
    assert RuleSet.from_json(ruleset.to_json()) == ruleset


votes = st.integers(-(2**44), 2**44).map(lambda n: n / 2**40)


@settings(max_examples=often(100), deadline=None)
@given(st.tuples(votes, votes, votes), st.lists(costs, min_size=1, max_size=4))
def test_votes_get_the_logarithms_of_costs_and_lose_them_exactly(base, decisions):
    rules = (Rule((), "x", 0.5), Rule((NumericCondition.below("a", 3),), "y", 1.5))
    plain = RuleSet(rules, ATTRIBUTES, ("x", "y", "z"), semantics="softmax-votes", base=base)
    ruleset = plain
    for decision in decisions:
        ruleset = ruleset.with_decision(decision)
    last = [decisions[-1].get(label, 1) for label in "xyz"]
    last = last if len(set(last)) > 1 else [1, 1, 1]
    np.testing.assert_allclose(ruleset.base, np.array(base) + np.log(last), atol=2**-40)
    rows = pd.DataFrame([dict.fromkeys("ab", 1.0) | dict.fromkeys(("colour", "size", "day"))])
    odds = plain.predict_proba(rows)[0] * last
    np.testing.assert_allclose(ruleset.predict_proba(rows)[0], odds / odds.sum(), atol=1e-9)
    back = ruleset.with_decision("accuracy")
    assert back == plain
    assert back.to_json() == plain.to_json()


def test_a_base_between_the_multiples_is_rounded_once():
    plain = RuleSet((), (), ("x", "y"), semantics="softmax-votes", base=(0.1, math.pi))
    careful = plain.with_decision({"x": 3})
    back = careful.with_decision("accuracy")
    np.testing.assert_allclose(back.base, plain.base, atol=2**-41)
    assert back.with_decision({"x": 3}) == careful
    assert plain.with_decision("accuracy") is plain


def test_balanced_costs_are_inverse_frequencies():
    assert TWO.with_decision("balanced").costs == (40 / 60, 40 / 20)
    never = replace(TWO, class_counts=(4.0, 0.0)).with_decision("balanced")
    assert never.costs == (0.5, 1.0)
    assert replace(TWO, class_counts=(3.0, 3.0)).with_decision("balanced").costs == ()
    assert TWO.with_decision({"no": 2, "yes": 2}).costs == ()
    weighted = replace(TWO, class_counts=(100.00000000000009, 99.99999999999977))
    assert weighted.with_decision("balanced").costs == ()
    numbered = replace(TWO, rules=(), classes=(0, 1))
    assert numbered.with_decision({1: 5}) == numbered.with_decision({"1": np.float32(5)})
    assert numbered.with_decision({1: 5}).costs == (1.0, 5.0)


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        ("fair", "^decision must be accuracy, balanced or a mapping .*, got 'fair'.$"),
        (None, "got None"),
        ({"maybe": 2}, "^decision names the class 'maybe', .*; the classes are 'no', 'yes'.$"),
        (
            {"no": 0},
            "^The cost of misclassifying 'no' must be a number from 1e-100 to 1e.100, got 0.$",
        ),
        ({"no": -1.5}, "got -1.5"),
        ({"no": math.inf}, "got inf"),
        ({"no": math.nan}, "got nan"),
        ({"no": "2"}, "got '2'"),
        ({"no": True}, "got True"),
        ({"no": 10**400}, "must be a number from"),
    ],
)
def test_invalid_decisions_are_refused(decision, message):
    with pytest.raises(ValueError, match=message):
        TWO.with_decision(decision)


def test_costs_must_fit_the_classes():
    for wrong in ((1.0,), (1.0, 2.0, 3.0)):
        with pytest.raises(ValueError, match="one cost per class without an order"):
            replace(TWO, costs=wrong)
    for wrong in ((1.0, 0.0), (-1.0, 1.0), (1.0, math.inf), (math.nan, 1.0)):
        with pytest.raises(ValueError, match="The costs must be numbers from 1e-100 to 1e"):
            replace(TWO, costs=wrong)
    with pytest.raises(ValueError, match="too far from 1"):
        replace(TWO, costs=(1e99, 1.0), class_counts=(1e300, 1.0))
    ordered = RuleSet((), (), ("low", "high"), semantics="at-least-class")
    number = RuleSet((), (), semantics="weighted-mean")
    for other in (ordered, number):
        with pytest.raises(ValueError, match="Only classes without an order have costs"):
            other.with_decision("balanced")
    with pytest.raises(ValueError, match="without an order"):
        replace(ordered, costs=(1.0, 2.0))


def test_files_without_costs_stay_as_they_are():
    assert "costs" not in TWO.to_dict()
    content = TWO.with_decision("balanced").to_dict()
    assert content.pop("costs") == [40 / 60, 2.0]
    assert content == TWO.to_dict()
    assert "rules" in json.loads(TWO.with_decision("balanced").to_json())


def test_rules_are_printed_with_their_costs():
    careful = TWO.with_decision({"yes": 2.125, "no": 0.7})
    line = "Decision: misclassifying no costs 0.7, yes 2.125"
    for shown in (str(careful), to_text(careful), to_markdown(careful), to_latex(careful)):
        assert shown.splitlines()[-1] == line
        assert shown.count("Decision") == 1
    assert "Decision" not in str(TWO) + to_markdown(TWO) + to_latex(TWO)


def test_derived_rule_sets_keep_their_costs():
    careful = TWO.with_decision({"yes": 3})
    table = [[1.0], [4.0], [5.0], [9.0]], ["no", "no", "yes", "yes"]
    for changed in (
        careful.without_rule(0),
        careful.with_rule(Rule((), "no", 0.1)),
        careful.with_changed_rule(0, weight=0.5),
        careful.with_statistics(*table),
        careful.hierarchy(*table).cut(2),
    ):
        assert changed.costs == (1.0, 3.0)
    # Its proofs are about the number of errors.
    assert frontier(careful, *table, sizes=[1]).points[0].ruleset.costs == ()


def test_an_explanation_counts_with_costs():
    row = {"a": 4.5}
    assert TWO.explain(row).decision == "no"
    found = TWO.with_decision({"yes": 3}).explain(row)
    assert found.decision == "yes"
    assert found.deciding.contribution == pytest.approx(0.3 * 0.8 * 3)
    assert found.scores == pytest.approx((0.9 * 0.375, 0.72))
    assert found.rivals[0].aim == "score as much as rule 2 does now (0.72)"
    # 0.9 (6 - x) / 4 = 3 * 0.8 (x - 3) / 5
    border = (0.9 * 6 / 4 + 2.4 * 3 / 5) / (0.9 / 4 + 2.4 / 5)
    assert found.change.proved
    assert found.change.cost == pytest.approx((4.5 - border) / 10, abs=1e-8)


def test_many_samples_are_decided_by_compiled_kernels_too(monkeypatch):
    careful = TWO.with_decision({"yes": 3})
    table = np.linspace(-3, 13, 400)[:, None]
    slow = careful.decide(table)
    assert slow._bulk is None
    monkeypatch.setattr(bulk, "WARM", 1)
    monkeypatch.setattr(bulk, "COLD", 1)
    fast = careful.decide(table)
    assert fast._bulk is not None
    for what in ("index", "scores", "probabilities", "deciding"):
        np.testing.assert_array_equal(getattr(fast, what), getattr(slow, what))


# ---------------------------------------------------------------- estimators


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RULE_LEARNERS)
def test_estimators_decide_by_costs(name):
    seeded = LEARNERS[name].make().get_params()
    few = {"random_state": 0} if "random_state" in seeded else {}
    few |= {"n_estimators": 3} if "n_estimators" in seeded else {}
    few |= {"max_rules": 5} if name == "additive" else {}  # "auto" depends on the decision
    plain = LEARNERS[name].make(**few)
    assert plain.decision == "accuracy"
    assert "Costs of misclassifying a sample of each class" in type(plain).__doc__
    careful = clone(plain).set_params(decision={"malignant": 1000})
    plain.fit(X, Y)
    careful.fit(X, Y)
    assert careful.ruleset_.costs == (1.0, 1000.0)
    assert careful.ruleset_.with_decision("accuracy") == plain.ruleset_
    seen, alarmed = ((model.predict(X) == "malignant").sum() for model in (plain, careful))
    # FRRI and MODLEM cover rows of one class only, with which costs have nothing to do.
    assert alarmed >= seen + (name not in {"frri", "frri-bags", "modlem"})
    shares = careful.predict_proba(X)
    assert (careful.classes_[shares.argmax(axis=1)] == careful.predict(X)).all()
    again = learner_of(careful.ruleset_)
    assert again.decision == {"malignant": 1000}
    with pytest.raises(ValueError, match="decision names the class 'bad'"):
        clone(plain).set_params(decision={"bad": 2}).fit(X, Y)


def test_ordinal_classifiers_and_regressors_have_no_decision():
    for task in ("ordinal", "regression"):
        for learner in TASKS[task].values():
            assert "decision" not in learner.make().get_params()


# ---------------------------------------------------------------- command line


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "cells.csv"
    X.assign(tumor=Y).to_csv(path, index=False)
    return path


def fit(table, *options):
    model = table.with_suffix(".json")
    done = main(["fit", str(table), "--target", "tumor", "-o", str(model), "--no-check", *options])
    return done, model


def test_the_command_line_takes_costs(table, capsys):
    done, model = fit(table, "--learner", "ripper", "--seed", "0", "--metric", "f1")
    assert done == 0
    balanced = RuleSet.load(model)
    assert balanced == balanced.with_decision("accuracy").with_decision("balanced")
    assert balanced.class_counts[0] == pytest.approx(balanced.class_counts[1])
    assert fit(table, "--learner", "additive", "--costs", "malignant=5, benign=0.5")[0] == 0
    assert RuleSet.load(model).costs == (0.5, 5.0)
    capsys.readouterr()
    assert main(["rules", str(model)]) == 0
    assert "Decision: misclassifying benign costs 0.5, malignant 5" in capsys.readouterr().out
    assert fit(table, "--costs", "malignant=5")[0] == 0
    assert RuleSet.load(model).costs == (1.0, 5.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--costs", "malignant"], "--costs: expected CLASS=COST,..., such as yes=5,no=1"),
        (["--costs", "malignant=much"], "--costs: expected CLASS=COST"),
        (["--costs", "malignant=2,malignant=3"], "--costs: expected CLASS=COST"),
        (["--metric", "cost"], "must come with costs"),
        (["--costs", "bad=2"], "decision names the class 'bad'"),
        (["--costs", "malignant=-2"], "The cost of misclassifying 'malignant' must be a number"),
        (["--metric", "fair"], "fair"),
        (["--metric", "f1", "--costs", "malignant=2"], "leave out --metric f1"),
        (["--costs", "malignant=2", "--task", "ordinal"], "leave out --task ordinal"),
        (["--metric", "f1", "--set", "decision=accuracy"], "given both by --metric or --costs and"),
    ],
)
def test_the_command_line_refuses_other_costs(table, capsys, options, message):
    try:
        done = fit(table, *options)[0]
    except SystemExit as error:
        done = error.code
    assert done == 2
    assert message in capsys.readouterr().err

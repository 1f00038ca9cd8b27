"""Limits on rules: comparison with the definition, and limits of every estimator."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine

import naive_limits
from frri import (
    AdditiveRulesClassifier,
    AdditiveRulesRegressor,
    FURIAClassifier,
    MODLEMClassifier,
    NumericCondition,
    QuickRulesClassifier,
    RIPPERClassifier,
    Rule,
    RuleSet,
)
from frri.learners.rule_limits import kept_rules
from frri.learners.training_table import TrainingTable
from frri.table.encode import describe_columns
from thorough import often

LEARNERS = [
    RIPPERClassifier(random_state=0),
    FURIAClassifier(random_state=0),
    MODLEMClassifier(),
    MODLEMClassifier(criterion="entropy"),
    QuickRulesClassifier(),
]


@st.composite
def cases(draw):
    """Return tables with ties, duplicates, contradictory rows, a constant column, one class, one row."""
    n = draw(st.integers(1, 10))
    values = np.array([[draw(st.sampled_from([-1e9, 0.0, 1.0, 2.5])), 7.0] for _ in range(n)])
    classes = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    kind = draw(st.sampled_from(["best", "sum", "first"]))
    bound = st.sampled_from([-1e9, 0.0, 0.5, 1.0, 3.0])
    rules = []
    for _ in range(draw(st.integers(0, 6))):
        low, width = draw(bound), draw(st.sampled_from([0.0, 1.0, 2.0]))
        conditions = (NumericCondition("a", low - width, low),) if draw(st.booleans()) else ()
        weight = draw(st.sampled_from([0.0, 0.25, 0.5, 1.0]))
        label = draw(st.integers(0, 2))
        shares = tuple(float(c == label) for c in range(3)) if kind == "first" else None
        rules.append(
            Rule(conditions, label, weight or 0.5 * (kind == "first"), distribution=shares)
        )
    units = draw(st.one_of(st.none(), st.lists(st.integers(1, 3), min_size=n, max_size=n)))
    table = TrainingTable(
        values,
        classes.astype(np.intp),
        (0, 1, 2),
        describe_columns(values, ["a", "b"]),
        "class",
        None if units is None else np.array(units, dtype=float),
    )
    ruleset = RuleSet(tuple(rules), table.attributes, (0, 1, 2), combination=kind)
    return ruleset, table, kind


@settings(max_examples=often(150), deadline=None)
@given(cases(), st.one_of(st.none(), st.integers(1, 4)), st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_remaining_rules_agree_with_the_definition(case, max_rules, min_support):
    ruleset, table, kind = case
    last = len(ruleset) - 1
    default = last if kind == "first" and last >= 0 and not ruleset[last].conditions else None
    expected = naive_limits.kept(
        ruleset.decide(table.encoded).degrees.tolist(),
        [rule.weight for rule in ruleset],
        [rule.consequent for rule in ruleset],
        table.classes.tolist(),
        [1] * len(table.classes) if table.weights is None else table.weights.tolist(),
        kind,
        max_rules,
        min_support,
        default,
    )
    assert kept_rules(ruleset, table, max_rules, min_support) == expected


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_every_learner_stays_within_its_limits(learner):
    X, y = load_wine(return_X_y=True, as_frame=True)
    X, y = X.iloc[::2, :5], y[::2]
    learner.set_params(max_rules=None, max_conditions=None, min_support=0.0)
    free = learner.fit(X, y).ruleset_
    loose = learner.set_params(max_rules=1000, max_conditions=1000).fit(X, y).ruleset_
    assert loose.rules == free.rules
    learner.set_params(max_rules=3, max_conditions=2)
    few = learner.fit(X, y).ruleset_
    assert len(few) <= 3
    assert all(len(rule.conditions) <= 2 for rule in few)
    assert learner.predict_proba(X).shape == (len(y), 3)
    learner.set_params(max_rules=None, max_conditions=None, min_support=0.6)
    broad = learner.fit(X, y).ruleset_
    default = broad[-1:] if isinstance(learner, RIPPERClassifier) else ()
    assert broad == broad.with_statistics(X, y)
    for rule in broad:
        c = broad.classes.index(rule.consequent)
        covered = rule.statistics.support[c]
        assert covered >= 0.6 * broad.class_counts[c] or rule in default
    assert len(broad) < len(free) or len(free) == 3


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_limits_that_leave_nothing_leave_the_fallback(learner):
    rng = np.random.default_rng(0)
    X, y = rng.random((30, 2)), rng.integers(0, 2, 30)
    learner.set_params(max_rules=None, max_conditions=None, min_support=1.0).fit(X, y)
    assert len(learner.ruleset_) <= 2
    assert set(learner.predict(X)) <= {0, 1}
    learner.set_params(max_rules=1, min_support=0.0).fit(X, y)
    assert len(learner.ruleset_) == 1


def test_additive_rules_cover_enough():
    X, y = load_iris(return_X_y=True)
    free = AdditiveRulesClassifier(max_rules=4).fit(X, y).ruleset_
    broad = AdditiveRulesClassifier(max_rules=4, min_support=0.3).fit(X, y).ruleset_
    covered = [rules.decide(X).degrees.mean(axis=0).min() for rules in (free, broad)]
    assert covered[0] < 0.3 <= covered[1]
    numbers = AdditiveRulesRegressor(min_support=0.4).fit(X[:, :3], X[:, 3]).ruleset_
    assert len(numbers)
    assert numbers.decide(X[:, :3]).degrees.mean(axis=0).min() >= 0.4
    with pytest.raises(ValueError, match="min_support must be a fraction from 0 to 1, got 2"):
        AdditiveRulesClassifier(min_support=2).fit(X, y)


def test_a_list_keeps_its_default():
    X, y = load_iris(return_X_y=True)
    ripper = RIPPERClassifier(random_state=0, max_rules=2).fit(X, y)
    first, default = ripper.ruleset_
    assert first.conditions
    assert not default.conditions
    assert sum(default.distribution) == pytest.approx(1.0)
    left = y[~(ripper.ruleset_.decide(X).degrees[:, 0] > 0)]
    shares = np.bincount(left, minlength=3) / len(left)
    assert default.distribution == pytest.approx(shares)


def test_sample_weights_count_in_accuracy():
    X = np.array([[float(i)] for i in range(12)])
    y = np.array([0] * 9 + [1] * 3)
    plain = MODLEMClassifier(max_rules=1).fit(X, y).ruleset_
    heavy = MODLEMClassifier(max_rules=1).fit(X, y, np.where(y == 1, 9.0, 1.0)).ruleset_
    assert [rule.consequent for rule in plain] == [0]
    assert [rule.consequent for rule in heavy] == [1]


@pytest.mark.parametrize("learner", LEARNERS[1:4], ids=repr)
@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"max_rules": 0}, "max_rules must be an integer from 1 on, got 0"),
        ({"max_conditions": 1.5}, "max_conditions must be an integer from 1 on, got 1.5"),
        ({"min_support": 2}, "min_support must be a fraction from 0 to 1, got 2"),
    ],
)
def test_wrong_limits_get_one_sentence(learner, limits, sentence):
    with warnings.catch_warnings(), pytest.raises(ValueError, match=sentence):
        type(learner)(**limits).fit([[1.0], [2.0]], [0, 1])

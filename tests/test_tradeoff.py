"""The frontier of a pool of rules: compared with brute force, and its use."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from frri import (
    AdditiveRulesClassifier,
    AdditiveRulesRegressor,
    Attribute,
    FRRIClassifier,
    FURIAClassifier,
    NumericCondition,
    RIPPERClassifier,
    Rule,
    RuleSet,
    frontier,
    tree_rules,
)
from thorough import often


@st.composite
def pools(draw):
    """Return rules with slopes and a table, both with few distinct values."""
    value = st.integers(0, 4).map(float)
    rules = []
    for _ in range(draw(st.integers(1, 5))):
        ends = sorted(draw(st.lists(value, min_size=4, max_size=4)))
        rules.append(Rule((NumericCondition("a", *ends),), draw(st.sampled_from("pqr"))))
    rows = draw(st.lists(st.tuples(value, st.sampled_from("pqr")), min_size=1, max_size=9))
    X, y = [[x] for x, _ in rows], [label for _, label in rows]
    return RuleSet(tuple(rules), (Attribute("a", 0, 4),), ("p", "q", "r")), X, y


@settings(max_examples=often(80), deadline=None)
@given(pools())
def test_no_rules_of_the_pool_make_fewer_errors(pool):
    rules, X, y = pool
    found = frontier(rules, X, y, sizes=[1, 3], time_limit=None)
    made = {}
    for size in (0, 1, 2, 3):
        for chosen in combinations(found.pool.rules, size):
            # The semantics in one line: the best rule decides, else the majority class.
            one = RuleSet(
                chosen,
                rules.attributes,
                rules.classes,
                fallback="priors",
                class_counts=found.pool.class_counts,
            )
            wrong = int((one.predict(X) != np.array(y)).sum())
            made[size] = min(made.get(size, len(y)), wrong)
    for point in found.points:
        assert point.proved
        assert point.errors == min(made[k] for k in made if k <= point.at_most)
        assert point.errors == (point.ruleset.predict(X) != np.array(y)).sum()
        assert len(point.ruleset) <= point.at_most


@settings(max_examples=often(60), deadline=None)
@given(pools())
def test_rules_are_weighted_by_shrunken_precision(pool):
    rules, X, y = pool
    found = frontier(rules, X, y, sizes=[1], time_limit=0)
    assert len({(r.conditions, r.consequent) for r in rules}) == len(found.pool)
    for rule in found.pool:
        one = [label for x, label in zip(X, y, strict=True) if rule.conditions[0].membership(x)[0]]
        assert rule.weight == (one.count(rule.consequent) + 1) / (len(one) + 3)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


def test_pools_of_several_learners(iris):
    X, y = iris
    pool = [
        RIPPERClassifier(random_state=0).fit(X, y).ruleset_,
        FURIAClassifier().fit(X, y).ruleset_,
    ]
    forest = RandomForestClassifier(10, max_depth=2, random_state=0).fit(X, y)
    found = frontier([*pool, tree_rules(forest, X, y)], X, y, sizes=[1, 2, 3])
    assert [point.proved for point in found.points] == [True] * 3
    assert found[3].errors <= 6
    assert found[3].ruleset.score(X, y) == pytest.approx(1 - found[3].errors / 150)
    assert found[3].ruleset.about["frontier"] == found[3].certificate
    assert "frontier" not in found[3].ruleset.without_rule(0).about
    assert found.to_frame()["errors"].tolist() == [point.errors for point in found.points]
    assert str(found).splitlines()[3] == found[3].certificate
    with pytest.raises(KeyError, match="no point for 7 rules; there are 1, 2, 3"):
        found[7]


def test_the_rules_that_frri_chose_from(iris):
    X, y = iris
    learner = FRRIClassifier().fit(X, y)
    pool = learner.candidate_rules(X, y)
    assert len(pool) == (learner.confidence_ > 1e-6).sum()
    by_object = {rule.source: rule for rule in pool}
    for rule in learner.ruleset_:
        assert by_object[rule.source] == replace(rule, statistics=None)
    # No rule covers an object of another class, so further rules never harm, and the selected ones cover all objects.
    sizes = [2, len(learner.ruleset_)]
    found = frontier(pool, X, y, sizes=sizes, time_limit=0)
    uncovered = len(learner.uncovered_)
    assert found[sizes[-1]].errors <= uncovered + 2
    with pytest.raises(ValueError, match="fitted to 150 rows, but these are 100"):
        learner.candidate_rules(X[:100], y[:100])


def test_rules_that_vote_are_rules(iris):
    X, y = iris
    found = frontier(AdditiveRulesClassifier(max_rules=8).fit(X, y).ruleset_, X, y, sizes=[3])
    assert found.pool.t_norm == "product"
    assert found[3].ruleset.score(X, y) == pytest.approx(1 - found[3].errors / 150)


def test_unproven_results_are_reported(iris):
    X, y = iris
    pool = tree_rules(RandomForestClassifier(10, random_state=0).fit(X, y), X, y)
    (point,) = frontier(pool, X, y, sizes=[2], time_limit=0).points
    assert point.bound == 0 < point.errors
    known = f"At most 2 rules of {len(pool)}: {point.errors} errors"
    assert point.certificate == f"{known} (no lower bound within the time limit)."
    nearly = replace(point, bound=point.errors - 1)
    assert nearly.certificate == f"{known} (proven lower bound {point.errors - 1})."


def test_leaves_decide_as_their_tree():
    X, y = load_wine(return_X_y=True)
    y = np.array(["a", "b", "c"])[y]
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    rules = tree_rules(tree, X, y)
    assert len(rules) == tree.get_n_leaves()
    assert (rules.predict(X) == tree.predict(X)).all()
    assert (rules.covers(X).sum(axis=1) == 1).all()


def test_bad_requests_get_one_sentence(iris):
    X, y = iris
    rules = RIPPERClassifier(random_state=0).fit(X, y).ruleset_
    numbers = AdditiveRulesRegressor(max_rules=2).fit(X, y).ruleset_
    other = RIPPERClassifier(random_state=0).fit(X.iloc[:, 2:], y).ruleset_
    with pytest.raises(ValueError, match="A pool of rules cannot express the semantics"):
        frontier(numbers, X, y)
    with pytest.raises(ValueError, match="must have the same attributes"):
        frontier([rules, other], X, y)
    with pytest.raises(ValueError, match="The pool is empty"):
        frontier([], X, y)
    with pytest.raises(ValueError, match=r"sizes must be numbers of rules from 1 on, got \[0, 2\]"):
        frontier(rules, X, y, sizes=[2, 0])
    with pytest.raises(ValueError, match="time_limit must be a number of seconds"):
        frontier(rules, X, y, time_limit=-1)
    with pytest.raises(ValueError, match="RIPPERClassifier has no leaves"):
        tree_rules(RIPPERClassifier(), X, y)

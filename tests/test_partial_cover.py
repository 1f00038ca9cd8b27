"""Partial covers: compared with brute force, with limits, interrupted, and in the estimator."""

import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine

import naive
from frri import FRRIClassifier, RuleSet
from frri.cover import CoverMatrix, partial_cover
from thorough import often


@st.composite
def problems(draw):
    """Return candidates of one or two groups on separate objects, with many ties and duplicates."""
    n_objects = draw(st.integers(1, 8))
    n_candidates = draw(st.integers(1, 7))
    groups = draw(st.lists(st.integers(0, 1), min_size=n_candidates, max_size=n_candidates))
    owner = draw(st.lists(st.integers(0, 1), min_size=n_objects, max_size=n_objects))
    cells = st.lists(st.booleans(), min_size=n_objects, max_size=n_objects)
    rows = [draw(cells) for _ in range(n_candidates)]
    table = np.array(
        [
            [c and owner[v] == g for v, c in enumerate(row)]
            for row, g in zip(rows, groups, strict=True)
        ]
    )
    prices = draw(st.lists(st.integers(0, 3), min_size=n_candidates, max_size=n_candidates))
    return table, prices, groups


# The greedy choice needs both, although one is enough.
TWO_OF_THREE = np.array([[1, 1, 1, 0], [0, 0, 1, 1]], dtype=bool)


@given(
    problems(),
    st.none() | st.integers(1, 4),
    st.none() | st.lists(st.integers(0, 3), min_size=2, max_size=2),
)
@example((TWO_OF_THREE, [2, 0], [0, 0]), 1, [1, 0])
@settings(max_examples=often(120))
def test_no_choice_has_a_higher_objective(problem, at_most, left_out):
    table, prices, groups = problem
    expected = naive.partial_cover(table.tolist(), prices, groups, at_most, left_out)
    if expected is None:  # too few candidates for the required coverage: nothing to compare
        return
    found = partial_cover(
        CoverMatrix.from_dense(table),
        prices,
        groups,
        at_most=at_most,
        left_out=left_out,
        work_limit=60_000,
    )
    assert found.worth == found.bound == expected
    assert found.status == "optimal"
    covered = table[found.selected].any(axis=0)
    assert found.n_covered == covered.sum()
    assert found.worth == covered.sum() - sum(prices[j] for j in found.selected)
    useful = {g for g, row in zip(groups, table, strict=True) if row.any()}
    assert {groups[j] for j in found.selected} == useful


def hard():
    random = np.random.default_rng(0)
    return CoverMatrix.from_dense(random.random((60, 120)) < 0.07)


@pytest.mark.parametrize("limits", [{"work_limit": 0}, {"work_limit": 60_000, "time_limit": 0.0}])
def test_an_interrupted_search_reports_its_optimality_gap(limits):
    covers = hard()
    found = partial_cover(covers, np.full(60, 4), np.zeros(60), **limits)
    assert found.worth <= found.bound
    assert found.n_covered == len(np.flatnonzero(covers.to_dense()[found.selected].any(axis=0)))
    if found.status == "feasible":
        assert found.stopped_by in {"effort", "time"}
        assert found.worth < found.bound


def test_the_greedy_choice_respects_the_limits(monkeypatch):
    """The solver has a time limit of 0."""
    nothing = type(
        "Answer", (), {"x": None, "status": 1, "mip_node_count": None, "mip_dual_bound": None}
    )
    monkeypatch.setitem(partial_cover.__globals__, "milp", lambda *_, **__: nothing)
    covers, groups = hard(), np.repeat([0, 1], 30)
    few = partial_cover(covers, np.zeros(60), np.zeros(60), at_most=5, work_limit=1, time_limit=1)
    assert len(few) == 5
    assert (few.status, few.stopped_by, few.bound) == ("feasible", "time", few.bound)
    apart = covers.to_dense()
    apart[:30, 60:], apart[30:, :60] = False, False
    enough = partial_cover(
        CoverMatrix.from_dense(apart), np.full(60, 121), groups, left_out=[10, 0], work_limit=1
    )
    covered = apart[enough.selected].any(axis=0)
    assert covered[:60].sum() >= apart[:, :60].any(axis=0).sum() - 10
    assert covered[60:].sum() == apart[:, 60:].any(axis=0).sum()


# --- in the estimator


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


def test_each_rule_newly_covers_its_fraction(wine):
    X, y = wine
    clf = FRRIClassifier(min_new_coverage=0.05).fit(X, y)
    assert clf.selection_.status == "optimal"
    assert clf.selection_.n_rules < FRRIClassifier().fit(X, y).selection_.n_rules
    for rule in clf.ruleset_:
        size = (y == rule.consequent).sum()
        assert rule.statistics.alone >= 0.05 * size
    assert clf.selection_.n_covered == len(X) - len(clf.uncovered_)
    assert "newly covers 5% of its class" in clf.selection_.claim


def test_no_three_rules_cover_more(wine):
    X, y = wine
    clf = FRRIClassifier(max_rules=3).fit(X, y)
    assert [rule.consequent for rule in clf.ruleset_] == [0, 1, 2]
    full = FRRIClassifier().fit(X, y)
    broadest = [
        max(sum(r.statistics.support) for r in full.ruleset_ if r.consequent == c)
        for c in (0, 1, 2)
    ]
    assert clf.selection_.n_covered >= sum(broadest)
    assert (clf.selection_.status, clf.selection_.worth) == ("optimal", clf.selection_.bound)


def test_the_minimum_number_that_covers_a_fraction(wine):
    X, y = wine
    clf = FRRIClassifier(coverage=0.8).fit(X, y)
    covered = np.setdiff1d(np.arange(len(X)), clf.uncovered_)
    assert (np.bincount(y[covered]) >= 0.8 * np.bincount(y)).all()
    assert clf.selection_.lower_bound == clf.selection_.n_rules < 8


def test_limits_on_candidates():
    X, y = load_iris(return_X_y=True)
    short = FRRIClassifier(max_conditions=1).fit(X, y)
    assert {len(rule.conditions) for rule in short.ruleset_} == {1}
    broad = FRRIClassifier(min_support=0.3).fit(X, y)
    assert min(sum(rule.statistics.support) for rule in broad.ruleset_) >= 0.3 * 50
    assert len(broad.uncovered_)


def test_a_limit_below_the_number_of_classes_keeps_a_rule_of_each(wine):
    with pytest.warns(UserWarning, match="max_rules is 1, but there is at least one rule for each"):
        assert len(FRRIClassifier(max_rules=1).fit(*wine).ruleset_) == 3


def test_rows_left_out_on_purpose_are_no_reason_to_warn(wine):
    X, y = wine
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FRRIClassifier(min_new_coverage=0.1).fit(X, y)


def test_an_interrupted_search_is_reported(wine, monkeypatch):
    solve = partial_cover.__globals__["milp"]

    def unproved(*given, **options):
        answer = solve(*given, **options)
        answer.mip_dual_bound, answer.status = answer.mip_dual_bound - 2, 1
        return answer

    monkeypatch.setitem(partial_cover.__globals__, "milp", unproved)
    with pytest.warns(
        UserWarning, match=r"not proven optimal: they are worth \d+, at most \d+ is possible"
    ):
        clf = FRRIClassifier(min_new_coverage=0.05).fit(*wine)
    assert clf.selection_.status == "feasible"
    assert clf.selection_.stopped_by == "effort"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_new_coverage": 1.5}, "min_new_coverage must be a fraction from 0 to 1, got 1.5"),
        ({"coverage": -1}, "coverage must be a fraction from 0 to 1, got -1"),
        ({"max_rules": 0}, "max_rules must be"),
        ({"coverage": 0.9, "max_rules": 3}, "coverage and max_rules contradict each other"),
        (
            {"coverage": 0.9, "min_new_coverage": 0.1},
            "coverage and min_new_coverage contradict each other",
        ),
    ],
)
def test_limits_that_make_no_sense(parameters, message):
    with pytest.raises(ValueError, match=message):
        FRRIClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_the_claim_is_saved_in_the_file(wine, tmp_path):
    clf = FRRIClassifier(max_rules=4).fit(*wine)
    clf.ruleset_.save(tmp_path / "rules.json")
    assert (
        RuleSet.load(tmp_path / "rules.json").about["selection"]["claim"] == "those that cover most"
    )

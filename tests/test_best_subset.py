"""Minimum number of errors of competing candidates, compared with brute force."""

from itertools import combinations
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_best_subset
from frri.pareto import best_subset, matching_bound
from frri.pareto.best_subset import find_best_subsets
from thorough import often

SIZES = [1, 2, 4]


@st.composite
def contests(draw):
    """Return few distinct scores, so that there are ties, duplicates and contradictory objects."""
    r, n = draw(st.integers(0, 9)), draw(st.integers(1, 14))
    score = st.sampled_from([0.0, -1.0, 0.2, 0.5, 0.5000000001, 1e-300, 1e300])
    scores = draw(
        st.lists(st.lists(score, min_size=n, max_size=n), min_size=r, max_size=r),
    )
    consequents = draw(st.lists(st.integers(0, 2), min_size=r, max_size=r))
    classes = draw(st.lists(st.integers(0, draw(st.integers(0, 2))), min_size=n, max_size=n))
    return scores, consequents, classes, draw(st.integers(-1, 2))


def solved(contest, **options):
    scores, consequents, classes, default = contest
    table = np.array(scores, dtype=float).reshape(len(consequents), len(classes))
    consequents = np.array(consequents, dtype=int)
    return find_best_subsets(
        table, consequents, np.array(classes), SIZES, default=default, **options
    )


@settings(max_examples=often(120), deadline=None)
@given(contests(), st.sampled_from([0, 10_000]))
def test_no_choice_has_fewer_errors(contest, few):
    scores, consequents, classes, default = contest
    with patch.object(best_subset, "BLOCK", 1), patch.object(best_subset, "FEW", few):
        found = solved(contest)
    for size, choice in zip(SIZES, found, strict=True):
        assert choice.errors == choice.bound
        assert len(choice.selected) <= size
        assert choice.errors == naive_best_subset.fewest(
            scores, consequents, classes, size, default
        )
        n_errors = naive_best_subset.errors(
            scores, consequents, classes, choice.selected.tolist(), default
        )
        assert choice.errors == n_errors


@settings(max_examples=often(80), deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 3), st.integers(2, 6))
def test_larger_pools(seed, n_classes, n_scores):
    """Compare pools of many rules and objects, in which most choices are pruned."""
    random = np.random.default_rng(seed)
    scores = random.integers(0, n_scores, (14, 20)) * (random.random((14, 20)) < 0.5)
    consequents, classes = random.integers(0, n_classes, 14), random.integers(0, n_classes, 20)
    (choice,) = find_best_subsets(scores, consequents, classes, [3], default=0)
    table = scores.tolist(), consequents.tolist(), classes.tolist()
    assert choice.errors == choice.bound == naive_best_subset.fewest(*table, 3, 0)


class Clock:
    """A clock that advances by one second per call."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        self.now += 1.0
        return self.now


@settings(max_examples=often(120), deadline=None)
@given(contests(), st.sampled_from([0.0, 20.0, 60.0, 200.0]))
def test_unproven_results_have_a_bound(contest, seconds):
    scores, consequents, classes, default = contest
    clock = Clock()
    with (
        patch.object(best_subset, "time", clock),
        patch.object(matching_bound, "time", clock),
        patch.object(best_subset, "SHORT", 3),
        patch.object(best_subset, "FEW", 0),
    ):
        found = solved(contest, time_limit=seconds)
    for size, choice in zip(SIZES, found, strict=True):
        fewest = naive_best_subset.fewest(scores, consequents, classes, size, default)
        assert choice.bound <= fewest <= choice.errors
        n_errors = naive_best_subset.errors(
            scores, consequents, classes, choice.selected.tolist(), default
        )
        assert choice.errors == n_errors
    assert [c.errors for c in found] == sorted((c.errors for c in found), reverse=True)
    assert [c.bound for c in found] == sorted((c.bound for c in found), reverse=True)


@settings(max_examples=often(120), deadline=None)
@given(contests(), st.integers(1, 3), st.integers(1, 5), st.data())
def test_cuts_hold_for_all_choices(contest, at_most, weight, data):
    """Cuts for any x, single and averaged, do not exclude a better choice."""
    scores, consequents, classes, default = contest
    table = np.array(scores, dtype=float).reshape(len(consequents), len(classes))
    weights = np.array([1.0 + i % weight for i in range(len(classes))])
    one = best_subset.LevelTable(
        table, np.array(consequents, dtype=int), np.array(classes), default, weights
    )
    shares = st.lists(st.sampled_from([0.0, 0.002, 1 / 3, 0.5, 1.0]), min_size=9, max_size=9)
    with patch.object(matching_bound, "EVENTS", data.draw(st.sampled_from([1, 4, 1200]))):
        cuts = [
            matching_bound.MatchingBound(one.levels, one.start, one.counts).make_cut(
                np.array(data.draw(shares)[: len(consequents)]), size
            )
            for size in (at_most, at_most + 1)
        ]
    mean = matching_bound.average_cuts(
        cuts, np.array([data.draw(st.sampled_from([0.0, 0.3, 1.0])), 0.7])
    )
    assert mean.at_most == at_most or mean.gains.tolist() == cuts[1].gains.tolist()
    choices = [c for k in range(at_most + 1) for c in combinations(range(len(consequents)), k)]
    fewest = min(one.errors(list(choice)) for choice in choices)
    assert all(cut.bound(at_most) <= fewest for cut in (*cuts, mean))
    for choice in choices:
        errors = one.errors(list(choice))
        for cut in (*cuts, mean):
            assert errors >= cut.constant - cut.gains[list(choice)].sum()
            assert cut.possible(at_most, errors + 1)[list(choice)].all()


def test_matching_bounds_are_tighter_than_relaxations():
    """No candidate separates two objects: half of a candidate does not correct one at half the cost."""
    classes = [0, 1] * 6
    scores = np.kron(np.eye(6), np.ones((1, 2)))
    contest = best_subset.LevelTable(scores, np.ones(6, int), np.array(classes), 0, np.ones(12))
    bound = matching_bound.MatchingBound(contest.levels, contest.start, contest.counts)
    cut, _ = bound.ascend([0], 6, 3, np.inf)
    assert cut.bound(3) == 6

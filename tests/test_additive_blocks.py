"""Additive rules of large tables: blocks of samples, compared with the reference implementation."""

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import naive_additive as naive
from frri.learners.additive import blocks as blocks_module
from frri.learners.additive.blocks import SampleBlocks, SummingBlock, VotingBlock
from frri.learners.additive.classifier import AdditiveRulesClassifier
from frri.learners.additive.columns import SoftColumns
from frri.learners.additive.regressor import AdditiveRulesOrdinalClassifier, AdditiveRulesRegressor
from test_additive import WIDTH, attributes_of, exact, induction, last, listed, tables


def blocks_of(kind, columns, size, **objects):
    with patch.object(blocks_module, "BLOCK", size):
        return SampleBlocks.of(kind, columns, **objects)


def naive_search(values, nominal, weights, penalty, squared=False):
    columns = [[None if np.isnan(x) else x for x in column] for column in values.T.tolist()]
    return naive.Search(columns, nominal, weights.tolist(), penalty, WIDTH, 3, squared)


# ---------------------------------------------------------------- naive twins


def with_mirrored_categories():
    """Return classes such that rules on both categories of the last column have the same gain.

    The gain minus the price is 1/47 of the gain, and therefore less exact.
    """
    rows = ["011", "010", "111", "000", "101", "011", "110", "100"]
    values = np.array([[float(code) for code in row] for row in rows])
    weights = np.array([2.0, 3.0, 2.0, 3.0, 2.0, 3.0, 2.0, 1.0])
    rng = np.random.default_rng(320)  # draws the classes 0, 1, 0, 1, 0, 0, 1, 1
    return values, np.ones(3, dtype=bool), weights, rng


@settings(max_examples=10, deadline=None)
@example(with_mirrored_categories(), 1, 2)
@given(tables(n_max=12), st.integers(1, 7), st.integers(2, 3))
def test_votes_from_blocks_are_those_of_the_naive_induction(table, size, n_classes):
    values, nominal, weights, rng = table
    classes, least = rng.integers(0, n_classes, len(values)), rng.choice([0.0, 0.4])
    columns = SoftColumns.of(values, attributes_of(nominal), weights, WIDTH)
    objects = {"weights": weights, "classes": classes, "loss_weights": weights}
    blocks = blocks_of(VotingBlock, columns, size, **objects)
    least_cover = least * weights.sum() * (1 - 1e-9)
    options = {"least_cover": least_cover, "n_scores": 1 if n_classes == 2 else n_classes}
    fast = induction(columns, blocks, weights.sum(), 8 / 3, **options)
    slow = naive_search(values, nominal, weights, 8 / 3)
    twin = naive.Softmax(classes.tolist(), n_classes, weights.tolist(), 8 / 3, 0.3)

    def enough(rule):
        return (weights * np.array(slow.degree(rule))).sum() >= least_cover

    with exact():
        found = last(fast.path(5), fast)
        rules, fitted = naive.induce(slow, twin, 5, enough)
    assert listed(fast, found) == rules
    np.testing.assert_allclose(found.weights[:, :-1], fitted["weights"][:, :-1], atol=1e-5)


@settings(max_examples=10, deadline=None)
@given(tables(n_max=12), st.integers(1, 7), st.booleans())
def test_sums_from_blocks_are_those_of_the_naive_induction(table, size, directed):
    values, nominal, weights, rng = table
    target = rng.normal(size=len(values))
    columns = SoftColumns.of(values, attributes_of(nominal), weights, WIDTH)
    blocks = blocks_of(SummingBlock, columns, size, weights=weights, target=target)
    up = np.ones((values.shape[1], 2), dtype=bool)
    up[0] = False, True
    allowed = {1: up, -1: up[:, ::-1]} if directed else None
    sides = {1: {0: [">="]}, -1: {0: ["<="]}} if directed else None
    options = {"n_scores": 1, "least_gain": 0.05, "allowed": allowed, "squared": True}
    fast = induction(columns, blocks, weights.sum(), 1.0, **options)
    found = last(fast.path(5), fast)
    twin = naive.Squares(target.tolist(), weights.tolist(), 1.0, 0.05, sides)
    slow = naive_search(values, nominal, weights, 1.0, squared=True)
    rules, fitted = naive.induce(slow, twin, 5)
    assert listed(fast, found) == rules
    np.testing.assert_allclose(found.weights, fitted["weights"], rtol=1e-6, atol=1e-9)


# ---------------------------------------------------------------- any number of threads


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(0)
    n = 400
    frame = pd.DataFrame(
        {
            "dose": rng.normal(size=n),
            "age": rng.integers(20, 60, n).astype(float),
            "colour": rng.choice(["red", "green", "blue"], n),
            "same": 1.0,
        }
    )
    score = frame["dose"] + (frame["colour"] == "red") - frame["age"] / 40 + rng.normal(size=n) / 2
    frame.loc[rng.random(n) < 0.1, ["dose", "colour"]] = None
    return frame, score.to_numpy(), rng.integers(0, 3, n)


@pytest.mark.parametrize("missing", ["typical", "fails"])
def test_large_tables_have_the_rules_of_small_ones(mixed, missing):
    """Missing values, categories, weights and monotone features: the same rules in both implementations."""
    frame, score, weights = mixed
    options = {
        "max_rules": 5,
        "missing": missing,
        "monotonic_cst": {"dose": 1},
        "min_support": 0.05,
    }
    for learner, y in (
        (AdditiveRulesClassifier(**options), score > 0),
        (AdditiveRulesRegressor(**options), score),
        (AdditiveRulesOrdinalClassifier(**options), np.digitize(score, [-1, 0])),
    ):
        whole = clone(learner).fit(frame, y, sample_weight=weights).ruleset_
        with patch.object(blocks_module, "BLOCK", 64):
            parts = [
                clone(learner).set_params(n_jobs=jobs).fit(frame, y, sample_weight=weights).ruleset_
                for jobs in (1, 3)
            ]
        assert parts[0].rules == parts[1].rules  # to the last bit
        assert str(parts[0]) == str(whole)
        np.testing.assert_allclose(parts[0].base, whole.base, rtol=1e-6)
        assert [r.statistics for r in parts[0]] == [r.statistics for r in whole]


def test_sizes_are_measured_in_blocks_too(mixed):
    frame, score, _ = mixed
    learner = AdditiveRulesClassifier(n_jobs=1)
    whole = clone(learner).fit(frame[:150], score[:150] > 0)
    with patch.object(blocks_module, "BLOCK", 100):
        parts = learner.fit(frame[:150], score[:150] > 0)
    assert parts.path_.sizes == whole.path_.sizes
    np.testing.assert_allclose(parts.path_.scores, whole.path_.scores)
    assert str(parts.ruleset_) == str(whole.ruleset_)

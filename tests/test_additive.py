"""Additive rules: naive twins, contract, figures."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_additive as naive
from frri._twins import compiled
from frri.learners.additive import _bin_kernels as kernels
from frri.learners.additive import _columns as columns_module
from frri.learners.additive._columns import AT_LEAST, AT_MOST, ONE_OF, SoftColumns, midpoints
from frri.learners.additive._growing import Pull, Search
from frri.learners.additive._induction import Induction
from frri.learners.additive._losses import SoftmaxLoss, SquaredLoss
from frri.table import Attribute

WIDTH = 0.48
SIDES = {AT_MOST: "<=", AT_LEAST: ">="}


# ---------------------------------------------------------------- tables


@st.composite
def tables(draw, n_max=24):
    """Values with ties, duplicates, constant columns, gaps, categories and extreme scales; weights."""
    n, m = draw(st.integers(1, n_max)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = rng.integers(0, draw(st.integers(1, 9)), (n, m)).astype(float)
    smooth = rng.random(m) < 0.4
    values[:, smooth] += rng.normal(size=(n, smooth.sum()))
    nominal = (rng.random(m) < 0.3) & ~smooth
    for j in np.flatnonzero(~nominal):
        values[:, j] *= 10.0 ** draw(st.integers(-9, 9))
        values[:, j] += draw(st.sampled_from([0.0, 0.0, 1e3, -1e-3]))
    if m > 1 and draw(st.booleans()):
        values[:, 0], nominal[0] = values[:, -1], nominal[-1]
    if draw(st.booleans()):
        values[rng.random((n, m)) < 0.2] = np.nan
    weights = rng.integers(1, 4, n).astype(float) if draw(st.booleans()) else np.ones(n)
    return values, nominal, weights, rng


def attributes_of(values, nominal):
    return [
        Attribute(f"a{j}", categories=tuple(str(c) for c in range(9))) if named else Attribute(f"a{j}")
        for j, named in enumerate(nominal)
    ]


def both_searches(values, nominal, weights, penalty, max_conditions=3, centred=False):
    columns = SoftColumns.of(values, attributes_of(values, nominal), weights, WIDTH)
    listed = [[None if np.isnan(x) else x for x in column] for column in values.T.tolist()]
    fast = Search(columns, weights, penalty, centred, max_conditions)
    slow = naive.Search(
        listed, nominal, weights.tolist(), penalty, WIDTH, max_conditions, centred
    )
    return fast, slow


def as_naive(columns, test):
    if test.side == ONE_OF:
        return test.attribute, "in", frozenset(map(float, test.categories))
    k = columns.ordered.tolist().index(test.attribute)
    return test.attribute, SIDES[test.side], float(columns.cuts[k, test.which])


# ---------------------------------------------------------------- naive twins, piece by piece


@settings(max_examples=60, deadline=None)
@given(tables())
def test_the_scan_is_brute_force(table):
    values, nominal, weights, rng = table
    fast, slow = both_searches(values, nominal, weights, 1.0)
    g, h = rng.normal(size=len(values)), rng.random(len(values))
    mu = rng.random(len(values)) * (rng.random(len(values)) < 0.7)
    columns = fast.columns
    G, H, M = columns.scan(g * mu, h * mu * mu, weights * mu)
    for k, j in enumerate(columns.ordered.tolist()):
        assert slow.half[j] == pytest.approx(columns.halves[k], rel=1e-9)
        n_cuts = len(slow.thresholds[j])
        assert columns.cuts[k, :n_cuts].tolist() == slow.thresholds[j]
        assert np.isnan(columns.cuts[k, n_cuts:]).all()
        for t, cut in enumerate(slow.thresholds[j]):
            for side, sign in SIDES.items():
                ramp = [naive.membership((j, sign, cut), x, slow.half) for x in slow.rows]
                degree = mu * ramp
                scale = 1e-9 * (1e-300 + np.abs(g * mu).sum())
                assert G[k, t, side] == pytest.approx(sum(g * degree), abs=scale)
                assert H[k, t, side] == pytest.approx(sum(h * degree**2), abs=1e-9 * sum(h * mu**2))
                assert M[k, t, side] == pytest.approx(
                    sum(weights * degree), abs=1e-9 * sum(weights * mu)
                )


@settings(max_examples=30, deadline=None)
@given(tables(n_max=60))
def test_the_compiled_kernel_adds_the_same(table):
    values, nominal, weights, rng = table
    columns = SoftColumns.of(values, attributes_of(values, nominal), weights, WIDTH)
    if not len(columns.ordered):
        return
    g, h, m = rng.normal(size=(3, len(values))) * (rng.random(len(values)) < 0.7)
    h, m = np.abs(h), np.abs(m)
    arguments = columns.values, columns.bins, columns.n_bins, g, h, m
    loops = kernels.binned(*arguments)
    np.testing.assert_array_equal(compiled(kernels).binned(*arguments), loops)
    object.__setattr__(columns, "_compiled", False)
    np.testing.assert_allclose(
        columns._bin_sums(g, h, m), np.moveaxis(loops, 2, 0), rtol=1e-13, atol=1e-12
    )


@pytest.mark.parametrize("n", [2, 65, 66, 300])
def test_thresholds_are_the_midpoints_nearest_to_equal_shares(n):
    rng = np.random.default_rng(n)
    for values in (rng.random(n), rng.integers(0, 150, n).astype(float), rng.random(n) ** 8):
        weights = rng.integers(1, 4, n).astype(float)
        expected = naive.thresholds(values.tolist(), weights.tolist())
        assert midpoints(values, weights, 64).tolist() == expected


@settings(max_examples=60, deadline=None)
@given(tables(), st.booleans(), st.booleans())
def test_grown_and_polished_rules_are_those_of_the_naive_search(table, signed, centred):
    values, nominal, weights, rng = table
    fast, slow = both_searches(values, nominal, weights, 0.5, centred=centred)
    g, h = rng.normal(size=len(values)), weights * rng.random()
    g -= g.mean() if centred else 0.0
    allowed = rng.random((values.shape[1], 2)) < 0.8
    sides = {j: [SIDES[s] for s in np.flatnonzero(row)] for j, row in enumerate(allowed)}
    pull = {"g": g.tolist(), "h": h.tolist(), "signed": signed, "sides": sides}
    found = fast.best_rule(Pull(g, h, signed, allowed))
    expected = slow.best_rule(pull)
    assert [as_naive(fast.columns, test) for test in found.tests] == expected
    assert found.gain == pytest.approx(slow.gain(expected, pull), rel=1e-9, abs=1e-12)


def both_votes(values, nominal, weights, classes, refine=0):
    fast, slow = both_searches(values, nominal, weights, 8 / 3)
    one = np.ones(len(values))
    loss = SoftmaxLoss(classes, (0, 1, 2), weights * one, 8 / 3, 0.3)
    found = Induction(fast, loss, 5, refine).run()
    twin = naive.Softmax(classes.tolist(), 3, weights.tolist(), 8 / 3, 0.3)
    return fast, found, naive.induce(slow, twin, 5, refine)


@settings(max_examples=20, deadline=None)
@given(tables(n_max=16), st.integers(0, 1))
def test_voting_rulesets_are_those_of_the_naive_induction(table, refine):
    values, nominal, weights, rng = table
    classes = rng.integers(0, 3, len(values))
    fast, found, (rules, fitted) = both_votes(values, nominal, weights, classes, refine)
    listed = [(s.voice, [as_naive(fast.columns, t) for t in s.rule.tests]) for s in found.rules]
    assert listed == rules
    np.testing.assert_allclose(found.fitted.weights, fitted["weights"], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found.fitted.base, fitted["base"], rtol=1e-5, atol=1e-5)
    assert found.fitted.value == pytest.approx(fitted["value"], rel=1e-9)


@settings(max_examples=20, deadline=None)
@given(tables(n_max=16), st.integers(0, 1), st.booleans())
def test_sums_of_rules_are_those_of_the_naive_induction(table, refine, directed):
    values, nominal, weights, rng = table
    target = rng.normal(size=len(values))
    fast, slow = both_searches(values, nominal, weights, 1.0, centred=True)
    voices = (1, -1) if directed else (0,)
    up = np.ones((values.shape[1], 2), dtype=bool)
    up[0] = False, True
    allowed = {1: up, -1: up[:, ::-1]} if directed else None
    sides = {1: {0: [">="]}, -1: {0: ["<="]}} if directed else None
    loss = SquaredLoss(target, weights, 1.0, voices, 0.05, allowed)
    found = Induction(fast, loss, 5, refine).run()
    twin = naive.Squares(target.tolist(), weights.tolist(), 1.0, 0.05, voices, sides)
    rules, fitted = naive.induce(slow, twin, 5, refine)
    listed = [(s.voice, [as_naive(fast.columns, t) for t in s.rule.tests]) for s in found.rules]
    assert listed == rules
    np.testing.assert_allclose(found.fitted.weights, fitted["weights"], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.fitted.base, fitted["base"], rtol=1e-6, atol=1e-9)
    assert found.fitted.value == pytest.approx(fitted["value"], rel=1e-9, abs=1e-12)

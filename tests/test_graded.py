"""Induction for graded decisions: compared with the definitions, and classes as a special case."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import naive_regression
from frri.induction import (
    TOLERANCE,
    ConditionType,
    Graded,
    induce,
    numpy_backend,
)
from induction_steps import confidences, covers, shorten
from test_induction import KINDS, random_order, random_table
from thorough import often


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(numpy_backend, "BLOCK_PAIRS", 20)


@st.composite
def tables(draw):
    """Return values, targets, tau, orders and declarations of difficult cases."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, m = draw(st.integers(1, 11)), draw(st.integers(1, 4))
    values, _ = random_table(rng, n, m, 1, draw(st.sampled_from(KINDS)))
    spread = draw(st.sampled_from(["ties", "reals", "huge", "constant"]))
    numbers = {
        "ties": rng.integers(0, 4, n) * 1.0,
        "reals": rng.normal(size=n),
        "huge": rng.normal(size=n) * 1e200,
        "constant": np.full(n, 3.5),
    }[spread]
    tau = draw(st.sampled_from([0.3, 1.0, 2.5])) * (1e200 if spread == "huge" else 1.0)
    nominal = [m - 1] if draw(st.booleans()) else []
    values[:, nominal] = rng.integers(0, 3, (n, len(nominal)))
    if draw(st.booleans()):
        values[rng.random((n, m)) < 0.15] = np.nan
    initial = rng.choice([0, 1, 2, 3], m) if draw(st.booleans()) else None
    if initial is not None:
        initial[nominal] = rng.choice([0, 3], len(nominal))
    return values, numbers, tau, random_order(rng, n, m), initial, nominal


@settings(max_examples=often(160), deadline=None)
@given(table=tables())
def test_every_step_by_definition(table):
    values, y, tau, orders, initial, nominal = table
    n, m = values.shape
    start = None if initial is None else [ConditionType(code).name for code in initial]
    decisions, kinds = Graded(y, tau), {"rigid": np.isin(np.arange(m), nominal)}
    kinds |= {} if initial is None else {"initial": initial}
    confidence = naive_regression.confidences(values, y, tau, start, nominal)
    found = confidences(values, decisions, initial=initial)
    np.testing.assert_array_equal(found, confidence, strict=True)
    each = [orders] * n if np.ndim(orders) == 1 else orders
    rules = [
        naive_regression.shorten(values, y, tau, u, confidence[u], each[u], start, nominal)
        for u in range(n)
    ]
    types = np.array([[ConditionType[kind] for kind in rule] for rule in rules], dtype=np.int8)
    np.testing.assert_array_equal(shorten(values, decisions, confidence, orders, **kinds), types)
    table = naive.covering_table(values, y, confidence, rules, nominal)
    covered, positions = covers(values, decisions, confidence, types)
    np.testing.assert_array_equal(covered.to_dense()[:, positions], table)
    together = induce(values, decisions, orders, n_jobs=2, **kinds)
    np.testing.assert_array_equal(together.confidence, confidence)
    np.testing.assert_array_equal(together.types, types)
    np.testing.assert_array_equal(together.covers.bits, covered.bits)
    # Covered objects agree with the rule at least to the degree of coverage.
    degree = [
        [naive.covering_degree(rules[u], values[u], confidence[u], values[v], nominal) for v in range(n)]
        for u in range(n)
    ]  # fmt: skip
    assert (decisions.agreement() >= np.array(degree) - 2 * TOLERANCE).all()
    assert (decisions.agreement()[table] > 0).all()


@settings(max_examples=often(120), deadline=None)
@given(seed=st.integers(0, 2**32), kind=st.sampled_from(KINDS))
def test_classes_are_the_special_case_to_the_last_bit(seed, kind):
    """Codes of classes are numbers with differences of at least 1."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 40), rng.integers(1, 5)
    values, classes = random_table(rng, n, m, rng.integers(1, 5), kind)
    order = random_order(rng, n, m)
    of_classes = induce(values, classes, order, compiled=False)
    of_numbers = induce(values, Graded(classes, 1.0), order)
    np.testing.assert_array_equal(of_numbers.confidence, of_classes.confidence, strict=True)
    np.testing.assert_array_equal(of_numbers.types, of_classes.types, strict=True)
    np.testing.assert_array_equal(
        of_numbers.covers.to_dense(), of_classes.covers.to_dense()[:, of_classes.positions]
    )


def test_blocks_and_threads_do_not_matter(monkeypatch):
    rng = np.random.default_rng(0)
    values, y = rng.random((600, 6)).round(2), rng.normal(size=600)
    one = induce(values, Graded(y, 1.5), np.arange(6), n_jobs=2)
    monkeypatch.setattr(numpy_backend, "BLOCK_PAIRS", 1 << 16)
    other = induce(values, Graded(y, 1.5), np.arange(6), n_jobs=1)
    for name in ("confidence", "types"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), strict=True)
    np.testing.assert_array_equal(one.covers.bits, other.covers.bits, strict=True)
    np.testing.assert_array_equal(one.covers.indptr, other.covers.indptr, strict=True)

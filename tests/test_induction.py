"""Both implementations of the induction, compared with the definitions and with each other."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import worked_example
from frri import _compile, induction
from frri.cover import CoverMatrix
from frri.induction import (
    TOLERANCE,
    ConditionType,
    bitmap_backend,
    class_layout,
    induce,
    numpy_backend,
)
from induction_steps import confidences, covers, shorten
from thorough import often

PATHS = [False, True]


@pytest.fixture
def _coarse(monkeypatch):
    """Set parameters with which small tables use every branch of the code for large ones."""
    monkeypatch.setattr(bitmap_backend, "CUTS", 2)
    monkeypatch.setattr(bitmap_backend, "CELLS", 1)
    monkeypatch.setattr(bitmap_backend, "CHUNK", 7)
    monkeypatch.setattr(class_layout, "CLUSTERED_FROM", 8)
    monkeypatch.setattr(numpy_backend, "BLOCK_WORDS", 1)
    monkeypatch.setattr(numpy_backend, "LEAST_ROWS", 3)
    monkeypatch.setattr(numpy_backend, "BLOCK_DISTANCES", 9)


coarse = pytest.mark.usefixtures("_coarse")


def by_definition(values, classes, orders, initial=None, nominal=()):
    start = None if initial is None else [ConditionType(code).name for code in initial]
    confidence = naive.confidences(values, classes, start, nominal)
    kinds = naive.shorten_all(values, classes, confidence, orders, start, nominal)
    types = np.array([[ConditionType[kind] for kind in rule] for rule in kinds], dtype=np.int8)
    return confidence, types, naive.covering_table(values, classes, confidence, kinds, nominal)


def assert_by_definition(values, classes, orders, initial=None, nominal=(), *, compiled):
    confidence, types, table = by_definition(values, classes, orders, initial, nominal)
    start = {} if initial is None else {"initial": initial}
    kinds = start | ({"rigid": np.isin(np.arange(types.shape[1]), nominal)} if nominal else {})
    found = confidences(values, classes, compiled=compiled, **start)
    np.testing.assert_array_equal(found, confidence, strict=True)
    found = shorten(values, classes, confidence, orders, compiled=compiled, **kinds)
    np.testing.assert_array_equal(found, types, strict=True)
    covered, positions = covers(values, classes, confidence, types, compiled=compiled)
    dense = covered.to_dense()
    np.testing.assert_array_equal(dense[:, positions], table)
    assert dense.sum() == table.sum()  # no rule covers the other bits
    assert (np.diff(covered.indptr)[confidence <= TOLERANCE] == 0).all()
    assert (covered.bits != 0).all()
    together = induce(values, classes, orders, compiled=compiled, **kinds)
    np.testing.assert_array_equal(together.confidence, confidence, strict=True)
    np.testing.assert_array_equal(together.types, types, strict=True)
    assert_same_covers((together.covers, together.positions), (covered, positions))


def assert_same_covers(one, other):
    np.testing.assert_array_equal(one[1], other[1], strict=True)
    assert one[0].n_objects == other[0].n_objects
    for name in ("indptr", "words", "bits"):
        np.testing.assert_array_equal(getattr(one[0], name), getattr(other[0], name), strict=True)


def random_table(rng, n, m, n_classes, kind):
    """Return a difficult table in [0, 1], and class codes that all occur."""
    if kind == "grid":  # few distinct values, exact ties everywhere
        values = rng.integers(0, 1 + rng.integers(1, 6), (n, m)) / rng.integers(5, 7)
    elif kind == "near":  # differences about the tolerance
        values = rng.integers(0, 3, (n, m)) / 2 + rng.integers(-3, 4, (n, m)) * 0.5e-6
    elif kind == "duplicates":  # also of different classes
        values = rng.random((n, m))[rng.integers(0, max(1, n // 2), n)]
    elif kind == "skewed":
        values = rng.random((n, m)) ** rng.integers(1, 30, m)
    elif kind == "constant":
        values = rng.random((n, m)) * rng.integers(0, 2, m)
    else:
        values = rng.random((n, m))
    classes = np.concatenate((np.arange(n_classes), rng.integers(0, n_classes, n)))[:n]
    return np.clip(values, 0, 1), np.unique(rng.permutation(classes), return_inverse=True)[1]


KINDS = ["grid", "near", "duplicates", "skewed", "constant", "uniform"]


def random_order(rng, n, m):
    if rng.integers(2):
        return rng.permutation(m)
    return np.array([rng.permutation(m) for _ in range(n)])


# --- against the definitions


@pytest.mark.parametrize("compiled", PATHS)
def test_the_worked_example(compiled):
    values = naive.scale(worked_example.X)
    found = induce(values, worked_example.Y, np.arange(8), compiled=compiled)
    np.testing.assert_allclose(found.confidence, worked_example.CONFIDENCES, atol=5e-7)
    kinds = [[ConditionType(code).name for code in rule] for rule in found.types]
    assert kinds == worked_example.KINDS
    table = found.covers.to_dense()[:, found.positions]
    np.testing.assert_array_equal(table, worked_example.TABLE)


def check_many(seed, n_tables, *, compiled):
    rng = np.random.default_rng(seed)
    for i in range(n_tables):
        n, m = rng.integers(1, 12), rng.integers(1, 6)
        values, classes = random_table(rng, n, m, rng.integers(1, 5), KINDS[i % len(KINDS)])
        assert_by_definition(values, classes, random_order(rng, n, m), compiled=compiled)


@pytest.mark.parametrize("compiled", PATHS)
def test_small_tables_by_definition(compiled):
    check_many(1, often(900), compiled=compiled)


@coarse
@pytest.mark.parametrize("compiled", PATHS)
def test_small_tables_by_definition_in_many_blocks(compiled):
    check_many(2, often(900), compiled=compiled)


@coarse
@pytest.mark.parametrize("kind", KINDS)
def test_tables_of_several_words_by_definition(kind):
    rng = np.random.default_rng(3)
    values, classes = random_table(rng, 150, 3, 2, kind)
    for compiled in PATHS:
        assert_by_definition(values, classes, random_order(rng, 150, 3), compiled=compiled)


cells = st.one_of(
    st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, 0.1, 0.2, 0.3, 1e-6, 2e-6, 0.5 - 1e-6, 1 - 1e-6]),
    st.floats(0, 1, allow_subnormal=True),
)


@st.composite
def tables(draw):
    n, m = draw(st.integers(1, 7)), draw(st.integers(1, 4))
    values = draw(st.lists(st.lists(cells, min_size=m, max_size=m), min_size=n, max_size=n))
    classes = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    orders = draw(st.lists(st.permutations(range(m)), min_size=n, max_size=n))
    return np.array(values), np.array(classes), np.array(orders)


@settings(max_examples=often(300), deadline=None)
@given(tables())
def test_any_table_by_definition(table):
    for compiled in PATHS:
        assert_by_definition(*table, compiled=compiled)


def test_one_object_and_one_class():
    for compiled in PATHS:
        for n in (1, 3, 70):
            values = np.linspace(0, 1, n)[:, None]
            found = induce(values, np.zeros(n, dtype=int), [0], compiled=compiled)
            assert (found.confidence == 1).all()
            assert (found.types == ConditionType.UNUSED).all()
            assert (found.covers.sizes() == n).all()


def test_contradictory_objects_have_void_rules():
    for compiled in PATHS:
        found = induce([[0.0], [0.0], [1.0]], [0, 1, 1], [0], compiled=compiled)
        assert found.confidence.tolist() == [0, 0, 1]
        assert found.types.tolist() == [[0], [0], [2]]
        assert found.covers.sizes().tolist() == [0, 0, 1]


def test_a_class_code_without_objects():
    values, classes = np.array([[0.0], [0.4], [1.0]]), np.array([0, 3, 3])
    for compiled in PATHS:
        assert_by_definition(values, classes, [0], compiled=compiled)


def test_inputs_of_any_layout():
    rng = np.random.default_rng(12)
    values, classes = random_table(rng, 60, 4, 3, "uniform")
    orders = random_order(rng, 60, 4)
    for compiled in PATHS:
        expected = induce(values, classes, orders, compiled=compiled)
        inputs = [np.asfortranarray(values), classes.astype(np.int32), np.asfortranarray(orders)]
        for array in inputs:
            array.setflags(write=False)
        found = induce(*inputs, compiled=compiled)
        np.testing.assert_array_equal(found.types, expected.types)
        assert_same_covers(found[2:], expected[2:])
        types = np.asfortranarray(found.types)
        again = covers(values.tolist(), classes, found.confidence, types, compiled=compiled)
        assert_same_covers(again, expected[2:])


# --- mixed tables


def random_mixed_table(rng, n, m, n_classes, kind):
    """A random table with category codes, missing values and restricted attributes among the rest."""
    values, classes = random_table(rng, n, m, n_classes, kind)
    nominal = tuple(np.flatnonzero(rng.random(m) < rng.choice([0, 0.3, 1], p=[0.3, 0.5, 0.2])))
    for a in nominal:
        values[:, a] = rng.integers(0, rng.choice([1, 2, 3, 12]), n)
    initial = rng.choice([0, 1, 2, 3], m, p=[0.1, 0.2, 0.2, 0.5])
    initial[list(nominal)] = rng.choice([0, 3], len(nominal), p=[0.1, 0.9])
    share = rng.choice([0, 0.1, 0.5, 0.95], p=[0.3, 0.4, 0.2, 0.1])
    values[rng.random((n, m)) < share] = np.nan
    return values, classes, None if rng.integers(2) else initial, nominal


def check_many_mixed(seed, n_tables, *, compiled):
    rng = np.random.default_rng(seed)
    for i in range(n_tables):
        n, m = rng.integers(1, 12), rng.integers(1, 6)
        kind = KINDS[i % len(KINDS)]
        values, classes, *declared = random_mixed_table(rng, n, m, rng.integers(1, 5), kind)
        orders = random_order(rng, n, m)
        assert_by_definition(values, classes, orders, *declared, compiled=compiled)


@pytest.mark.parametrize("compiled", PATHS)
def test_small_mixed_tables_by_definition(compiled):
    check_many_mixed(21, often(1500), compiled=compiled)


@coarse
@pytest.mark.parametrize("compiled", PATHS)
def test_small_mixed_tables_by_definition_in_many_blocks(compiled):
    check_many_mixed(22, often(1500), compiled=compiled)


@coarse
@pytest.mark.parametrize("kind", KINDS)
def test_mixed_tables_of_several_words_by_definition(kind):
    rng = np.random.default_rng(23)
    for _ in range(3):
        values, classes, *declared = random_mixed_table(rng, 90, 3, 2, kind)
        orders = random_order(rng, 90, 3)
        for compiled in PATHS:
            assert_by_definition(values, classes, orders, *declared, compiled=compiled)


@pytest.mark.parametrize("compiled", PATHS)
def test_nominal_values_are_equal_or_not(compiled):
    values = np.array([[0, 0.0], [3, 0.2], [1, 0.2], [7, 1.0]])
    found = induce(values, [0, 0, 1, 1], [0, 1], rigid=[True, False], compiled=compiled)
    assert found.confidence.tolist() == [1, 1, 1, 1]
    assert found.types[1].tolist() == [ConditionType.SIMILAR, ConditionType.UNUSED]


@pytest.mark.parametrize("compiled", PATHS)
def test_missing_values_are_similar_to_everything(compiled):
    gap = np.nan
    values = [[0.0, gap], [0.5, 0.0], [gap, 1.0], [gap, gap]]
    found = induce(values, [0, 0, 1, 0], [0, 1], compiled=compiled)
    assert found.confidence.tolist() == [0, 1, 0, 0]
    assert found.types.tolist() == [[0, 0], [0, 1], [0, 0], [0, 0]]
    assert found.covers.to_dense()[:, found.positions].tolist() == [
        [False] * 4,
        [True, True, False, True],
        [False] * 4,
        [False] * 4,
    ]


@pytest.mark.parametrize("compiled", PATHS)
def test_restricted_attributes(compiled):
    values, classes = [[0.0, 0.0], [0.5, 0.0], [1.0, 0.5]], [0, 1, 0]
    at_most = induce(values, classes, [0, 1], initial=[1, 3], compiled=compiled)
    assert at_most.confidence.tolist() == [0.5, 0, 0.5]
    assert at_most.types.tolist() == [[1, 0], [0, 0], [0, 2]]
    never = induce(values, classes, [0, 1], initial=[0, 3], compiled=compiled)
    assert never.confidence.tolist() == [0, 0, 0.5]
    assert never.types.tolist() == [[0, 0], [0, 0], [0, 2]]


@pytest.mark.parametrize("compiled", PATHS)
def test_declaring_what_holds_anyway_changes_nothing(compiled):
    rng = np.random.default_rng(24)
    values, classes = random_table(rng, 200, 4, 3, "grid")
    expected = induce(values, classes, np.arange(4), compiled=compiled)
    found = induce(
        values, classes, np.arange(4), initial=[3] * 4, rigid=[False] * 4, compiled=compiled
    )
    np.testing.assert_array_equal(found.types, expected.types)
    assert_same_covers(found[2:4], expected[2:4])


# --- both implementations, compared


def assert_same_paths(values, classes, order, **declared):
    slow, fast = (
        induce(values, classes, order, compiled=compiled, **declared) for compiled in PATHS
    )
    np.testing.assert_array_equal(fast.confidence, slow.confidence, strict=True)
    np.testing.assert_array_equal(fast.types, slow.types, strict=True)
    assert_same_covers(fast[2:], slow[2:])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("n", "m", "n_classes"), [(500, 1, 2), (900, 60, 3), (2500, 12, 4), (3000, 7, 3)]
)
def test_paths_agree(n, m, n_classes, kind):
    rng = np.random.default_rng(n + m)
    values, classes = random_table(rng, n, m, n_classes, kind)
    assert_same_paths(values, classes, rng.permutation(m))
    assert_same_paths(values, classes, random_order(rng, n, m))


def test_paths_agree_on_separated_classes():
    rng = np.random.default_rng(9)
    values, _ = random_table(rng, 7000, 6, 2, "uniform")
    classes = (values[:, 0] + values[:, 1] > 1).astype(int) + (values[:, 2] > 0.9)
    assert_same_paths(values, classes, np.arange(6))
    assert_same_paths(values, classes, np.arange(6)[::-1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "m", "n_classes"), [(700, 40, 3), (3000, 7, 3)])
def test_paths_agree_on_mixed_tables(n, m, n_classes, kind):
    rng = np.random.default_rng(n + m)
    for _ in range(3):
        values, classes, initial, nominal = random_mixed_table(rng, n, m, n_classes, kind)
        declared = {"initial": initial, "rigid": np.isin(np.arange(m), nominal)}
        assert_same_paths(values, classes, rng.permutation(m), **declared)
        assert_same_paths(values, classes, random_order(rng, n, m), **declared)


def test_threads_do_not_matter(monkeypatch):
    rng = np.random.default_rng(10)
    values, classes = random_table(rng, 2000, 5, 3, "uniform")
    results = []
    for n_jobs, chunk in ((1, 5000), (1, 100), (3, 64), (None, 64), (-1, 100)):
        monkeypatch.setattr(bitmap_backend, "CHUNK", chunk)
        results.append(induce(values, classes, np.arange(5), compiled=True, n_jobs=n_jobs))
    for other in results[1:]:
        np.testing.assert_array_equal(other.confidence, results[0].confidence)
        np.testing.assert_array_equal(other.types, results[0].types)
        assert_same_covers(other[2:], results[0][2:])


@coarse
@pytest.mark.parametrize("kind", KINDS)
def test_blocks_sent_to_other_processes_give_the_same_result(monkeypatch, kind):
    monkeypatch.setattr(bitmap_backend, "BLOCK_ROWS", 9)
    rng = np.random.default_rng(17)
    for n, m, n_classes in ((1, 2, 1), (40, 4, 1), (90, 3, 3), (150, 6, 2)):
        values, classes, initial, nominal = random_mixed_table(rng, n, m, n_classes, kind)
        declared = {"initial": initial, "rigid": np.isin(np.arange(m), nominal)}
        order = random_order(rng, n, m)
        whole = induce(values, classes, order, compiled=False, **declared)
        whole_table = class_layout.ClassLayout(values, classes, **declared)
        table = pickle.loads(pickle.dumps(bitmap_backend.BitmapBackend(whole_table, n_jobs=1)))
        samples, ranges = table.layout.samples, table.blocks()
        assert [end for _, end in ranges[:-1]] == [low for low, _ in ranges[1:]]
        parts = []
        for low, high in ranges:
            rows = samples[low:high]
            assert len(set(classes[rows])) == 1
            confidence = table.nearest_rows(low, high)
            np.testing.assert_array_equal(confidence, whole.confidence[rows], strict=True)
            orders = np.atleast_2d(order) if order.ndim == 1 else order[rows]
            types = table.shorten_rows(low, confidence, orders)
            np.testing.assert_array_equal(types, whole.types[rows], strict=True)
            parts.append(table.cover_rows(np.arange(low, high), confidence, types))
        covered = CoverMatrix.below(parts).take(np.argsort(samples))
        assert_same_covers((covered, 0), (whole.covers, 0))


# --- the choice of the implementation


def test_positions_put_classes_in_whole_words():
    rng = np.random.default_rng(11)
    values, classes = random_table(rng, 3000, 4, 3, "uniform")
    found = induce(values, classes, np.arange(4), compiled=False)
    assert len(np.unique(found.positions)) == 3000
    word_class = {}
    for word, code in zip(found.positions // 64, classes, strict=True):
        assert word_class.setdefault(word, code) == code


def run_python(code, **environment):
    source = str(Path(induction.__file__).parents[2])
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "PYTHONPATH": source, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()


SMALL_THEN_COMPILED = """
import sys
import numpy as np
from frri import induction
from frri.induction import choose_backend
rng = np.random.default_rng(0)
values, classes = rng.random((300, 4)), rng.integers(0, 2, 300)
small = induction.induce(values, classes, np.arange(4))
def chosen(n):
    return type(choose_backend(rng.random((n, 4)), rng.integers(0, 2, n))).__name__
print("numba" in sys.modules, chosen(300))
compiled = induction.induce(values, classes, np.arange(4), compiled=True)
print("numba" in sys.modules, chosen(300), chosen(3000))
print((small.types == compiled.types).all(), (small.confidence == compiled.confidence).all())
"""


def test_small_tables_do_not_import_the_compiler():
    assert " ".join(run_python(SMALL_THEN_COMPILED)) == (
        "False NumpyBackend True NumpyBackend BitmapBackend True True"
    )


def test_without_the_compiler_everything_is_numpy(monkeypatch):
    for name in ("_modules", "numba_installed"):
        monkeypatch.setattr(_compile, name, {} if name == "_modules" else lambda: False)
    backend = induction.choose_backend(np.zeros((10**5, 1)), np.zeros(10**5, dtype=int))
    assert isinstance(backend, numpy_backend.NumpyBackend)

"""Minimum set cover: compared with brute force and a general solver, and interrupted."""

import os
import signal
import threading
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

import naive
from frri import _compile
from frri._compile import compiled, numba_installed
from frri.cover import (
    Cover,
    CoverMatrix,
    branch_and_bound,
    budget,
    local_search,
    minimum_cover,
    simplex,
    solve,
    solve_large,
)
from frri.cover import matrix as cover_matrix
from frri.cover import reduce as red
from frri.cover.bounds import exact_bound
from frri.cover.matrix import CoverLists, greedy_cover, without_redundant
from programs import posix
from thorough import often


def boxes(n, seed, *, m=4, noise=0.15):
    """Return the covering table of rules around n points of two noisy classes, and costs."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, m))
    y = (X[:, 0] + X[:, 1] > 1) ^ (rng.random(n) < noise)
    distance = np.abs(X[:, None] - X[None]).max(axis=2)
    radius = np.where(y[:, None] != y[None], distance, np.inf).min(axis=1)
    matrix = (distance < radius[:, None]) & (y[:, None] == y[None])
    return matrix, rng.integers(1, 8, n)


def random_matrix(rng, n, m, density):
    matrix = rng.random((n, m)) < density
    return matrix, rng.integers(1, 5, n)


def covers_all(matrix, cover):
    return (matrix[cover.selected].any(axis=0) == matrix.any(axis=0)).all()


@pytest.fixture
def interpreted(monkeypatch):
    monkeypatch.setattr(budget.Work, "kernels", lambda _, module, **__: module)


@pytest.fixture
def compiled_kernels(monkeypatch):
    if not numba_installed():
        pytest.skip("numba is not installed")
    monkeypatch.setattr(budget.Work, "kernels", lambda _, module, **__: compiled(module))


# --- the answer


@st.composite
def small_problems(draw):
    n, m = draw(st.integers(0, 9)), draw(st.integers(0, 8))
    row = st.lists(st.booleans(), min_size=m, max_size=m)
    rows = draw(st.lists(row, min_size=n, max_size=n))
    costs = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return np.array(rows, dtype=bool).reshape(n, m), costs


@settings(max_examples=often(300), deadline=None)
@given(small_problems())
def test_brute_force_agrees_on_drawn_problems(problem):
    matrix, costs = problem
    cover = minimum_cover(CoverMatrix.from_dense(matrix), costs)
    assert cover.selected.tolist() == naive.minimum_cover(matrix, costs)
    assert (cover.status, cover.cost_status, cover.settled) == ("optimal", "optimal", True)
    assert cover.lower_bound == len(cover)
    assert cover.gap == 0.0
    assert cover.stopped_by is None


@pytest.mark.parametrize("seed", range(20))
def test_brute_force_agrees_on_many_random_problems(seed):
    rng = np.random.default_rng(seed)
    for _ in range(often(60)):
        n, m = rng.integers(1, 13), rng.integers(1, 14)
        matrix = rng.random((n, m)) < rng.choice([0.15, 0.25, 0.4])
        if rng.random() < 0.4:  # duplicates
            matrix[rng.integers(n)] = matrix[rng.integers(n)]
        costs = rng.integers(0, rng.choice([1, 2, 5]), n)
        covers = CoverMatrix.from_dense(matrix)
        cover = minimum_cover(covers, costs)
        assert cover.selected.tolist() == naive.minimum_cover(matrix, costs.tolist())
        assert cover.cost == costs[cover.selected].sum()
        plain = minimum_cover(covers)
        assert plain.selected.tolist() == naive.minimum_cover(matrix, [0] * n)
        first = minimum_cover(covers, costs, tie_break=False)
        assert (len(first), first.status) == (len(cover), "optimal")
        assert (first.cost_status, first.settled) == ("feasible", False)
        assert first.cost == costs[first.selected].sum()


@pytest.mark.parametrize("seed", range(6))
def test_brute_force_agrees_where_nothing_can_be_reduced(seed):
    # Few coverers per object and few objects per candidate leave a core for branch and bound.
    rng = np.random.default_rng(100 + seed)
    for _ in range(5):
        n = 15
        matrix = np.zeros((n, n), dtype=bool)
        for shift in rng.choice(n, 4, replace=False):
            matrix[np.arange(n), (np.arange(n) + shift) % n] = True
        costs = rng.integers(0, 4, n)
        cover = minimum_cover(CoverMatrix.from_dense(matrix), costs)
        assert cover.selected.tolist() == naive.minimum_cover(matrix, costs.tolist())


def scipy_optimum(matrix, costs):
    matrix = matrix[:, matrix.any(axis=0)]
    n = len(matrix)
    covering = LinearConstraint(sparse.csc_array(matrix.T.astype(float)), 1, np.inf)
    options = {"mip_rel_gap": 0.0}
    kind = {"integrality": np.ones(n), "bounds": Bounds(0, 1), "options": options}
    count = round(milp(np.ones(n), constraints=[covering], **kind).fun)
    size = LinearConstraint(np.ones((1, n)), 0, count)
    return count, round(milp(costs.astype(float), constraints=[covering, size], **kind).fun)


@pytest.mark.parametrize("seed", range(8))
def test_scipy_agrees_on_middling_problems(seed):
    rng = np.random.default_rng(seed)
    n = 100 + 14 * seed
    matrix, costs = boxes(n, seed) if seed % 2 else random_matrix(rng, 90, 50, 0.08)
    cover = minimum_cover(CoverMatrix.from_dense(matrix), costs)
    assert covers_all(matrix, cover)
    assert (cover.status, cover.cost_status, cover.settled) == ("optimal", "optimal", True)
    assert (len(cover), cover.cost) == scipy_optimum(matrix, costs)


def scipy_first_optimum(matrix, costs):
    """The first in order of all optimal covers of undominated candidates, by one program for each candidate."""
    count, cost = scipy_optimum(matrix, costs)
    n = len(matrix)
    high = np.array([float(not is_dominated(matrix, costs, j)) for j in range(n)])
    low = np.zeros(n)
    needed = matrix[:, matrix.any(axis=0)].T.astype(float)
    constraints = [
        LinearConstraint(sparse.csc_array(needed), 1, np.inf),
        LinearConstraint(np.ones((1, n)), 0, count),
        LinearConstraint(costs[None].astype(float), 0, cost),
    ]
    for j in np.flatnonzero(high):
        low[j] = 1.0
        kind = {"integrality": np.ones(n), "bounds": Bounds(low, high)}
        if milp(np.zeros(n), constraints=constraints, **kind).status != 0:
            low[j] = high[j] = 0.0
    return np.flatnonzero(low).tolist()


def is_dominated(matrix, costs, j):
    """Whether another candidate covers as much and costs no more; the first of equal ones is kept."""
    return any(
        not (matrix[j] & ~matrix[i]).any()
        and costs[i] <= costs[j]
        and ((matrix[i] & ~matrix[j]).any() or costs[i] < costs[j] or i < j)
        for i in range(len(matrix))
    )


@pytest.mark.parametrize("seed", range(4))
def test_scipy_finds_the_same_first_cover(seed):
    matrix, costs = boxes(60, seed)
    cover = minimum_cover(CoverMatrix.from_dense(matrix), costs)
    assert cover.settled
    assert cover.selected.tolist() == scipy_first_optimum(matrix, costs)


def test_the_old_choice_of_a_solver_is_ignored_with_a_warning():
    with pytest.warns(FutureWarning, match="solver is ignored"):
        cover = minimum_cover(CoverMatrix.from_dense(np.eye(2, dtype=bool)), solver="highs")
    assert cover.selected.tolist() == [0, 1]


def test_parts_are_solved_independently():
    matrix, costs = boxes(40, 1)
    twice = np.block([[matrix, np.zeros_like(matrix)], [np.zeros_like(matrix), matrix]])
    once = minimum_cover(CoverMatrix.from_dense(matrix), costs).selected
    both = minimum_cover(CoverMatrix.from_dense(twice), np.concatenate((costs, costs))).selected
    assert both.tolist() == [*once, *(once + 40)]


def test_nothing_to_cover():
    for shape in [(0, 0), (0, 5), (5, 0), (3, 3)]:
        cover = minimum_cover(CoverMatrix.from_dense(np.zeros(shape, dtype=bool)))
        assert cover.selected.tolist() == []
        assert (cover.status, cover.lower_bound, cover.cost, cover.gap) == ("optimal", 0, 0, 0.0)


def test_large_costs_are_handled_exactly():
    matrix, costs = boxes(80, 3)
    cover = minimum_cover(CoverMatrix.from_dense(matrix), costs * 3_000_017)
    same = minimum_cover(CoverMatrix.from_dense(matrix), costs)
    assert cover.selected.tolist() == same.selected.tolist()
    assert cover.cost == same.cost * 3_000_017


# --- reproducible


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("limit", [3, 40, budget.CELLS])
def test_interpreted_and_compiled_search_in_the_same_order(seed, limit, monkeypatch):
    if not numba_installed():
        pytest.skip("numba is not installed")
    matrix, costs = boxes(150, seed, noise=0.25)
    covers = CoverMatrix.from_dense(matrix)
    results = []
    for choose in (lambda module: module, compiled):
        monkeypatch.setattr(budget.Work, "kernels", lambda _, m, choose=choose, **__: choose(m))
        results.append(minimum_cover(covers, costs, work_limit=limit))
    one, other = results
    assert one.selected.tolist() == other.selected.tolist()
    assert (one.nodes, one.pivots, one.steps) == (other.nodes, other.pivots, other.steps)
    assert (one.lower_bound, one.effort) == (other.lower_bound, other.effort)


def test_without_numba_everything_works(monkeypatch):
    monkeypatch.setattr(_compile, "numba_installed", lambda: False)
    monkeypatch.setattr(_compile, "compiled_before", lambda _: False)
    monkeypatch.setattr(budget, "_kernel_seconds", dict.fromkeys(budget.COMPILE_SECONDS, 1e9))
    matrix, costs = boxes(100, 5)
    assert minimum_cover(CoverMatrix.from_dense(matrix), costs).settled


def test_a_small_problem_never_waits_for_a_compiler(monkeypatch):
    def refuse(_):
        raise AssertionError

    monkeypatch.setattr(_compile, "compiled_before", lambda _: False)
    monkeypatch.setattr(_compile, "compiled", refuse)
    monkeypatch.setattr(budget, "_kernel_seconds", {})
    matrix, costs = boxes(60, 2)
    assert minimum_cover(CoverMatrix.from_dense(matrix), costs).settled


# --- the compiler and the clock


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that is set manually; every call of the compiler starts a long wait."""
    now = SimpleNamespace(seconds=100.0)
    monkeypatch.setattr(budget, "time", SimpleNamespace(perf_counter=lambda: now.seconds))
    monkeypatch.setattr(_compile, "cached_on_disk", lambda *_: False)
    monkeypatch.setattr(_compile, "numba_installed", lambda: True)
    monkeypatch.setattr(budget, "_kernel_seconds", dict.fromkeys(budget.COMPILE_SECONDS, 1e9))
    return now


@pytest.fixture
def ticks(monkeypatch):
    """Return a clock that advances by a hundredth of a second per call, and its readings."""
    seen = [0.0]

    def look():
        seen.append(seen[-1] + 0.01)
        return seen[-1]

    monkeypatch.setattr(budget, "time", SimpleNamespace(perf_counter=look))
    return seen


# Maximum number of calls of the clock after the time limit: every part of a search ends at its next one.
MOST_LOOKS = 20


def test_a_limit_shorter_than_the_compiler_is_spent_interpreted(clock, monkeypatch):
    bought = []
    monkeypatch.setattr(_compile, "compiled_before", lambda _: False)
    monkeypatch.setattr(_compile, "compiled", lambda module: bought.append(module) or module)
    short = budget.Work(10, budget.COMPILE_SECONDS["local_search"] - 1)
    assert short.kernels(local_search, ahead=1e9) is local_search
    assert not bought
    budget.Work(10, None).kernels(local_search)
    long = budget.Work(10, budget.COMPILE_SECONDS["local_search"] + 9)
    long.kernels(local_search)
    assert bought == [local_search] * 2
    clock.seconds += 10  # too late for the compiler
    long.kernels(local_search)
    assert bought == [local_search] * 2
    matrix, costs = boxes(60, 2)
    cover = minimum_cover(CoverMatrix.from_dense(matrix), costs, time_limit=5)
    assert cover.settled
    assert bought == [local_search] * 2


@pytest.mark.parametrize("end", ["time", "interrupt"])
def test_the_clock_is_looked_at_between_compilations(clock, monkeypatch, end):
    compilations = []

    def compile_and_compile(self, work):  # noqa: ARG001
        for _ in range(3):
            _compile._checks.current()
            compilations.append(1)
            clock.seconds += 10
            work.interrupted = end == "interrupt"

    monkeypatch.setattr(solve.Problem, "run", compile_and_compile)
    matrix, costs = boxes(60, 2)
    limit = 5 if end == "time" else None
    cover = minimum_cover(CoverMatrix.from_dense(matrix), costs, time_limit=limit)
    assert (cover.stopped_by, len(compilations)) == (end, 1)
    assert covers_all(matrix, cover)
    assert getattr(_compile._checks, "current", None) is None


def test_a_portion_of_the_work_ends_without_an_error():
    work = budget.Work(10, None)
    with work.portion(work.left / 2):
        work.spend(4 * budget.CELLS)
        with work.portion(3 * budget.CELLS):
            assert work.left == budget.CELLS
            work.spend(budget.CELLS)
            raise AssertionError
        work.spend(0)
        raise AssertionError
    assert (work.left, work.stopped_by) == (5 * budget.CELLS, None)
    with pytest.raises(budget.Exhausted):
        work.spend(5 * budget.CELLS)
    assert work.stopped_by == "effort"


# --- stopped early


@pytest.mark.parametrize("seed", range(4))
def test_any_effort_gives_a_complete_cover_and_a_valid_bound(seed):
    matrix, costs = boxes(120, seed, noise=0.25)
    covers = CoverMatrix.from_dense(matrix)
    optimum = minimum_cover(covers, costs)
    assert optimum.settled
    for limit in (0, 1, 2, 3, 5, 8, 13, 21, 34):
        cover = minimum_cover(covers, costs, work_limit=limit)
        assert covers_all(matrix, cover)
        assert cover.lower_bound <= len(optimum) <= len(cover)
        assert (cover.status == "optimal") == (cover.lower_bound == len(cover))
        assert cover.status == "feasible" or len(cover) == len(optimum)
        assert cover.cost_status == "feasible" or cover.cost == optimum.cost
        assert cover.gap == (len(cover) - cover.lower_bound) / len(cover)
        if cover.settled:
            assert cover.selected.tolist() == optimum.selected.tolist()
        else:
            assert cover.stopped_by == "effort"


@pytest.mark.parametrize("limit", [0.0, 1e-6, 0.01])
def test_any_time_limit_gives_a_complete_cover(limit):
    matrix, costs = boxes(250, 3, noise=0.25)
    cover = minimum_cover(CoverMatrix.from_dense(matrix), costs, time_limit=limit)
    assert covers_all(matrix, cover)
    assert cover.lower_bound <= len(cover)
    assert cover.settled or cover.stopped_by == "time"


@pytest.mark.parametrize("where", ["minimize_count", "minimize_cost", "find_first", "__init__"])
def test_an_interrupt_in_any_stage_gives_a_complete_cover(where, monkeypatch):
    matrix, costs = random_matrix(np.random.default_rng(0), 60, 60, 0.1)
    covers = CoverMatrix.from_dense(matrix)
    optimum = minimum_cover(covers, costs)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(solve.Component, where, interrupted)
    cover = minimum_cover(covers, costs)
    assert covers_all(matrix, cover)
    assert cover.stopped_by == "interrupt"
    assert not cover.settled
    assert cover.lower_bound <= len(optimum)


def test_an_interrupt_between_two_slices_keeps_the_bound(monkeypatch):
    matrix, costs = boxes(250, 3, noise=0.25)
    covers = CoverMatrix.from_dense(matrix)
    optimum = minimum_cover(covers, costs, tie_break=False)
    calls = 0
    solve_node = branch_and_bound.BranchAndBound._solve

    def interrupted(self, node):
        nonlocal calls
        calls += 1
        if calls == 4:
            raise KeyboardInterrupt
        solve_node(self, node)

    monkeypatch.setattr(branch_and_bound.BranchAndBound, "_solve", interrupted)
    cover = minimum_cover(covers, costs)
    assert cover.stopped_by == "interrupt"
    assert covers_all(matrix, cover)
    assert cover.lower_bound <= len(optimum) <= len(cover)


@pytest.fixture
def interrupt_in(monkeypatch):
    """Arrange a real Ctrl-C some time after a method was called, however late that is."""

    def arrange(kind, method, seconds):
        call = getattr(kind, method)

        def called(*arguments):
            threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()
            return call(*arguments)

        monkeypatch.setattr(kind, method, called)

    return arrange


@posix
def test_a_real_signal_ends_the_search_and_nothing_else(interrupt_in):
    rng = np.random.default_rng(0)
    matrix = rng.random((400, 400)) < 0.03  # far too hard to be proved
    interrupt_in(solve.Problem, "run", 0.5)
    cover = minimum_cover(CoverMatrix.from_dense(matrix))
    assert cover.stopped_by == "interrupt"
    assert cover.status == "feasible"
    assert covers_all(matrix, cover)
    assert 0 < cover.lower_bound < len(cover)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_deep_dives_keep_pivoting():
    # The weights of the Devex rule grow from node to node and must not dominate the infeasible rows.
    matrix = np.random.default_rng(0).random((250, 250)) < 0.04
    cover = minimum_cover(CoverMatrix.from_dense(matrix), work_limit=750)
    assert cover.nodes > 100
    assert cover.pivots > 10 * cover.nodes


# --- large


def test_a_large_sparse_problem_stays_sparse():
    rng = np.random.default_rng(1)
    n = 20_000
    centre = np.arange(n)
    width = rng.integers(0, 12, n)
    rows = np.repeat(centre, width + 1)
    offsets = np.concatenate([rng.choice(40, w + 1, replace=False) for w in width])
    matrix = sparse.csr_array(
        (np.ones(len(rows), dtype=bool), (rows, (rows + offsets) % n)), (n, n)
    )
    covers = covers_of(matrix)
    cover = minimum_cover(covers, rng.integers(1, 5, n), work_limit=1000, time_limit=600)
    covered = np.zeros(n, dtype=bool)
    covered[matrix[cover.selected].indices] = True
    assert (covered == (matrix.sum(axis=0) > 0)).all()
    assert len(cover) // 2 < cover.lower_bound <= len(cover)


def covers_of(matrix):
    matrix.sort_indices()
    key = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)) << 32 | matrix.indices >> 6
    words, first = np.unique(key, return_index=True)
    bits = np.bitwise_or.reduceat(np.uint64(1) << (matrix.indices & 63).astype(np.uint64), first)
    counts = np.bincount(words >> 32, minlength=matrix.shape[0])
    indptr = np.concatenate(([0], np.cumsum(counts)))
    return CoverMatrix(indptr, (words & 0xFFFFFFFF).astype(np.int32), bits, matrix.shape[1])


def test_the_algorithm_for_large_parts_agrees_with_the_usual_one(monkeypatch):
    matrix, costs = boxes(150, 7)
    usual = minimum_cover(CoverMatrix.from_dense(matrix), costs)
    monkeypatch.setattr(solve, "LARGEST_TABLEAU", 0)
    large = minimum_cover(CoverMatrix.from_dense(matrix), costs)
    assert covers_all(matrix, large)
    assert large.lower_bound <= len(usual) <= len(large)
    assert large.lower_bound >= len(usual) - 2


# --- too large for a dense matrix


@pytest.fixture
def never_expanded(monkeypatch):
    monkeypatch.setattr("frri.cover.LARGEST_EXPANDED", 0)


@pytest.mark.usefixtures("never_expanded")
@settings(
    max_examples=often(120),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(small_problems())
def test_hard_objects_lead_to_the_same_answer_as_all(problem):
    matrix, costs = problem
    cover = minimum_cover(CoverMatrix.from_dense(matrix), costs)
    assert cover.selected.tolist() == naive.minimum_cover(matrix, costs)
    assert (cover.status, cover.settled, cover.stopped_by) == ("optimal", True, None)


@pytest.mark.usefixtures("never_expanded")
@pytest.mark.parametrize("seed", range(6))
def test_few_hard_objects_lead_to_the_same_answer_as_all(seed, monkeypatch):
    # With memory for only a few objects at first, most of them are added in later rounds.
    hardest = solve_large.LargeProblem._find_hardest
    monkeypatch.setattr(
        solve_large.LargeProblem, "_find_hardest", lambda self, o, _: hardest(self, o, 30)
    )
    rng = np.random.default_rng(seed)
    for _ in range(8):
        n, m = rng.integers(1, 13), rng.integers(1, 40)
        matrix = rng.random((n, m)) < rng.choice([0.15, 0.25, 0.4])
        costs = rng.integers(0, rng.choice([1, 2, 5]), n)
        covers = CoverMatrix.from_dense(matrix)
        cover = minimum_cover(covers, costs)
        assert cover.selected.tolist() == naive.minimum_cover(matrix, costs.tolist())
        assert cover.settled
        count = minimum_cover(covers, costs, tie_break=False)
        assert (len(count), count.status, count.stopped_by) == (len(cover), "optimal", None)


@pytest.mark.parametrize("seed", range(3))
def test_any_effort_and_memory_give_a_valid_bound_on_words(seed, monkeypatch):
    matrix, costs = boxes(150, seed, noise=0.25)
    covers = CoverMatrix.from_dense(matrix)
    optimum = minimum_cover(covers, costs)
    assert optimum.settled
    monkeypatch.setattr("frri.cover.LARGEST_EXPANDED", 0)
    for room in (solve_large.LARGEST_CORE, 300):
        monkeypatch.setattr(solve_large, "LARGEST_CORE", room)
        for limit in (0, 1, 3, 10, 30, 1000):
            cover = minimum_cover(covers, costs, work_limit=limit)
            assert covers_all(matrix, cover)
            assert 0 < cover.lower_bound <= len(optimum) <= len(cover)
            assert (cover.status == "optimal") == (cover.lower_bound == len(cover))
            assert cover.cost_status == "feasible" or cover.cost == optimum.cost
            assert cover.settled or cover.stopped_by == "effort"
            if cover.settled:
                assert cover.selected.tolist() == optimum.selected.tolist()


@pytest.mark.usefixtures("never_expanded")
@pytest.mark.parametrize("limit", [0, 20, 3000])
def test_words_interpreted_and_compiled_search_in_the_same_order(limit, monkeypatch):
    if not numba_installed():
        pytest.skip("numba is not installed")
    matrix, costs = boxes(400, limit, noise=0.2)
    covers = CoverMatrix.from_dense(matrix)
    results = []
    for choose in (lambda module: module, compiled):
        monkeypatch.setattr(budget.Work, "kernels", lambda _, m, choose=choose, **__: choose(m))
        results.append(minimum_cover(covers, costs, work_limit=limit))
    one, other = results
    assert covers_all(matrix, one)
    assert one.selected.tolist() == other.selected.tolist()
    assert (one.nodes, one.pivots, one.steps) == (other.nodes, other.pivots, other.steps)
    assert (one.lower_bound, one.effort) == (other.lower_bound, other.effort)


@pytest.mark.usefixtures("never_expanded")
@pytest.mark.parametrize("limit", [0.0, 0.05, 0.3])
def test_any_time_limit_gives_a_complete_cover_on_words(limit, ticks):
    matrix, costs = boxes(600, 3, noise=0.25)
    cover = minimum_cover(CoverMatrix.from_dense(matrix), costs, time_limit=limit)
    assert sum(seconds > limit for seconds in ticks) < MOST_LOOKS
    assert covers_all(matrix, cover)
    assert cover.lower_bound <= len(cover)
    assert cover.settled or cover.stopped_by == "time"


@pytest.mark.usefixtures("never_expanded")
@pytest.mark.parametrize("where", ["run", "_start", "_minimize_count", "_prove_by", "_break_ties"])
def test_an_interrupt_in_any_stage_on_words_gives_a_complete_cover(where, monkeypatch):
    matrix, costs = random_matrix(np.random.default_rng(0), 60, 60, 0.1)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(solve_large.LargeProblem, where, interrupted)
    cover = minimum_cover(CoverMatrix.from_dense(matrix), costs)
    assert covers_all(matrix, cover)
    assert cover.stopped_by == "interrupt"
    assert not cover.settled
    assert cover.lower_bound <= len(cover)


@posix
@pytest.mark.usefixtures("never_expanded")
def test_a_real_signal_ends_a_search_on_words(interrupt_in):
    matrix = np.random.default_rng(0).random((1500, 1500)) < 0.02
    interrupt_in(solve_large.LargeProblem, "run", 1.0)
    cover = minimum_cover(CoverMatrix.from_dense(matrix))
    assert cover.stopped_by == "interrupt"
    assert covers_all(matrix, cover)
    assert 0 < cover.lower_bound < len(cover)


def overlapping_intervals(n):
    """Candidate i covers the i-th of n objects and a few hundred after it."""
    rng = np.random.default_rng(0)
    first, last = np.arange(n), np.minimum(np.arange(n) + rng.integers(1, 1500, n), n)
    full = np.uint64(2**64 - 1)
    counts = ((last - 1) >> 6) - (first >> 6) + 1
    indptr = np.concatenate(([0], np.cumsum(counts)))
    words = np.arange(indptr[-1]) - np.repeat(indptr[:-1] - (first >> 6), counts)
    bits = np.full(indptr[-1], full)
    bits[indptr[:-1]] &= full << (first & 63).astype(np.uint64)
    bits[indptr[1:] - 1] &= full >> (63 - ((last - 1) & 63)).astype(np.uint64)
    return CoverMatrix(indptr, words.astype(np.int32), bits, n), first, last


@pytest.mark.parametrize("limit", [0, 1000])
def test_memory_stays_linear(limit):
    if not numba_installed():
        pytest.skip("numba is not installed")
    n = 50_000
    covers, first, last = overlapping_intervals(n)
    assert covers.sizes().sum() > 700 * n
    tracemalloc.start()
    cover = minimum_cover(covers, work_limit=limit)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6  # written out, the pairs alone would take more
    changes = np.bincount(first[cover.selected], minlength=n + 1)
    changes -= np.bincount(last[cover.selected], minlength=n + 1)
    assert (np.cumsum(changes)[:n] > 0).all()
    reach, fewest = np.maximum.accumulate(last), 0
    at = 0
    while at < n:
        at, fewest = reach[at], fewest + 1
    assert fewest // 2 < cover.lower_bound <= fewest <= len(cover)


def test_a_large_reduction_looks_at_the_clock(ticks):
    matrix = np.random.default_rng(0).random((3000, 3000)) < 0.1
    cover = minimum_cover(CoverMatrix.from_dense(matrix), time_limit=0.0)
    assert cover.stopped_by == "time"
    assert len(ticks) < MOST_LOOKS
    with pytest.raises(budget.Exhausted):
        red.undominated(*matrix.nonzero(), np.ones(3000, dtype=np.int64), budget.Work(1, 0.0))


# --- the pieces


@pytest.mark.parametrize("seed", range(5))
def test_reductions_agree_with_their_definitions(seed):
    rng = np.random.default_rng(seed)
    matrix, costs = random_matrix(rng, 25, 12, 0.3)
    work = budget.Work(1, None)
    keep = red.undominated(*matrix.nonzero(), costs, work)
    assert keep.tolist() == [
        bool(matrix[j].any()) and not naive.dominated(matrix, costs.tolist(), j) for j in range(25)
    ]
    objects = matrix[:, matrix.any(axis=0)]
    left = red.necessary(*objects.nonzero(), objects.shape[1], work)
    for i in np.flatnonzero(~left):
        assert any((objects[:, k] <= objects[:, i]).all() for k in np.flatnonzero(left))
    covers = CoverMatrix.from_dense(matrix)
    found = red.undominated_rows(covers, costs, matrix.sum(axis=0), budget.Work(1, None), 10_000)
    assert found.tolist() == np.flatnonzero(keep).tolist()


def test_greedy_covers_are_complete_and_irredundant():
    for seed in range(20):
        matrix, costs = boxes(50, seed)
        chosen = greedy_cover(CoverMatrix.from_dense(matrix), costs)
        times = matrix[chosen].sum(axis=0)
        assert (times[matrix.any(axis=0)] > 0).all()
        assert all((times[matrix[j]] == 1).any() for j in chosen)


@pytest.mark.parametrize("seed", range(3))
def test_counts_and_needed_rows_are_those_of_the_flags(seed):
    rng = np.random.default_rng(seed)
    dense = rng.random((int(rng.integers(1, 90)), 200)) < (0.5, 0.02, 0.9)[seed]
    dense = np.repeat(dense, 2, axis=0)
    covers = CoverMatrix.from_dense(dense)
    order = rng.permutation(len(dense))
    kept = []
    for place, j in enumerate(order):
        others = [*kept, *order[place + 1 :]]
        if (dense[j] & ~dense[others].any(axis=0)).any():
            kept.append(j)
    for form in (cover_matrix, compiled(cover_matrix)):
        counts = np.zeros(256, dtype=np.int64)
        form.add_counts(covers.words, covers.bits, counts)
        assert counts[:200].tolist() == dense.sum(axis=0).tolist()
    costs = np.empty(len(dense), dtype=np.int64)
    costs[order] = np.arange(len(dense))[::-1]
    needed = without_redundant(covers, costs, np.arange(len(dense)))
    assert needed.tolist() == sorted(kept)


@pytest.mark.parametrize("kernels", ["interpreted", "compiled_kernels"])
def test_local_search_updates_its_counts(kernels, request):
    request.getfixturevalue(kernels)
    module = local_search if kernels == "interpreted" else compiled(local_search)
    matrix, costs = boxes(80, 4)
    matrix = matrix[:, matrix.any(axis=0)]
    lists = CoverLists.of(matrix)
    start = greedy_cover(CoverMatrix.from_dense(matrix), costs)
    state = local_search.LocalSearch(lists, costs, start)
    arrays = state.arrays
    for _ in range(10):
        module.search(arrays, 37, 0)
        chosen = np.flatnonzero(arrays.place >= 0)
        times = matrix[chosen].sum(axis=0)
        assert times.tolist() == arrays.times.tolist()
        for j in range(len(matrix)):
            expected = (
                -arrays.weights[matrix[j] & (times == 1)].sum()
                if j in chosen
                else arrays.weights[matrix[j] & (times == 0)].sum()
            )
            assert arrays.score[j] == expected
        assert matrix[state.cover()].any(axis=0).all()
        assert arrays.numbers[local_search.COST] == costs[chosen].sum()


@settings(max_examples=often(120), deadline=None)
@given(st.integers(0, 10_000))
def test_bounds_hold_for_any_multipliers(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.random((8, 6)) < 0.4
    matrix[rng.integers(8)] = True
    costs = rng.integers(1, 4, 8)
    best = naive.minimum_cover(matrix, costs.tolist())
    scale = rng.choice([0.1, 1.0, 100.0])
    state = np.zeros(8, dtype=np.int8)
    lists = CoverLists.of(matrix)
    count, _ = exact_bound(lists, rng.normal(0, scale, 6), np.ones(8), state, -1)
    assert count <= len(best)
    y = rng.normal(0, scale, 8)
    limited, _ = exact_bound(lists, y, costs.astype(float), state, len(best))
    assert limited <= costs[best].sum()


def test_a_damaged_tableau_does_not_change_the_result(monkeypatch):
    # Large rounding errors: the result must be correct, because only exact bounds prune.
    rng = np.random.default_rng(0)

    def damaged(lp, *rest):
        answer = simplex.reoptimize(lp, *rest)
        lp.table[-1] *= rng.uniform(0.9, 1.3, lp.table.shape[1])
        return answer

    monkeypatch.setattr(budget.Work, "kernels", lambda _, module, **__: module)
    monkeypatch.setattr(branch_and_bound, "reoptimize", damaged)
    matrix, costs = boxes(45, 6)
    expected = scipy_optimum(matrix, costs)
    cover = minimum_cover(CoverMatrix.from_dense(matrix), costs, work_limit=200)
    assert covers_all(matrix, cover)
    assert cover.status == "feasible" or len(cover) == expected[0]
    assert cover.cost_status == "feasible" or cover.cost == expected[1]
    assert cover.lower_bound <= expected[0]


# --- arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"work_limit": -1}, "work_limit must be an integer"),
        ({"work_limit": 1.5}, "work_limit must be an integer"),
        ({"time_limit": -0.1}, "time_limit must be a number of seconds"),
        ({"time_limit": float("nan")}, "time_limit must be a number of seconds"),
        ({"costs": [1]}, "costs must be one number per candidate"),
        ({"costs": [1, -2]}, "costs must be integers"),
        ({"costs": [1, 0.5]}, "costs must be integers"),
        ({"costs": [1, float("nan")]}, "costs must be integers"),
        ({"costs": [2**31, 2**31]}, "costs must not add up"),
    ],
)
def test_senseless_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        minimum_cover(CoverMatrix.from_dense(np.eye(2, dtype=bool)), **arguments)


def test_the_old_name_of_the_work_limit_warns():
    covers = CoverMatrix.from_dense(boxes(60, 2)[0])
    with pytest.warns(FutureWarning, match="effort is now called work_limit"):
        old = minimum_cover(covers, effort=1)
    assert old.selected.tolist() == minimum_cover(covers, work_limit=1).selected.tolist()


def test_covers_round_trip():
    matrix, _ = boxes(70, 0)
    covers = CoverMatrix.from_dense(matrix)
    assert (covers.to_dense() == matrix).all()
    assert (red.to_sparse(covers).toarray() == matrix).all()
    assert isinstance(minimum_cover(covers), Cover)

"""Large tables: memory of covers, planned memory, optimality gaps, and interruption in any phase."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification

import naive
from frri import FRRIClassifier, RuleSet, induction
from frri import _util as progress
from frri._compile import numba_installed
from frri._util import map_threads
from frri.cli import main
from frri.cover import CoverMatrix, memory_bounded, minimum_cover, solve, solve_large
from frri.cover import __dict__ as cover_names
from frri.cover.budget import Work
from frri.cover.local_search import LocalSearch
from frri.induction import class_layout
from frri.induction.bitmap_backend import BitmapBackend
from frri.induction.numpy_backend import NumpyBackend
from frri.learners.frri import classifier
from induction_steps import confidences, covers, shorten
from test_induction import KINDS, _coarse, random_table  # noqa: F401 - a fixture
from thorough import often

needs_numba = pytest.mark.skipif(not numba_installed(), reason="numba is not installed")


# ---------------------------------------------------------------- covers with little memory


def as_source(whole, asked):
    """Wrap a covering table as a source, and record the number of words per request."""

    def source(candidates, wanted=None):
        some = whole.take(candidates)
        some = some if wanted is None else some.within(wanted)
        asked.append((len(candidates), len(some.bits)))
        return some

    return source


@settings(max_examples=often(40), deadline=None)
def build_covers(source, neighbours, costs, room):
    preselected = memory_bounded.preselect(source, neighbours, costs, room)
    left = None if preselected is None else preselected.left
    return source(np.arange(len(neighbours)), left), preselected


@given(st.integers(0, 2**32 - 1))
def test_broad_candidates_first_give_a_whole_cover_and_a_true_bound(seed):
    rng = np.random.default_rng(seed)
    n, n_objects = int(rng.integers(1, 14)), int(rng.integers(1, 300))
    dense = rng.random((n, n_objects)) < rng.choice([0.05, 0.3, 0.7], (n, 1))
    whole, costs = CoverMatrix.from_dense(dense), rng.integers(0, 4, n)
    room, asked = int(rng.integers(1, 12 * len(whole.bits) + 24)), []
    source, neighbours = as_source(whole, asked), rng.permutation(n)
    covers, preselected = build_covers(source, neighbours, costs, room)
    if preselected is None:
        assert 12 * len(whole.bits) <= room
        for name in ("indptr", "words", "bits"):
            assert (getattr(covers, name) == getattr(whole, name)).all()
        return
    assert 12 * len(whole.bits) > room
    left = ~dense[preselected.first].any(axis=0)
    assert (covers.to_dense() == (dense & left)).all()
    rest = minimum_cover(covers, costs)
    cover = memory_bounded.join_covers(preselected, rest, costs)
    assert (dense[cover.selected].any(axis=0) == dense.any(axis=0)).all()
    assert cover.lower_bound <= len(naive.minimum_cover(dense, costs)) <= len(cover)
    assert (cover.status == "optimal") == (cover.lower_bound == len(cover))
    assert cover.cost == costs[cover.selected].sum()
    for j in cover.selected:  # none is redundant
        others = np.setdiff1d(cover.selected, [j])
        assert (dense[others].any(axis=0) != dense.any(axis=0)).any()


def test_remaining_covers_fit_into_memory(monkeypatch):
    """Broad candidates cover nearly all objects; separate narrow ones cover the others."""
    rng = np.random.default_rng(0)
    monkeypatch.setattr(memory_bounded, "SAMPLE", 20)
    n = 800
    reach = np.where(rng.random(n) < 0.5, 400, 3)
    dense = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) < reach[:, None]
    whole, asked = CoverMatrix.from_dense(dense), []
    for share in (0.5, 0.2, 0.05):
        room = int(12 * share * len(whole.bits))
        source, costs = as_source(whole, asked), np.zeros(n, dtype=np.int64)
        covers, preselected = build_covers(source, np.arange(n), costs, room)
        assert len(preselected.first) > 0
        assert 12 * len(covers.bits) <= 1.2 * room
        # Only the final covers were requested with more memory.
        assert max(12 * words for _, words in asked) <= 1.2 * room
        asked.clear()


def test_a_first_cover_has_less_memory_unless_a_limit_is_given():
    rooms = [
        FRRIClassifier(work_limit=effort, memory_limit=limit)._cover_bytes(100_000, 10, free=10**10)
        for effort, limit in ((0, None), (1, None), (0, "2 GB"))
    ]
    assert rooms[0] == 600 * 100_000 < rooms[1] < rooms[2]


@pytest.fixture
def _large_path(monkeypatch, request):
    """Use the code for large tables on small ones."""
    request.getfixturevalue("_coarse")
    for name in ("COMPILED_FROM", "LOADED_FROM", "USED_FROM", "DIVIDED_FROM"):
        monkeypatch.setattr(induction, name, 0)


@needs_numba
@pytest.mark.usefixtures("_large_path")
@pytest.mark.parametrize("kind", KINDS)
def test_covers_of_some_objects_are_those_of_all_cut_down(kind):
    rng = np.random.default_rng(3)
    for gaps in (False, True):
        values, classes = random_table(rng, 150, 4, 3, kind)
        if gaps:
            values[rng.random(values.shape) < 0.1] = np.nan
        confidence = confidences(values, classes, compiled=False)
        types = shorten(values, classes, confidence, np.arange(4), compiled=False)
        whole, _ = covers(values, classes, confidence, types, compiled=False)
        table = class_layout.ClassLayout(values, classes)
        path = BitmapBackend(table, n_jobs=2)
        asked, wanted = rng.permutation(150)[:40], rng.integers(0, 2**63, whole.n_objects // 64)
        wanted = wanted.astype(np.uint64)
        for words in (None, wanted, np.zeros_like(wanted)):
            found = path.cover_rows(table.rows[asked], confidence[asked], types[asked], words)
            expected = whole.take(asked) if words is None else whole.take(asked).within(words)
            assert (found.to_dense() == expected.to_dense()).all()
            assert (found.bits != 0).all()


# ---------------------------------------------------------------- planned memory


def fitted(X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FRRIClassifier(**options).fit(X, y)


@needs_numba
@pytest.mark.usefixtures("_large_path")
def test_a_memory_limit_leads_to_the_leaner_path_or_to_a_sentence(monkeypatch):
    monkeypatch.setattr(classifier, "LEAST_BYTES", 100)
    monkeypatch.setattr(classifier, "BESIDES", 0)
    X, y = make_classification(500, 5, n_redundant=0, class_sep=1.5, flip_y=0, random_state=1)
    base = 500 * (5 * classifier.PER_VALUE + classifier.PER_SAMPLE)
    plain = fitted(X, y)
    assert plain.selection_.status == "optimal"
    found = [fitted(X, y, memory_limit=base + 3_000, n_jobs=n_jobs) for n_jobs in (1, 2)]
    for lean in found:
        assert lean.selection_.stopped_by == "memory"
        assert lean.ruleset_.covers(X).any(axis=1).all()
        assert len(lean.uncovered_) == 0
        assert lean.selection_.lower_bound <= plain.selection_.n_rules <= lean.selection_.n_rules
        assert lean.selection_.n_rules < 2 * plain.selection_.n_rules
        np.testing.assert_array_equal(lean.confidence_, plain.confidence_)
        for rule, known in zip(lean.ruleset_, lean.ruleset_.covers(X).T, strict=True):
            assert np.sum(rule.statistics.support) == known.sum()
        assert lean.selected_.tolist() == found[0].selected_.tolist()
    roomy = fitted(X, y, memory_limit="1 GB")
    assert roomy.selected_.tolist() == plain.selected_.tolist()
    message = (
        "FRRI needs about 0 MB for 500 samples and 5 features, but memory_limit is 0 MB: raise it"
    )
    with pytest.raises(MemoryError, match=re.escape(message)):
        fitted(X, y, memory_limit=base)
    with pytest.warns(UserWarning, match="a larger `memory_limit` may need fewer rules"):
        FRRIClassifier(memory_limit=base + 3_000).fit(X, y)


def test_plans_use_the_free_memory(monkeypatch):
    monkeypatch.setattr(classifier, "free_memory", lambda: 600_000_000)
    assert classifier.plan_cover_bytes(100_000, 10) < classifier.DEFAULT_BYTES
    with pytest.raises(ValueError, match="but there are only 600 MB free: free some, fit a sample"):
        classifier.plan_cover_bytes(1_000_000, 10)
    monkeypatch.setattr(classifier, "free_memory", lambda: None)  # unknown
    assert classifier.plan_cover_bytes(1_000_000, 10) == classifier.DEFAULT_BYTES
    assert classifier.memory_bytes("1.5gib") == 1.5 * 2**30


@pytest.mark.parametrize("limit", ["much", "-1 GB", "2 XB", 0, -5, 2.5, True, ""])
def test_invalid_limits(limit):
    with pytest.raises(
        ValueError, match="memory_limit must be a number of bytes or a string such as"
    ):
        FRRIClassifier(memory_limit=limit).fit([[0.0], [1.0]], [0, 1])


# ---------------------------------------------------------------- optimality gaps


@pytest.mark.parametrize("expanded", [1 << 20, 0])
def test_an_optimality_gap_ends_the_search(expanded, monkeypatch):
    monkeypatch.setitem(cover_names, "LARGEST_EXPANDED", expanded)
    matrix = np.random.default_rng(0).random((150, 150)) < 0.05
    covers = CoverMatrix.from_dense(matrix)
    near = minimum_cover(covers, optimality_gap=0.4)
    exact = minimum_cover(covers, work_limit=100)
    assert near.stopped_by == "gap"
    assert 0 < near.gap <= 0.4
    assert near.effort < exact.effort
    assert near.lower_bound <= exact.lower_bound
    assert matrix[near.selected].any(axis=0).sum() == matrix.any(axis=0).sum()


@pytest.mark.filterwarnings("error")
def test_a_reached_optimality_gap_gives_no_warning():
    X, y = make_classification(300, 8, flip_y=0.1, random_state=0)
    clf = FRRIClassifier(optimality_gap=0.5).fit(X, y)
    assert clf.selection_.stopped_by == "gap"
    assert 0 < clf.selection_.gap <= 0.5
    with pytest.raises(ValueError, match="optimality_gap must be"):
        FRRIClassifier(optimality_gap=-0.1).fit(X, y)
    with pytest.raises(ValueError, match="optimality_gap must be a fraction from 0 to 1, not 2"):
        minimum_cover(CoverMatrix.from_dense([[True]]), optimality_gap=2)


def test_memory_limit_and_optimality_gap_on_the_command_line(tmp_path, capsys):
    X, y = make_classification(300, 8, flip_y=0.1, random_state=0)
    rows = [
        ",".join(map(str, [*row.round(3), "ab"[label]])) for row, label in zip(X, y, strict=True)
    ]
    file = tmp_path / "table.csv"
    file.write_text("\n".join([",".join([*"pqrstuvw", "kind"]), *rows]) + "\n", encoding="utf-8")
    fit = ["fit", str(file), "--target", "kind", "--no-check"]
    assert main([*fit, "--memory-limit", "1MB"]) == 2
    assert "FRRI needs about 50 MB for 300 samples and 8 features, but" in capsys.readouterr().err
    assert main([*fit, "--memory-limit", "huge"]) == 2
    assert "memory_limit must be a number of bytes or a string such as" in capsys.readouterr().err
    model = str(tmp_path / "model.json")
    assert main([*fit, "--memory-limit", "2GB", "--optimality-gap", "0.5", "-o", model]) == 0
    about = RuleSet.from_json(Path(model).read_text(encoding="utf-8")).about
    assert about["selection"]["stopped_by"] == "gap"
    assert about["parameters"]["memory_limit"] == "2GB"


# ---------------------------------------------------------------- interruption in any phase

PHASES = {
    "confidences": (NumpyBackend, "confidences"),
    "shortening": (NumpyBackend, "shorten"),
    "covers": (NumpyBackend, "covers"),
    "reduction": (solve, "reduce"),
    "greedy": (solve, "greedy_cover"),
    "local search": (LocalSearch, "run"),
    "bound": (solve.BranchAndBound, "start"),
    "greedy on words": (solve_large, "greedy_cover"),
    "counting on words": (solve_large.CoverMatrix, "counts"),
    "bound on words": (solve_large, "subgradient_bound"),
    "reduction on words": (solve, "reduce"),
    "local search on words": (LocalSearch, "run"),
}


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("end", ["interrupt", "time"])
def test_a_fit_can_be_ended_in_every_phase(phase, end, monkeypatch):
    """The first call of the phase is interrupted, or uses up the time limit."""
    X, y = make_classification(300, 8, flip_y=0.2, random_state=0)
    monkeypatch.setattr(induction, "USED_FROM", np.inf)  # whatever ran before
    if phase.endswith("on words"):
        monkeypatch.setitem(cover_names, "LARGEST_EXPANDED", 0)
    where, name = PHASES[phase]
    usual, now, begun = getattr(where, name), [0.0], []

    def ended(*arguments, **options):
        begun.append(phase)
        if len(begun) == 1:
            now[0] = 100.0
            if end == "interrupt":
                raise KeyboardInterrupt
        return usual(*arguments, **options)

    monkeypatch.setattr(where, name, ended)
    for module in (
        FRRIClassifier.fit.__globals__,
        FRRIClassifier._learn.__globals__,
        Work.check_time.__globals__["time"].__dict__,
    ):
        monkeypatch.setitem(module, "perf_counter", lambda: now[0])
    clf = FRRIClassifier(time_limit=60, work_limit=10)
    if end == "interrupt" and phase in ("confidences", "shortening", "covers"):
        with pytest.raises(KeyboardInterrupt):  # there are no rules yet
            clf.fit(X, y)
        assert not hasattr(clf, "ruleset_")
        assert not hasattr(clf, "selection_")
        return
    message = {"interrupt": "The search was stopped by an interrupt", "time": "by `time_limit`"}[
        end
    ]
    with pytest.warns(UserWarning, match=message):
        clf.fit(X, y)
    assert begun
    assert clf.selection_.stopped_by == end
    assert clf.selection_.lower_bound <= clf.selection_.n_rules
    assert clf.ruleset_.covers(X).any(axis=1).all()


# ---------------------------------------------------------------- estimated time


def test_progress_estimates_the_time_of_a_step(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    seen = []

    def work(start, end):
        seen.append(shown.outlook())
        now[0] += end - start

    with progress.Progress("learning") as shown:
        assert shown.outlook() == ""
        map_threads(work, [(0, 10), (10, 20), (20, 40), (40, 50)], n_jobs=1)
        map_threads(work, [(0, 3), (3, 6)], n_jobs=1)
    expected = [(25, 30), (50, 20), (75, 13)]
    expected = [f", {share}% of this step, {left} s left of it" for share, left in expected]
    assert seen == ["", *expected, "", ", 50% of this step, 3 s left of it"]
    assert not progress.Progress.active

"""One rule for numbers of threads."""

import joblib
import pytest
from joblib import Parallel, delayed, parallel_config

from frri._util.threads import in_threads, n_threads


@pytest.fixture
def six_cores(monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 6)


@pytest.mark.usefixtures("six_cores")
@pytest.mark.parametrize(
    ("n_jobs", "expected"), [(None, 6), (-1, 6), (-2, 5), (-6, 1), (-99, 1), (1, 1), (9, 9)]
)
def test_the_meaning_of_n_jobs(n_jobs, expected):
    assert n_threads(n_jobs) == expected


@pytest.mark.usefixtures("six_cores")
def test_the_context_decides_where_nothing_is_said():
    with parallel_config(n_jobs=4):
        assert n_threads() == 4
        assert n_threads(2) == 2
    with parallel_config(n_jobs=-2):
        assert n_threads() == 5


@pytest.mark.usefixtures("six_cores")
def test_one_of_several_jobs_takes_no_further_cores():
    for backend in ("threading", "loky"):
        assert Parallel(2, backend=backend)(delayed(n_threads)() for _ in range(2)) == [1, 1]
    assert Parallel(2, backend="threading")(delayed(n_threads)(3) for _ in range(2)) == [3, 3]


@pytest.mark.parametrize("n_jobs", [0, True, 1.5, "all"])
def test_what_is_no_number_of_threads(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be None or a whole number other than 0"):
        n_threads(n_jobs)


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_come_in_order(n_jobs):
    parts = [(start, start + 3) for start in range(0, 60, 3)]
    assert in_threads(lambda *part: part, parts, n_jobs) == parts
    assert in_threads(lambda *part: part, [], n_jobs) == []


def test_an_error_in_a_thread_is_raised():
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda start, end: end // start, [(1, 1), (0, 1), (1, 1)], 2)

"""How many threads to use: one rule for whatever has a parameter `n_jobs`."""

import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral
from typing import Any

from frri._util.names import shown
from frri._util.progress import tell

# Beyond this a number of threads is a slip of the pen.
MOST_THREADS = 10_000


def n_threads(n_jobs: int | None = None) -> int:
    """The number of threads that `n_jobs` asks for.

    Parameters
    ----------
    n_jobs : int, optional
        So many, all cores that the process may use (-1), all but one (-2), and so on, as everywhere in
        scikit-learn. None is what a surrounding `joblib.parallel_config` says, or else all cores;
        but one where the caller is itself one of several jobs of joblib, whose cores are taken.

    Examples
    --------
    >>> n_threads(3)
    3
    >>> n_threads(0)
    Traceback (most recent call last):
        ...
    ValueError: n_jobs must be None or a whole number other than 0 up to 10000, got 0.
    """
    check_n_jobs(n_jobs)
    wanted = _of_context() if n_jobs is None else int(n_jobs)
    return wanted if wanted > 0 else max(1, _n_cores() + 1 + wanted)


def check_n_jobs(n_jobs: Any) -> None:
    """Complain about what is no number of threads."""
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (whole and 0 < abs(int(n_jobs)) <= MOST_THREADS):
        raise ValueError(
            f"n_jobs must be None or a whole number other than 0 up to {MOST_THREADS}, "
            f"got {shown(n_jobs)}."
        )


def _of_context() -> int:
    """What joblib says where nothing else is said; who has not imported it is not one of its jobs."""
    if "joblib" not in sys.modules:
        return -1
    from joblib.parallel import get_active_backend  # noqa: PLC0415 - numpy is enough to predict

    backend, n_jobs = get_active_backend()
    if backend.nesting_level:
        return 1
    return -1 if n_jobs is None else int(n_jobs)


def _n_cores() -> int:
    """Cores that this process may use."""
    try:
        import joblib  # noqa: PLC0415 - as above
    except ImportError:
        return os.cpu_count() or 1
    return int(joblib.cpu_count())


def in_threads(
    work: Callable[[int, int], Any], parts: Sequence[tuple[int, int]], n_jobs: int | None = None
) -> list[Any]:
    """What comes of the work on all parts, from a start to an end each, in their order.

    Examples
    --------
    >>> in_threads(lambda start, end: end - start, [(0, 4), (4, 6)], n_jobs=2)
    [4, 2]
    """
    n = min(n_threads(n_jobs), len(parts))
    done: list[None] = []

    def counted(part: tuple[int, int]) -> Any:
        result = work(*part)
        done.append(None)
        tell(len(done), len(parts))
        return result

    tell(0, 1)
    if n < 2:
        return [counted(part) for part in parts]
    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(counted, parts))

"""The work and time that a search may take; the choice of interpreted or compiled kernels."""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any

from frri._compile import asking, cached_on_disk, compiled, compiled_before, numba_installed
from frri._util import show_note

CELLS = 2_000_000
"""Cells of a tableau rewritten per unit of work: about half a millisecond when compiled."""

COMPILE_SECONDS = {"nodes": 20.0, "local_search": 3.0, "word_sets": 6.0}
"""CPU seconds for compiling the kernels of a module, the import of numba included."""

LOAD_SECONDS, IMPORT_SECONDS = 0.5, 1.0
"""CPU seconds for loading kernels that were compiled earlier, and for importing numba."""

SLICE_SECONDS = 0.25
"""Seconds that interpreted kernels may run between two looks at the clock."""


_stop_conditions = threading.local()
_interpreted_seconds: dict[str, float] = {}
"""Seconds that this process has spent with the kernels of each module."""


@contextmanager
def stop_when(condition: Callable[[], bool]) -> Iterator[None]:
    """End the searches that this thread begins, as at Ctrl-C, as soon as a condition holds."""
    _stop_conditions.current = condition
    try:
        yield
    finally:
        del _stop_conditions.current


class Exhausted(Exception):  # noqa: N818 - the end of a search, not an error
    """Raised between two slices of work when the search has to stop."""


class Work:
    """The account of one search.

    Parameters
    ----------
    work_limit : int
        Units of `CELLS` that may be spent: the same on every machine.
    time_limit : float or None
        Seconds, on top of that.
    optimality_gap : float, default=0.0
        Relative optimality gap at which the search stops.
    """

    def __init__(
        self, work_limit: int, time_limit: float | None, optimality_gap: float = 0.0
    ) -> None:
        self.start = self._since = time.perf_counter()
        self.deadline = None if time_limit is None else self.start + time_limit
        self.optimality_gap = optimality_gap
        self.budget = self.limit = work_limit * CELLS
        self.spent = 0
        self.nodes = 0
        self.pivots = 0
        self.steps = 0
        self.stopped_by: str | None = None
        self.interrupted = False
        self._condition: Callable[[], bool] | None = getattr(_stop_conditions, "current", None)
        self._compiled: dict[str, Any] = {}
        self._used = ""

    def near_enough(self, size: int, bound: int) -> bool:
        """Return whether a cover of this size is as good as asked for, with this bound proved."""
        return size - bound <= self.optimality_gap * size

    def allow(self, fraction: float) -> None:
        """Limit what is spent next to a fraction of what is left."""
        self.limit = self.spent + int(max(self.budget - self.spent, 0) * fraction)

    def spend(self, cells: int) -> None:
        """Book a slice of work; raise `Exhausted` if it was the last."""
        self.spent += cells
        self.check_time()
        if self.spent >= self.limit:
            self.stopped_by = "effort"
            raise Exhausted

    def check_time(self) -> None:
        """Raise `Exhausted` if time is over or the user wants an end."""
        if self.interrupted or (self._condition is not None and self._condition()):
            self.stopped_by = "interrupt"
        elif self.deadline is not None and time.perf_counter() >= self.deadline:
            self.stopped_by = "time"
        else:
            return
        raise Exhausted

    def slices(self, steps: int, seconds: float) -> Iterator[int]:
        """Divide steps, each of so many seconds if interpreted, and look at the clock in between.

        The steps are booked as a whole, so that the work done does not depend on the division.
        """
        size = max(1, int(SLICE_SECONDS / seconds))
        for done in range(0, steps, size):
            if done:
                self.check_time()
            yield min(size, steps - done)

    def kernels(self, module: ModuleType, ahead: float = 0.0) -> Any:
        """Return the kernels of a module, interpreted or compiled, whichever should end sooner.

        Kernels run interpreted until this process has spent as long with them as compiling takes,
        unless it is known that as many interpreted seconds lie `ahead`. Nothing is compiled that
        comes too late.
        """
        name = module.__name__.rpartition(".")[2]
        if name in self._compiled:
            return self._compiled[name]
        self._book()
        self._used = name
        if not compiled_before(module):
            if not numba_installed():
                return module
            known = cached_on_disk(module)
            load = LOAD_SECONDS + (0.0 if "numba" in sys.modules else IMPORT_SECONDS)
            price = load if known else COMPILE_SECONDS[name]
            in_time = self.deadline is None or self._since + price < self.deadline
            if max(_interpreted_seconds.get(name, 0.0), ahead) <= price or not in_time:
                return module
            if not known:
                show_note(f"compiling kernels, once per installation, about {price:.0f} s")
        self._compiled[name] = compiled(module)
        return self._compiled[name]

    def _book(self) -> None:
        """Add the time since the last call to the kernels used in it."""
        now = time.perf_counter()
        spent = _interpreted_seconds.get(self._used, 0.0) + now - self._since
        _interpreted_seconds[self._used], self._since = spent, now

    @property
    def units(self) -> int:
        """Units of work spent so far."""
        return -(-self.spent // CELLS)

    def close(self) -> float:
        """Return the seconds that the search took."""
        self._book()
        return time.perf_counter() - self.start

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Let Ctrl-C end the search instead of the program; a second one is not held back.

        The clock is looked at before every compilation as well.
        """
        usual = signal.getsignal(signal.SIGINT)
        in_main_thread = threading.current_thread() is threading.main_thread()
        handled = in_main_thread and usual is signal.default_int_handler

        def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
            self.interrupted = True
            signal.signal(signal.SIGINT, usual)

        if handled:
            signal.signal(signal.SIGINT, interrupt)
        try:
            with asking(self.check_time):
                yield
        finally:
            if handled:
                signal.signal(signal.SIGINT, usual)

"""The work and time that a search may take."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any

from frri._compile import check_before_compiling, choose_kernels

# Cells of a tableau rewritten per unit of work: about half a millisecond when compiled.
CELLS = 2_000_000
# CPU seconds for compiling the kernels of a module, the import of numba included.
COMPILE_SECONDS = {"branch_and_bound": 20.0, "local_search": 3.0}

# Seconds that this process has spent with the kernels of each module.
_kernel_seconds: dict[str, float] = {}


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
        self.limit = work_limit * CELLS
        self.spent = self.nodes = self.pivots = self.steps = 0
        self.stopped_by: str | None = None
        self.interrupted = False
        self._used = ""

    def near_enough(self, size: int, bound: int) -> bool:
        """Return whether a cover is within the optimality gap, with this bound proven."""
        return size - bound <= self.optimality_gap * size

    @property
    def left(self) -> int:
        """Cells that may still be spent."""
        return max(self.limit - self.spent, 0)

    @contextmanager
    def portion(self, cells: float) -> Iterator[None]:
        """Limit the work inside to a number of cells; when they are spent, leave the block."""
        outer = self.limit
        self.limit = min(outer, self.spent + int(cells))
        try:
            yield
        except Exhausted:
            if self.stopped_by != "effort":
                raise
            self.stopped_by = None
        finally:
            self.limit = outer

    def spend(self, cells: int) -> None:
        """Book a slice of work; raise `Exhausted` if it was the last."""
        self.spent += cells
        self.check_time()
        if self.spent >= self.limit:
            self.stopped_by = "effort"
            raise Exhausted

    def check_time(self) -> None:
        """Raise `Exhausted` if the time is over or the search is interrupted."""
        if self.interrupted:
            self.stopped_by = "interrupt"
        elif self.deadline is not None and time.perf_counter() >= self.deadline:
            self.stopped_by = "time"
        else:
            return
        raise Exhausted

    def kernels(self, module: ModuleType, ahead: float = 0.0) -> Any:
        """Return the kernels of a module, interpreted or compiled, whichever should end sooner.

        Kernels run interpreted until this process has spent as long with them as compiling takes,
        unless more interpreted seconds are known to lie `ahead`.
        """
        now = time.perf_counter()
        _kernel_seconds[self._used] = _kernel_seconds.get(self._used, 0.0) + now - self._since
        self._since, self._used = now, module.__name__.rpartition(".")[2]
        seconds, price = _kernel_seconds.get(self._used, 0.0), COMPILE_SECONDS[self._used]
        left = None if self.deadline is None else self.deadline - now
        return choose_kernels(module, max(seconds, ahead), compile_seconds=price, seconds_left=left)

    @property
    def seconds(self) -> float:
        """Seconds since the search began."""
        return time.perf_counter() - self.start

    @contextmanager
    def handle_interrupts(self) -> Iterator[None]:
        """Let Ctrl-C end the search instead of the program; a second one is not held back.

        The time is checked before every compilation, too.
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
            with check_before_compiling(self.check_time):
                yield
        finally:
            if handled:
                signal.signal(signal.SIGINT, usual)

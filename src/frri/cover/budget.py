"""How much work a search may do, and at which speed its kernels run."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any

from frri._compile import asking, cached_on_disk, compiled, compiled_before, numba_installed

CELLS = 2_000_000
"""Cells of a tableau rewritten per unit of effort: about half a millisecond when compiled."""

COLD_SECONDS, CACHED_SECONDS = 12.0, 0.4
"""What it costs to compile the kernels of a module, or to load them compiled earlier."""

GLANCE_SECONDS = 0.25
"""How long interpreted kernels may run without a look at the clock."""


_ends = threading.local()


@contextmanager
def until(end: Callable[[], bool]) -> Iterator[None]:
    """Let searches that this thread begins end as at Ctrl-C, as soon as a question is answered with yes."""
    _ends.end = end
    try:
        yield
    finally:
        del _ends.end


class Exhausted(Exception):  # noqa: N818 - the end of a search, not an error
    """Raised between two slices of work when the search has to stop."""


class Work:
    """The account of one call.

    Parameters
    ----------
    effort : int
        Units of `CELLS` that may be spent: the same on every machine.
    time_limit : float or None
        Seconds, on top of that.
    gap : float, default=0.0
        The share of a cover that need not be proved necessary.
    """

    def __init__(self, effort: int, time_limit: float | None, gap: float = 0.0) -> None:
        self.start = time.perf_counter()
        self.deadline = None if time_limit is None else self.start + time_limit
        self.gap = gap
        self.budget = self.limit = effort * CELLS
        self.spent = 0
        self.nodes = 0
        self.pivots = 0
        self.steps = 0
        self.stopped_by: str | None = None
        self.interrupted = False
        self._end: Callable[[], bool] | None = getattr(_ends, "end", None)
        self._compiled: dict[ModuleType, Any] = {}

    def near_enough(self, size: int, bound: int) -> bool:
        """Whether a cover of this size is as good as asked for, with this bound proved."""
        return size - bound <= self.gap * size

    def allow(self, share: float) -> None:
        """Limit what is spent next to a share of what is left."""
        self.limit = self.spent + int(max(self.budget - self.spent, 0) * share)

    def spend(self, cells: int) -> None:
        """Book a slice of work; raise `Exhausted` if it was the last."""
        self.spent += cells
        self.look_at_the_clock()
        if self.spent >= self.limit:
            self.stopped_by = "effort"
            raise Exhausted

    def look_at_the_clock(self) -> None:
        """Raise `Exhausted` if time is over or the user wants an end."""
        if self.interrupted or (self._end is not None and self._end()):
            self.stopped_by = "interrupt"
        elif self.deadline is not None and time.perf_counter() >= self.deadline:
            self.stopped_by = "time"
        else:
            return
        raise Exhausted

    def glances(self, steps: int, seconds: float) -> Iterator[int]:
        """The parts of a slice of so many steps, each of so many seconds if interpreted.

        Between two parts the clock is looked at; the slice is booked as a whole, so that the work
        done does not depend on its parts.
        """
        part = max(1, int(GLANCE_SECONDS / seconds))
        for done in range(0, steps, part):
            if done:
                self.look_at_the_clock()
            yield min(part, steps - done)

    def kernels(self, module: ModuleType, ahead: float = 0.0) -> Any:
        """The module itself or its kernels compiled, whichever promises to be done sooner.

        As with skis, rent until the rent paid equals the price, then buy: kernels run interpreted
        until the process has spent as long on searches as compiling takes, unless it is known that
        there are as many interpreted seconds `ahead`. Nothing is bought that comes too late.
        """
        if module in self._compiled:
            return self._compiled[module]
        if compiled_before(module):
            if self.deadline is None:
                self._compiled[module] = compiled(module)
                return self._compiled[module]
            fast = compiled(module)
            return fast if self._in_time(COLD_SECONDS) else _Ready(module, fast)
        if not numba_installed():
            return module
        price = CACHED_SECONDS if cached_on_disk(module) else COLD_SECONDS
        paid = _Rent.paid + time.perf_counter() - self.start
        worth = max(paid, ahead) > price and self._in_time(price)
        return compiled(module) if worth else module

    def _in_time(self, seconds: float) -> bool:
        return self.deadline is None or time.perf_counter() + seconds < self.deadline

    @property
    def units(self) -> int:
        """Effort spent so far."""
        return -(-self.spent // CELLS)

    def close(self) -> float:
        """The seconds the call took."""
        seconds = time.perf_counter() - self.start
        _Rent.paid += seconds
        return seconds

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Let Ctrl-C end the search instead of the program; a second one is not held back.

        The clock is looked at before every compilation as well.
        """
        usual = signal.getsignal(signal.SIGINT)
        if (
            threading.current_thread() is not threading.main_thread()
            or usual is not signal.default_int_handler
        ):
            with asking(self.look_at_the_clock):
                yield
            return

        def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
            self.interrupted = True
            signal.signal(signal.SIGINT, usual)

        signal.signal(signal.SIGINT, interrupt)
        try:
            with asking(self.look_at_the_clock):
                yield
        finally:
            signal.signal(signal.SIGINT, usual)


class _Ready:
    """The kernels of a module, compiled where they are already."""

    def __init__(self, module: ModuleType, fast: Any) -> None:
        self._module = module
        self._fast = fast

    def __getattr__(self, name: str) -> Any:
        kernel = getattr(self._fast, name)
        ready = kernel.signatures or cached_on_disk(self._module, kernel.__name__)
        return kernel if ready else getattr(self._module, name)


class _Rent:
    """Seconds this process has spent on searches; an upper estimate of the time interpreted."""

    paid = 0.0

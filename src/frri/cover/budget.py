"""How much work a search may do, and at which speed its kernels run."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any

from frri._twins import cached_on_disk, compiled, compiled_before, numba_installed

CELLS = 2_000_000
"""Cells of a tableau rewritten per unit of effort: about half a millisecond when compiled."""

COLD_SECONDS, CACHED_SECONDS = 12.0, 0.4
"""What it costs to compile the kernels of a module, or to load them compiled earlier."""


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
    """

    def __init__(self, effort: int, time_limit: float | None) -> None:
        self.start = time.perf_counter()
        self.deadline = None if time_limit is None else self.start + time_limit
        self.budget = self.limit = effort * CELLS
        self.spent = 0
        self.nodes = 0
        self.pivots = 0
        self.steps = 0
        self.stopped_by: str | None = None
        self.interrupted = False
        self._twins: dict[ModuleType, Any] = {}

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
        if self.interrupted:
            self.stopped_by = "interrupt"
        elif self.deadline is not None and time.perf_counter() >= self.deadline:
            self.stopped_by = "time"
        else:
            return
        raise Exhausted

    def kernels(self, module: ModuleType, ahead: float = 0.0) -> Any:
        """The module itself or its compiled twin, whichever promises to be done sooner.

        As with skis, rent until the rent paid equals the price, then buy: kernels run interpreted
        until the process has spent as long on searches as compiling takes, unless it is known that
        there are as many interpreted seconds `ahead`.
        """
        if module in self._twins:
            return self._twins[module]
        if compiled_before(module):
            self._twins[module] = compiled(module)
            return self._twins[module]
        if not numba_installed():
            return module
        price = CACHED_SECONDS if cached_on_disk(module) else COLD_SECONDS
        paid = _Rent.paid + time.perf_counter() - self.start
        return compiled(module) if max(paid, ahead) > price else module

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
        """Let Ctrl-C end the search instead of the program; a second one is not held back."""
        usual = signal.getsignal(signal.SIGINT)
        if (
            threading.current_thread() is not threading.main_thread()
            or usual is not signal.default_int_handler
        ):
            yield
            return

        def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
            self.interrupted = True
            signal.signal(signal.SIGINT, usual)

        signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)


class _Rent:
    """Seconds this process has spent on searches; an upper estimate of the time interpreted."""

    paid = 0.0

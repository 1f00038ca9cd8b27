"""What is going on, on standard error, while it takes time."""

import sys
import threading
import time
from types import TracebackType
from typing import ClassVar, Self


class Progress:
    """Says what is going on while it takes more than a second.

    Parameters
    ----------
    what : str
    patience : float, default=1.0
        Seconds before anything is said.
    closing : bool, default=False
        Whether the last word is how long it took.

    Attributes
    ----------
    share : float
        How much of it is done, where whoever does it says so: then the time left is told.

    Examples
    --------
    >>> with Progress("learning rules"):
    ...     tell(1, 4)
    """

    # What is going on, the innermost last.
    going_on: ClassVar[list["Progress"]] = []

    def __init__(self, what: str, patience: float = 1.0, *, closing: bool = False) -> None:
        self.what, self.patience, self.closing = what, patience, closing
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._shown = False
        self.share = 0.0
        self._step, self._since = 1.0, 0.0

    def __enter__(self) -> Self:
        self._start = time.perf_counter()
        Progress.going_on.append(self)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        Progress.going_on.remove(self)
        self._over.set()
        self._thread.join()
        if self._shown and sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
        if self.closing and error is None:
            _write(f"{self.what}: {time.perf_counter() - self._start:.1f} s\n")

    def _watch(self) -> None:
        """A line that counts on a terminal, a line of its own now and then elsewhere."""
        wait = self.patience
        while not self._over.wait(wait):
            seconds = time.perf_counter() - self._start
            self._shown = True
            line = f"{self.what} ... {self._how_far(seconds)}"
            if sys.stderr.isatty():
                wait = 1.0
                _write(f"\r{line}\x1b[K")
            else:
                wait = max(10.0, seconds)
                _write(f"{line}\n")

    def come(self, share: float) -> None:
        """Note how much of a step is done; less than before is of the next step."""
        if share < self._step:
            self._since = time.perf_counter()
        self._step = share

    def outlook(self) -> str:
        """How long the step will take, if that is known."""
        gone, share = time.perf_counter() - self._since, self._step
        if not 0 < share < 1:
            return ""
        return f", {share:.0%} of this step, {gone * (1 - share) / share:.0f} s left of it"

    def _how_far(self, seconds: float) -> str:
        if not self.share:
            return f"{seconds:.0f} s{self.outlook()}"
        left = seconds * (1.0 - self.share) / self.share
        return f"{self.share:.0%} in {seconds:.0f} s, {left:.0f} s left"


def tell(done: int, of: int) -> None:
    """Let whoever shows progress know how many parts of a step are done."""
    if Progress.going_on:
        Progress.going_on[-1].come(done / of)


def _write(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:  # nobody listens
        pass

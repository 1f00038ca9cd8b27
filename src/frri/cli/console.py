"""What people see: narration, progress, colours, and sentences about errors."""

import io
import os
import sys
import threading
import time
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self


def say(text: str) -> None:
    """A line of narration; standard output is for results.

    Examples
    --------
    >>> say("150 rows")
    """
    try:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
    except OSError:  # nobody listens
        pass


@contextmanager
def notes() -> Iterator[None]:
    """Warnings that are meant for users become lines of narration, each once, when all went well.

    Examples
    --------
    >>> with notes():
    ...     warnings.warn("the first column is left out", UserWarning, stacklevel=1)
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in dict.fromkeys(str(w.message) for w in caught if w.category is UserWarning):
        say(f"note: {one_line(message)}")


def one_line(text: str) -> str:
    r"""A text without line breaks and other control characters.

    Examples
    --------
    >>> one_line("red\n\x1b[31m")
    'red  [31m'
    """
    return "".join(" " if unicodedata.category(c) in {"Cc", "Zl", "Zp"} else c for c in text)


def sentence(error: BaseException) -> str:
    """What went wrong, on one line that ends with a full stop.

    Examples
    --------
    >>> sentence(FileNotFoundError(2, "No such file or directory", "x.json"))
    'x.json: No such file or directory.'
    """
    if isinstance(error, MemoryError):
        text = "There is not enough memory for this table"
    elif isinstance(error, OSError) and error.strerror:
        text = f"{error.filename or 'standard output'}: {error.strerror}"
    else:
        text = str(error) or type(error).__name__
    text = " ".join(one_line(text).split())
    return text if text.endswith((".", "?", "!")) else f"{text}."


def bold(text: str) -> str:
    """Emphasised on a terminal, plain elsewhere and where `NO_COLOR` is set.

    Examples
    --------
    >>> bold("IF")
    'IF'
    """
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain or not sys.stdout.isatty() else f"\x1b[1m{text}\x1b[0m"


class Progress:
    """Says what is going on while it takes more than a second.

    Examples
    --------
    >>> with Progress("learning rules"):
    ...     pass
    """

    def __init__(self, what: str, patience: float = 1.0) -> None:
        self.what, self.patience = what, patience
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._shown = False

    def __enter__(self) -> Self:
        self._start = time.perf_counter()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()
        if self._shown and sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")

    def _watch(self) -> None:
        """A line that counts on a terminal, a line of its own now and then elsewhere."""
        wait = self.patience
        while not self._over.wait(wait):
            seconds = time.perf_counter() - self._start
            self._shown = True
            if sys.stderr.isatty():
                wait = 1.0
                sys.stderr.write(f"\r{self.what} ... {seconds:.0f} s")
                sys.stderr.flush()
            else:
                wait = max(10.0, seconds)
                say(f"{self.what} ... {seconds:.0f} s")


def prepare_stdout() -> None:
    """Results in files and pipes are UTF-8 everywhere; a terminal shows what it can."""
    if not isinstance(sys.stdout, io.TextIOWrapper):
        return
    if sys.stdout.isatty():
        sys.stdout.reconfigure(errors="replace")
    else:
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")


def abandon_stdout(*, only_if_unwritable: bool = False) -> None:
    """Let nothing more be written there, so that the end of the process does not complain."""
    try:
        if only_if_unwritable:
            sys.stdout.flush()
            return
    except OSError:
        pass
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):  # it is no file
        pass

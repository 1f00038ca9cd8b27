"""What people see: narration, colours, and sentences about errors."""

import io
import json
import os
import sys
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


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


def one_line_each(text: str) -> str:
    r"""A text of lines without other control characters.

    Examples
    --------
    >>> one_line_each("red\n\x1b[31m")
    'red\n [31m'
    """
    return "\n".join(one_line(line) for line in text.split("\n"))


def json_text(content: Any) -> str:
    r"""Plain values as a text of JSON that people can read.

    Examples
    --------
    >>> json_text([1])
    '[\n 1\n]\n'
    """
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def sentence(error: BaseException) -> str:
    """What went wrong, on one line that ends with a full stop.

    Examples
    --------
    >>> sentence(FileNotFoundError(2, "No such file or directory", "x.json"))
    'x.json: No such file or directory.'
    """
    if isinstance(error, MemoryError) and not isinstance(error, ValueError):  # not foreseen
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

"""Print messages, tables and JSON; turn errors into one sentence."""

import io
import json
import os
import sys
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


def say(text: str) -> None:
    """Print a line to standard error; standard output is for results."""
    with suppress(OSError):  # standard error is closed
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


@contextmanager
def notes() -> Iterator[None]:
    """Print warnings for users as notes, each once, unless an error is raised."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in dict.fromkeys(str(w.message) for w in caught if w.category is UserWarning):
        say(f"note: {one_line(message)}")


def one_line(text: str) -> str:
    r"""Replace line breaks and other control characters by spaces.

    Examples
    --------
    >>> one_line("red\n\x1b[31m")
    'red  [31m'
    """
    return "".join(" " if unicodedata.category(c) in {"Cc", "Zl", "Zp"} else c for c in text)


def one_line_each(text: str) -> str:
    """Replace control characters other than line breaks by spaces."""
    return "\n".join(one_line(line) for line in text.split("\n"))


def json_text(content: Any) -> str:
    """Return plain values as readable JSON."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def align_columns(table: list[list[str]]) -> list[str]:
    """Return the lines of a table: the first column and those without a title flush left.

    Examples
    --------
    >>> align_columns([["class", "rows"], ["yes", "7"]])
    ['class  rows', 'yes       7']
    """
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if j == 0 or not table[0][j] else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]


def sentence(error: BaseException) -> str:
    """Return an error on one line that ends with a full stop.

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
    """Emphasize a text on a terminal, unless `NO_COLOR` is set."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain or not sys.stdout.isatty() else f"\x1b[1m{text}\x1b[0m"


def prepare_stdout() -> None:
    """Write UTF-8 to files and pipes everywhere; a terminal shows what it can."""
    if not isinstance(sys.stdout, io.TextIOWrapper):
        return
    if sys.stdout.isatty():
        sys.stdout.reconfigure(errors="replace")
    else:
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")


def abandon_stdout(*, only_if_unwritable: bool = False) -> None:
    """Redirect standard output to nowhere, so that the end of the process raises no error."""
    if only_if_unwritable:
        with suppress(OSError):
            sys.stdout.flush()
            return
    with suppress(OSError, ValueError):  # it is no file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)

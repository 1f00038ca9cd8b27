"""Models in, results out: whole or not at all."""

import errno
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from frri._util import write_atomically
from frri.cli.console import sentence
from frri.readers.files import FORMATS
from frri.rules import RuleSet
from frri.rules.json_format import read

# Characters of a result that are kept in memory.
MOST_HELD = 1 << 24


def load_model(source: str) -> RuleSet:
    """The ruleset of a saved model, from a file or with ``-`` from standard input.

    Examples
    --------
    >>> load_model("no-such-model.json")
    Traceback (most recent call last):
        ...
    ValueError: There is no file no-such-model.json.
    """
    name = "standard input" if source == "-" else source
    try:
        return read(sys.stdin.buffer, name) if source == "-" else RuleSet.load(source)
    except FileNotFoundError:
        raise ValueError(f"There is no file {name}.") from None
    except IsADirectoryError:
        raise ValueError(f"{name} is a folder, not a model.") from None
    except OSError as error:
        raise ValueError(f"{name} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        if FORMATS.get(Path(source).suffix.lower(), "json") != "json":
            raise ValueError(f"{name} is a table, not a model; the model comes first.") from None
        raise ValueError(sentence(error)) from None


def check_inputs(*sources: str | None) -> None:
    """Only one thing can be read from standard input.

    Examples
    --------
    >>> check_inputs("model.json", "-")
    """
    if sources.count("-") > 1:
        raise ValueError("Only one of the files can come from standard input (-).")


def check_output(output: str, inputs: Iterable[str] = ()) -> None:
    """Complain early about a file that cannot be written or had better not be.

    Examples
    --------
    >>> check_output("no-such-folder/model.json")
    Traceback (most recent call last):
        ...
    ValueError: There is no folder no-such-folder to write model.json into.
    """
    if output == "-":
        return
    path = Path(output)
    try:
        if path.is_dir():
            raise ValueError(f"{output or 'The output'} is a folder; name a file to write.")
        for source in inputs:
            if path.exists() and Path(source).exists() and path.samefile(source):
                raise ValueError(f"Writing {output} would overwrite what is read from it.")
    except OSError as error:
        raise ValueError(f"{output} cannot be written: {error.strerror}.") from None
    if not path.parent.is_dir():
        raise ValueError(f"There is no folder {path.parent} to write {path.name} into.")
    writable = os.access(path if _is_special(path) else path.parent, os.W_OK)
    if not writable:
        raise ValueError(f"{output} cannot be written: {os.strerror(errno.EACCES)}.")


def write_output(output: str, content: str | Iterable[str]) -> None:
    """Write a file, or with ``-`` to standard output, a text or one that comes in parts.

    A new file is written beside the old one and takes its place when it is complete: an earlier file
    survives any failure. Where there is no such place, parts wait in a file of their own until the last.
    """
    if output == "-":
        sys.stdout.writelines(_completed(content))
        return
    path = Path(output)
    try:
        if _is_special(path):
            with path.open("w", encoding="utf-8", newline="") as device:
                device.writelines(_completed(content))
        else:
            write_atomically(path, content)
    except OSError as error:
        raise ValueError(f"{output} cannot be written: {error.strerror}.") from None


def _completed(content: str | Iterable[str]) -> Iterator[str]:
    """The same parts, once all of them are known."""
    if isinstance(content, str):
        yield content
        return
    with tempfile.SpooledTemporaryFile(MOST_HELD, "w+", encoding="utf-8", newline="") as parts:
        parts.writelines(content)
        parts.seek(0)
        while part := parts.read(MOST_HELD):
            yield part


def _is_special(path: Path) -> bool:
    """Devices and pipes are written to, never replaced."""
    return path.exists() and not path.is_file()

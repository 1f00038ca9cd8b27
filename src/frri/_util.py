"""Helpers of every package: types of arrays, names in messages, files, progress and threads."""

import os
import re
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from numbers import Integral
from pathlib import Path
from typing import IO, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

# ------------------------------------------------------------------ types of arrays
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
# Positions of samples, features or classes.
Positions = NDArray[np.intp]
# Words of 64 bits: sets of samples, one bit for each, or keys.
Words = NDArray[np.uint64]
# Types of the conditions of rules: members of `frri.induction.ConditionType` as integers.
Types = NDArray[np.int8]


# ------------------------------------------------------------------ names and values in messages
def find_name(name: str, names: Iterable[str], where: str, what: str = "column") -> str:
    """Return the name if it exists; otherwise raise a ValueError that suggests the nearest one.

    Examples
    --------
    >>> find_name("colour", ["age", "colour"], "cars.csv")
    'colour'
    >>> find_name("color", ["age", "colour"], "cars.csv")
    Traceback (most recent call last):
        ...
    ValueError: cars.csv has no column 'color'; did you mean 'colour'?
    """
    known = [str(one) for one in names]
    if name in known:
        return name
    raise ValueError(f"{where} has no {what} {name!r}; {did_you_mean(name, known)}")


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Suggest the existing name that is nearest to an unknown one, as the end of a sentence."""
    known = list(names)
    close = get_close_matches(name.lower(), [one.lower() for one in known], n=1)
    if close:
        return f"did you mean {next(one for one in known if one.lower() == close[0])!r}?"
    return f"it has {join_names(known) or 'none'}."


def join_names(names: Iterable[str], most: int = 8) -> str:
    """Join names by commas, up to a maximum number of them.

    Examples
    --------
    >>> join_names("abcdefghij", 3)
    'a, b, c and 7 more'
    """
    known = list(names)
    shown = ", ".join(known[:most])
    return f"{shown} and {len(known) - most} more" if len(known) > most else shown


def quote_name(name: str) -> str:
    """Quote a name where a command line needs it."""
    return name if re.fullmatch(r"[\w.,:/%+-]+", name) else f'"{name}"'


# Control characters, ends of lines, marks of writing direction, and halves of surrogate pairs.
_CONTROL = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def one_line(text: str) -> str:
    r"""Replace line breaks, terminal codes and marks of writing direction by spaces.

    Marks that isolate a name are left out.

    Examples
    --------
    >>> one_line("red\n\x1b[31m \u202egreen")
    'red  [31m  green'
    """
    return _CONTROL.sub(" ", text.replace("\u2068", "").replace("\u2069", ""))


def short_repr(value: Any) -> str:
    """Show any value in a few characters.

    Examples
    --------
    >>> short_repr("a" * 1000), short_repr(10**9999)
    ("'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...", 'an integer of 33216 bits')
    """
    if isinstance(value, int) and value.bit_length() > 128:
        return f"an integer of {value.bit_length()} bits"
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a huge or cyclic value somewhere inside
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:40]}..."


# ------------------------------------------------------------------ optional packages
def import_optional(module: str, what: str, extra: str) -> Any:
    """Import an optional module, or raise an ImportError that names its purpose and its remedy.

    Messages begin with `what`, the feature that needs it, and end with the extra of this package
    that installs it.
    """
    try:
        return import_module(module)
    except ImportError:
        raise missing_package(module.partition(".")[0], what, extra) from None


def missing_package(package: str, what: str, extra: str) -> ImportError:
    """Return the error for a package that is not installed."""
    return ImportError(f"{what} needs {package}: pip install 'frri[{extra}]'.")


def import_pandas() -> Any:
    """Import pandas, which parses tables."""
    return import_optional("pandas", "Reading tables", "tables")


# ------------------------------------------------------------------ files
def write_atomically(path: str | os.PathLike[str], content: bytes | str | Iterable[str]) -> None:
    """Write bytes, a text, or the parts of one, to a file that then replaces the target.

    An earlier file survives any failure; links are followed and the mode of the file is kept.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent} to write {target.name} into.")
    neighbor = target.with_name(f".frri-{secrets.token_hex(8)}")
    try:
        descriptor = os.open(neighbor, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(descriptor, "wb") as file:
            if target.exists():
                neighbor.chmod(target.stat().st_mode & 0o777)
            parts = [content] if isinstance(content, str | bytes) else content
            file.writelines(p if isinstance(p, bytes) else p.encode("utf-8") for p in parts)
            file.flush()
            os.fsync(file.fileno())
        neighbor.replace(target)
    finally:
        neighbor.unlink(missing_ok=True)


@contextmanager
def name_read_errors(name: object, expected: str = "file") -> Iterator[None]:
    """Turn errors of the system while a file is read into ValueErrors that name the file."""
    try:
        yield
    except FileNotFoundError:
        raise ValueError(f"There is no file {name}.") from None
    except IsADirectoryError:
        raise ValueError(f"{name} is a folder, not a {expected}.") from None
    except OSError as error:
        raise ValueError(f"{name} cannot be read: {error.strerror or error}.") from None


def read_text(file: IO[bytes], name: str, most: int) -> str:
    """Read the text of an open file, device or stream, hardly more than `most` bytes of it."""
    content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"{name} is too large: at most {most:,} bytes are read.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{name} cannot be read: it is not a text file.") from None
    if not text.strip():
        raise ValueError(f"{name} is empty.")
    return text


# ------------------------------------------------------------------ progress
class Progress:
    """Write to standard error what is being done once it takes longer than a second.

    Parameters
    ----------
    what : str
        Description of the work.
    patience : float, default=1.0
        Seconds before the first line.
    closing : bool, default=False
        If True, the last line is the time that was taken.
    """

    # Everything in progress, the innermost last, and whether it is shown.
    active: ClassVar[list["Progress"]] = []
    shown: ClassVar[bool] = True

    def __init__(self, what: str, patience: float = 1.0, *, closing: bool = False) -> None:
        self.what, self.patience, self.closing = what, patience, closing
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._shown = False
        self._step = 0.0

    def __enter__(self) -> Self:
        self._start = self._since = time.perf_counter()
        Progress.active.append(self)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        Progress.active.remove(self)
        self._over.set()
        self._thread.join()
        if self._shown and sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
        if self.closing and kind is None and Progress.shown:
            _write(f"{self.what}: {time.perf_counter() - self._start:.1f} s\n")

    def _watch(self) -> None:
        """Write one line that counts on a terminal, a further line now and then elsewhere."""
        wait = self.patience
        while Progress.shown and not self._over.wait(wait):
            seconds = time.perf_counter() - self._start
            self._shown = True
            terminal = sys.stderr.isatty()
            wait = 1.0 if terminal else max(10.0, seconds)
            line = f"{self.what} ... {seconds:.0f} s{self.outlook()}"
            _write(f"\r{line}\x1b[K" if terminal else f"{line}\n")

    def set_step(self, fraction: float) -> None:
        """Store the fraction of a step that is done; no more than before starts the next step."""
        if fraction <= self._step:
            self._since = time.perf_counter()
        self._step = fraction

    def outlook(self) -> str:
        """Return the time that the step will take, if it is known."""
        if not 0 < self._step < 1:
            return ""
        left = (time.perf_counter() - self._since) * (1 - self._step) / self._step
        return f", {self._step:.0%} of this step, {left:.0f} s left of it"


def report_progress(done: int, of: int) -> None:
    """Store how many parts of a step are done, for the `Progress` that shows it, if any."""
    if Progress.active:
        Progress.active[-1].set_step(done / of)


def show_note(text: str) -> None:
    """Write one line to standard error if a `Progress` is shown."""
    if Progress.active and Progress.shown:
        _write(f"\r\x1b[K{text}\n" if sys.stderr.isatty() else f"{text}\n")


def _write(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:  # standard error is closed
        pass


# ------------------------------------------------------------------ threads
# A larger number of threads is a typing error.
MOST_THREADS = 10_000


def n_threads(n_jobs: int | None = None) -> int:
    """Return the number of threads that `n_jobs` asks for.

    Parameters
    ----------
    n_jobs : int, optional
        Number of threads; -1 for all cores that the process may use, -2 for all but one, and so on,
        as everywhere in scikit-learn. None is the number of a surrounding `joblib.parallel_config`,
        or else all cores, but 1 where the caller is itself one of several jobs of joblib.

    Examples
    --------
    >>> n_threads(3)
    3
    >>> n_threads(0)
    Traceback (most recent call last):
        ...
    ValueError: n_jobs must be None or an integer other than 0 up to 10000, got 0.
    """
    check_n_jobs(n_jobs)
    wanted = _jobs_of_joblib() if n_jobs is None else int(n_jobs)
    if wanted > 0:
        return wanted
    try:
        from joblib import cpu_count  # noqa: PLC0415 - numpy is enough to predict
    except ImportError:
        from os import cpu_count  # noqa: PLC0415
    return max(1, (cpu_count() or 1) + 1 + wanted)


def check_n_jobs(n_jobs: Any) -> None:
    """Raise a ValueError if `n_jobs` is not a number of threads."""
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (whole and 0 < abs(int(n_jobs)) <= MOST_THREADS):
        raise ValueError(
            f"n_jobs must be None or an integer other than 0 up to {MOST_THREADS}, "
            f"got {short_repr(n_jobs)}."
        )


def _jobs_of_joblib() -> int:
    """Return the number of jobs in the context of joblib; without joblib there is no context."""
    if "joblib" not in sys.modules:
        return -1
    from joblib.parallel import get_active_backend  # noqa: PLC0415 - as above

    backend, n_jobs = get_active_backend()
    if backend.nesting_level:
        return 1
    return -1 if n_jobs is None else int(n_jobs)


def map_threads(
    work: Callable[[int, int], Any], parts: Sequence[tuple[int, int]], n_jobs: int | None = None
) -> list[Any]:
    """Apply `work` to parts, each from a start to an end, in threads; return results in order."""
    n = min(n_threads(n_jobs), len(parts))
    done: list[None] = []

    def counted(part: tuple[int, int]) -> Any:
        result = work(*part)
        done.append(None)
        report_progress(len(done), len(parts))
        return result

    report_progress(0, 1)
    if n < 2:
        return [counted(part) for part in parts]
    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(counted, parts))

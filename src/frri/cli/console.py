"""Arguments, messages and tables of the command line; errors become one sentence."""

import argparse
import ast
import io
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    r"""A parser with examples at the end of its help, and errors of one sentence.

    Lines of the description that begin with a dollar sign are the examples.

    Examples
    --------
    >>> Parser("frri rules", "Show rules.\n\n$ frri rules model.json").parse_args(["--jsn"])
    Traceback (most recent call last):
        ...
    ValueError: unrecognized arguments: --jsn; see frri rules --help.
    """

    def __init__(self, prog: str, description: str) -> None:
        text, *examples = description.strip().split("\n$ ")
        super().__init__(
            prog=prog,
            description=text,
            epilog="\n  ".join(["examples:", *examples]),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        for kind in TYPES:
            self.register("type", kind, partial(parse_value, kind))
        self._inputs: list[str] = []
        self.options = ["-h", "--help"]  # for the completion of shells
        self._with_value: set[str] = set()
        self.add("-q --quiet", "no notes and no progress, errors only")

    def add(
        self, names: str, text: str, *, group: Any = None, reads: bool = False, **settings: Any
    ) -> None:
        """Add an argument, such as ``model``, ``-o --output FILE`` or the flag ``--json``.

        A `type` may be one of `TYPES`; `reads` marks files to read.

        Examples
        --------
        >>> parser = Parser("frri rules", "Show rules.")
        >>> parser.add("-o --output FILE", "file to write")
        >>> parser.parse_args(["-o", "x.json"]).output
        'x.json'
        """
        *options, last = names.split()
        if last.startswith("-"):
            options.append(last)
            settings.setdefault("action", "store_true")
        elif options:
            settings["metavar"] = last
            self._with_value.update(options)
        self.options += options
        action = (group or self).add_argument(*options or [last], help=text, **settings)
        if reads:
            self._inputs.append(action.dest)

    def parse(self, argv: Sequence[str]) -> "Arguments":
        """Return the values of the arguments, after all checks of files that need not read them."""
        arguments = self.parse_intermixed_args(argv, Arguments())
        start_messages(quiet=arguments.quiet)
        if self._inputs:
            from frri.cli.files import check_files  # noqa: PLC0415 - slow to import

            values = [getattr(arguments, name) for name in self._inputs]
            lists = [value if isinstance(value, list) else [value] for value in values]
            sources = [one for part in lists for one in part if one is not None]
            check_files(sources, getattr(arguments, "output", None))
        return arguments

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse an option whose value is `--`, which argparse would lose.

        No option begins with a digit, so that -999,unknown after an option is its value.
        """
        joined: list[str] = []
        for text in args or ():
            if text.startswith("--") and text.endswith("=--"):
                self.error(f"argument {text[:-3]}: expected a value, got '--'")
            if joined and joined[-1] in self._with_value and re.match(r"-\.?\d", text):
                joined[-1] += f"={text}" if joined[-1].startswith("--") else text
            else:
                joined.append(text)
        return super().parse_known_args(joined, namespace)

    def error(self, message: str) -> NoReturn:
        """Raise the error, for the caller to print."""
        raise ValueError(f"{message.rstrip('.')}; see {self.prog} --help.")

    def add_model(self, *, table: bool = False) -> None:
        """Add the saved model, and a table to apply it to."""
        self.add("model", "a saved model, - for standard input", reads=True)
        if table:
            text = "a table, in any form that frri fit reads; - for standard input"
            self.add("data", text, reads=True)

    def add_column_options(self) -> None:
        """Add the options that declare types of columns."""
        many: dict[str, Any] = {"action": "append", "default": []}
        self.add("--ignore A,B", "columns to ignore", **many)
        self.add("--nominal A,B", "columns whose values have no order", **many)
        numeric = "numeric columns, even if they look like identifiers or contain words"
        self.add("--numeric A,B", numeric, **many)
        ordinal = "a column and its values from low to high"
        self.add("--ordinal COLUMN=A<B<C", ordinal, type="ordinal", **many)
        self.add("--strict", "reject words among numbers (default: missing values or categories)")

    def add_reading_options(self, *, labelled: bool = False) -> None:
        """Add the options for missing values and dates, and for rows without a class or number."""
        marks = "further values that mean missing, such as -999,unknown"
        self.add("--na-values A,B", marks, type="names", default=[])
        self.add("--date-format FORMAT", "format of dates, such as %%m/%%d/%%Y")
        if labelled:
            self.add("--drop-unlabelled", "ignore rows without a target value")


class Arguments(argparse.Namespace):
    """Values of the arguments of a command."""

    def refuse(self, options: Iterable[str], owner: str) -> None:
        """Raise a ValueError if one of some options is given, which belong to another one."""
        for option in options:
            if getattr(self, option) not in (None, [], False):
                raise ValueError(f"--{option.replace('_', '-')} belongs to {owner}.")

    @property
    def reading_options(self) -> dict[str, Any]:
        """Values of the reading options, for `read_table`."""
        return {"na_values": self.na_values, "date_format": self.date_format}

    @property
    def declared_columns(self) -> dict[str, Any]:
        """Declared types of columns, for `read_training`; a column can only be used in one way."""
        ordinal = dict(self.ordinal)
        names = {option: getattr(self, option) for option in ("ignore", "nominal", "numeric")}
        single = {option: getattr(self, option, None) for option in ("target", "weights", "groups")}
        uses = {option: split_names(",".join(given)) for option, given in names.items()}
        uses["ordinal"] = [*ordinal]
        uses |= {option: [column] for option, column in single.items() if column is not None}
        seen: dict[str, str] = {}
        for option, columns in uses.items():
            for column in columns:
                if seen.setdefault(column, option) != option:
                    both = f"--{seen[column]} and --{option}"
                    raise ValueError(f"Column {column!r} is given both to {both}.")
        if single["groups"] is not None:
            names["nominal"] = [*names["nominal"], self.groups]
        return {"ordinal": ordinal, "strict": self.strict, **names}


# ------------------------------------------------------------------ types of values
def split_names(text: str) -> list[str]:
    """Split names at commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def split_order(text: str) -> list[str]:
    """Split different values, given from low to high, at < or at commas.

    Examples
    --------
    >>> split_order("poor<fair<good")
    ['poor', 'fair', 'good']
    """
    values = [value.strip() for value in text.split("<" if "<" in text else ",")]
    if "" in values or len(set(values)) < len(values):
        raise ValueError
    return values


def split_ordinal(text: str) -> tuple[str, list[str]]:
    """Split the name of a column from its values."""
    column, _, order = text.partition("=")
    return column, split_order(order)


def split_costs(text: str) -> dict[str, float]:
    """Return costs by class, each of which is named once."""
    pairs = [part.rsplit("=", 1) for part in text.split(",")]
    costs = {label.strip(): float(cost) for label, cost in pairs}
    if len(costs) < len(pairs):
        raise ValueError
    return costs


def split_setting(text: str) -> tuple[str, Any]:
    """Split the name of a parameter from its value, which is a string if it is nothing else."""
    words = {"true": True, "false": False, "none": None}
    name, value = text.split("=", 1)
    if value.lower() in words:
        return name, words[value.lower()]
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return name, value


# What a value must be, the function that parses it, and the condition that it must meet.
TYPES: dict[str, tuple[str, Callable[[str], Any], Callable[[Any], bool]]] = {
    "number": ("a number, 0 or more", float, lambda value: 0 <= value < inf),
    "fraction": ("a fraction from 0 to 1", float, lambda value: 0 <= value <= 1),
    "test fraction": ("a fraction between 0 and 1", float, lambda value: 0 < value < 1),
    **{f"from {n}": (f"an integer, {n} or more", int, n.__le__) for n in range(3)},
    "size": (
        "auto or an integer, 1 or more",
        lambda text: text if text == "auto" else int(text),
        lambda value: value == "auto" or value > 0,
    ),
    "names": ("names", split_names, lambda _: True),
    "order": ("LOW<...<HIGH without repeated values", split_order, lambda _: True),
    "ordinal": (
        "COLUMN=LOW<...<HIGH without repeated values",
        split_ordinal,
        lambda one: one[0] != "" and len(one[1]) > 1,
    ),
    "costs": ("CLASS=COST,..., such as yes=5,no=1", split_costs, lambda _: True),
    "setting": ("PARAMETER=VALUE", split_setting, lambda one: one[0] != ""),
}


def parse_value(kind: str, text: str) -> Any:
    """Parse the value of an argument of one of the `TYPES`."""
    what, parse, fits = TYPES[kind]
    with suppress(ValueError):
        value = parse(text)
        if fits(value):
            return value
    raise argparse.ArgumentTypeError(f"expected {what}, got {text!r}")


# ------------------------------------------------------------------ messages and tables
# Whether --quiet was given, and the notes that the command has printed.
_quiet, _noted = False, set[str]()


def start_messages(*, quiet: bool) -> None:
    """Begin the messages of a command."""
    global _quiet  # noqa: PLW0603 - the command of the process
    _quiet = quiet
    _noted.clear()


def say(text: str, *, always: bool = False) -> None:
    """Print one line to standard error unless --quiet was given; standard output is for results."""
    if _quiet and not always:
        return
    with suppress(OSError):  # standard error is closed
        sys.stderr.write(f"{one_line(text)}\n")
        sys.stderr.flush()


@contextmanager
def notes() -> Iterator[None]:
    """Print warnings for users as notes, unless an error is raised.

    Each is printed once, and notes that only differ in the file they begin with are one.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    files: dict[str, list[str]] = {}
    for message in dict.fromkeys(str(w.message) for w in caught if w.category is UserWarning):
        name, colon, rest = message.partition(": ")
        about_file = bool(colon) and Path(name).is_file()
        files.setdefault(rest if about_file else message, []).extend([name] * about_file)
    for text, names in files.items():
        message = f"note: {', '.join(names)}{': ' * bool(names)}{text}"
        if message not in _noted:
            _noted.add(message)
            say(message)


def one_line(text: str) -> str:
    """Replace line breaks, terminal codes and marks of writing direction by spaces."""
    from frri import _util  # noqa: PLC0415 - slow to import

    return _util.one_line(text)


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


def abandon_stdout() -> None:
    """Redirect standard output to nowhere if it cannot be written, so that the end is no error."""
    with suppress(OSError):
        sys.stdout.flush()
        return
    with suppress(OSError, ValueError):  # it is no file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)

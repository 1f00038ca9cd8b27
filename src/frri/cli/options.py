"""Describe the arguments of commands, and refuse wrong ones in one sentence."""

import argparse
import re
from collections.abc import Callable
from math import isfinite
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """A parser with examples at the end of its help, and errors of one sentence.

    Examples
    --------
    >>> Parser("frri rules", "Show rules.", "frri rules model.json").parse_args(["--jsn"])
    Traceback (most recent call last):
        ...
    ValueError: unrecognized arguments: --jsn; see frri rules --help.
    """

    def __init__(self, prog: str, description: str, examples: str) -> None:
        shown = "\n".join(f"  {line}" for line in examples.splitlines())
        super().__init__(
            prog=prog,
            description=description,
            epilog=f"examples:\n{shown}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        # No option begins with a digit, so that -999,unknown is a value like -999.
        self._negative_number_matcher = re.compile(r"-\.?\d")

    def add(self, names: str, text: str, *, group: Any = None, **settings: Any) -> None:
        """Add an argument, such as ``model``, ``-o --output FILE`` or the flag ``--json``.

        Examples
        --------
        >>> parser = Parser("frri rules", "Show rules.", "frri rules model.json")
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
        (group or self).add_argument(*options or [last], help=text, **settings)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse an option whose value is `--`, which argparse would lose."""
        for text in args or ():
            if text.startswith("--") and text.endswith("=--"):
                self.error(f"argument {text[:-3]}: expected a value, got '--'")
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Raise the error, for the caller to print."""
        raise ValueError(f"{message.rstrip('.')}; see {self.prog} --help.")


# ------------------------------------------------------------------ types of values


def number(
    what: str, low: float = 0.0, high: float = float("inf"), *, inside: bool = False
) -> Callable[[str], float]:
    """Return a parser of finite numbers from low to high, with `inside` without both ends.

    Examples
    --------
    >>> number("a share from 0 to 1", 0, 1)("0.05")
    0.05
    """

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not (low < value < high if inside else low <= value <= high and isfinite(value)):
            raise argparse.ArgumentTypeError(f"expected {what}, got {text!r}")
        return value

    return parse


number_from_0 = number("a number, 0 or more")
fraction = number("a share from 0 to 1", 0, 1)
test_fraction = number("a share between 0 and 1", 0, 1, inside=True)


def at_least(least: int) -> Callable[[str], int]:
    """Return a parser of integers from `least` on.

    Examples
    --------
    >>> at_least(2)("5")
    5
    """

    def parse(text: str) -> int:
        if not text.isascii() or not text.isdigit():
            raise argparse.ArgumentTypeError(f"expected a whole number, 0 or more, got {text!r}")
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"must be {least} or more, got {int(text)}")
        return int(text)

    return parse


whole_number = at_least(0)


def n_rules_or_1se(text: str) -> int | str:
    """Parse an integer of 1 or more, or 1se.

    Examples
    --------
    >>> n_rules_or_1se("5"), n_rules_or_1se("1se")
    (5, '1se')
    """
    return text if text == "1se" else at_least(1)(text)


def split_names(text: str | None) -> list[str]:
    """Split names at commas.

    Examples
    --------
    >>> split_names("id, age")
    ['id', 'age']
    """
    return [part.strip() for part in (text or "").split(",") if part.strip()]


# ------------------------------------------------------------------ options of several commands


def add_model(parser: Parser, *, table: bool = False) -> None:
    """Add the saved model, and a table to apply it to."""
    parser.add("model", "a saved model, - for standard input")
    if table:
        parser.add("data", "a table, in any form that frri fit reads; - for standard input")


def add_column_options(parser: Parser) -> None:
    """Add the options that declare types of columns."""
    for option, text in (
        ("--ignore A,B", "leave columns out"),
        ("--nominal A,B", "values without order"),
        ("--ordinal COLUMN=A<B<C", "values from low to high"),
    ):
        parser.add(option, text, action="append", default=[])


def add_reading_options(parser: Parser, *, labelled: bool = False) -> None:
    """Add the options for missing values and dates, and for rows without a class or number."""
    marks = "further marks of missing values, as -999,unknown"
    parser.add("--na-values A,B", marks, type=split_names, default=[])
    parser.add("--date-format FORMAT", "how dates are written, such as %%m/%%d/%%Y")
    if labelled:
        parser.add("--drop-unlabelled", "leave out rows without a class or number")


def reading_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the values of the reading options, for `read_table`."""
    return {"na_values": arguments.na_values, "date_format": arguments.date_format}


def declared_columns(arguments: argparse.Namespace, weights: str | None = None) -> dict[str, Any]:
    """Return the declared types, for `read_training`; a column can only be used in one way."""
    ordinal = dict(_parse_ordinal(text) for text in arguments.ordinal)
    uses = [
        *[(column, "--ignore") for names in arguments.ignore for column in split_names(names)],
        *[(column, "--nominal") for names in arguments.nominal for column in split_names(names)],
        *[(column, "--ordinal") for column in ordinal],
        (arguments.target, "--target"),
        (weights, "--weights"),
    ]
    seen: dict[str, str] = {}
    for column, option in uses:
        if column is not None and seen.setdefault(column, option) != option:
            raise ValueError(f"Column {column!r} is given both to {seen[column]} and {option}.")
    return {"nominal": arguments.nominal, "ordinal": ordinal, "ignore": arguments.ignore}


def _parse_ordinal(text: str) -> tuple[str, list[str]]:
    """Return a column and its values from low to high."""
    column, equals, order = text.partition("=")
    values = [value.strip() for value in order.split("<")]
    if not equals or not column or len(values) < 2 or "" in values:
        raise ValueError(f"--ordinal needs COLUMN=LOW<...<HIGH, got {text!r}.")
    if len(set(values)) < len(values):
        raise ValueError(f"--ordinal {column!r} names a value twice.")
    return column, values

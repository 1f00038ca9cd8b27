"""How arguments are described and refused."""

import argparse
import re
from collections.abc import Callable
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """A parser with examples at the end of its help, whose complaints are one sentence.

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

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The same, with a sentence about an option whose value is `--`: argparse would lose it."""
        for text in args or ():
            if text.startswith("--") and text.endswith("=--"):
                self.error(f"argument {text[:-3]}: expected a value, got '--'")
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Leave the complaint to whoever runs the command."""
        raise ValueError(f"{message.rstrip('.')}; see {self.prog} --help.")


def positive_number(text: str) -> float:
    """A number of 0 or more.

    Examples
    --------
    >>> positive_number("1.5")
    1.5
    """
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number, 0 or more, got {text!r}")
    return value


def whole_number(text: str) -> int:
    """A whole number of 0 or more.

    Examples
    --------
    >>> whole_number("7")
    7
    """
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"expected a whole number, 0 or more, got {text!r}")
    return int(text)


def at_least(least: int) -> Callable[[str], int]:
    """A reader of whole numbers from one on.

    Examples
    --------
    >>> at_least(2)("5")
    5
    """

    def read(text: str) -> int:
        value = whole_number(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"must be {least} or more, got {value}")
        return value

    return read


def size(text: str) -> int | str:
    """A whole number of 1 or more, or 1se.

    Examples
    --------
    >>> size("5"), size("1se")
    (5, '1se')
    """
    return text if text == "1se" else at_least(1)(text)


def share(text: str) -> float:
    """A number from 0 to 1.

    Examples
    --------
    >>> share("0.05")
    0.05
    """
    value = positive_number(text)
    if value > 1:
        raise argparse.ArgumentTypeError(f"expected a share from 0 to 1, got {text!r}")
    return value

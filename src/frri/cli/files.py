"""Read saved models and the tables that they need, and write results: completely or not at all."""

import errno
import os
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Floats, Progress, find_name, import_pandas, join_names, write_atomically
from frri.cli.console import Arguments, notes, one_line, say, sentence
from frri.readers import read_table
from frri.readers.files import FORMATS, Batch, read_batches
from frri.readers.training import read_training
from frri.rules import RuleSet
from frri.rules.json_format import read
from frri.rules.rule import label_array
from frri.table import Attribute
from frri.table.encode import category_codes
from frri.table.targets import bin_edges, bin_of, check_quantities

if TYPE_CHECKING:
    import pandas as pd

# Characters of a result that are kept in memory, and distinct categories of a column.
MOST_HELD, MOST_CATEGORIES = 1 << 24, 10_000


# ------------------------------------------------------------------ models


def load_model(source: str) -> RuleSet:
    """Load the rule set of a saved model, from a file or with ``-`` from standard input."""
    name = _shown(source)
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


def _shown(source: str) -> str:
    return "standard input" if source == "-" else source


# ------------------------------------------------------------------ results


def check_files(inputs: Sequence[str], output: str | None = None) -> None:
    """Raise a ValueError if files cannot be read together, or the output cannot be written.

    Examples
    --------
    >>> check_files([], "no-such-folder/model.json")
    Traceback (most recent call last):
        ...
    ValueError: There is no folder no-such-folder to write model.json into.
    """
    if inputs.count("-") > 1:
        raise ValueError("Only one of the files can come from standard input (-).")
    if output is None or output == "-":
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
    if not os.access(path if _is_special(path) else path.parent, os.W_OK):
        raise ValueError(f"{output} cannot be written: {os.strerror(errno.EACCES)}.")


def write_output(output: str, content: str | Iterable[str]) -> None:
    """Write a text, or the parts of one, to a file or with ``-`` to standard output.

    An earlier file survives any failure. Parts for standard output, devices and pipes are kept
    until the last one is known.
    """
    path, parts = Path(output), [content] if isinstance(content, str) else content
    if output == "-":
        sys.stdout.writelines(_complete(parts))
        return
    try:
        if _is_special(path):
            with path.open("w", encoding="utf-8", newline="") as device:
                device.writelines(_complete(parts))
        else:
            write_atomically(path, content)
    except OSError as error:
        raise ValueError(f"{output} cannot be written: {error.strerror}.") from None


def _complete(content: Iterable[str]) -> Iterator[str]:
    """Yield the same text, once all its parts are known."""
    with tempfile.SpooledTemporaryFile(MOST_HELD, "w+", encoding="utf-8", newline="") as parts:
        parts.writelines(content)
        parts.seek(0)
        while part := parts.read(MOST_HELD):
            yield part


def _is_special(path: Path) -> bool:
    """Return whether a path is a device or pipe, which is written to and never replaced."""
    return path.exists() and not path.is_file()


# ------------------------------------------------------------------ tables for a model


def read_for(
    ruleset: RuleSet, source: str, target: str | None = None, **options: Any
) -> "pd.DataFrame":
    """Read a table with the columns that rules use; categories stay strings.

    Warnings become notes; the options are those of `read_table`.
    """
    with notes():
        frame = read_table(source, category_values(ruleset, target), **options)
    _check_used(ruleset, frame, source)
    return frame


def batches_for(
    ruleset: RuleSet, source: str, keep: Collection[str] | None, **options: Any
) -> Iterator[Batch]:
    """Read a table in parts; columns that no rule compares as numbers or dates stay as written.

    Of columns that rules do not use, those in `keep` are read, all of them if it is None; names of
    rows only if they are kept by name.
    """
    used = ruleset.used_attributes
    known = category_values(ruleset) | {name: () for name in keep or () if name not in used}
    columns = None if keep is None else {*used, *keep}
    typed = set(used) - set(known)
    for batch in read_batches(source, known, columns=columns, typed=typed, **options):
        if not batch.start:
            _check_used(ruleset, batch.frame, source)
        yield batch


def category_values(ruleset: RuleSet, target: str | None = None) -> dict[str, Collection[str]]:
    """Return the columns of categories, the target among them, and their known values."""
    known: dict[str, Collection[str]] = {
        a.name: a.categories for a in ruleset.attributes if a.categories is not None
    }
    if target is not None and ruleset.classes:
        known[target] = tuple(map(str, ruleset.classes))
    return known


def _check_used(ruleset: RuleSet, frame: "pd.DataFrame", source: str) -> None:
    for name in ruleset.used_attributes:
        find_name(name, frame.columns, _shown(source))


class UnseenValues:
    """Counts of the values that training did not have, in the columns that rules use.

    Parameters
    ----------
    ruleset : RuleSet
    """

    def __init__(self, ruleset: RuleSet) -> None:
        self._rows = 0
        self._columns = {
            j: _UnseenInColumn(attribute)
            for j, attribute in enumerate(ruleset.attributes)
            if attribute.name in ruleset.used_attributes
        }

    def count(self, frame: "pd.DataFrame", matrix: Floats) -> None:
        """Count the values of a part of the table, which is encoded in the matrix."""
        self._rows += len(frame)
        for j, column in self._columns.items():
            column.count(frame[column.attribute.name], matrix[:, j])

    def say_notes(self) -> None:
        """Print a sentence for each column with unseen categories or another type."""
        for column in self._columns.values():
            parts = column.describe(f"of {self._rows} rows")
            if parts:
                say(one_line(f"note: column {column.attribute.name!r} {', and '.join(parts)}."))


@dataclass
class _UnseenInColumn:
    """Numbers of known and of unseen values of a column, and what they are."""

    attribute: Attribute
    known: int = 0
    types: set[str] = field(default_factory=set)
    any_seen: bool = False
    unseen: int = 0
    # Distinct unseen values, in the order of their first occurrence.
    distinct: dict[str, None] = field(default_factory=dict)

    def count(self, column: "pd.Series[Any]", codes: Floats) -> None:
        known = column.dropna().unique()
        self.known += int(column.count())
        if len(known):
            flags = all(isinstance(value, bool | np.bool_) for value in known)
            kinds = {"i": "numbers", "u": "numbers", "f": "numbers", "M": "dates"}
            self.types.add("truth values" if flags else kinds.get(column.dtype.kind, ""))
        if self.attribute.categories is not None:
            self.any_seen |= not set(self.attribute.categories).isdisjoint(map(str, known))
            unseen = column.notna().to_numpy() & ~(codes >= 0)
            self.unseen += int(unseen.sum())
            found = dict.fromkeys((*self.distinct, *column[unseen].astype(str).unique()))
            self.distinct = dict.fromkeys(list(found)[:MOST_CATEGORIES])

    def describe(self, rows: str) -> list[str]:
        """Return what the column holds unlike in training, as parts of a sentence."""
        attribute, parts = self.attribute, []
        held = next(iter(self.types)) if len(self.types) == 1 else ""
        had = join_names(attribute.categories or ["numbers"])
        if attribute.categories is None and held != "truth values":
            held = ""
        if held and not self.any_seen:
            parts.append(f"holds {held} in {self.known} {rows} where training had {had}")
        if self.unseen:
            n = len(self.distinct)
            what = "category" if n == 1 else "categories"
            least = "at least " if n == MOST_CATEGORIES else ""
            ordinal = attribute.kind == "ordinal"
            effect = "these count as missing" if ordinal else "no condition on it holds there"
            parts.append(
                f"holds {least}{n} {what} never seen in training "
                f"({join_names(self.distinct, 3)}) in {self.unseen} {rows}: {effect}"
            )
        return parts


# ------------------------------------------------------------------ true classes and numbers


def read_to_learn(arguments: Arguments, **options: Any) -> tuple[Any, Any, Any]:
    """Return the table, the target and the weights of a table to learn from.

    Warnings become notes; the options are those of `read_training` beside those of the command.
    """
    sources = arguments.data if isinstance(arguments.data, list) else [arguments.data]
    options |= arguments.declared_columns | arguments.reading_options
    options["drop_unlabelled"] = arguments.drop_unlabelled
    with notes(), Progress(f"reading {', '.join(map(_shown, sources))}"):
        return read_training(sources, arguments.target, **options)


def read_labelled(
    ruleset: RuleSet, source: str, arguments: Arguments, *, optional: bool = False
) -> tuple[Any, Any]:
    """Read a table for a model, and the true classes or numbers of its rows.

    If they are optional, they are None in a table without the target of the model.
    """
    target = arguments.target or ruleset.target
    frame = read_for(ruleset, source, target, **arguments.reading_options)
    if target not in frame.columns:
        if optional and arguments.target is None:
            return frame, None
        try:
            find_name(target, frame.columns, _shown(source))
        except ValueError as error:
            what = "classes" if ruleset.classes else "numbers"
            raise ValueError(f"{error} --target names the column of the {what}.") from None
    known = frame[target].notna()
    if arguments.drop_unlabelled and known.any() and not known.all():
        say(f"note: {(~known).sum()} of {len(frame)} rows have no {target!r}; they are left out.")
        frame = frame[known].reset_index(drop=True)
    return frame, labels_of(frame[target], ruleset)


def labels_of(column: "pd.Series[Any]", ruleset: RuleSet) -> NDArray[Any]:
    """Return the classes or numbers of a column, as the model has them.

    Examples
    --------
    >>> import pandas as pd
    >>> labels_of(pd.Series(["1.0", "0"]), RuleSet((), (), (0, 1))).tolist()
    [1, 0]
    >>> labels_of(pd.Series(["1", "01"]), RuleSet((), (), ("01", "1"))).tolist()
    ['1', '01']
    >>> labels_of(pd.Series(["2.5", "7"]), RuleSet((), (), ("5 and over", "under 5"))).tolist()
    ['under 5', '5 and over']
    """
    name = str(column.name)
    absent = np.flatnonzero(column.isna())
    if len(absent):
        raise ValueError(
            f"Column {name!r} has no {'class' if ruleset.classes else 'number'} in row "
            f"{absent[0] + 1} ({len(absent)} of {len(column)} rows); "
            "leave out what has none (--drop-unlabelled)."
        )
    if not ruleset.classes:
        return check_quantities(column.to_numpy(), name)
    texts = [str(label) for label in ruleset.classes]
    numbers = {value: _number(str(value)) for value in column.unique()}
    edges = bin_edges(texts)
    if edges is not None:
        bins = {v: bin_of(number, edges) for v, number in numbers.items() if number is not None}
        column = column.map(lambda value: bins.get(value, value))
    values = column.to_numpy(dtype=object)
    codes = category_codes(values, texts)
    by_number: dict[Any, int] = {
        label: c for c, label in enumerate(ruleset.classes) if not isinstance(label, str)
    }
    for row in np.flatnonzero(codes < 0):
        codes[row] = by_number.get(numbers.get(values[row]), -1)
        if codes[row] < 0:
            raise ValueError(
                f"Column {name!r} holds {str(values[row])!r} in row {row + 1}, which is none of "
                f"the model's classes ({join_names(texts)})."
            )
    return label_array(ruleset.classes)[codes.astype(np.intp)]


def _number(text: str) -> float | None:
    """Parse a number; return None if the text is none."""
    for parse in (int, float):
        with suppress(ValueError):
            return parse(text)
    return None


# ------------------------------------------------------------------ stability


def stability_of(ruleset: RuleSet, table: Any, labels: Any, n_resamples: int) -> Any:
    """Return the stability of the rules of a model, by a table with the true classes or numbers."""
    from frri.compare.stability import stability  # noqa: PLC0415 - slow to import
    from frri.learners.registry import learner_of  # noqa: PLC0415

    again = "--stability learns from rows again"
    if labels is None:
        raise ValueError(f"{again}: give a table with the column {ruleset.target!r}.")
    if n_resamples < 2:
        raise ValueError(f"--stability needs 2 resamples at least, got {n_resamples}.")
    columns = {}
    for attribute in ruleset.attributes:
        name, order = attribute.name, attribute.categories
        if name not in table.columns:
            raise ValueError(f"{again}, with all columns of the model: there is no {name!r}.")
        columns[name] = table[name]
        if attribute.kind == "ordinal":
            # A file does not contain the order of categories; the model does.
            columns[name] = import_pandas().Categorical(table[name], order, ordered=True)
    X = import_pandas().DataFrame(columns)
    with Progress(f"learning {n_resamples} times"):
        return stability(learner_of(ruleset), X, labels, n_resamples=n_resamples, ruleset=ruleset)

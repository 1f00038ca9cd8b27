"""Read saved models and the tables that they need, and write results: completely or not at all."""

import errno
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from shutil import copyfileobj
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri._util import (
    Positions,
    Progress,
    find_name,
    import_pandas,
    join_names,
    name_read_errors,
    write_atomically,
)
from frri.cli.console import Arguments, notes, say
from frri.readers import read_table
from frri.readers.files import FORMATS, Batch, read_batches, read_json
from frri.readers.training import read_training
from frri.rules import RuleSet
from frri.rules.json_format import read
from frri.rules.rule import label_array
from frri.table import Attribute
from frri.table.columns import Column, Frame
from frri.table.encode import category_codes
from frri.table.targets import bin_edges, bin_of, check_quantities

# Characters of a result that are kept in memory.
MOST_HELD = 1 << 24


# ------------------------------------------------------------------ models
def load_model(source: str) -> RuleSet:
    """Load the rule set of a saved model, from a file or with ``-`` from standard input."""
    name = _shown(source)
    with name_read_errors(name, "model"):
        try:
            return read(sys.stdin.buffer, name) if source == "-" else RuleSet.load(source)
        except ValueError:
            if FORMATS.get(Path(source).suffix.lower(), read_json) is read_json:
                raise
            raise ValueError(
                f"{name} is a table, not a model; give the model before the table."
            ) from None


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
    try:
        if output != "-" and not _is_special(path):
            write_atomically(path, parts)
            return
        with tempfile.SpooledTemporaryFile(MOST_HELD, "w+", encoding="utf-8", newline="") as whole:
            whole.writelines(parts)
            whole.seek(0)
            if output == "-":
                copyfileobj(whole, sys.stdout)
                return
            with path.open("w", encoding="utf-8", newline="") as device:
                copyfileobj(whole, device)
    except OSError as error:
        if output == "-":
            raise
        raise ValueError(f"{output} cannot be written: {error.strerror}.") from None


def _is_special(path: Path) -> bool:
    """Return whether a path is a device or pipe, which is written to and never replaced."""
    return path.exists() and not path.is_file()


# ------------------------------------------------------------------ tables for a model
def read_for(
    ruleset: RuleSet, source: str, target: str | None = None, names: str = "", **options: Any
) -> Frame:
    """Read a table with the columns that rules use; categories, and names of rows, stay strings.

    Warnings become notes; the options are those of `read_table`.
    """
    kept = {names} - {"", *ruleset.used_attributes}
    known = dict.fromkeys(kept, ()) | category_values(ruleset, target)
    with notes():
        frame = read_table(source, known, **options)
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


def _check_used(ruleset: RuleSet, frame: Frame, source: str) -> None:
    for name in ruleset.used_attributes:
        find_name(name, frame.columns, _shown(source))


# Words for values of a type; booleans are integers, too.
_TYPES = {"booleans": bool, "numbers": int | float, "dates": datetime}


class UnseenValues:
    """Counts of the values that training did not have, in the columns that rules use.

    Parameters
    ----------
    ruleset : RuleSet
    """

    def __init__(self, ruleset: RuleSet) -> None:
        used = [a for a in ruleset.attributes if a.name in ruleset.used_attributes]
        self._rows = 0
        self._columns: list[tuple[Attribute, Counter[Any]]] = [(a, Counter()) for a in used]

    def count(self, frame: Frame) -> None:
        """Count the values of a part of the table."""
        self._rows += len(frame)
        for attribute, counts in self._columns:
            column = frame[attribute.name]
            if attribute.categories is not None or column.dtype.kind not in "iufM":
                counts.update(column.dropna().tolist())

    def say_notes(self) -> None:
        """Print a sentence for each column with unseen categories or another type."""
        for attribute, counts in self._columns:
            parts = _describe_unseen(attribute, counts, f"of {self._rows} rows")
            if parts:
                say(f"note: column {attribute.name!r} {', and '.join(parts)}.")


def _describe_unseen(attribute: Attribute, counts: Counter[Any], rows: str) -> list[str]:
    """Return what a column holds unlike in training, as parts of a sentence."""
    values, categories, parts = list(counts), attribute.categories, []
    fitting = [word for word, t in _TYPES.items() if all(isinstance(v, t) for v in values)]
    held = fitting[0] if values and fitting else ""
    if categories is None and held != "booleans":
        held = ""
    if held and set(categories or ()).isdisjoint(map(str, values)):
        had = join_names(categories or ["numbers"])
        parts.append(f"holds {held} in {counts.total()} {rows} where training had {had}")
    codes = category_codes(np.array(values, dtype=object), categories or ())
    unseen = {str(v): counts[v] for v, code in zip(values, codes, strict=True) if code < 0}
    if unseen and categories is not None:
        what = f"{len(unseen)} {'category' if len(unseen) == 1 else 'categories'}"
        ordinal = attribute.kind == "ordinal"
        effect = "no condition on it holds there, except != and not in"
        effect = "these count as missing" if ordinal else effect
        parts.append(
            f"holds {what} never seen in training ({join_names(unseen, 3)}) in "
            f"{sum(unseen.values())} {rows}: {effect}"
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
    names = (arguments.names if "names" in arguments else None) or ""
    frame = read_for(ruleset, source, target, names, **arguments.reading_options)
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


def labels_of(column: Column, ruleset: RuleSet) -> NDArray[Any]:
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
    edges, are_texts = bin_edges(texts), isinstance(ruleset.classes[0], str)

    def spell(value: Any) -> Any:
        number = parse_number(str(value))
        if number is None or (edges is None and are_texts):
            return value
        return str(number) if edges is None else bin_of(number, edges)

    given = column.unique()
    found = category_codes(np.array([*map(spell, given)], dtype=object), texts)
    codes: Positions = column.map(dict(zip(given, found, strict=True))).to_numpy(np.intp)
    if (codes < 0).any():
        row = int((codes < 0).argmax())
        raise ValueError(
            f"Column {name!r} holds {str(column.iloc[row])!r} in row {row + 1}, which is none of "
            f"the model's classes ({join_names(texts)})."
        )
    return label_array(ruleset.classes)[codes]


def parse_number(text: str) -> float | None:
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

    if labels is None:
        raise ValueError(
            f"--stability trains on resampled rows: the table needs the column {ruleset.target!r}."
        )
    names = [attribute.name for attribute in ruleset.attributes]
    for name in names:
        find_name(name, table.columns, "The table for --stability")
    # A file does not contain the order of categories; the model does.
    X = table[names].copy()
    for a in ruleset.attributes:
        if a.kind == "ordinal":
            X[a.name] = import_pandas().Categorical(X[a.name], a.categories, ordered=True)
    with Progress(f"learning {n_resamples} times"):
        return stability(learner_of(ruleset), X, labels, n_resamples=n_resamples, ruleset=ruleset)

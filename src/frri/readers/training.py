"""Tables to learn from: classes and weights apart, all other columns of the kinds they are declared."""

import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from frri._util import find_name, import_pandas, join_names, quote_name
from frri.readers.batches import Sample, read_batches
from frri.readers.files import read_table
from frri.table.checks import check_kinds, looks_like_identifier
from frri.table.columns import kind_of
from frri.table.declare import declare, to_strings
from frri.table.targets import NUMBER_REMEDY, bin_target, check_quantities

if TYPE_CHECKING:
    import pandas as pd


_KINDS = {"O": "texts", "M": "dates", "b": "truth values"}

# Rows from which a column that counts on does so on purpose.
ENOUGH_TO_COUNT = 50

# Names of columns that number things: id, patient_id, PassengerId, row names.
_NUMBERING = re.compile(r"(?i:^|[ _.])(?i:id|nr|key|index|row ?names?|number)$|[a-z]I[dD]$")


def read_training(
    source: str | PathLike[str] | Sequence[str | PathLike[str]],
    target: str,
    *,
    weights: str | None = None,
    nominal: Collection[str] = (),
    ordinal: Mapping[str, Sequence[str]] | None = None,
    ignore: Collection[str] = (),
    missing: Collection[str] = (),
    date_format: str | None = None,
    drop_unlabelled: bool = False,
    bins: int | None = None,
    numbers: bool = False,
    sample: int | None = None,
    seed: int = 0,
) -> "tuple[pd.DataFrame, pd.Series[Any], Any]":
    r"""Read a table to learn from: see `read_table` for its cells and `split_training` for the rest.

    Several files with the same columns are one table. Of files that do not fit into memory a `sample` of so
    many rows can be read, drawn at random by a `seed`: see `frri.readers.batches`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("id,size,sold\n1,S,yes\n2,L,no\n3,S,yes\n")
    ...     file.flush()
    ...     X, y, _ = read_training(file.name, "sold", ordinal={"size": ["S", "L"]}, ignore=["id"])
    >>> X["size"].tolist(), y.tolist()
    (['S', 'L', 'S'], ['yes', 'no', 'yes'])
    """
    # What is left out is not looked at, and nothing is said about it.
    as_texts = {*nominal, *ignore} - {target}
    declared = dict.fromkeys((*as_texts, *_parts(as_texts), *(ordinal or ())), ())
    sources = [source] if isinstance(source, str | PathLike) else source
    classes = None if numbers or bins is not None else target
    options: dict[str, Any] = {"missing": missing, "date_format": date_format, "classes": classes}
    drawn = None if sample is None else Sample(sample, seed, classes)
    frames: dict[str, pd.DataFrame] = {}
    names: list[str] = []
    for one in sources:
        name = "standard input" if one == "-" else str(one)
        if name in names:
            raise ValueError(f"{name} is given twice; name it once.")
        names.append(name)
        if drawn is None:
            frames[name] = read_table(one, declared, **options)
            continue
        for batch in read_batches(one, declared, **options):
            drawn.offer(
                f"{name} from row {batch.start + 1} on" if batch.start else name, batch.frame
            )
    if drawn is not None:
        frames = drawn.frames()
        size = sum(map(len, frames.values()))
        what = "which are all" if size == drawn.n_rows else f"drawn at random of {drawn.n_rows}"
        warnings.warn(f"The sample has {size} rows, {what}.", UserWarning, stacklevel=2)
    frame = join_tables(frames, "" if numbers else target)
    if date_format is not None and all(dtype.kind != "M" for dtype in frame.dtypes):
        raise ValueError(
            f"{', '.join(names)} has no column of dates that are written as --date-format {date_format} says."
        )
    apart = [target, *([] if weights is None else [weights]), *_resolved(ignore, frame)]
    return split_training(
        _not_empty(frame, apart),
        ", ".join(names),
        target,
        weights=weights,
        nominal=nominal,
        ordinal=ordinal,
        ignore=ignore,
        drop_unlabelled=drop_unlabelled,
        bins=bins,
        numbers=numbers,
    )


def join_tables(frames: "Mapping[str, pd.DataFrame]", classes: str = "") -> "pd.DataFrame":
    """The rows of several tables under each other, if their columns are the same.

    Classes become texts where they are not of one kind.

    Examples
    --------
    >>> import pandas as pd
    >>> join_tables({"a.csv": pd.DataFrame({"x": [1]}), "b.csv": pd.DataFrame({"x": [2.5]})})["x"].tolist()
    [1.0, 2.5]
    >>> join_tables({"a.csv": pd.DataFrame({"x": [1]}), "b.csv": pd.DataFrame({"y": [2]})})
    Traceback (most recent call last):
        ...
    ValueError: b.csv has no column 'x', which a.csv has; give files with the same columns.
    """
    (first, whole), *others = frames.items()
    if not others:
        return whole
    parts = dict(frames)
    for name, frame in others:
        for lacking, having, columns in (
            (name, first, whole.columns.difference(frame.columns, sort=False)),
            (first, name, frame.columns.difference(whole.columns, sort=False)),
        ):
            if len(columns):
                raise ValueError(
                    f"{lacking} has no column {columns[0]!r}, which {having} has; "
                    "give files with the same columns."
                )
        for column in whole.columns:
            kinds = [_KINDS.get(values[column].dtype.kind, "numbers") for values in (whole, frame)]
            known = whole[column].notna().any() and frame[column].notna().any()
            if not known or kinds[0] == kinds[1]:
                continue
            if column != classes:
                raise ValueError(
                    f"Column {column!r} holds {kinds[0]} in {first} and {kinds[1]} in {name}; write them in "
                    f"one way, or declare the column as nominal (--nominal {quote_name(column)})."
                )
            parts = {
                one: part.assign(**{column: to_strings(part[column])})
                for one, part in parts.items()
            }
    return import_pandas().concat(
        [part[whole.columns] for part in parts.values()], ignore_index=True
    )


def split_training(
    frame: "pd.DataFrame",
    name: str,
    target: str,
    *,
    weights: str | None = None,
    nominal: Collection[str] = (),
    ordinal: Mapping[str, Sequence[str]] | None = None,
    ignore: Collection[str] = (),
    drop_unlabelled: bool = False,
    bins: int | None = None,
    numbers: bool = False,
) -> "tuple[pd.DataFrame, pd.Series[Any], Any]":
    """Part a table into condition attributes, classes and weights, and complain about any of them.

    Parameters
    ----------
    frame : pandas.DataFrame
    name : str
        What to call the table in messages.
    target : str
        The column of the classes.
    weights : str, optional
        The column that says how much every row counts.
    nominal, ignore : collections of str
        Columns whose values have no order, and columns to leave out; each may name several, parted by
        commas.
    ordinal : mapping, optional
        Columns and their values from low to high.
    drop_unlabelled : bool
        Leave rows without a class out, and say so in a warning, instead of complaining.
    bins : int, optional
        Make so many classes of about the same size of a target that is a number.
    numbers : bool
        The target is a number to predict, not a class.

    Returns
    -------
    X : pandas.DataFrame
    y : pandas.Series
        Whole numbers, truth values or texts; with `numbers` floating-point numbers.
    weights : array or None

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": [1, 2, 3], "sold": ["yes", None, "no"]})
    >>> split_training(frame, "cars", "sold")
    Traceback (most recent call last):
        ...
    ValueError: The target 'sold' has no value in 1 of 3 rows, the first in row 2; leave them out (--drop-unlabelled).
    """
    apart = [column for column in (target, weights) if column is not None]
    for column in apart:
        find_name(column, frame.columns, name)
    nominal, ignore = _resolved(nominal, frame), _resolved(ignore, frame)
    if drop_unlabelled:
        frame = _labelled(frame, target)
    column = frame[target] if bins is None else _binned(frame[target], bins)
    _check_known(column)
    y = _numbers(column) if numbers else _classes(column)
    weighed = None if weights is None else _weights(frame[weights])
    conditions = frame.drop(columns=apart)
    X = declare(conditions, name, nominal=nominal, ordinal=ordinal, ignore=ignore)
    if X.columns.empty:
        raise ValueError(f"{name} has no column left to learn from.")
    declared = (*nominal, *(ordinal or ()))
    X = _without_names(X, declared)
    check_kinds(X, declared=declared)
    _note_useless(X.drop(columns=list(declared)))
    return X, y, weighed


def _parts(names: Collection[str]) -> list[str]:
    """Names of which some may be several, parted by commas."""
    return [part.strip() for name in names for part in name.split(",") if part.strip()]


def _resolved(names: Collection[str], frame: "pd.DataFrame") -> list[str]:
    """Columns by their names; a name that is none of them may be several."""
    return [
        part for name in names for part in ([name] if name in frame.columns else _parts([name]))
    ]


def _not_empty(frame: "pd.DataFrame", apart: Collection[str]) -> "pd.DataFrame":
    """The rows of which anything is known but what stands apart; a note says how many are not."""
    known = (
        frame.drop(columns=[name for name in apart if name in frame.columns]).notna().any(axis=1)
    )
    if known.all() or not known.any():
        return frame
    warnings.warn(
        f"{(~known).sum()} of {len(frame)} rows are empty, the first is row "
        f"{int(known.to_numpy().argmin()) + 1}; they are left out.",
        UserWarning,
        stacklevel=3,
    )
    return _as_if_read(frame[known].reset_index(drop=True))


def _without_names(frame: "pd.DataFrame", declared: Collection[str]) -> "pd.DataFrame":
    """Without texts that name the rows, unless there is nothing else; a note says which."""
    names = {
        column: frame[column].nunique()
        for column in frame.columns
        if column not in declared
        and frame[column].dtype == object
        and looks_like_identifier(frame[column])
    }
    if not names:
        return frame
    if len(names) == len(frame.columns):
        column = next(iter(names))
        raise ValueError(
            f"Column {column!r} has {names[column]} different texts, as names and numbers of things have, and "
            f"there is no other column to learn from; insist on it (--nominal {quote_name(column)})."
        )
    for column, different in names.items():
        warnings.warn(
            f"Column {column!r} has {different} different texts in {len(frame)} rows, as names and numbers of "
            f"things have; it is left out (--nominal {quote_name(column)} keeps it).",
            UserWarning,
            stacklevel=3,
        )
    return frame.drop(columns=list(names))


def _note_useless(frame: "pd.DataFrame") -> None:
    """Say which columns tell nothing about other rows, and how to leave them out."""
    empty = [name for name in frame.columns if frame[name].isna().all()]
    numbering = [name for name in frame.columns if _numbers_rows(frame[name])]
    for found, what in ((empty, "no values"), (numbering, "another whole number in every row")):
        if found:
            shown = join_names(repr(name) for name in found)
            one = len(found) == 1
            warnings.warn(
                f"Column{'' if one else 's'} {shown} {'has' if one else 'have'} {what}; leave "
                f"{'it' if one else 'them'} out with --ignore {quote_name(','.join(found))}.",
                UserWarning,
                stacklevel=4,
            )


def _numbers_rows(column: "pd.Series[Any]") -> bool:
    """Whether values are different whole numbers that count on, or are called a number of things."""
    if column.dtype.kind not in "iu" or len(column) < 10 or not column.is_unique:
        return False
    counts_on = len(column) >= ENOUGH_TO_COUNT and bool((column.diff()[1:] == 1).all())
    return counts_on or _NUMBERING.search(str(column.name)) is not None


def _labelled(frame: "pd.DataFrame", target: str) -> "pd.DataFrame":
    known = frame[target].notna()
    if known.all():
        return frame
    warnings.warn(
        f"{(~known).sum()} of {len(frame)} rows have no {target!r}; they are left out.",
        UserWarning,
        stacklevel=3,
    )
    return _as_if_read(frame[known].reset_index(drop=True), [target])


def _as_if_read(frame: "pd.DataFrame", columns: Collection[str] | None = None) -> "pd.DataFrame":
    """As if rows that are left out had never been: whole numbers beside a gap were read as fractions."""
    changed = {}
    for name in frame.columns if columns is None else columns:
        values = frame[name]
        if values.dtype.kind == "f" and (values == values.round()).all():
            changed[name] = values.astype("int64")
        elif values.dtype.kind == "O" and all(isinstance(value, bool) for value in values):
            changed[name] = values.astype(bool)
    return frame.assign(**changed)


def _check_known(column: "pd.Series[Any]") -> None:
    absent = column.isna()
    if absent.any():
        row = int(absent.to_numpy().argmax())
        raise ValueError(
            f"The target {column.name!r} has no value in {absent.sum()} of {len(column)} rows, the first in "
            f"row {row + 1}; leave them out (--drop-unlabelled)."
        )


def _numbers(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """The target as numbers."""
    if kind_of(column) == "date":
        raise ValueError(
            f"The target {column.name!r} holds dates; a number is needed, such as days since then."
        )
    return type(column)(
        check_quantities(column.to_numpy(), str(column.name)),
        index=column.index,
        name=column.name,
    )


def _classes(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """The target as whole numbers, truth values or texts."""
    name = column.name
    if kind_of(column) == "date":
        raise ValueError(f"The target {name!r} holds dates; a classifier needs classes.")
    different = column.nunique()
    if different == len(column) > 2:
        remedy = "" if column.dtype.kind not in "iuf" else f"; {NUMBER_REMEDY}"
        raise ValueError(
            f"The target {name!r} has another value in every row; a classifier needs classes{remedy}."
        )
    return column if column.dtype.kind in "iufb" else to_strings(column).rename(name)


def _binned(column: "pd.Series[Any]", bins: int) -> "pd.Series[Any]":
    classes = bin_target(column, bins, str(column.name))
    return type(column)(classes, index=column.index, name=column.name, dtype=object)


def _weights(column: "pd.Series[Any]") -> Any:
    if kind_of(column) != "numeric":
        raise ValueError(f"The weights {column.name!r} are not numbers; choose another column.")
    values = column.to_numpy(dtype=float)
    wrong = ~((values >= 0) & (values < float("inf")))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"The weights {column.name!r} hold {values[row]:g} in row {row + 1}; "
            "they must be 0 or more and finite."
        )
    if not values.any():
        raise ValueError(
            f"The weights {column.name!r} are all 0; at least one row must weigh something."
        )
    return values

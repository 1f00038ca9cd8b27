"""Read tables to learn from: features of the declared types, the target and the sample weights."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from os import PathLike
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from frri._util import Floats, Positions, find_name, import_pandas, join_names, quote_name
from frri.readers import infer_types
from frri.readers.files import read_batches, read_table
from frri.readers.infer_types import parse_numbers, resolve_words, to_strings, warn
from frri.table.checks import check_weights, find_mistake
from frri.table.columns import Column, Frame, kind_of
from frri.table.targets import NUMBER_REMEDY, bin_target, check_quantities

# Rows of every class in a sample, if there are that many.
LEAST = 5
# A column of more distinct values is not taken for classes.
MOST_CLASSES = 1_000

# Rows from which a column that counts up does so on purpose.
ENOUGH_TO_COUNT = 50

# Names of columns that number things: id, patient_id, PassengerId, row names.
_NUMBERING = re.compile(
    r"(?i:^|[ _.])(?i:id|nr|key|row ?names?)$|(?i:^(row[ _.]?)?(index|number)$)|[a-z]I[dD]$"
)
# Names of columns that count up and are quantities: year, day, rank.
_COUNTING = re.compile(r"year|month|week|day|date|time|rank", re.IGNORECASE)


class TrainingOptions(NamedTuple):
    """How a table to learn from is read and split.

    Attributes
    ----------
    weights : str, optional
        Column of the sample weights.
    nominal, numeric, ignore : collection of str
        Columns whose values have no order; columns of numbers, even if these look like identifiers
        or have words among them; columns to leave out. Each may name several, separated by commas.
    ordinal : mapping
        Columns and their values from low to high.
    strict : bool
        If True, raise an error for words among numbers instead of taking them as missing values.
    drop_unlabelled : bool
        If True, leave rows without a target out, with a warning, instead of raising an error.
    bins : int, optional
        Number of classes of about the same size that are made of a target that is a number.
    numbers : bool
        If True, the target is a number to predict, not a class.
    na_values, date_format
        See `frri.readers.read_table`.
    sample : int, optional
        Number of rows of a random sample, of files that do not fit into memory.
    seed : int
        Random seed of that sample.
    """

    weights: str | None = None
    nominal: Collection[str] = ()
    numeric: Collection[str] = ()
    ordinal: Mapping[str, Sequence[str]] = MappingProxyType({})
    ignore: Collection[str] = ()
    strict: bool = False
    drop_unlabelled: bool = False
    bins: int | None = None
    numbers: bool = False
    na_values: Collection[str] = ()
    date_format: str | None = None
    sample: int | None = None
    seed: int = 0


def read_training(
    source: str | PathLike[str] | Sequence[str | PathLike[str]], target: str, **options: Any
) -> tuple[Frame, Column, Any]:
    r"""Read a table to learn from; several files with the same columns are one table.

    Parameters
    ----------
    source : path, "-" or sequence of these
        See `read_table`.
    target : str
        Column to predict.
    **options
        See `TrainingOptions`.

    Returns
    -------
    X, y, weights
        See `split_training`.

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
    how = TrainingOptions(**options)
    sources = [source] if isinstance(source, str | PathLike) else source
    names = ["standard input" if one == "-" else str(one) for one in sources]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"{twice[0]} is given twice; name it once.")
    frame = _read_all(sources, names, target, how)
    whole = ", ".join(names)
    if how.date_format is not None and all(dtype.kind != "M" for dtype in frame.dtypes):
        raise ValueError(
            f"{whole} has no column of dates that are written as --date-format {how.date_format} "
            "says."
        )
    apart = {target, how.weights, *_split_names(how.ignore, frame)}
    return split_training(_drop_empty(frame, apart), whole, target, **options)


def _read_all(
    sources: Sequence[str | PathLike[str]], names: list[str], target: str, how: TrainingOptions
) -> Frame:
    """Read all files, or a sample of their rows."""
    # Columns that are left out are read as strings, so that there is no warning about them.
    as_strings = {*how.nominal, *how.ignore} - {target}
    parts = [part.strip() for name in as_strings for part in name.split(",")]
    strings = dict.fromkeys((*as_strings, *parts, *how.ordinal), ())
    classes = None if how.numbers or how.bins is not None else target
    options: Any = {"na_values": how.na_values, "date_format": how.date_format}
    if how.sample is None:
        read = [read_table(one, strings, classes=classes, **options) for one in sources]
        tables = dict(zip(names, read, strict=True))
        return join_tables(tables, None if how.numbers else target)
    batches = (
        (f"{name} from row {batch.start + 1} on" if batch.start else name, batch.frame)
        for name, one in zip(names, sources, strict=True)
        for batch in read_batches(one, strings, classes=classes, **options)
    )
    frame, n_rows = draw_sample(batches, how.sample, how.seed, classes)
    what = "which are all" if len(frame) == n_rows else f"drawn at random of {n_rows}"
    warn(f"The sample has {len(frame)} rows, {what}.")
    return frame


def split_training(
    frame: Frame, name: str, target: str, **options: Any
) -> tuple[Frame, Column, Any]:
    """Split a table into features, target and weights, and check all of them.

    Parameters
    ----------
    frame : pandas.DataFrame
    name : str
        Name of the table in messages.
    target : str
        Column to predict.
    **options
        See `TrainingOptions`.

    Returns
    -------
    X : pandas.DataFrame
    y : pandas.Series
        Integers, booleans or strings; with `numbers` floats.
    weights : array or None

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": [1, 2, 3], "sold": ["yes", None, "no"]})
    >>> split_training(frame, "cars", "sold")
    Traceback (most recent call last):
        ...
    ValueError: The target 'sold' has no value in 1 of 3 rows, the first in row 2; leave ...
    """
    how = TrainingOptions(**options)
    apart = [column for column in (target, how.weights) if column is not None]
    nominal, numeric, ignore = (
        _split_names(names, frame) for names in (how.nominal, how.numeric, how.ignore)
    )
    for column in (*apart, *numeric):
        find_name(column, frame.columns, name)
    if how.drop_unlabelled:
        frame = _keep_rows(frame, frame[target].notna(), [target], f"have no {target!r}")
    y = _target(frame[target], how)
    weights = None if how.weights is None else _weights(frame[how.weights])
    X, declared = frame.drop(columns=apart), (*nominal, *how.ordinal)
    for column in (*declared, *ignore):
        find_name(column, X.columns, name)
    strings = {column: to_strings(X[column]) for column in declared}
    strings |= {name: _ordered(strings[name], order) for name, order in how.ordinal.items()}
    X = X.drop(columns=ignore).assign(**strings)
    if X.columns.empty:
        raise ValueError(f"{name} has no column left to learn from.")
    X = _drop_identifiers(X, (*declared, *numeric))
    X = resolve_words(X, nominal=declared, numeric=numeric, strict=how.strict)
    empty = [name for name in X.columns if name not in declared and X[name].isna().all()]
    if empty:
        option = f"--ignore {quote_name(','.join(empty))}"
        warn(f"No values in {join_names(map(repr, empty))}; exclude with {option}.")
    return X, y, weights


def _ordered(column: Column, values: Sequence[str]) -> Column:
    """Convert strings to categories, given from low to high."""
    strange = column[column.notna() & ~column.isin(list(values))]
    if len(strange):
        raise ValueError(
            f"Column {column.name!r} holds {strange.iloc[0]!r} in row {strange.index[0] + 1}, "
            f"which is not in the order {' < '.join(values)}."
        )
    return column.astype(import_pandas().CategoricalDtype(list(values), ordered=True))


def _split_names(names: Collection[str], frame: Frame) -> list[str]:
    """Return names of columns; a name that is none of them may be several, separated by commas."""
    return [
        part.strip()
        for name in names
        for part in ([name] if name in frame.columns else name.split(","))
        if part.strip()
    ]


def _drop_empty(frame: Frame, apart: Collection[str | None]) -> Frame:
    """Drop the rows whose features are all missing, with a note."""
    features = frame.drop(columns=[name for name in apart if name in frame.columns])
    known = features.notna().any(axis=1)
    if not known.any():
        return frame
    first = int(known.to_numpy().argmin()) + 1
    return _keep_rows(frame, known, frame.columns, f"are empty, the first is row {first}")


def _keep_rows(frame: Frame, kept: Column, columns: Collection[str], others: str) -> Frame:
    """Drop rows with a note; columns become what they would be if these had not been read."""
    if kept.all():
        return frame
    warn(f"{(~kept).sum()} of {len(frame)} rows {others}; they are left out.")
    frame = frame[kept].reset_index(drop=True)
    changed = {}
    for name in columns:
        values = frame[name]
        if values.dtype.kind == "f" and (values == values.round()).all():
            changed[name] = values.astype("int64")  # integers beside NaN are floats
        elif values.dtype.kind == "O" and all(isinstance(value, bool) for value in values):
            changed[name] = values.astype(bool)
    return frame.assign(**changed)


def _drop_identifiers(frame: Frame, declared: Collection[str]) -> Frame:
    """Drop columns that name or number the rows, each with a note, unless there is nothing else."""
    columns = frame.drop(columns=list(declared))
    found = {name: "nominal" for name in columns if infer_types.looks_like_identifier(frame[name])}
    numbers = [name for name in columns if _numbers_rows(frame[name])]
    if len(found) + len(numbers) < len(frame.columns):
        found |= dict.fromkeys(numbers, "numeric")
    for name, kind in found.items():
        distinct = f"{frame[name].nunique()} distinct values in {len(frame)} rows"
        what = f"Column {name!r} looks like an identifier ({distinct})"
        option = f"--{kind} {quote_name(name)}"
        if len(found) == len(frame.columns):
            raise ValueError(
                f"{what}, and there is no other column; use it all the same with {option}."
            )
        warn(f"{what} and is ignored; keep it with {option}.")
    return frame.drop(columns=list(found))


def _numbers_rows(column: Column) -> bool:
    """Return whether distinct integers count up with few gaps, or are named like identifiers."""
    name, n = str(column.name), len(column)
    if column.dtype.kind not in "iu" or n < 10 or not column.is_unique:
        return False
    if _NUMBERING.search(name) or _COUNTING.search(name) or n < ENOUGH_TO_COUNT:
        return _NUMBERING.search(name) is not None
    few_gaps = int(column.max()) - int(column.min()) < 1.1 * n
    return few_gaps and bool(column.is_monotonic_increasing)


def _target(column: Column, how: TrainingOptions) -> Column:
    """Return the target as floats, or as integers, booleans or strings, or raise a ValueError."""
    name = str(column.name)
    series = import_pandas().Series
    if how.bins is not None:
        classes = bin_target(column, how.bins, name)
        column = series(classes, index=column.index, name=column.name, dtype=object)
    absent = column.isna()
    if absent.any():
        raise ValueError(
            f"The target {name!r} has no value in {absent.sum()} of {len(column)} rows, the first "
            f"in row {int(absent.to_numpy().argmax()) + 1}; leave them out (--drop-unlabelled)."
        )
    if kind_of(column) == "date":
        number = "a number is needed, such as days since then"
        needed = number if how.numbers else "a classifier needs classes"
        raise ValueError(f"The target {name!r} holds dates; {needed}.")
    if how.numbers:
        numbers = check_quantities(column.to_numpy(), name)
        return series(numbers, index=column.index, name=column.name)
    if column.nunique() == len(column) > 2:
        remedy = "" if column.dtype.kind not in "iuf" else f"; {NUMBER_REMEDY}"
        raise ValueError(
            f"The target {name!r} has another value in every row; a classifier needs "
            f"classes{remedy}."
        )
    return column if column.dtype.kind in "iufb" else to_strings(column).rename(column.name)


def _weights(column: Column) -> Any:
    if kind_of(column) != "numeric":
        raise ValueError(f"The weights {column.name!r} are not numbers; choose another column.")
    values = column.to_numpy(dtype=float)
    check_weights(values, f"The column of weights {column.name!r}")
    return values


_KINDS = {"O": "strings", "M": "dates", "b": "booleans"}


def join_tables(frames: Mapping[str, Frame], classes: str | None = None) -> Frame:
    """Concatenate the rows of several tables, if their columns are the same.

    The column of the classes becomes one of strings where its type differs, and so does one of
    numbers where a table has words among them: see `resolve_words`.

    Examples
    --------
    >>> import pandas as pd
    >>> join_tables({"a": pd.DataFrame({"x": [1]}), "b": pd.DataFrame({"x": [2.5]})})["x"].tolist()
    [1.0, 2.5]
    >>> join_tables({"a.csv": pd.DataFrame({"x": [1]}), "b.csv": pd.DataFrame({"y": [2]})})
    Traceback (most recent call last):
        ...
    ValueError: b.csv has no column 'x', which a.csv has; give files with the same columns.
    """
    first, *others = frames
    columns = frames[first].columns
    if not others:
        return frames[first]
    mixed: set[str] = set()
    for other in others:
        for having, lacking in ((first, other), (other, first)):
            absent = frames[having].columns.difference(frames[lacking].columns, sort=False)
            if len(absent):
                raise ValueError(
                    f"{lacking} has no column {absent[0]!r}, which {having} has; "
                    "give files with the same columns."
                )
        for column in columns:
            one, two = frames[first][column], frames[other][column]
            kinds = [_KINDS.get(values.dtype.kind, "numbers") for values in (one, two)]
            if kinds[0] == kinds[1] or one.isna().all() or two.isna().all():
                continue
            if column != classes and not any(map(_has_words, (one, two))):
                raise ValueError(
                    f"Column {column!r} holds {kinds[0]} in {first} and {kinds[1]} in {other}; "
                    "write them in one way, or declare the column as nominal "
                    f"(--nominal {quote_name(column)})."
                )
            mixed.add(column)
    parts = [
        frame[columns].assign(**{column: to_strings(frame[column]) for column in mixed})
        for frame in frames.values()
    ]
    return import_pandas().concat(parts, ignore_index=True)


def _has_words(column: Column) -> bool:
    """Return whether a column of strings is one of numbers with words among them."""
    known = column.notna().to_numpy()
    is_text = column.dtype.kind == "O"
    return is_text and find_mistake(known, parse_numbers(column).notna().to_numpy()) is not None


def draw_sample(
    parts: Iterable[tuple[str, Frame]], size: int, seed: int, target: str | None = None
) -> tuple[Frame, int]:
    """Draw a uniform random sample of rows, with some rows of every class in any case.

    Every row has a random key; the smallest keys win. Keys depend on the seed and on the number of
    the row alone, so that a sample is the same whatever parts a table comes in.

    Parameters
    ----------
    parts : iterable of (str, DataFrame)
        Parts of the table, with names for messages.
    size, seed : int
    target : str, optional
        The column of the classes, if there are any.

    Returns
    -------
    sample : DataFrame
        Rows in the order of the table.
    n_rows : int
        Number of rows of the table.
    """
    random = np.random.default_rng(seed)
    first, n_rows, keys = "", 0, np.empty(0)
    pool: Any = None
    for name, part in parts:
        if target is not None:
            find_name(target, part.columns, name)
        first = first or name
        pool = part if pool is None else join_tables({first: pool, name: part}, target)
        keys = np.concatenate([keys, random.random(len(part))])
        n_rows += len(part)
        if target is not None and pool[target].nunique() > MOST_CLASSES:
            target = None
        if len(pool) > 2 * size:
            rows, _ = _smallest(keys, pool.get(target), size)
            pool, keys = pool.iloc[rows], keys[rows]
    rows, n_needed = _smallest(keys, pool.get(target), size)
    if n_needed > size:
        raise ValueError(
            f"A sample of {size} rows is too small for the {pool[target].nunique()} classes of "
            f"{target!r}; take {n_needed} rows or more."
        )
    return pool.iloc[rows].reset_index(drop=True), n_rows


def _smallest(keys: Floats, classes: Column | None, size: int) -> tuple[Positions, int]:
    """Return the rows of the smallest keys, first some of every class, and the number of these."""
    needed = np.zeros(len(keys), dtype=bool)
    if classes is not None:
        ranks = import_pandas().Series(keys, classes.index).groupby(classes.astype(str)).rank()
        needed = np.asarray(ranks <= LEAST)
    n_needed = int(needed.sum())
    order = np.lexsort((keys, ~needed))
    return np.sort(order[: max(size, n_needed)]), n_needed

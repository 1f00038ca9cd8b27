"""What the columns of a table are: as their types tell, unless the user says otherwise."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from frri._util.names import find_name
from frri._util.optional import import_pandas
from frri.table import KINDS
from frri.table.columns import ordered_categories, plain_column

if TYPE_CHECKING:
    import pandas as pd

# A column with more different texts than this is taken for an identifier.
MOST_CATEGORIES = 1000

# A column of texts of which more than this share are numbers is taken for one with mistakes in it.
MOSTLY = 0.8


def declare(
    frame: "pd.DataFrame",
    name: str,
    *,
    nominal: Collection[str] = (),
    ordinal: Mapping[str, Sequence[str]] | None = None,
    ignore: Collection[str] = (),
) -> "pd.DataFrame":
    """A table without some columns, and with some as categories, ordered or not.

    Parameters
    ----------
    frame : pandas.DataFrame
    name : str
        What to call the table in messages.
    nominal, ignore : collections of column names
    ordinal : mapping
        Column names and their values from low to high.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"id": [7, 8], "size": ["S", "L"]})
    >>> declare(table, "table", ordinal={"size": ["S", "M", "L"]}, ignore=["id"]).dtypes.tolist()
    [CategoricalDtype(categories=['S', 'M', 'L'], ordered=True, categories_dtype=object)]
    """
    pd = import_pandas()
    ordinal = ordinal or {}
    for column in (*nominal, *ordinal, *ignore):
        find_name(column, frame.columns, name)
    changed = {column: texts(frame[column]) for column in nominal}
    for column, values in ordinal.items():
        changed[column] = _ordered(texts(frame[column]), list(values), column, pd)
    return frame.assign(**changed).drop(columns=list(ignore))


def texts(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """The values of a column as texts, missing ones as None; whole numbers without decimals.

    Examples
    --------
    >>> import pandas as pd
    >>> texts(pd.Series([1.0, None, 2.5])).tolist()
    ['1', None, '2.5']
    """
    known = column.dropna()
    shown = {
        value: str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for value in known.unique()
    }
    return column.astype(object).map(shown).astype(object).where(column.notna(), None)


def check_kinds(
    frame: "pd.DataFrame", *, declared: Collection[str] = (), limit: int = MOST_CATEGORIES
) -> None:
    """Complain about columns whose kind the user had better decide.

    Parameters
    ----------
    frame : pandas.DataFrame
    declared : collection of str
        Columns that the user has spoken about.
    limit : int
        The most different texts of a column.

    Examples
    --------
    >>> import pandas as pd
    >>> check_kinds(pd.DataFrame({"age": ["31", "42", "33", "28", "19", "4o"]}))
    Traceback (most recent call last):
        ...
    ValueError: Column 'age' holds '4o' in row 5 among numbers; correct it, or declare the column as nominal (--nominal age).
    """
    for column in frame.columns:
        if kind_of(frame[column]) != "nominal" or column in declared:
            continue
        values = frame[column].dropna()
        different = values.nunique()
        if different > limit:
            raise ValueError(
                f"Column {column!r} has {different} different texts, as names and numbers of things "
                f"have; leave it out (--ignore {column}), or insist on it (--nominal {column})."
            )
        _check_mixture(column, values)


def kind_of(column: "pd.Series[Any]") -> str:
    """The kind of attribute that a column becomes: see `frri.table.describe_frame`.

    Examples
    --------
    >>> import pandas as pd
    >>> kind_of(pd.Series([True, False])), kind_of(pd.Series([1, 2]))
    ('nominal', 'numeric')
    """
    if ordered_categories(column) is not None:
        return "ordinal"
    kind = plain_column(column, str(column.name)).dtype.kind
    return "nominal" if kind == "O" else "date" if kind == "M" else "numeric"


def summary(frame: "pd.DataFrame") -> str:
    """The kinds of columns and the missing values in a sentence; others than numbers by name.

    Examples
    --------
    >>> import pandas as pd
    >>> print(summary(pd.DataFrame({"age": [31, None], "sex": ["f", "m"], "ok": [True, True]})))
    2 rows, 3 columns: 1 numeric, 2 nominal; 1 missing value
      nominal: sex (2 values), ok (1 value)
    """
    columns: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for column in frame.columns:
        columns[kind_of(frame[column])].append(column)
    counts = ", ".join(f"{len(names)} {kind}" for kind, names in columns.items() if names)
    missing = int(frame.isna().to_numpy().sum())
    head = (
        f"{_number(len(frame), 'row')}, {_number(len(frame.columns), 'column')}: {counts}; "
        f"{_number(missing, 'missing value') if missing else 'no missing values'}"
    )
    lines = [head]
    for kind in ("date", "ordinal", "nominal"):
        names = columns[kind]
        if names:
            listed = [_described(name, frame[name], kind) for name in names[:8]]
            more = f" and {len(names) - 8} more" if len(names) > 8 else ""
            lines.append(f"  {kind}: {', '.join(listed)}{more}")
    return "\n".join(lines)


def _described(name: str, column: "pd.Series[Any]", kind: str) -> str:
    if kind == "date":
        return name
    ordered = ordered_categories(column)
    if ordered is not None:
        return f"{name} ({' < '.join(ordered)})"
    return f"{name} ({_number(column.nunique(), 'value')})"


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _ordered(column: "pd.Series[Any]", values: list[str], name: str, pd: Any) -> "pd.Series[Any]":
    strange = column[column.notna() & ~column.isin(values)]
    if len(strange):
        raise ValueError(
            f"Column {name!r} holds {strange.iloc[0]!r} in row {strange.index[0]}, "
            f"which is not in the order {' < '.join(values)}."
        )
    return pd.Series(pd.Categorical(column, categories=values, ordered=True), index=column.index)


def _check_mixture(column: str, values: "pd.Series[Any]") -> None:
    """Numbers or dates with a few other texts among them are mistakes more often than categories."""
    pd = import_pandas()
    found = values.astype(str)
    for kind, parsed in (
        ("numbers", pd.to_numeric(found, errors="coerce")),
        ("dates", pd.to_datetime(found, format="ISO8601", errors="coerce", utc=True)),
    ):
        fitting = parsed.notna()
        if MOSTLY * len(found) < fitting.sum() < len(found):
            strange = found[~fitting]
            raise ValueError(
                f"Column {column!r} holds {strange.iloc[0]!r} in row {strange.index[0]} among "
                f"{kind}; correct it, or declare the column as nominal (--nominal {column})."
            )

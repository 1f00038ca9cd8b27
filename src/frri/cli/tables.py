"""Tables as their options declare them, and as a saved model wants them."""

import argparse
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Floats, find_name
from frri.cli.console import notes, say
from frri.cli.parser import Parser
from frri.readers import read_table
from frri.readers.batches import Batch, read_batches
from frri.rules import RuleSet
from frri.rules.rule import label_array
from frri.table.categories import category_codes
from frri.table.targets import bin_edges, bin_of, check_quantities

if TYPE_CHECKING:
    import pandas as pd


def add_column_options(parser: Parser) -> None:
    """The options that say what columns are."""
    add = parser.add_argument
    add("--ignore", action="append", default=[], metavar="A,B", help="leave columns out")
    add("--nominal", action="append", default=[], metavar="A,B", help="values without order")
    add(
        "--ordinal",
        action="append",
        default=[],
        metavar="COLUMN=A<B<C",
        help="values from low to high",
    )


def add_reading_options(parser: Parser) -> None:
    """The options that say how cells are written."""
    parser.add_argument(
        "--missing",
        type=listed,
        default=[],
        metavar="A,B",
        help="further marks of missing values, as -999,unknown",
    )
    parser.add_argument(
        "--date-format", metavar="FORMAT", help="how dates are written, such as %%m/%%d/%%Y"
    )


def add_unlabelled_option(parser: Parser) -> None:
    """The option that says what becomes of rows without a class."""
    parser.add_argument(
        "--drop-unlabelled", action="store_true", help="leave out rows without a class or number"
    )


def reading(arguments: argparse.Namespace) -> dict[str, Any]:
    """What those options say, for `read_table`."""
    return {"missing": arguments.missing, "date_format": arguments.date_format}


def listed(text: str) -> list[str]:
    """Names with commas between them.

    Examples
    --------
    >>> listed("id, age")
    ['id', 'age']
    """
    return [part.strip() for part in text.split(",") if part.strip()]


def declared_columns(arguments: argparse.Namespace, weights: str | None = None) -> dict[str, Any]:
    """What those options say, for `read_training`; a column can only be used in one way."""
    ordinal = dict(_ordinal(text) for text in arguments.ordinal)
    uses = [
        *[(column, "--ignore") for names in arguments.ignore for column in listed(names)],
        *[(column, "--nominal") for names in arguments.nominal for column in listed(names)],
        *[(column, "--ordinal") for column in ordinal],
        (arguments.target, "--target"),
        (weights, "--weights"),
    ]
    seen: dict[str, str] = {}
    for column, option in uses:
        if column is not None and seen.setdefault(column, option) != option:
            raise ValueError(f"Column {column!r} is given both to {seen[column]} and {option}.")
    return {"nominal": arguments.nominal, "ordinal": ordinal, "ignore": arguments.ignore}


def _ordinal(text: str) -> tuple[str, list[str]]:
    """A column and its values from low to high."""
    column, equals, order = text.partition("=")
    values = [value.strip() for value in order.split("<")]
    if not equals or not column or len(values) < 2 or "" in values:
        raise ValueError(f"--ordinal needs COLUMN=LOW<...<HIGH, got {text!r}.")
    if len(set(values)) < len(values):
        raise ValueError(f"--ordinal {column!r} names a value twice.")
    return column, values


class _AllButNumbers(dict[str, Collection[str]]):
    """Columns to be read as texts: all but those that rules compare as numbers or dates."""

    def __init__(self, ruleset: RuleSet, texts: Mapping[str, Collection[str]]) -> None:
        super().__init__(texts)
        self._numbers = set(ruleset.used_attributes) - set(texts)

    def __contains__(self, name: object) -> bool:
        return name not in self._numbers

    def __missing__(self, name: str) -> Collection[str]:
        return ()

    def __bool__(self) -> bool:
        return True


def read_for(
    ruleset: RuleSet,
    source: str,
    target: str | None = None,
    **options: Any,
) -> "pd.DataFrame":
    """A table with the columns that rules use; categories stay texts, whatever they look like.

    What was done to the table becomes a note; the options are those of `read_table`.
    """
    texts = _texts(ruleset)
    if target is not None and ruleset.classes:
        texts[target] = tuple(str(label) for label in ruleset.classes)
    with notes():
        frame = read_table(source, texts, **options)
    where = "standard input" if source == "-" else source
    present = set(frame.columns)
    _check_used(ruleset, frame, where)
    if target is not None and target not in present:
        try:
            find_name(target, frame.columns, where)
        except ValueError as error:
            raise ValueError(
                f"{error} --target names the column of the {_answers(ruleset)}."
            ) from None
    return frame


def batches_for(
    ruleset: RuleSet, source: str, keep: Collection[str] | None, **options: Any
) -> Iterator[Batch]:
    """The same part by part, whatever is not compared as a number or date as it is written: 007 is not 7.

    Of columns that rules do not use, those to be kept are there, all of them if that is None; names of
    rows only if they are to be kept by name.
    """
    used = ruleset.used_attributes
    texts = _texts(ruleset) | {name: () for name in keep or () if name not in used}
    columns = None if keep is None else {*used, *keep}
    where = "standard input" if source == "-" else source
    for batch in read_batches(source, _AllButNumbers(ruleset, texts), columns=columns, **options):
        if not batch.start:
            _check_used(ruleset, batch.frame, where)
        yield batch


def _texts(ruleset: RuleSet) -> dict[str, Collection[str]]:
    """Columns of categories, which stay texts."""
    return {a.name: a.categories for a in ruleset.attributes if a.categories is not None}


def _check_used(ruleset: RuleSet, frame: "pd.DataFrame", where: str) -> None:
    present = set(frame.columns)
    for name in ruleset.used_attributes:
        if name not in present:
            find_name(name, frame.columns, where)


def _answers(ruleset: RuleSet) -> str:
    return "numbers" if ruleset.task == "regression" else "classes"


def read_labelled(
    ruleset: RuleSet, source: str, arguments: argparse.Namespace
) -> "tuple[pd.DataFrame, NDArray[Any]]":
    """A table for a model, and the true classes or numbers of its rows, as the options say."""
    target = ruleset.target if arguments.target is None else arguments.target
    frame = read_for(ruleset, source, target, **reading(arguments))
    frame = labelled(frame, target, drop=arguments.drop_unlabelled)
    return frame, answers_of(frame[target], ruleset)


def labelled(frame: "pd.DataFrame", target: str, *, drop: bool) -> "pd.DataFrame":
    """The rows that have a class or number, if the others are to be dropped; a note says how many these are."""
    known = frame[target].notna()
    if not drop or known.all() or not known.any():
        return frame
    say(f"note: {(~known).sum()} of {len(frame)} rows have no {target!r}; they are left out.")
    return frame[known].reset_index(drop=True)


def numbers_of(column: "pd.Series[Any]") -> Floats:
    """The numbers in a column, for a model that predicts numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> numbers_of(pd.Series([1.5, None], name="price"))
    Traceback (most recent call last):
        ...
    ValueError: Column 'price' has no number in row 2 (1 of 2 rows); leave out what has none (--drop-unlabelled).
    """
    absent = np.flatnonzero(column.isna())
    if len(absent):
        raise ValueError(
            f"Column {column.name!r} has no number in row {absent[0] + 1} ({len(absent)} of {len(column)} "
            "rows); leave out what has none (--drop-unlabelled)."
        )
    return check_quantities(column.to_numpy(), str(column.name))


def answers_of(column: "pd.Series[Any]", ruleset: RuleSet) -> NDArray[Any]:
    """The classes or numbers in a column, as the model has them."""
    return labels_of(column, ruleset) if ruleset.classes else numbers_of(column)


def labels_of(column: "pd.Series[Any]", ruleset: RuleSet) -> NDArray[Any]:
    """The classes in a column, as the model knows them.

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
    texts = [str(label) for label in ruleset.classes]
    values = column.to_numpy(dtype=object)
    edges = bin_edges(texts)
    if edges is not None:
        numbers_of = {value: _number(str(value)) for value in column.dropna().unique()}
        bins = {v: bin_of(n, edges) for v, n in numbers_of.items() if n is not None}
        values = np.array([bins.get(value, value) for value in values], dtype=object)
    codes = category_codes(values, texts)
    absent = np.flatnonzero(np.isnan(codes))
    if len(absent):
        raise ValueError(
            f"Column {column.name!r} has no class in row {absent[0] + 1} ({len(absent)} of {len(column)} "
            "rows); leave out what has none (--drop-unlabelled)."
        )
    numbers = {label: c for c, label in enumerate(ruleset.classes) if not isinstance(label, str)}
    for row in np.flatnonzero(codes < 0):
        number = _number(str(values[row]))
        code = None if number is None else numbers.get(number)
        if code is None:
            shown = ", ".join(texts[:8])
            raise ValueError(
                f"Column {column.name!r} holds {str(values[row])!r} in row {row + 1}, which is none of the "
                f"model's classes ({shown}{', ...' if len(texts) > 8 else ''})."
            )
        codes[row] = code
    return label_array(ruleset.classes)[codes.astype(np.intp)]


def _number(text: str) -> float | None:
    """The number that a text is, None if it is none."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return None

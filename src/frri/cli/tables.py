"""Tables as a saved model wants them."""

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from frri._util.names import find_name
from frri.readers import read_table
from frri.rules import Label, RuleSet
from frri.rules.rule import label_array

if TYPE_CHECKING:
    import pandas as pd


def read_for(ruleset: RuleSet, source: str, target: str | None = None) -> "pd.DataFrame":
    """A table with the model's columns; categories stay texts, whatever they look like."""
    texts = {a.name: a.categories for a in ruleset.attributes if a.categories is not None}
    if target is not None:
        texts[target] = tuple(str(label) for label in ruleset.classes)
    frame = read_table(source, texts)
    where = "standard input" if source == "-" else source
    present = set(frame.columns)
    for attribute in ruleset.attributes:
        if attribute.name not in present:
            find_name(attribute.name, frame.columns, where)
    if target is not None and target not in present:
        try:
            find_name(target, frame.columns, where)
        except ValueError as error:
            raise ValueError(f"{error} --target names the column of the classes.") from None
    return frame


def labels_of(column: "pd.Series[Any]", ruleset: RuleSet) -> NDArray[Any]:
    """The classes in a column, as the model knows them.

    Examples
    --------
    >>> import pandas as pd
    >>> labels_of(pd.Series(["1.0", "0"]), RuleSet((), (), (0, 1))).tolist()
    [1, 0]
    """
    known: dict[str, Label] = {_canonical(str(label)): label for label in ruleset.classes}
    labels: list[Label] = []
    for row, value in enumerate(column):
        if value is None or value != value:  # noqa: PLR0124 - NaN
            raise ValueError(f"Column {column.name!r} has no class in row {row}; drop this row.")
        text = _canonical(str(value))
        if text not in known:
            shown = ", ".join(map(str, ruleset.classes[:8]))
            raise ValueError(
                f"Column {column.name!r} holds {str(value)!r} in row {row}, which is none of the "
                f"model's classes ({shown}{', ...' if len(ruleset.classes) > 8 else ''})."
            )
        labels.append(known[text])
    return label_array(labels)


def _canonical(text: str) -> str:
    """Whole numbers are the same with and without decimals."""
    try:
        number = float(text)
    except ValueError:
        return text.strip()
    return str(int(number)) if number.is_integer() else str(number)

"""The decision about one row, explained from the ruleset alone."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri.changes import smallest_change
from frri.changes.readable import python_value, readable
from frri.data import column_names, to_matrix
from frri.explain.explanation import AttributeChange, Change, Explanation
from frri.explain.facts import Facts
from frri.rules import RuleSet


def explain(
    ruleset: RuleSet, row: Any, *, unchangeable: Collection[str] = (), effort: int = 10_000
) -> Explanation:
    """Explain the decision of a ruleset about one row.

    Parameters
    ----------
    ruleset : RuleSet
    row : mapping, Series, one-row data frame, or sequence in the order of the attributes
    unchangeable : collection of str
        Attributes that the smallest change must leave alone.
    effort : int
        How much work the search for the smallest change may do, in boxes of objects looked at; 0
        leaves it out.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rules = RuleSet(
    ...     (
    ...         Rule((NumericCondition("glucose", core_high=105, support_high=191),), "no", 0.9),
    ...         Rule((NumericCondition("glucose", 100, 180),), "yes", 0.8),
    ...     ),
    ...     (Attribute("glucose", 44, 199),), ("no", "yes"), target="diabetes",
    ... )
    >>> print(explain(rules, {"glucose": 170}))
    Predicted diabetes = yes because rule 2 holds to 0.88 and counts 0.70: glucose >= 180 (fades, ends at 100) holds to 0.88 (glucose = 170).
    For 'no', rule 1 counts 0.22: glucose = 170, needed at most 124.1.
    The smallest change that alters the decision: 'no' if glucose were 146 instead of 170.
    """
    matrix, shown = _one_row(ruleset, row)
    decided = int(ruleset.predict_index(matrix)[0])
    scores = ruleset._scores(matrix)[0]  # noqa: SLF001 - the encoded row is at hand
    facts = Facts(ruleset, matrix, shown, decided, scores)
    names = [attribute.name for attribute in ruleset.attributes]
    for name in unchangeable:
        if name not in names:
            raise ValueError(
                f"unchangeable names {name!r}, which is not an attribute: {', '.join(names)}."
            )
    fixed = set(unchangeable)
    change, unalterable = None, False
    if effort > 0:
        movable = [j for j, name in enumerate(names) if name not in fixed]
        change, unalterable = _change(ruleset, matrix[0], shown, movable, effort)
    return Explanation(
        target=ruleset.target,
        decision=ruleset.classes[decided],
        classes=ruleset.classes,
        scores=tuple(scores.tolist()),
        shares=tuple(ruleset.probabilities(matrix)[0].tolist()),
        fallback=ruleset.fallback if facts.silent else None,
        deciding=facts.deciding(),
        firing=facts.firing(),
        rivals=facts.rivals(),
        change=change,
        unalterable=unalterable,
        unchangeable=tuple(name for name in names if name in fixed),
    )


def _one_row(ruleset: RuleSet, row: Any) -> tuple[NDArray[np.float64], list[str]]:
    """The row as a matrix, and its values for people."""
    attributes = ruleset.attributes
    names = [attribute.name for attribute in attributes]
    if column_names(row) is None:
        index = getattr(row, "index", None)
        if index is not None and not callable(index):  # a pandas Series
            row = {str(name): value for name, value in zip(index, row, strict=True)}
        if isinstance(row, Mapping):
            absent = [name for name in names if name not in row]
            if absent:
                raise ValueError(
                    f"The row has no value for {absent[0]!r}; give None if it is missing."
                )
            row = [row[name] for name in names]
        if np.ndim(row) != 2:
            values = np.empty((1, len(row)), dtype=object)
            values[0] = [v.item() if isinstance(v, np.number) else v for v in row]
            row = values
    matrix = to_matrix(row, attributes)
    if len(matrix) != 1:
        raise ValueError(f"One row is explained at a time, got {len(matrix)}.")
    given = _given(row, names)
    shown = []
    for attribute, value, original in zip(attributes, matrix[0], given, strict=True):
        unknown = attribute.categories is not None and value < 0
        known = (
            str(original) if unknown else "missing" if np.isnan(value) else attribute.show(value)
        )
        shown.append(known)
    return matrix, shown


def _given(row: Any, names: list[str]) -> list[Any]:
    """The values of a one-row table in the order of the attributes."""
    columns = column_names(row)
    if columns is None:
        return list(np.asarray(row)[0])
    return [np.asarray(row[row.columns[columns.index(name)]])[0] for name in names]


def _change(
    ruleset: RuleSet, row: NDArray[np.float64], shown: list[str], movable: list[int], effort: int
) -> tuple[Change | None, bool]:
    """The smallest change in the user's units, or whether there is proof of none."""
    found = smallest_change(ruleset, row, movable, effort)
    if found.row is None:
        return None, found.proved
    rounded = readable(ruleset, row, found.row)
    changes = []
    for j, attribute in enumerate(ruleset.attributes):
        if rounded[j] != row[j] and not (np.isnan(rounded[j]) and np.isnan(row[j])):
            unseen = attribute.categories is not None and row[j] < 0
            before = shown[j] if unseen else python_value(attribute, float(row[j]))
            after = python_value(attribute, float(rounded[j]))
            border = python_value(attribute, float(found.row[j]))
            changes.append(AttributeChange(attribute.name, before, after, border))
    decision = ruleset.classes[int(ruleset.predict_index(rounded[None, :])[0])]
    return Change(decision, tuple(changes), found.cost, found.bound, found.proved), False

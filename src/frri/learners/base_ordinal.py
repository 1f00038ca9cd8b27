"""What the learners of ordered classes share: the order, and answers that are medians."""

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np

from frri._util import Floats, short_repr
from frri.learners.base import RuleClassifier
from frri.learners.calibration import Calibration
from frri.learners.training_table import TrainingTable, only_column
from frri.rules import Label
from frri.table import EncodedTable
from frri.table.columns import ordered_categories


class OrderedRuleClassifier(RuleClassifier):
    """Base of the ordinal classifiers."""

    # The classes from the lowest to the highest: a parameter of all of them.
    class_order: Any = None

    def decision_function(self, X: Any) -> Floats:
        """Return how far each class is from being too high or too low.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) with two classes
            The smaller of two probabilities, of "at least this class" and of "at most this class":
            the class predicted has the largest. With two classes, above 0 for the second.
        """
        table = EncodedTable(self._new_values(X), self.ruleset_.attributes)
        reached = self.ruleset_.scores(table, n_jobs=self.n_jobs)
        if reached.shape[1] == 2:
            return 2.0 * reached[:, 1] - 1.0
        missed = np.column_stack([reached[:, 1:], np.zeros(len(reached))])
        return np.minimum(reached, 1.0 - missed)

    def _training_table(
        self, X: Any, y: Any, sample_weight: Any = None, class_weight: Any = None
    ) -> TrainingTable:
        """Return the checked training table, with its classes from the lowest to the highest."""
        declared = (
            ordered_categories(only_column(y)) if self.class_order is None else self.class_order
        )
        table = super()._training_table(X, y, sample_weight, class_weight)
        if declared is None:
            _warn_about_texts(table)
            return table
        order = ordered_positions(declared, table.labels, table.target)
        self.classes_ = self.classes_[order]
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        labels = tuple(table.labels[c] for c in order)
        return replace(table, labels=labels, classes=place[table.classes])

    def _calibrate(
        self,
        table: TrainingTable,  # noqa: ARG002
        known: Calibration | None = None,  # noqa: ARG002
    ) -> Self:
        """Nothing is to be done: rules for ordered classes are trusted as they are."""
        return self


def ordered_positions(order: Any, labels: tuple[Label, ...], target: str) -> list[int]:
    """Return the positions of classes, the lowest class first.

    Parameters
    ----------
    order : sequence of labels
        All classes, the lowest first; what does not occur is left aside. A class may be given by
        its text.
    labels : tuple of labels
        What occurs.
    target : str

    Examples
    --------
    >>> ordered_positions(["bad", "fair", "good"], ("bad", "good"), "quality")
    [0, 1]
    >>> ordered_positions(["good", "fair"], ("bad", "good"), "quality")
    Traceback (most recent call last):
        ...
    ValueError: class_order lacks 'bad', a class of 'quality'; add it in its place.
    """
    if isinstance(order, str) or not np.iterable(order):
        raise ValueError(
            "class_order must list the classes from the lowest to the highest, "
            f"got {short_repr(order)}."
        )
    given = [str(label) for label in order]
    twice = next((text for place, text in enumerate(given) if text in given[:place]), None)
    if twice is not None:
        raise ValueError(f"class_order has {twice!r} twice; name every class once.")
    texts = [str(label) for label in labels]
    for label, text in zip(labels, texts, strict=True):
        if text not in given:
            raise ValueError(
                f"class_order lacks {label!r}, a class of {target!r}; add it in its place."
            )
    return [texts.index(text) for text in given if text in texts]


def _warn_about_texts(table: TrainingTable) -> None:
    if len(table.labels) > 2 and isinstance(table.labels[0], str):
        order = " < ".join(map(repr, table.labels))
        warnings.warn(
            f"The classes of {table.target!r} are texts, and so taken in the order of the alphabet"
            f": {order}; give class_order if they have another one.",
            UserWarning,
            stacklevel=4,
        )

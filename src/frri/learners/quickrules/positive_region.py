"""Greedy search for features that make the positive region as large as all features do.

QuickReduct (feature selection) and QuickRules (rule induction) walk through attribute sets in the
same way; QuickRules takes rules from every set that is tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from frri import fuzzy
from frri._compile import compiled, pays
from frri.learners.quickrules import _similarity_kernels as rough

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frri._util import Floats, Positions
    from frri.table import Attribute

# Number of samples from which it pays to compile the kernels and, where an earlier process has left
# them compiled, to load them.
COMPILED_FROM = 5_000
LOADED_FROM = 1_500

# Degrees and sums that differ by less than this share of them are the same.
TOLERANCE = 1e-9

TIES = ("first", "last")


class Visitor(Protocol):
    """A caller that looks at every feature set on the way."""

    def visit(self, attributes: Sequence[int], degrees: Floats) -> None:
        """Look at a set of features and its positive region."""

    def satisfied(self) -> bool:
        """Return whether there is no need to go on."""


class PositiveRegion:
    """Certainty of the class of each sample, over any set of features.

    Parameters
    ----------
    values : array of shape (n_samples, n_features)
    classes : array of shape (n_samples,)
    attributes : sequence of Attribute
    t_norm : str
        T-norm that joins the similarities in the features; a name of `frri.fuzzy.T_NORMS`.
    implicator : str
        Implicator that turns similarities into certainties; a name of `frri.fuzzy.IMPLICATORS`.
    weights : ndarray of float, shape (n_samples,), optional
        Weights of the samples in the size of a positive region.

    Attributes
    ----------
    informative : list of int
        Features that are not constant. Only these are considered.
    full : array of shape (n_samples,)
        The positive region over all of them.

    Examples
    --------
    >>> from frri.table import describe_columns
    >>> values = np.array([[0.0, 7.0], [0.5, 7.0], [1.0, 7.0]])
    >>> attributes = describe_columns(values, "ab")
    >>> region = PositiveRegion(values, np.array([0, 0, 1]), attributes, "minimum", "kleene_dienes")
    >>> region.informative, region.full
    ([0], array([1. , 0.5, 0.5]))
    """

    def __init__(
        self,
        values: Floats,
        classes: Positions,
        attributes: Sequence[Attribute],
        t_norm: str,
        implicator: str,
        weights: Floats | None = None,
    ) -> None:
        self.weights = weights
        self.values = np.ascontiguousarray(values)
        self.classes = classes.astype(np.int64)
        self.widths = np.array([attribute.width for attribute in attributes])
        self.nominal = np.array([attribute.kind == "nominal" for attribute in attributes])
        self.t_norm = rough.T_NORMS.index(t_norm)
        self.implicator = fuzzy.IMPLICATORS[implicator]
        self.informative = np.flatnonzero((values != values[:1]).any(axis=0)).tolist()
        if self.informative:
            (self.full,) = self.extended(self.informative[:-1], self.informative[-1:])
        else:
            self.full = self._degrees(np.full(len(values), float(len(set(self.classes)) > 1)))

    def extended(self, chosen: Sequence[int], candidates: Sequence[int]) -> Floats:
        """Return the positive regions over the chosen features and each candidate."""
        nearest: Floats = self._kernels().nearest_enemies(
            self.values,
            self.classes,
            self.widths,
            self.nominal,
            np.array(chosen, dtype=np.int64),
            np.array(candidates, dtype=np.int64),
            self.t_norm,
        )
        return self._degrees(nearest)

    def size(self, degrees: Floats) -> float:
        """Return the sum of degrees of all samples, times their weights."""
        return total(degrees if self.weights is None else degrees * self.weights)

    def relation(self, rows: Any, attributes: Sequence[int]) -> Floats:
        """Return how similar some samples are to all samples, over a set of features."""
        return rough.relation_rows(
            self.values[rows],
            self.values,
            self.widths,
            self.nominal,
            np.array(attributes, dtype=np.int64),
            self.t_norm,
        )

    def _degrees(self, nearest: Floats) -> Floats:
        # The classes are crisp: only the most similar sample of another class counts.
        return self.implicator(nearest, 0.0)

    def _kernels(self) -> Any:
        limits = {"compiled_from": COMPILED_FROM, "loaded_from": LOADED_FROM}
        return compiled(rough) if pays(rough, len(self.values), **limits) else rough


def total(degrees: Floats) -> float:
    """Return the sum of degrees from first to last: it is the same on every machine."""
    return float(np.cumsum(degrees)[-1])


def greedy_reduct(
    region: PositiveRegion, ties: str, visitor: Visitor | None = None, most: int | None = None
) -> list[int]:
    """Add the feature that enlarges the positive region most until it is that of all features.

    Parameters
    ----------
    region : PositiveRegion
    ties : {"first", "last"}
        Choice among equally good features.
    visitor : Visitor, optional
        Called with every set of features that is tried, in order.
    most : int, optional
        Maximum number of features to add.

    Returns
    -------
    list of int
        The features in the order in which they were added.
    """
    chosen: list[int] = []
    enough = (1.0 - TOLERANCE) * region.size(region.full)
    best = -1.0
    while True:
        candidates = [a for a in region.informative if a not in chosen]
        if not candidates or len(chosen) == most:
            return chosen
        degrees = region.extended(chosen, candidates)
        sums = [region.size(row) for row in degrees]
        if visitor is not None:
            for a, row in zip(candidates, degrees, strict=True):
                visitor.visit([*chosen, a], row)
        if max(sums) < best:
            return chosen  # what is left adds nothing but rounding
        best = max(sums)
        equal = [a for a, value in zip(candidates, sums, strict=True) if value == best]
        chosen.append(equal[0] if ties == "first" else equal[-1])
        if best >= enough or (visitor is not None and visitor.satisfied()):
            return chosen

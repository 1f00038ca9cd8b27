"""FRRI for ordinal classification: rules "at least this class" and "at most this class"."""

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri import induction
from frri._util import Flags, Ints, Types
from frri.cover import CoverMatrix
from frri.induction import ConditionType
from frri.learners.classification import OrderedRuleClassifier
from frri.learners.frri.pipeline import Candidates, FRRILearner, attribute_orders
from frri.learners.training_table import TrainingTable, scaled_values
from frri.learners.validation import directions, monotone_claim


@dataclass(kw_only=True, eq=False, repr=False)
class FRRIOrdinalClassifier(FRRILearner, OrderedRuleClassifier):
    """Fuzzy-rough rule induction for ordinal classification: "at least good", "at most fair".

    For every class k but the lowest, the samples of at least this class (an upward union) are one
    class and all others the other (a downward union), as in dominance-based rough sets. For each of
    these decisions every sample becomes a rule as in `FRRIClassifier`: its confidence is the
    distance to the nearest sample of the other side, sides of its box are dropped as long as none
    of these gets in, and a minimum-size set is selected, proven optimal. Rules from upward unions
    predict "at least k", others "at most" the class below it.

    A new sample is at least of class k if a rule "at least k" or more covers it better than any
    rule "at most" less does; if none covers it, the nearest ones decide. The prediction counts the
    classes reached in this way: it is a median.

    Features may be declared monotonic by `monotonic_cst`. Rules "at least" then use only lower
    bounds of a feature with which predictions must not fall (a gain), rules "at most" only upper
    bounds, and the other way round for a cost; distances are taken in that direction alone. As such
    a feature grows, rules "at least" can only cover more and rules "at most" only less, so that no
    prediction falls, without exception. Samples that contradict the declaration (they are no worse
    than one of a higher class) are covered by fewer rules or by none, with a warning.

    Candidate rules take the time of `FRRIClassifier` once for every class but the lowest, twice
    with `monotonic_cst`. `fit` fits once. Only ``attribute_order="random"`` is random.

    Parameters
    ----------
    {class_order}
    monotonic_cst : mapping of str to {1, -1}, optional
        Features with which predictions must not fall (1) or not rise (-1).
    attribute_order : {"given", "random"} or array-like of int, default="given"
        Order in which features are dropped from a rule: see `FRRIClassifier`.
    missing, max_conditions
        See `FRRIClassifier`.
    min_support : float, default=0.02
        Fraction of its union that a rule must cover; equal samples count once. Ordinal classes
        nearly always overlap, and rules for a few samples overfit. With 0, all samples that can be
        are covered, on their side of every class.
    min_new_coverage : float, default=0.0
        Fraction of its union that a rule must newly cover: far fewer rules, found by a slower
        search.
    max_rules : int, optional
        Maximum number of rules: those that cover most; each union keeps one at least.
    work_limit, time_limit, random_state
        See `FRRIClassifier`.
    {n_jobs, verbose}

    Attributes
    ----------
    classes_ : ndarray
        Class labels, the lowest first.
    ruleset_ : RuleSet
        Selected rules with the semantics "at-least-class": "at least" the highest class first, then
        "at most" the lowest.
    selected_
        As in `FRRIClassifier`.
    uncovered_ : ndarray of int
        Samples that no selected rule covers on their side of some class.
    selection_ : Bunch
        Certificate, as in `FRRIClassifier`; `monotone` states what is proved about the predictions.
    {n_features_in_, feature_names_in_}

    See Also
    --------
    frri.AdditiveRulesOrdinalClassifier : About ten rules whose contributions are added up.

    References
    ----------
    S. Greco, B. Matarazzo, R. Słowiński, "Rough sets theory for multicriteria decision analysis",
    European Journal of Operational Research 129, 2001; for FRRI see `FRRIClassifier`.

    Examples
    --------
    >>> import pandas as pd
    >>> flats = pd.DataFrame({"rooms": [1, 2, 2, 3, 4, 5], "noise": [60, 55, 70, 50, 65, 40]})
    >>> rated = ["poor", "fair", "poor", "good", "fair", "good"]
    >>> frri = FRRIOrdinalClassifier(
    ...     class_order=["poor", "fair", "good"], monotonic_cst={"rooms": 1, "noise": -1}
    ... ).fit(flats, rated)
    >>> print(frri.ruleset_)
    IF rooms >= 3 (partly from 2) AND noise <= 50 (partly to 57.5) THEN class at least good
    ... IF rooms >= 5 (partly from 1) AND noise <= 40 (partly to 70) THEN class at least
    fair ... IF rooms <= 2 (partly to 4) AND noise >= 70 (partly from 55) THEN class at most
    poor ... IF noise >= 70 (partly from 50) THEN class at most fair ...
    >>> frri.predict(pd.DataFrame({"rooms": [2, 3], "noise": [55, 55]})).tolist()
    ['fair', 'fair']
    >>> print(frri.selection_.monotone)
    Proven: no prediction falls as rooms rises or noise falls, other features unchanged.
    """

    _fractions_of = "union"

    class_order: Any = None
    monotonic_cst: Any = None
    min_support: float = 0.02
    min_new_coverage: float = 0.0

    def _candidates(self, table: TrainingTable) -> Candidates:
        """Return the rule of every sample on its side of every class but the lowest.

        Union 2k is "at most class k", union 2k + 1 is "at least class k + 1". Samples of one class
        that are equal in everything count once, so that repeating a row and giving it a weight are
        the same.
        """
        start = perf_counter()
        order = attribute_orders(self.attribute_order, table.values.shape, self.random_state)
        declared = directions(self.monotonic_cst, table.attributes)
        values, rigid = scaled_values(table)
        # Sorted by values, so that no tie is decided by the order of the rows.
        rows = np.column_stack([np.nan_to_num(values, nan=-1.0), table.classes])
        _, first, copy_of = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        distinct, classes = values[first], table.classes[first]
        order = order[first] if order.ndim == 2 else order
        n_classes = len(table.labels)
        nobody = np.zeros(0, np.int64)
        parts = [(nobody, np.zeros((0, values.shape[1]), np.int8), np.zeros(0), nobody)]
        covers: list[CoverMatrix] = []
        positions = np.zeros((n_classes - 1, len(first)), dtype=np.int64)
        n_bits = 0
        options: dict[str, Any] = {"rigid": rigid, "n_jobs": self.n_jobs}
        for k in range(n_classes - 1):
            upper = classes > k
            codes = upper.astype(np.intp)
            for own, initial in _sides(upper, declared):
                found = induction.induce(distinct, codes, order, initial=initial, **options)
                side = np.flatnonzero(own)
                positions[k, side] = n_bits + found.positions[side]
                n_bits += -(-found.covers.n_objects // 64) * 64
                union = 2 * k + upper[side]
                parts.append((first[side], found.types[side], found.confidence[side], union))
                covers.append(found.covers.take(side))
        below = np.cumsum(np.bincount(classes, minlength=n_classes))[:-1]
        anchors, types, confidence, groups = map(np.concatenate, zip(*parts, strict=True))
        sizes = np.column_stack([below, len(classes) - below]).ravel()
        boxes = anchors, types, confidence, CoverMatrix.beside(covers)
        seconds = {"candidates": perf_counter() - start}
        return Candidates(*boxes, positions[:, copy_of.ravel()], groups, sizes, seconds)

    def _package(
        self, table: TrainingTable, found: Candidates, selected: Ints, covers: CoverMatrix
    ) -> None:
        declared = directions(self.monotonic_cst, table.attributes)
        claim = self.selection_.monotone = monotone_claim(declared, table.attributes)
        # Strongest statements first: at least the highest class, at most the lowest.
        rising = found.groups[selected] % 2 == 1
        bounds = found.groups[selected] // 2 + rising
        strength = np.where(rising, -bounds, bounds)
        order = np.lexsort((selected, -covers.sizes(), strength, ~rising))
        chosen, rising = selected[order], rising[order]
        self.selected_ = found.anchors[chosen]
        labels = (table.labels[bound] for bound in bounds[order])
        relations = np.where(rising, "at least", "at most").tolist()
        rules = found.rules(table, chosen, labels, relation=relations)
        about = self._about(table) | {"selection": self._certificate()}
        about |= {"monotone": claim} if claim else {}
        meaning = {"semantics": "at-least-class", "fallback": "nearest"}
        ruleset = self._build_ruleset(table, rules, about=about, **meaning)
        self.ruleset_ = self._with_statistics(ruleset, table)

    def _reason_uncovered(self, table: TrainingTable) -> str:  # noqa: ARG002
        better, worse = (" or better", " or worse") if self.selection_.monotone else ("", "")
        return (
            f"contradict others: one of a lower class has the same or nearly the same{better} "
            f"values, or one of a higher class the same{worse}, so that no rule tells them apart"
        )


def _sides(upper: Flags, directions: NDArray[np.int8]) -> Iterator[tuple[Flags, Types | None]]:
    """Yield samples whose rules are found together, and the initial type of each feature.

    Upward, a gain starts from "at least" and a cost from "at most", downward the other way round.
    Without either, both sides are one question.
    """
    if not directions.any():
        yield np.ones(len(upper), dtype=np.bool_), None
        return
    gain, cost = ConditionType.AT_LEAST, ConditionType.AT_MOST
    for own, rise, fall in ((upper, gain, cost), (~upper, cost, gain)):
        initial = np.full(len(directions), ConditionType.SIMILAR, dtype=np.int8)
        initial[directions > 0], initial[directions < 0] = rise, fall
        yield own, initial

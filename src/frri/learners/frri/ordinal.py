"""FRRI for ordered classes: rules "at least this class" and "at most this class"."""

import warnings
from time import perf_counter
from typing import Any, Self

import numpy as np

from frri._util import Ints
from frri.cover import DEFAULT_EFFORT
from frri.learners.base_ordinal import OrderedRuleClassifier
from frri.learners.boxes import box_rule
from frri.learners.frri.attribute_order import attribute_orders
from frri.learners.frri.base import FRRILearner, first_rows
from frri.learners.frri.unions import UnionCandidates, union_candidates
from frri.learners.training import TrainingTable
from frri.learners.validation import directions, monotone_claim
from frri.rules import RuleSet
from frri.table.checks import check_resolution


class FRRIOrdinalClassifier(FRRILearner, OrderedRuleClassifier):
    """Fuzzy-rough rule induction for ordered classes: "at least good", "at most fair".

    For every class k but the lowest, the objects of at least this class (an upward union) are one
    class and all others the other (a downward union), as in dominance-based rough sets. In each of
    these questions FRRI does what it does between two classes: every object becomes a rule, its
    confidence is the distance to the nearest object of the other side, sides of its box are opened as
    long as none of these gets in, and the fewest rules are chosen that suffice, with a proof. Rules from
    upward unions say "at least k", others "at most" the class below it.

    A new object is at least of class k if a rule "at least k" or more covers it better than any rule
    "at most" less does; where none covers it the nearest ones decide. Answers count the classes that are
    reached in this way: they are medians, and an error by one class is smaller than one by two.

    Attributes may be declared `monotone`. Rules "at least" then use only lower bounds of an attribute
    with which answers must not fall (a gain), rules "at most" only upper bounds, and the other way round
    for a cost; distances are taken in that direction alone, so that an object never has an enemy just
    for being better. As such an attribute grows, rules "at least" can then only count more and rules "at
    most" only less, and so no answer falls: there can be no exception. Objects that contradict what is
    declared (they are no worse than one of a higher class) are covered by fewer rules or by none, and
    you are told.

    Parameters
    ----------
    class_order : sequence of labels, optional
        The classes from the lowest to the highest. By default the order of a column of ordered
        categories (pandas, polars), or of numbers; texts are taken in the order of the alphabet, with
        a warning.
    monotone : mapping of str to {1, -1}, optional
        Attributes with which answers must not fall (1) or not rise (-1).
    attribute_order : {"given", "random"} or array-like of int, default="given"
        In which order sides are opened, what comes first most: as the columns stand, at random, or a
        permutation, of shape (n_attributes,) for all objects or (n_objects, n_attributes) for each.
    missing : {"typical", "similar", "error"}, default="typical"
        Whether missing values count as typical ones, are similar to everything, or are refused, in
        training and in prediction.
    min_support : float, default=0.02
        The share of its union that a rule must cover; equal objects count once. Ordered classes nearly
        always overlap, and rules for a few objects remember more than they tell. With 0, all objects
        that can be are covered, on their side of every class.
    min_new_coverage : float, default=0.0
        The share of its union that a rule must newly cover to be worth having: far fewer rules, found
        by a slower search.
    max_rules : int, optional
        The most rules: those are kept that cover most; each union keeps one at least.
    max_conditions : int, optional
        The most conditions of a rule.
    effort : int, default=DEFAULT_EFFORT
        How much work the exact selection may take, as in `FRRIClassifier`.
    time_limit : float, optional
        A limit in seconds for the whole of `fit`, on top.
    random_state : int, RandomState or None, default=None
        Decides the order with ``attribute_order="random"``; otherwise without influence.
    n_jobs : int, optional
        Threads for large tables and for prediction; all cores by default.
    verbose : int, default=0
        Whether each step of learning is told on standard error, with the seconds it takes.

    Attributes
    ----------
    classes_ : ndarray
        The class labels, the lowest first.
    ruleset_ : RuleSet
        The chosen rules with the semantics "at-least-class": "at least" the highest class first, then
        "at most" the lowest.
    selected_ : ndarray of int
        The objects whose rules were chosen, in the order of the rules.
    uncovered_ : ndarray of int
        Objects that on a side of some class no chosen rule covers.
    selection_ : Bunch
        The certificate, as in `FRRIClassifier`; `monotone` says what is proved about the answers.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table had column names.

    See Also
    --------
    frri.AdditiveRulesOrdinalClassifier : A dozen rules for ordered classes, with smaller errors.

    Examples
    --------
    >>> import pandas as pd
    >>> flats = pd.DataFrame({"rooms": [1, 2, 2, 3, 4, 5], "noise": [60, 55, 70, 50, 65, 40]})
    >>> rated = ["poor", "fair", "poor", "good", "fair", "good"]
    >>> frri = FRRIOrdinalClassifier(
    ...     class_order=["poor", "fair", "good"], monotone={"rooms": 1, "noise": -1}
    ... ).fit(flats, rated)
    >>> print(frri.ruleset_)
    IF rooms >= 3 (fades, ends at 2) AND noise <= 50 (fades, ends at 57.5) THEN class at least good ...
    IF rooms >= 5 (fades, ends at 1) AND noise <= 40 (fades, ends at 70) THEN class at least fair ...
    IF rooms <= 2 (fades, ends at 4) AND noise >= 70 (fades, ends at 55) THEN class at most poor ...
    IF noise >= 70 (fades, ends at 50) THEN class at most fair ...
    >>> frri.predict(pd.DataFrame({"rooms": [2, 3], "noise": [55, 55]})).tolist()
    ['fair', 'fair']
    >>> print(frri.selection_.monotone)
    Proved: no answer falls as rooms rises or noise falls, all else being equal.
    """

    _shares_of = "union"

    selected_: Ints
    uncovered_: Ints

    def __init__(
        self,
        *,
        class_order: Any = None,
        monotone: Any = None,
        attribute_order: Any = "given",
        missing: str = "typical",
        min_support: float = 0.02,
        min_new_coverage: float = 0.0,
        max_rules: int | None = None,
        max_conditions: int | None = None,
        effort: int = DEFAULT_EFFORT,
        time_limit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.class_order = class_order
        self.monotone = monotone
        self.attribute_order = attribute_order
        self.missing = missing
        self.min_support = min_support
        self.min_new_coverage = min_new_coverage
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.effort = effort
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Induce rules from a table and its ordered classes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_objects, n_attributes)
        y : array-like of shape (n_objects,)
            Class labels of any type; the name of a series becomes the name of the target.
        sample_weight : array-like of shape (n_objects,), optional
            How much each object counts in what is known about rules, which are the same with any weights
            above 0; an object of weight 0 is not there.

        Returns
        -------
        self
        """
        start = perf_counter()
        self._check_parameters()
        table = self._training_table(X, y, sample_weight)
        check_resolution(table.attributes)
        self._learn(table, start)
        self._warn_about_results(table)
        return self

    def _learn(self, table: TrainingTable, start: float | None = None) -> None:
        start = perf_counter() if start is None else start
        declared = directions(self.monotone, table.attributes)
        order = attribute_orders(self.attribute_order, table.values.shape, self.random_state)
        with self._step("candidate rules"):
            found = union_candidates(table, order, declared, self.n_jobs)
        left, limits = self._time_left(perf_counter() - start), self._limits()
        lengths = found.lengths
        covers = limits.allowed(found.covers, lengths, found.sizes[found.unions])
        with self._step("the fewest of them"):
            cover = limits.select(
                covers,
                lengths,
                found.unions,
                found.sizes,
                effort=self.effort,
                time_limit=left,
            )
        chosen = cover.selected
        covered = covers.take(chosen).union()
        self.uncovered_ = np.flatnonzero(~covered[found.positions].all(axis=0))
        self.selection_ = self._certified(
            cover,
            lengths,
            len(table.classes),
            monotone=monotone_claim(declared, table.attributes),
            seconds={"candidates": found.seconds, "selection": cover.seconds},
        )
        self._hopeless = np.flatnonzero(~found.covers.union()[found.positions].all(axis=0))
        # The strongest statements first: at least the highest class, at most the lowest.
        strength = np.where(found.rising, -found.bounds, found.bounds)[chosen]
        size = covers.sizes()[chosen]
        chosen = chosen[np.lexsort((chosen, -size, strength, ~found.rising[chosen]))]
        self.selected_ = found.anchors[chosen]
        self.ruleset_ = self._package(table, found, chosen)

    def _package(self, table: TrainingTable, found: UnionCandidates, chosen: Ints) -> RuleSet:
        """The chosen rules in the table's names and units, with what they cover."""
        rules = (
            box_rule(
                table,
                found.anchors[r],
                found.types[r],
                found.confidence[r],
                table.labels[found.bounds[r]],
                relation="at least" if found.rising[r] else "at most",
            )
            for r in chosen
        )
        known: dict[str, Any] = {"selection": self._certificate()}
        if self.selection_.monotone:
            known["monotone"] = self.selection_.monotone
        ruleset = self._made(
            table,
            rules,
            semantics="at-least-class",
            fallback="nearest",
            about=self._about(table) | known,
            **self._meaning(),
        )
        return self._with_statistics(ruleset, table)

    def _name(self) -> str:
        return "FRRI"

    def _warn_about_results(self, table: TrainingTable) -> None:
        if len(table.labels) == 1:
            warnings.warn(
                f"All objects have the class {table.labels[0]!r}: no rule is needed to say it.",
                UserWarning,
                stacklevel=3,
            )
        if len(self._hopeless):
            worse = " or better" if self.selection_.monotone else ""
            warnings.warn(
                f"{len(self._hopeless)} of {len(table.values)} objects contradict others: one of a "
                f"lower class has the same or nearly the same{worse} values, or one of a higher class "
                f"the same{' or worse' if worse else ''}, so that no rule tells them apart: rows "
                f"{first_rows(self._hopeless)}.",
                UserWarning,
                stacklevel=3,
            )
        self._warn_if_unproved()

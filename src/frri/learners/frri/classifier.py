"""FRRI: every object becomes a rule, rules are opened as far as they may, the fewest are kept."""

import warnings
from collections.abc import Collection
from itertools import pairwise
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from frri import induction
from frri._util import Floats, Ints, Positions, Types
from frri.cover import DEFAULT_EFFORT, Cover, CoverMatrix, PartialCover
from frri.cover.memory_bounded import together
from frri.induction import ConditionType
from frri.learners.base import RuleClassifier
from frri.learners.boxes import box_rule, lengths_of, scaled_values
from frri.learners.frri._messages import warn_if_many, warn_if_one_class
from frri.learners.frri.attribute_order import class_orders, initial_types
from frri.learners.frri.base import FRRILearner, first_rows
from frri.learners.frri.memory import LEAST_ROOM, QUICK_ROOM, memory_bytes, planned_room
from frri.learners.frri.pipeline import CANDIDATES, CandidatePool, candidate_rules
from frri.learners.frri.selection import Limits
from frri.learners.training import TrainingTable
from frri.learners.validation import check_choice, check_count, check_share
from frri.rules import Label, Rule, RuleSet
from frri.rules.rule_statistics import statistics_from_counts
from frri.table.checks import check_resolution


class FRRIClassifier(FRRILearner, RuleClassifier):
    """Fuzzy-rough rule induction, with a provably minimal number of rules.

    Every training object starts as a rule "similar to this object in every attribute". Its confidence
    is the distance to the nearest object of another class (an *enemy*), so it covers a box free of
    enemies. Attribute by attribute, sides of the box are opened as long as no enemy gets in. From all
    these rules the smallest set is chosen that still covers every object, with a proof; among the
    smallest sets the one with the fewest conditions, and among those one fixed by the order of the
    objects, so that a result never depends on solver, machine or number of threads. A new object gets
    the class of the rule that covers it best, or of the nearest one if none does.

    Numbers, dates and ordered categories are scaled to [0, 1] by their range in training; new values
    outside it count as its ends. Other categories (texts and truth values of a data frame) are equal or
    as different as can be, so a condition on them names the object's own category.

    A missing value counts as the typical one of its attribute in training (the median, or the commonest
    category), for new objects too. It can be similar to everything instead: then it tells no two objects
    apart, whichever of them misses it, a new object fails no condition on what it misses, and no rule
    uses an attribute that its own object misses. But an object that misses all values is then like
    every other one, so that no rule can be found for the objects of other classes: drop such rows.

    Weights of objects and classes change probabilities, and the figures that are known about rules. The
    rules stay: an object is covered or not, and the smallest set of rules that covers every object is
    the same whatever the objects weigh.

    Parameters
    ----------
    attribute_order : str or array-like of int, default="given"
        The order in which a rule's conditions are opened; what comes first is dropped first. "given":
        as the columns stand. "random": one permutation for all objects. "mutual-information": what
        tells least about the class first. "dependency": what QuickReduct leaves out, then what it takes
        up, the last first. "discerning": for each object what discerns fewest of its enemies first.
        "shortest": no order, every object has a rule with as few conditions as can be. Or a permutation
        of the column indices, or one permutation per object (n_objects x n_attributes). Where
        attributes are judged, equal rows count once.
    candidates : {"shortened", "all-minimal"}, default="shortened"
        The rules among which the fewest are chosen: for every object the one that the order of the
        attributes leads to, or all of its minimal rules, from which no side of the box can be opened.
        The fewest of these are never more.
    max_candidates : int, default=100
        With "all-minimal", the most rules of one object, of which the shortened one is one. A warning
        and `selection_` say how many objects have more.
    conditions : mapping, optional
        Which conditions a rule may set, by column name (by position for a table without names):
        "at most" or "at least" (for attributes with an order), "never", or "any", which holds for the
        attributes not mentioned. Such a rule does not start as "similar to this object" but as, say,
        "at most this object's value"; confidences are distances in that sense.
    missing : {"typical", "similar", "error"}, default="typical"
        Whether missing values count as typical ones, are similar to everything, or are refused, in
        training and in prediction.
    min_new_coverage : float, default=0.0
        The share of its class that a rule must newly cover to be worth having. Above 0 the rules are
        those for which the number of objects covered, less this share for every rule, is largest, with
        a proof: fewer rules, which leave objects out that would need rules of their own.
    coverage : float, default=1.0
        The share of each class that must be covered: below 1, the fewest rules that cover so much.
    max_rules : int, optional
        The most rules there may be: those that cover most objects, with a proof, and at least one of
        each class.
    max_conditions : int, optional
        The most conditions that a rule may have; others are no candidates.
    min_support : float, default=0.0
        The share of its class that a rule must cover to be a candidate.
    class_weight : "balanced", None or mapping, default=None
        How much the objects of a class count, times their sample weights: all classes together the
        same, every object the same, or as the mapping of classes says (1 for a class that it lacks).
    effort : int, default=DEFAULT_EFFORT
        How much work the exact selection may take, in steps of its search. The limit is one of work
        and not of time, so results can be reproduced anywhere. When it is reached the best ruleset
        found is used, and `selection_` and a warning say how far from minimal it can be at most.
    gap : float, default=0.0
        The share of the rules that need not be proved necessary: the search for fewer of them, or for a
        proof, ends as soon as it is no larger. With a cover of all objects only.
    time_limit : float, optional
        A limit in seconds for the whole of `fit`, on top. Candidate rules are made in any case; their
        selection has the time that is left, and ends with the best ruleset found until then.
    memory_limit : int or str, optional
        What a fit may take, in bytes or as a text such as "2 GB"; None is what the machine has free, and
        half a gigabyte for what candidates cover. If that takes more, a few broad rules are chosen first
        and the fewest of all for the objects that those leave; `stopped_by` is "memory" then. If not even
        that fits, it is said before anything is done.
    random_state : int, RandomState or None, default=None
        Decides the order with ``attribute_order="random"``; otherwise without influence.
    n_jobs : int, optional
        How many threads make candidate rules of a large table and predict: so many, all cores (-1),
        all but one (-2), and so on. None is all cores, or one where several models are fitted at a
        time by joblib. Results are the same in any case.
    verbose : int, default=0
        Whether each step of learning is told on standard error, with the seconds it takes.

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    ruleset_ : RuleSet
        The chosen rules in the table's own names and units, by class and coverage.
    confidence_ : ndarray of shape (n_objects,)
        Distance of every training object to its nearest enemy, in scaled units.
    condition_types_ : ndarray of ConditionType, shape (n_objects, n_attributes)
        The shortened candidate rule of every training object.
    selected_ : ndarray of int
        The objects whose rules were chosen, in the order of the rules; with all minimal rules an object
        may have several.
    uncovered_ : ndarray of int
        Objects that no rule covers: an object of another class has (nearly) the same values, as far
        as they are known and conditions on them allowed, or it is left out by a limit on the rules.
    selection_ : Bunch
        The certificate: `status` ("optimal" when what `claim` says is proved), `claim`, `n_rules`,
        `n_conditions`, `stopped_by`, `seconds` per step, and `solver`. For a cover of all objects also
        `lower_bound`, `gap` and `conditions_status`; for a partial one `n_covered` and either the first
        two or `worth` (objects covered, less what the rules must newly cover) and its proved `bound`.
        With all minimal rules also `n_candidates`, those that cover different objects, and
        `n_incomplete`, the objects that have more than `max_candidates` of them.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table had column names.

    References
    ----------
    "FRRI: a novel algorithm for fuzzy-rough rule induction", sections 3.1 (confidence), 3.2
    (shortening), 3.3 (selection) and 3.4 (inference), with the covering degree by the Lukasiewicz
    t-norm, which is what the paper's own figures are made with.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = FRRIClassifier().fit(X, y)
    >>> clf.selection_.status, clf.selection_.n_rules
    ('optimal', 9)
    >>> print(clf.ruleset_[0].attributes)
    ('petal width (cm)',)
    >>> clf.predict(X.head(3)).tolist()
    [0, 0, 0]

    A table with categories and gaps, and a bound that must not be an upper one:

    >>> import pandas as pd
    >>> X = pd.DataFrame({"colour": ["red", "red", None, "blue"], "size": [5.0, 3.0, 1.0, None]})
    >>> clf = FRRIClassifier(conditions={"size": "at least"}, missing="similar")
    >>> print(clf.fit(X, ["no", "no", "yes", "yes"]).ruleset_)
    IF colour = red AND size >= 5 (fades, ends at 1) THEN class = no   [...]
    IF colour = blue THEN class = yes   [confidence 1.00, covers 2 of 4, precision 1.00]
    """

    confidence_: Floats
    selected_: Ints
    uncovered_: Ints

    def __init__(
        self,
        *,
        attribute_order: Any = "given",
        candidates: str = "shortened",
        max_candidates: int = 100,
        conditions: Any = None,
        missing: str = "typical",
        min_new_coverage: float = 0.0,
        coverage: float = 1.0,
        max_rules: int | None = None,
        max_conditions: int | None = None,
        min_support: float = 0.0,
        effort: int = DEFAULT_EFFORT,
        gap: float = 0.0,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        random_state: Any = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.attribute_order = attribute_order
        self.candidates = candidates
        self.max_candidates = max_candidates
        self.conditions = conditions
        self.missing = missing
        self.min_new_coverage = min_new_coverage
        self.coverage = coverage
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.min_support = min_support
        self.effort = effort
        self.gap = gap
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Induce rules from a table and its class labels.

        Parameters
        ----------
        X : array-like or data frame of shape (n_objects, n_attributes)
        y : array-like of shape (n_objects,)
            Class labels of any type; the name of a series becomes the name of the target.
        sample_weight : array-like of shape (n_objects,), optional
            How much each object counts in probabilities and in what is known about rules, which are the
            same with any weights above 0; an object of weight 0 is not there.

        Returns
        -------
        self
        """
        start = perf_counter()
        self._check_parameters()
        table = self._training_table(X, y, sample_weight, self.class_weight)
        check_resolution(table.attributes)
        warn_if_one_class(table)
        self._learn(table, start)
        self._warn_about_results(table)
        return self._calibrate(table)

    def _learn(self, table: TrainingTable, start: float | None = None) -> None:
        start = perf_counter() if start is None else start
        found = self._candidates(table)
        lengths = lengths_of(found.types)
        cover = self._fewest(table, found, lengths, self._time_left(perf_counter() - start))
        self.confidence_, self._types = found.confidence, found.own_types
        covered = found.covered_by(cover.selected)
        self.uncovered_ = np.flatnonzero(~covered.union()[found.positions])
        seconds = found.seconds | {"selection": cover.seconds}
        self.selection_ = self._certified(cover, lengths, len(table.classes), seconds=seconds)
        if self.candidates == "all-minimal":
            self.selection_.max_candidates = self.max_candidates
            self.selection_.n_candidates = len(found.anchors)
            self.selection_.n_incomplete = len(found.incomplete)
        # Where nothing else leaves objects out, those that are left are the hopeless ones.
        whole = self._limits().all_candidates
        self._hopeless = self.uncovered_ if whole else np.flatnonzero(~found.coverable())
        own = table.classes[found.anchors[cover.selected]]
        ranking = np.lexsort((cover.selected, -covered.sizes(), own))
        chosen = cover.selected[ranking]
        self.selected_ = found.anchors[chosen]
        self.ruleset_ = self._package(table, found.types[chosen], covered.take(ranking))

    def _candidates(self, table: TrainingTable) -> CandidatePool:
        initial = initial_types(self.conditions or {}, table.attributes)
        values, nominal = scaled_values(table)
        with self._step("candidate rules"):
            order = class_orders(self.attribute_order, table, values, initial, self.random_state)
            return candidate_rules(
                values,
                table.classes,
                order,
                self.max_candidates if self.candidates == "all-minimal" else None,
                initial=initial,
                rigid=nominal,
                induce=self._induce,
            )

    def _fewest(
        self, table: TrainingTable, found: CandidatePool, lengths: Ints, time_limit: float | None
    ) -> Cover | PartialCover:
        """The candidates that are kept: the fewest, or what limits ask for."""
        limits, own = self._limits(), table.classes[found.anchors]
        sizes = np.bincount(table.classes)
        covers = limits.allowed(found.covers, lengths, sizes[own])
        coverable = None
        if limits.coverage < 1:
            reached = table.classes[covers.union()[found.positions]]
            coverable = np.bincount(reached, minlength=len(sizes))
        with self._step("the fewest of them"):
            cover = self._select(
                limits,
                covers,
                lengths=lengths,
                groups=own,
                sizes=sizes,
                coverable=coverable,
                effort=self.effort,
                time_limit=time_limit,
                gap=self.gap,
            )
            if found.peeled is not None and isinstance(cover, Cover):
                cover = together(found.peeled, cover, lengths)
        return cover

    def _induce(self, values: Any, *table: Any, **declared: Any) -> induction.CandidateRules:
        """Candidate rules, with what each of them covers, in the memory that there is."""
        room = self._room(*values.shape)
        return induction.induce(values, *table, n_jobs=self.n_jobs, room=room, **declared)

    def _room(self, n_objects: int, n_attributes: int, free: int | None = None) -> int | None:
        """The bytes that covers may take; None where all of them are needed at once."""
        room = planned_room(n_objects, n_attributes, self.memory_limit, free)
        if self.effort == 0 and self.memory_limit is None:
            room = min(room, max(LEAST_ROOM, QUICK_ROOM * n_objects))
        whole = self.candidates == "all-minimal" or not self._limits().all_candidates
        return None if whole else room

    def _select(self, limits: Limits, covers: CoverMatrix, **known: Any) -> Cover | PartialCover:
        """The fewest of them, as far as limits ask for all objects."""
        return limits.select(covers, **known)

    def _for_part(self, rows: Positions, labels: Collection[Label]) -> Self:
        """With the first cover that is found: fewer rules or a proof say nothing about new objects."""
        order = self.attribute_order
        if np.ndim(order) == 2:
            order = np.asarray(order)[rows]
        quick = {"effort": 0, "time_limit": 0, "attribute_order": order}
        one: Self = super()._for_part(rows, labels).set_params(**quick)
        return one

    @property
    def condition_types_(self) -> NDArray[np.object_]:
        """The shortened candidate rule of every training object, as members of `ConditionType`."""
        members = np.empty(len(ConditionType), dtype=object)
        for kind in ConditionType:
            members[kind.value] = kind
        return members[self._types]

    def candidate_rules(self, X: Any, y: Any) -> RuleSet:
        """The shortened rules of all objects, from which the fewest were chosen: a pool for `frontier`.

        Parameters
        ----------
        X, y : table and labels
            Those that the learner was fitted to, which it does not keep.

        Returns
        -------
        RuleSet
            Without objects that cannot even cover themselves.
        """
        check_is_fitted(self)
        table = clone(self)._training_table(X, y)  # noqa: SLF001 - a copy, so that nothing changes here
        if len(table.values) != len(self.confidence_):
            raise ValueError(
                f"The learner was fitted to {len(self.confidence_)} rows, but these are "
                f"{len(table.values)}; give the same table again."
            )
        covering = np.flatnonzero(self.confidence_ > induction.TOLERANCE)
        rules = (self._rule(table, u, self._types[u]) for u in covering.tolist())
        return self._made(table, rules, **self._meaning())

    def _warn_about_results(self, table: TrainingTable) -> None:
        """Too many rules, objects that no candidate covers, limits that were reached."""
        values, selection, hopeless = table.values, self.selection_, self._hopeless
        warn_if_many("FRRI", selection.n_rules, len(values))
        if len(hopeless):
            reason = "the same or nearly the same values"
            reason += ", missing ones left aside" if np.isnan(values).any() else ""
            reason += ", as far as conditions on them are allowed" if self.conditions else ""
            empty = "".join(
                f" Row {row + 1} is empty and so like all others: drop it."
                for row in np.flatnonzero(np.isnan(values).all(axis=1))[:1]
            )
            warnings.warn(
                f"{len(hopeless)} of {len(values)} objects are covered by no rule, because an "
                f"object of another class has {reason}: rows {first_rows(hopeless)}.{empty}",
                UserWarning,
                stacklevel=3,
            )
        if selection.get("n_incomplete"):
            warnings.warn(
                f"{selection.n_incomplete} of {len(values)} objects have more than "
                f"{selection.max_candidates} minimal rules, of which only so many were looked at; a larger "
                "max_candidates may need fewer rules.",
                UserWarning,
                stacklevel=3,
            )
        self._warn_if_unproved()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_share("gap", self.gap)
        if self.memory_limit is not None:
            memory_bytes(self.memory_limit)
        check_choice("candidates", self.candidates, CANDIDATES)
        check_count("max_candidates", self.max_candidates, 1)

    def _package(self, table: TrainingTable, types: Types, covers: CoverMatrix) -> RuleSet:
        """The chosen rules in the table's names and units, with what they cover."""
        # A rule covers objects of its own class only, and which ones is known already.
        own = table.classes[self.selected_]
        support = np.zeros((len(own), len(table.labels)), dtype=np.int64)
        support[np.arange(len(own)), own] = covers.sizes()
        sizes = np.bincount(table.classes, minlength=len(table.labels))
        statistics = statistics_from_counts(own, support, _alone(covers), sizes)
        rules = (
            self._rule(table, u, kinds, statistics=known)
            for u, kinds, known in zip(self.selected_, types, statistics, strict=True)
        )
        about = self._about(table) | {"selection": self._certificate()}
        ruleset = self._made(table, rules, about=about, **self._meaning())
        return ruleset if table.weights is None else self._with_statistics(ruleset, table)

    def _rule(self, table: TrainingTable, u: int, types: Types, **known: Any) -> Rule:
        """The rule around an object."""
        return box_rule(
            table, u, types, self.confidence_[u], table.labels[table.classes[u]], **known
        )


def _alone(covers: CoverMatrix) -> Ints:
    """How many objects each candidate covers that no other one does."""
    once = np.zeros(-(-covers.n_objects // 64), dtype=np.uint64)
    twice = np.zeros_like(once)
    rows = [slice(start, end) for start, end in pairwise(covers.indptr)]
    for row in rows:
        words, bits = covers.words[row], covers.bits[row]
        twice[words] |= once[words] & bits
        once[words] |= bits
    only = np.bitwise_count(covers.bits & ~twice[covers.words])
    return np.array([only[row].sum() for row in rows], dtype=np.int64)

"""The steps of FRRI that all its estimators share: candidate rules, selection, certificate.

Every sample becomes a candidate rule that keeps away from samples with another decision. Estimators
differ in the decision: classes (`class_candidates`), numbers that agree by degrees
(`number_candidates`), or the side of every class in an order (`union_candidates`).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from math import inf
from numbers import Real
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch

from frri import induction
from frri._util import short_repr
from frri.cover import Cover, CoverMatrix
from frri.cover.memory_bounded import join_covers
from frri.induction import ConditionType, minimal_rules
from frri.learners.base import RuleLearner
from frri.learners.box_rules import lengths_of
from frri.learners.frri.selection import Limits, SearchLimits, describe_unproved
from frri.learners.validation import LARGEST_AMOUNT, check_count, random_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from frri._util import Flags, Floats, Ints, Positions, Types
    from frri.cover import PartialCover
    from frri.cover.memory_bounded import Preselection
    from frri.induction import CandidateRules
    from frri.learners.training_table import TrainingTable

# More steps than any search takes in a year.
LARGEST_WORK_LIMIT = 10**18


class Candidates(NamedTuple):
    """Candidate rules and the samples that each of them covers.

    Attributes
    ----------
    anchors : ndarray of int, shape (n_candidates,)
        Sample in the center of each rule.
    types : ndarray of int8, shape (n_candidates, n_features)
        Codes of `frri.induction.ConditionType`.
    confidence : ndarray of float, shape (n_candidates,)
    covers : CoverMatrix
    positions : ndarray of int, shape (n_decisions, n_samples)
        Bit of each sample in `covers`; a sample may have to be covered for several decisions.
    groups : ndarray of int, shape (n_candidates,)
        Class or union of each rule.
    sizes : ndarray of int, shape (n_groups,)
        Samples of each group.
    seconds : dict
        Duration of each step.
    preselected : Preselection, optional
        Candidates selected in advance where memory is short; `covers` is then of the other samples.
    """

    anchors: Ints
    types: Types
    confidence: Floats
    covers: CoverMatrix
    positions: Ints
    groups: Ints
    sizes: Ints
    seconds: dict[str, float]
    preselected: Preselection | None = None

    @property
    def lengths(self) -> Ints:
        """Number of conditions of each candidate."""
        return lengths_of(self.types)

    def covers_of(self, candidates: Ints) -> CoverMatrix:
        """Return everything that some candidates cover."""
        if self.preselected is not None:
            return self.preselected.source(candidates)
        return self.covers.take(candidates)

    def is_covered(self, covers: CoverMatrix) -> Flags:
        """Return which samples are covered for all decisions."""
        return np.asarray(covers.union()[self.positions].all(axis=0))


class FRRILearner(RuleLearner):
    """Base of the estimators that select the fewest of the rules around samples."""

    _missing_choices = ("typical", "similar", "error")
    # Set that fractions in limits refer to.
    _shares_of = "class"

    # Parameters of all of them, but for the last two.
    work_limit: int
    time_limit: float | None
    random_state: Any
    conditions: Any = None
    optimality_gap: float = 0.0

    selection_: Bunch
    uncovered_: Ints

    def _learn(self, table: Any, start: float | None = None) -> None:
        """Find candidates, select the fewest and package them as rules."""
        start = perf_counter() if start is None else start
        with self._step("candidate rules"):
            found = self._candidates(table)
        selected, covers = self._select(found, start)
        self._package(table, found, selected, covers)

    def _candidates(self, table: Any) -> Candidates:
        """Return the candidate rules of a table."""
        raise NotImplementedError

    def _package(self, table: Any, found: Candidates, selected: Ints, covers: CoverMatrix) -> None:
        """Set the fitted attributes from the selected candidates."""
        raise NotImplementedError

    def _select(self, found: Candidates, start: float, **known: Any) -> tuple[Ints, CoverMatrix]:
        """Return the selected candidates and what they cover; set the certificate."""
        limits = self._limits()
        left = None
        if self.time_limit is not None:
            left = max(0.0, self.time_limit - (perf_counter() - start))
        covers = limits.allow(found)
        with self._step("the fewest of them"):
            grouped = self._costs(found, covers), found.groups, found.sizes
            cover = self._search(
                limits,
                covers,
                *grouped,
                SearchLimits(self._work_limit(), left, self.optimality_gap),
            )
            if found.preselected is not None and isinstance(cover, Cover):
                cover = join_covers(found.preselected, cover, found.lengths)
        certificate = limits.certificate(cover, int(found.sizes.sum()))
        self.selection_ = Bunch(
            **certificate
            | {
                "claim": limits.claim,
                "n_rules": len(cover.selected),
                "n_conditions": int(found.lengths[cover.selected].sum()),
                "seconds": found.seconds | {"selection": cover.seconds},
            }
            | known
        )
        covered = found.covers_of(cover.selected)
        self.uncovered_ = np.flatnonzero(~found.is_covered(covered))
        # If limits leave nothing out, the uncovered samples are those that no candidate covers.
        self._uncoverable = self.uncovered_
        if not limits.all_candidates:
            self._uncoverable = np.flatnonzero(~found.is_covered(found.covers))
        return cover.selected, covered

    def _costs(self, found: Candidates, covers: CoverMatrix) -> Ints:  # noqa: ARG002
        """Return the costs that decide between selections of equally many rules."""
        return found.lengths

    def _search(
        self,
        limits: Limits,
        covers: Any,
        costs: Ints,
        groups: Ints,
        sizes: Ints,
        search: SearchLimits,
    ) -> Cover | PartialCover:
        return limits.select(covers, costs, groups, sizes, search)

    def _limits(self) -> Limits:
        """Return the limits among the parameters."""
        known = {name: getattr(self, name) for name in Limits._fields[:-1] if hasattr(self, name)}
        return Limits(**known, of=self._shares_of)

    def _work_limit(self) -> int:
        """Return the limit of work, under its name of 0.1 if that is used."""
        old: Any = getattr(self, "effort", "deprecated")
        limit: int = self.work_limit if old == "deprecated" else old
        return limit

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if getattr(self, "effort", "deprecated") != "deprecated":
            message = "The parameter effort is now called work_limit and will be removed in 0.4."
            warnings.warn(message, FutureWarning, stacklevel=3)
            check_count("effort", self._work_limit(), most=LARGEST_WORK_LIMIT)
        check_search(self._work_limit(), self.time_limit)
        random_numbers(self.random_state)
        self._limits().check()
        if self.conditions is not None and not isinstance(self.conditions, Mapping):
            raise ValueError(
                "conditions must be a mapping from columns to 'any', 'at most', 'at least' or "
                f"'never', got {short_repr(self.conditions)}."
            )

    def _reading(self) -> dict[str, Any]:
        """Return how rules read values: as in training, clipped to the range of each feature."""
        return {"clip": True, "missing": "typical" if self.missing == "typical" else "similar"}

    def _certificate(self) -> dict[str, Any]:
        """Return the certificate for the model file, which does not depend on time."""
        return {key: value for key, value in self.selection_.items() if key != "seconds"}

    def _warn_if_unproved(self) -> None:
        if self.selection_.status != "optimal" and self.selection_.stopped_by != "gap":
            warnings.warn(describe_unproved(self.selection_), UserWarning, stacklevel=4)


# --- Candidates of each kind of decision


def induce_rules(
    values: Floats,
    classes: Positions,
    order: Positions | None,
    induce: Callable[..., CandidateRules],
    **declared: Any,
) -> CandidateRules:
    """Return the shortened rule of every sample.

    Parameters
    ----------
    values, classes : ndarray
        As for `frri.induction.induce`.
    order : ndarray of int or None
        Order in which conditions are dropped; None for rules that are as short as possible.
    induce : callable
        `frri.induction.induce`, or a function that does the same elsewhere.
    **declared
        `initial` and `rigid`, as for `frri.induction.shorten`.
    """

    def shortest(confidence: Floats) -> Types:
        return minimal_rules.shortest(values, classes, confidence, **declared)

    return induce(values, classes, shortest if order is None else order, **declared)


def class_candidates(found: CandidateRules, classes: Positions) -> Candidates:
    """Return the rule of every sample for its class."""
    return Candidates(
        np.arange(len(classes)),
        found.types,
        found.confidence,
        found.covers,
        found.positions[None],
        classes,
        np.bincount(classes),
        found.seconds,
        found.preselected,
    )


def all_minimal_candidates(
    found: CandidateRules, values: Floats, classes: Positions, limit: int, **declared: Any
) -> tuple[Candidates, int]:
    """Return all minimal rules of every sample up to a limit, and how many samples have more."""
    start = perf_counter()
    more = minimal_rules.all_minimal(
        values, classes, found.confidence, found.types, limit=limit, **declared
    )
    every = class_candidates(found, classes)._replace(
        anchors=more.anchors,
        types=more.types,
        confidence=found.confidence[more.anchors],
        covers=more.covers,
        groups=classes[more.anchors],
        seconds=found.seconds | {"all minimal rules": perf_counter() - start},
    )
    return every, len(more.incomplete)


def number_candidates(found: CandidateRules, values: Floats) -> Candidates:
    """Return different rules for numbers, in an order that does not depend on that of the samples.

    Of rules with equal conditions and confidence the first one is kept.
    """
    centers = np.where(found.types != ConditionType.UNUSED, values, 0.0)
    rules = np.column_stack([found.confidence, found.types, centers])
    kept = np.unique(rules, axis=0, return_index=True)[1].astype(np.int64)
    return Candidates(
        kept,
        found.types[kept],
        found.confidence[kept],
        found.covers.take(kept),
        found.positions[None],
        np.zeros(len(kept), dtype=np.int64),
        np.array([len(values)]),
        found.seconds,
    )


def union_candidates(
    table: TrainingTable,
    values: Floats,
    rigid: Flags | None,
    order: Positions,
    directions: NDArray[np.int8],
    n_jobs: int | None = None,
) -> Candidates:
    """Return the rule of every sample on its side of every class but the lowest.

    Union 2k is "at most class k", union 2k + 1 is "at least class k + 1". Samples of one class that
    are equal in everything count once, so that repeating a row and giving it a weight are the same.

    Parameters
    ----------
    table : TrainingTable
        Classes from the lowest to the highest.
    values, rigid : ndarray
        Scaled values and nominal features.
    order : ndarray of int
        Order in which features are tried: see `frri.induction.shorten`.
    directions : ndarray of int8, shape (n_features,)
        1 for a gain, -1 for a cost, otherwise 0.
    n_jobs : int, optional
    """
    start = perf_counter()
    # Sorted by values, so that no tie is decided by the order of the rows; -1 stands for missing.
    rows = np.column_stack([np.where(np.isnan(values), -1.0, values), table.classes])
    _, first, copy_of = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    distinct, classes = values[first], table.classes[first]
    order = order[first] if order.ndim == 2 else order
    n_classes = len(table.labels)
    parts: list[Candidates] = []
    positions = np.zeros((n_classes - 1, len(first)), dtype=np.int64)
    n_bits = 0
    for k in range(n_classes - 1):
        upper = classes > k
        for own, initial in _sides(upper, directions):
            found = induction.induce(
                distinct, upper.astype(np.intp), order, initial=initial, rigid=rigid, n_jobs=n_jobs
            )
            side = np.flatnonzero(own)
            positions[k, side] = n_bits + found.positions[side]
            n_bits += -(-found.covers.n_objects // 64) * 64
            part = class_candidates(found, 2 * k + upper)
            parts.append(
                part._replace(
                    anchors=first[side],
                    types=found.types[side],
                    confidence=found.confidence[side],
                    covers=found.covers.take(side),
                    groups=part.groups[side],
                )
            )
    below = np.cumsum(np.bincount(classes, minlength=n_classes))[:-1]
    return Candidates(
        np.concatenate([np.zeros(0, dtype=np.int64), *(part.anchors for part in parts)]),
        np.concatenate([np.zeros((0, values.shape[1]), np.int8), *(part.types for part in parts)]),
        np.concatenate([np.zeros(0), *(part.confidence for part in parts)]),
        CoverMatrix.beside([part.covers for part in parts]),
        positions[:, copy_of.ravel()],
        np.concatenate([np.zeros(0, dtype=np.int64), *(part.groups for part in parts)]),
        np.column_stack([below, len(classes) - below]).ravel(),
        {"candidates": perf_counter() - start},
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


# --- Checks and messages

# More rules than this fraction of the samples, of that many at least, are too many.
MANY_RULES, ENOUGH_SAMPLES = 1 / 3, 50


class ManyRulesWarning(UserWarning):
    """The classes overlap so much that FRRI needs nearly as many rules as there are samples."""


def too_many_rules(n_rules: int, n_samples: int) -> bool:
    """Return whether there are so many rules that another estimator should be tried.

    Examples
    --------
    >>> too_many_rules(40, 100), too_many_rules(9, 150)
    (True, False)
    """
    return n_samples >= ENOUGH_SAMPLES and n_rules > MANY_RULES * n_samples


def warn_if_one_class(table: TrainingTable) -> None:
    """Warn about a table of a single class."""
    if len(table.labels) == 1:
        warnings.warn(
            f"All objects have the class {table.labels[0]!r}: one rule without conditions says it "
            "all.",
            UserWarning,
            stacklevel=3,
        )


def warn_if_many(name: str, n_rules: int, n_samples: int) -> None:
    """Warn about too many rules."""
    if too_many_rules(n_rules, n_samples):
        warnings.warn(
            f"{name} needs {n_rules} rules for {n_samples} objects, because classes overlap; "
            "CompactFRRIClassifier, RIPPERClassifier or AdditiveRulesClassifier needs fewer and "
            "may predict better.",
            ManyRulesWarning,
            stacklevel=4,
        )


def join_rows(rows: Iterable[int]) -> str:
    """Return row numbers for readers, counted from 1, ten at most.

    Examples
    --------
    >>> join_rows([0, 2]), join_rows(range(12))
    ('1, 3', '1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...')
    """
    numbers = [str(row + 1) for row in rows]
    return ", ".join([*numbers[:10], "..."] if len(numbers) > 10 else numbers)


def check_search(work_limit: Any, time_limit: Any) -> None:
    """Raise an error for invalid limits of the search.

    Examples
    --------
    >>> check_search(60_000, -1)
    Traceback (most recent call last):
        ...
    ValueError: time_limit must be a number of seconds, 0 or more, got -1.
    """
    check_count("work_limit", work_limit, most=LARGEST_WORK_LIMIT)
    if time_limit is None:
        return
    number = isinstance(time_limit, Real) and not isinstance(time_limit, bool)
    if not (number and (0 <= time_limit <= LARGEST_AMOUNT or time_limit == inf)):
        raise ValueError(
            f"time_limit must be a number of seconds, 0 or more, got {short_repr(time_limit)}."
        )

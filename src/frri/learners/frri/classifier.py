"""FRRI classifier: every sample becomes a rule; a minimum-size set of these is selected."""

import os
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from frri import induction
from frri._util import Floats, Ints, Positions, short_repr
from frri.cover import CoverMatrix
from frri.cover.matrix import packed
from frri.cover.memory_bounded import BYTES_PER_WORD
from frri.induction import ConditionType, minimal_rules
from frri.learners.classification import RuleClassifier
from frri.learners.frri import pipeline
from frri.learners.frri.pipeline import Candidates, FRRILearner
from frri.learners.training_table import TrainingTable, box_rule, scaled_values
from frri.learners.validation import check_choice, check_count, check_share
from frri.rules import Label, RuleSet
from frri.rules.rule_statistics import statistics_from_counts

# Bytes that covers may take by default; larger problems are divided (see
# `frri.cover.memory_bounded`).
DEFAULT_BYTES = 1 << 29
# Bytes for each sample where a first cover is all that is wanted: half a percent more rules in half
# of the time at 100,000 samples.
QUICK_BYTES = 600
# Bytes below which hardly a problem can be divided.
LEAST_BYTES = 1 << 23
# Bytes per value and per sample that a table takes in other forms, and what the search takes
# besides.
PER_VALUE, PER_SAMPLE, BESIDES = 70, 250, 50_000_000
# Peak memory of covers while they are put in order, as a multiple of their size.
PEAK = 1.5

UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


@dataclass(kw_only=True, eq=False, repr=False)
class FRRIClassifier(FRRILearner, RuleClassifier):
    """Fuzzy-rough rule induction, with a proven minimum number of rules.

    Every training sample starts as a rule "similar to this sample in every feature". Its confidence
    is the distance to the nearest sample of another class, so that it covers a box without samples
    of other classes. Feature by feature, sides of the box are dropped as long as no such sample
    gets in. From these candidate rules a minimum-size set that covers every sample is selected,
    proven optimal; among several, the one with the fewest conditions, and among those one fixed by
    the order of the samples. The result does not depend on solver, machine or number of threads. A
    new sample gets the class of the rule that covers it best, or of the nearest rule if none covers
    it. Other kinds of rules may need fewer: the proof is about covering the training samples with
    one candidate rule per sample. Time grows a little faster than the number of samples.

    Numbers, dates and ordered categories are scaled to [0, 1] by their range in training, and new
    values are clipped to it. Other categories (strings and booleans of a data frame) are equal or
    completely different, so that a condition on them names the sample's own category.

    A missing value is imputed (median or most frequent category of the training table), for new
    samples too. With ``missing="similar"`` it is similar to everything instead: it distinguishes no
    two samples, a new sample fails no condition on a value that it misses, and no rule uses a
    feature that its own sample misses. A sample without any value is then similar to every other
    one, so that no rule can be found for the samples of other classes: drop such rows.

    Weights of samples and classes change probabilities and the statistics of rules. The rules stay
    the same, because the smallest set of rules that covers every sample does not depend on weights.

    Parameters
    ----------
    attribute_order : str or array-like of int, default="given"
        Order in which features are dropped from a rule, the first one first. "given": order of the
        columns. "random": one permutation for all samples. "mutual-information": least informative
        about the class first; equal rows count once. "shortest": every sample has a rule with as
        few conditions as possible. Or a permutation of the column indices, or one permutation per
        sample (n_samples x n_features).
    candidates : {"shortened", "all-minimal"}, default="shortened"
        Rules to select from: for every sample the rule that the order of the features leads to, or
        all of its minimal rules, from which no side of the box can be dropped. The fewest of these
        are never more.
    max_candidates : int, default=100
        Maximum number of minimal rules of one sample, including the shortened one. A warning and
        `selection_` state how many samples have more.
    conditions : mapping, optional
        Conditions that a rule may use, by column name (by position for a table without names):
        "at most" or "at least" (for features with an order), "never", or "any", the default. Such a
        rule does not start as "similar to this sample" but as, say, "at most this sample's value",
        and confidences are distances in that sense.
    missing : {"typical", "similar", "error"}, default="typical"
        Treatment of missing values in training and prediction: imputed, similar to everything, or
        refused.
    min_new_coverage : float, default=0.0
        Fraction of its class that a rule must newly cover. Above 0, the rules maximize the number
        of covered samples, less this fraction for every rule, proven optimal: fewer rules, which
        leave out samples that would need rules of their own.
    coverage : float, default=1.0
        Fraction of each class that must be covered; below 1, by the fewest rules that do.
    max_rules : int, optional
        Maximum number of rules: those that cover the most samples, proven optimal, and at least one
        of each class.
    max_conditions : int, optional
        Maximum number of conditions of a rule.
    min_support : float, default=0.0
        Fraction of its class that a rule must cover.
    work_limit : int, default=DEFAULT_WORK_LIMIT
        Limit of work of the exact selection, in steps of its search: unlike a time limit it gives
        the same result on every machine. When it is reached the best rule set found is used, and
        `selection_` and a warning state its optimality gap.
    optimality_gap : float, default=0.0
        Relative optimality gap at which the search stops. Only if all samples are to be covered.
    time_limit : float, optional
        Limit in seconds for `fit`. Candidate rules are found in any case; their selection has the
        time that is left, and ends with the best rule set found until then.
    memory_limit : int or str, optional
        Memory that a fit may take, in bytes or as a string such as "2 GB"; by default the free
        memory, and half a gigabyte for the covers of candidates. If these take more, a few broad
        rules are selected first and the fewest for the remaining samples; `stopped_by` is then
        "memory". If not even that fits, an error is raised before anything is computed.
    random_state : int, RandomState or None, default=None
        Random seed of ``attribute_order="random"``.
    {calibrate, decision, n_jobs, verbose}
    effort : int
        Old name of `work_limit`; it goes in version 0.4.

    Attributes
    ----------
    {classes_}
    ruleset_ : RuleSet
        Selected rules in the names and units of the table, by class and coverage.
    confidence_ : ndarray of shape (n_samples,)
        Distance of every training sample to the nearest one of another class, in scaled units.
    condition_types_ : ndarray of ConditionType, shape (n_samples, n_features)
        Shortened candidate rule of every training sample.
    selected_ : ndarray of int
        Samples whose rules were selected, in the order of the rules; with all minimal rules a
        sample may have several.
    uncovered_ : ndarray of int
        Samples that no rule covers: a sample of another class has (nearly) the same values, as far
        as they are known and conditions on them allowed, or a limit on the rules leaves them out.
    selection_ : Bunch
        Certificate: `status` ("optimal" if `claim` is proved), `claim`, `n_rules`, `n_conditions`,
        `stopped_by`, `seconds` per step, and `solver`. For a cover of all samples also
        `lower_bound`, `gap` and `conditions_status`; for a partial one `n_covered` and either the
        first two or `worth` (samples covered, less what the rules must newly cover) and its proved
        `bound`. With all minimal rules also `n_candidates` (those that cover different samples) and
        `n_incomplete`, the number of samples with more than `max_candidates` of them.
    {n_features_in_, feature_names_in_}

    References
    ----------
    H. Bollaert, M. Palangetić, C. Cornelis, S. Greco, R. Słowiński, "FRRI: a novel algorithm for
    fuzzy-rough rule induction", arXiv 2403.04447, 2024: sections 3.1 (confidence), 3.2
    (shortening), 3.3 (selection) and 3.4 (inference). The covering degree uses the
    Łukasiewicz t-norm, with which the results were computed, instead of the printed minimum.

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

    A table with categories and missing values, and a feature without upper bounds:

    >>> import pandas as pd
    >>> X = pd.DataFrame({"colour": ["red", "red", None, "blue"], "size": [5.0, 3.0, 1.0, None]})
    >>> clf = FRRIClassifier(conditions={"size": "at least"}, missing="similar")
    >>> print(clf.fit(X, ["no", "no", "yes", "yes"]).ruleset_)
    IF colour = red AND size >= 5 (partly from 1) THEN class = no   [...]
    IF colour = blue THEN class = yes   [weight 1.00, covers 2 of 4, precision 1.00]
    """

    _warns_of_many_rules = True
    # The first cover will do: a proof does not change probabilities.
    _part_parameters: ClassVar[Any] = {"work_limit": 0, "effort": "deprecated", "time_limit": 0}

    confidence_: Floats = field(init=False)

    candidates: str = "shortened"
    max_candidates: int = 100
    conditions: Any = None
    min_new_coverage: float = 0.0
    coverage: float = 1.0
    optimality_gap: float = 0.0
    memory_limit: int | str | None = None
    calibrate: bool = True
    effort: Any = "deprecated"

    def _candidates(self, table: TrainingTable) -> Candidates:
        values, nominal = scaled_values(table)
        initial = pipeline.initial_types(self.conditions, table.attributes)
        declared: dict[str, Any] = {"initial": initial, "rigid": nominal}
        known = self.attribute_order, table, values, self.random_state
        order = pipeline.class_orders(*known, **declared)
        found = self._induce(values, table.classes, order, **declared)
        self.confidence_, self._types = found.confidence, found.types
        if self.candidates == "shortened":
            return pipeline.class_candidates(found, table.classes)
        start = perf_counter()
        induced = values, table.classes, found.confidence, found.types
        more = minimal_rules.all_minimal(*induced, limit=self.max_candidates, **declared)
        self._n_incomplete = len(more.incomplete)
        seconds = found.seconds | {"all minimal rules": perf_counter() - start}
        boxes = more.anchors, more.types, found.confidence[more.anchors], more.covers
        groups = table.classes[more.anchors], np.bincount(table.classes)
        return Candidates(*boxes, found.positions[None], *groups, seconds)

    def _package(
        self, table: TrainingTable, found: Candidates, selected: Ints, covers: CoverMatrix
    ) -> None:
        if self.candidates == "all-minimal":
            self.selection_.max_candidates = self.max_candidates
            self.selection_.n_candidates = len(found.anchors)
            self.selection_.n_incomplete = self._n_incomplete
        order = np.lexsort((selected, -covers.sizes(), found.groups[selected]))
        chosen, covers = selected[order], covers.take(order)
        self.selected_ = found.anchors[chosen]
        # A rule covers samples of its own class only, so that its counts are known already.
        own = found.groups[chosen]
        support = np.zeros((len(own), len(table.labels)), dtype=np.int64)
        support[np.arange(len(own)), own] = covers.sizes()
        alone = covers.sizes(packed((covers.counts() == 1)[None])[0])
        statistics = statistics_from_counts(own, support, alone, found.sizes)
        labels = (table.labels[c] for c in own)
        rules = found.rules(table, chosen, labels, statistics=statistics)
        about = self._about(table) | {"selection": self._certificate()}
        ruleset = self._build_ruleset(table, rules, about=about)
        if table.weights is not None:
            ruleset = self._with_statistics(ruleset, table)
        self.ruleset_ = ruleset

    def _induce(self, values: Any, *table: Any, **declared: Any) -> induction.CandidateRules:
        """Return candidate rules and what each of them covers, within the memory limit."""
        cover_bytes = self._cover_bytes(*values.shape)
        return induction.induce(
            values, *table, n_jobs=self.n_jobs, cover_bytes=cover_bytes, **declared
        )

    def _cover_bytes(self, n_samples: int, n_features: int, free: int | None = None) -> int | None:
        """Return the bytes that covers may take; None if all of them are needed at once."""
        planned = plan_cover_bytes(n_samples, n_features, self.memory_limit, free)
        if self._work_limit() == 0 and self.memory_limit is None:
            planned = min(planned, max(LEAST_BYTES, QUICK_BYTES * n_samples))
        whole = self.candidates == "all-minimal" or not self._limits().all_candidates
        return None if whole else planned

    def _for_part(self, rows: Positions, labels: Collection[Label]) -> Any:
        order = self.attribute_order
        if np.ndim(order) == 2:
            order = np.asarray(order)[rows]
        return super()._for_part(rows, labels).set_params(attribute_order=order)

    @property
    def condition_types_(self) -> NDArray[np.object_]:
        """Shortened candidate rule of every training sample, as members of `ConditionType`."""
        return np.array(list(ConditionType), dtype=object)[self._types]

    def candidate_rules(self, X: Any, y: Any) -> RuleSet:
        """Return the shortened rules of all samples, for example as candidates of `frontier`.

        Parameters
        ----------
        X, y : table and labels
            Training data, which the estimator does not store.

        Returns
        -------
        RuleSet
            Without the rules that do not even cover their own sample.
        """
        check_is_fitted(self)
        table = clone(self)._training_table(X, y)  # noqa: SLF001 - of a copy
        if len(table.values) != len(self.confidence_):
            raise ValueError(
                f"The learner was fitted to {len(self.confidence_)} rows, but these are "
                f"{len(table.values)}; give the same table again."
            )
        covering = np.flatnonzero(self.confidence_ > induction.TOLERANCE)
        rules = (
            box_rule(table, u, self._types[u], self.confidence_[u], table.labels[table.classes[u]])
            for u in covering.tolist()
        )
        return self._build_ruleset(table, rules)

    def _warn_about_results(self, table: TrainingTable) -> None:
        super()._warn_about_results(table)
        if self.selection_.get("n_incomplete"):
            self._warn(
                f"{self.selection_.n_incomplete} of {len(table.values)} samples have more than "
                f"{self.max_candidates} minimal rules, the limit of the search; "
                "a larger max_candidates may need fewer rules."
            )

    def _reason_uncovered(self, table: TrainingTable) -> str:
        reason = "the same or nearly the same values"
        reason += ", missing ones left aside" if np.isnan(table.values).any() else ""
        reason += ", as far as conditions on them are allowed" if self.conditions else ""
        empty = np.flatnonzero(np.isnan(table.values).all(axis=1))
        if len(empty):
            reason += f" (row {empty[0] + 1} is empty and so like all others: drop it)"
        return f"are covered by no rule, because an object of another class has {reason}"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_share("optimality_gap", self.optimality_gap)
        if self.memory_limit is not None:
            memory_bytes(self.memory_limit)
        check_choice("candidates", self.candidates, ("shortened", "all-minimal"))
        check_count("max_candidates", self.max_candidates, 1)


# --- Memory
class NotEnoughMemoryError(MemoryError, ValueError):
    """A fit would need more memory than is free or allowed."""


def memory_bytes(limit: Any) -> int:
    """Return a memory limit in bytes, from a number of bytes or a string with a unit.

    Examples
    --------
    >>> memory_bytes("2 GB"), memory_bytes(10_000)
    (2000000000, 10000)
    >>> memory_bytes("much")
    Traceback (most recent call last):
        ...
    ValueError: memory_limit must be a number of bytes or a string such as '2 GB', got 'much'.
    """
    if isinstance(limit, str):
        found = re.fullmatch(r"\s*(\d+\.?\d*)\s*([a-z]*)\s*", limit.lower())
        if found and found[2] in UNITS:
            return int(float(found[1]) * UNITS[found[2]])
    if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0:
        return limit
    raise ValueError(
        "memory_limit must be a number of bytes or a string such as '2 GB', "
        f"got {short_repr(limit)}."
    )


def plan_cover_bytes(
    n_samples: int, n_features: int, limit: Any = None, free: int | None = None
) -> int:
    """Return the number of bytes that covers may take.

    The memory of the whole fit is limited by what is free (here, unless given), of which covers
    take `DEFAULT_BYTES` at most, or by `limit`.

    Examples
    --------
    >>> plan_cover_bytes(1000, 10, "1 GB")
    204000
    >>> plan_cover_bytes(1_000_000, 10, "500 MB")
    Traceback (most recent call last):
        ...
    frri.learners.frri.classifier.NotEnoughMemoryError: FRRI needs about 1.0 GB for 1,000,000 ...
    """
    # No rule covers more words than there are.
    most = n_samples * (n_samples // 64 + 2) * BYTES_PER_WORD
    base = n_samples * (PER_VALUE * n_features + PER_SAMPLE) + BESIDES
    least = base + int(PEAK * min(LEAST_BYTES, most))
    available = (free_memory() if free is None else free) if limit is None else memory_bytes(limit)
    if available is None:
        return DEFAULT_BYTES
    if least > available:
        shown = show_bytes(available)
        known = f"there are only {shown} free: free some"
        if limit is not None:
            known = f"memory_limit is {shown}: raise it"
        raise NotEnoughMemoryError(
            f"FRRI needs about {show_bytes(least)} for {n_samples:,} samples and {n_features} "
            f"features, but {known}, fit a sample of the rows, or take AdditiveRulesClassifier "
            "or RIPPERClassifier."
        )
    room = min(most, int((available - base) / PEAK))
    return room if limit is not None else min(room, DEFAULT_BYTES)


def free_memory() -> int | None:
    """Return the free memory of the machine in bytes; None where it is unknown."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


def show_bytes(amount: int) -> str:
    """Return an amount of memory for readers."""
    return f"{amount / 1e9:.1f} GB" if amount >= 1e9 else f"{amount / 1e6:.0f} MB"

"""From the degrees of rules to scores, an answer, probabilities, and the rule that decides.

Here `frri.rules.semantics` is carried out in numpy: a function for every name, one for every
fallback. Sums run from left to right whatever the number of objects, because exports must
reproduce them.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Flags, Floats, Ints, Positions, check_n_jobs, map_threads
from frri.rules import predict_kernels as bulk
from frri.rules.matching import Matcher
from frri.rules.ordered import at_least_class, cumulative_logits
from frri.rules.probabilities import shrink_to_priors
from frri.rules.rule import label_array

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet

# Fewer blocks of objects stay in one thread.
MANY_BLOCKS = 16

# A share times this is the next one, or the one after that.
A_HAIR_MORE = 1.0 + 2.0**-52


class Decision:
    """What a ruleset says about objects: each part is computed once, when it is first asked for.

    Parameters
    ----------
    ruleset : RuleSet
    matrix : ndarray of float64, shape (n_objects, n_attributes)
        Encoded by `frri.table.to_matrix`.
    n_jobs : int, optional
        The number of threads for many objects (see `frri._util.n_threads`); without influence
        on what is computed.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), "low", 0.9), Rule((), "any", 0.5)),
    ...                 (Attribute("a", 0, 9),), ("any", "low"))
    >>> decision = rules.decide([[1], [5]])
    >>> decision.answers.tolist(), decision.deciding.tolist()
    (['low', 'any'], [0, 1])
    """

    def __init__(self, ruleset: "RuleSet", matrix: Floats, n_jobs: int | None = None) -> None:
        check_n_jobs(n_jobs)
        self.ruleset = ruleset
        self.matrix = matrix
        self.n_jobs = n_jobs

    @cached_property
    def answers(self) -> NDArray[Any]:
        """Return the label decided for, or in regression the number predicted, for each object."""
        if self.ruleset.task == "regression":
            return self.scores[:, 0]
        return label_array(self.ruleset.classes)[self.index]

    @cached_property
    def index(self) -> Positions:
        """Return the position of each object's class."""
        self._check_classes()
        if self._in_bulk:
            return self._bulk(with_scores=False)[0]
        if self._link == "steps":
            return np.asarray((self.scores[:, 1:] > 0.5).sum(axis=1))
        decided: Positions = self.scores.argmax(axis=1)
        if self._link == "shares" and len(self._silent_rows):
            decided[self._silent_rows] = self._fallback.argmax(axis=1)
        return decided

    @cached_property
    def scores(self) -> Floats:
        """Return objects x classes: what the rules say, by the table of `frri.rules.semantics`.

        A row of zeros where no rule fires and the fallback decides between classes; in regression
        one column, the number predicted.
        """
        if self._in_bulk:
            self.index, scores = self._bulk(with_scores=True)
            return scores
        ruleset, matcher, clipped = self.ruleset, self._matcher, self._clipped
        scores = np.empty((len(clipped), max(len(ruleset.classes), 1)))

        def fill(start: int, end: int) -> None:
            block = clipped[start:end]
            degrees = matcher.matching(block)
            if self._asks_nearest:
                scores[start:end] = at_least_class(ruleset, degrees, matcher.nearness(block))
            else:
                scores[start:end] = scores_of(ruleset, degrees)

        self._in_blocks(fill)
        if ruleset.semantics.name == "weighted-mean":
            for rows in self._silent_blocks():
                scores[rows, 0] = _nearest_number(ruleset, clipped[rows])
        return scores

    @cached_property
    def probabilities(self) -> Floats:
        """Return objects x classes, each row with sum 1; the class decided for has the largest share."""
        self._check_classes()
        link, scores = self._link, self.scores
        if link == "steps":
            shares = scores - np.column_stack([scores[:, 1:], np.zeros(len(scores))])
        elif link == "softmax":
            shares = _exponentials(scores)
        else:
            shares = scores.copy()
            if len(self._silent_rows):
                near = last_resort(self.ruleset) == "nearest"
                shares[self._silent_rows] = (
                    _exponentials(self._fallback) if near else self._fallback
                )
        shares /= shares.sum(axis=1, keepdims=True)
        if self.ruleset.trust < 1.0 or link == "steps":
            sizes = np.array(self.ruleset.class_counts)
            shares = shrink_to_priors(shares, self.index, self.ruleset.trust, sizes)
        # Rounding may bring a class decided for level with, or behind, another one.
        behind = np.flatnonzero(shares.argmax(axis=1) != self.index)
        if len(behind):
            shares[behind, self.index[behind]] = shares[behind].max(axis=1) * A_HAIR_MORE
        return shares

    @cached_property
    def deciding(self) -> Positions:
        """Return the position of the rule that decided about each object; -1 where no single one did."""
        ruleset, matcher, clipped = self.ruleset, self._matcher, self._clipped
        decides, kind = ruleset.semantics.meaning.decides, last_resort(ruleset)
        found = np.full(len(clipped), -1, dtype=np.intp)
        if decides is not None and len(ruleset):
            for block in matcher.blocks(len(clipped)):
                degrees = matcher.matching(clipped[block])
                if decides == "first":
                    found[block] = (degrees > 0.0).argmax(axis=1)
                else:
                    found[block] = self._strongest(degrees * matcher.weights, self.index[block])
        found[self._silent_rows] = -1
        if kind in _VOTES and self._link != "steps":
            for rows in self._silent_blocks():
                votes = _VOTES[kind](ruleset, clipped[rows])
                if ruleset.task == "regression":
                    found[rows] = votes.argmax(axis=1)
                else:
                    voted = (kind == "nearest") | (votes.max(axis=1) > 0.0)
                    found[rows] = np.where(voted, self._strongest(votes, self.index[rows]), -1)
        return found

    @cached_property
    def silent(self) -> Flags:
        """Return objects for which no rule fires, or none that says anything: the fallback decides."""
        if self._link == "shares":
            return np.asarray(~(self.scores.max(axis=1) > 0.0))
        matcher, clipped = self._matcher, self._clipped
        silent = np.empty(len(clipped), dtype=np.bool_)
        for block in matcher.blocks(len(clipped)):
            counted = matcher.matching(clipped[block]) * matcher.weights
            silent[block] = ~(counted > 0.0).any(axis=1)
        return silent

    @cached_property
    def degrees(self) -> Floats:
        """Return objects x rules: to which degree each rule's conditions hold (without its weight)."""
        degrees = np.empty((len(self.matrix), len(self.ruleset)))
        clipped = self._clipped

        def fill(start: int, end: int) -> None:
            degrees[start:end] = self._matcher.matching(clipped[start:end])

        self._in_blocks(fill)
        return degrees

    def _check_classes(self) -> None:
        if self.ruleset.task == "regression":
            raise ValueError(
                f"The rules for {self.ruleset.target!r} predict numbers and know no classes; "
                "use predict."
            )

    @property
    def _matcher(self) -> Matcher:
        return self.ruleset.arrays.matcher

    @property
    def _asks_nearest(self) -> bool:
        """Return whether nearest rules speak about each class that no rule speaks about."""
        return self._link == "steps" and last_resort(self.ruleset) == "nearest"

    @property
    def _link(self) -> str | None:
        return self.ruleset.semantics.meaning.link

    @cached_property
    def _clipped(self) -> Floats:
        return self._matcher.clipped(self._filled)

    @cached_property
    def _filled(self) -> Floats:
        return self.matrix if self._finite else self._matcher.filled(self.matrix)

    @cached_property
    def _finite(self) -> bool:
        """False where a value is missing or infinite, or the sum is too large to tell."""
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(self.matrix.sum()))

    @cached_property
    def _in_bulk(self) -> bool:
        worth = bulk.pays(self.ruleset.semantics, self._matcher, self._filled)
        return worth and (self._finite or not np.isinf(self._filled).any())

    def _bulk(self, *, with_scores: bool) -> tuple[Positions, Floats]:
        classes, n_classes = self.ruleset.arrays.classes, len(self.ruleset.classes)
        return bulk.decide(
            self._matcher,
            self._filled,
            classes,
            n_classes,
            with_scores=with_scores,
            n_jobs=self.n_jobs,
        )

    def _in_blocks(self, work: Callable[[int, int], None]) -> None:
        """Do what is to be done for all objects, in several threads if they are many."""
        blocks = [(block.start, block.stop) for block in self._matcher.blocks(len(self.matrix))]
        map_threads(work, blocks, self.n_jobs if len(blocks) >= MANY_BLOCKS else 1)

    @cached_property
    def _silent_rows(self) -> Positions:
        return np.flatnonzero(self.silent)

    def _silent_blocks(self) -> Iterator[Positions]:
        for block in self._matcher.blocks(len(self._silent_rows)):
            yield self._silent_rows[block]

    @cached_property
    def _fallback(self) -> Floats:
        """Silent objects x classes: the largest value decides."""
        values = [fallback_values(self.ruleset, self._clipped[r]) for r in self._silent_blocks()]
        return np.concatenate(values)

    def _strongest(self, votes: Floats, index: Positions) -> Positions:
        """Return the first of the rules of a class that count most; -1 where the class has no rules."""
        own = self.ruleset.arrays.classes == index[:, None]
        best = np.where(own, votes, -np.inf).argmax(axis=1)
        # All infinitely far away: the first one still has to be one of its own.
        best = np.where(own[np.arange(len(own)), best], best, own.argmax(axis=1))
        return np.where(own.any(axis=1), best, -1)


def last_resort(ruleset: "RuleSet") -> str:
    """Return the fallback; the priors or the base if it has no rule to go by."""
    fallback = ruleset.fallback
    if fallback == "nearest" and (ruleset.arrays.weights > 0.0).any():
        return "nearest"
    if fallback in {"stretched", "partial"} and len(ruleset):
        return fallback
    return "base" if "base" in ruleset.semantics.meaning.fallbacks else "priors"


# ------------------------------------------------------------------ scores, by the name of the semantics


def scores_of(ruleset: "RuleSet", degrees: Floats) -> Floats:
    """Return objects x classes from objects x rules; in regression one column."""
    return _SCORES[ruleset.semantics.name](ruleset, degrees)


def _best_rule(ruleset: "RuleSet", degrees: Floats) -> Floats:
    return _best_per_class(ruleset, degrees * ruleset.arrays.weights, 0.0)


def _added_votes(ruleset: "RuleSet", degrees: Floats) -> Floats:
    counted = degrees * ruleset.arrays.weights
    scores = np.zeros((len(degrees), len(ruleset.classes)))
    for c, own in ruleset.arrays.of_classes:
        scores[:, c] = _added(counted.take(own, axis=1))
    return scores


def _first_match(ruleset: "RuleSet", degrees: Floats) -> Floats:
    scores = np.zeros((len(degrees), len(ruleset.classes)))
    fires = degrees > 0.0
    rows = np.flatnonzero(fires.any(axis=1))
    if len(rows):
        scores[rows] = ruleset.arrays.says[fires[rows].argmax(axis=1)]
    return scores


def _added_to_base(ruleset: "RuleSet", degrees: Floats) -> Floats:
    counted = degrees * ruleset.arrays.weights
    says = ruleset.arrays.says
    columns = [
        _added(np.column_stack([np.full(len(counted), start), counted * says[:, c]]))
        for c, start in enumerate(ruleset.base)
    ]
    return np.column_stack(columns)


def _weighted_mean(ruleset: "RuleSet", degrees: Floats) -> Floats:
    counted = degrees * ruleset.arrays.weights
    if not counted.shape[1]:
        return np.full((len(degrees), 1), ruleset.base[0])
    total = _added(counted)
    with np.errstate(invalid="ignore"):
        mean = _added(counted * ruleset.arrays.says[:, 0]) / total
    return np.where(total > 0.0, mean, ruleset.base[0])[:, None]


_Scores = Callable[["RuleSet", Floats], Floats]
_SCORES: Mapping[str, _Scores] = {
    "best-rule": _best_rule,
    "added-votes": _added_votes,
    "first-match": _first_match,
    "softmax-votes": _added_to_base,
    "at-least-class": at_least_class,
    "cumulative-logits": cumulative_logits,
    "weighted-mean": _weighted_mean,
    "added-contributions": _added_to_base,
}


# ------------------------------------------------------------------ where no rule fires


def fallback_values(ruleset: "RuleSet", block: Floats) -> Floats:
    """Return objects x classes, for (clipped) objects that no rule covers; the largest value decides."""
    kind = last_resort(ruleset)
    priors = np.broadcast_to(np.array(ruleset.class_counts), (len(block), len(ruleset.classes)))
    if kind == "priors":
        return priors
    votes = _VOTES[kind](ruleset, block)
    if kind == "nearest":
        return _best_per_class(ruleset, votes, -np.inf)
    values = _best_per_class(ruleset, votes, 0.0)
    return np.where(values.max(axis=1, keepdims=True) > 0.0, values, priors)


def _nearest_number(ruleset: "RuleSet", block: Floats) -> Floats:
    """Return what the nearest rule says; the base where there is none."""
    if last_resort(ruleset) == "base":
        return np.full(len(block), ruleset.base[0])
    return np.asarray(ruleset.arrays.says[_nearness(ruleset, block).argmax(axis=1), 0])


def _nearness(ruleset: "RuleSet", block: Floats) -> Floats:
    return ruleset.arrays.matcher.nearness(block)


def _stretched(ruleset: "RuleSet", block: Floats) -> Floats:
    """Degree of the longest beginning of a rule that holds, times that beginning's weight."""
    matcher = ruleset.arrays.matcher
    memberships = np.maximum(matcher.uncut(block), 0.0)
    starts, place = matcher.indptr[:-1], _places(matcher)
    lengths = np.diff(matcher.indptr)[matcher.rule_of]
    kept = np.minimum.reduceat(np.where(memberships > 0.0, lengths, place), starts, axis=1)
    degrees = matcher.join(np.where(place < kept[:, matcher.rule_of], memberships, 1.0))
    return np.where(kept > 0, degrees, 0.0) * ruleset.arrays.parts.take(kept)


def _partial(ruleset: "RuleSet", block: Floats) -> Floats:
    """Weight of the subset of conditions that hold; 0 where none does."""
    matcher = ruleset.arrays.matcher
    # Longer rules have no weights, so their bits do not matter.
    bits = np.int64(1) << np.minimum(_places(matcher), 62)
    holds = np.where(matcher.uncut(block) > 0.0, bits, 0)
    subsets = np.add.reduceat(holds, matcher.indptr[:-1], axis=1)
    return np.where(subsets > 0, ruleset.arrays.parts.take(subsets), 0.0)


_VOTES: Mapping[str, _Scores] = {
    "nearest": _nearness,
    "stretched": _stretched,
    "partial": _partial,
}


def _places(matcher: Matcher) -> Ints:
    """Return the place of every condition in its rule."""
    return np.arange(len(matcher.columns)) - matcher.indptr[matcher.rule_of]


def _best_per_class(ruleset: "RuleSet", values: Floats, nothing: float) -> Floats:
    best = np.full((len(values), len(ruleset.classes)), nothing)
    for c, own in ruleset.arrays.of_classes:
        values.take(own, axis=1).max(axis=1, out=best[:, c])
    return best


def _exponentials(values: Floats) -> Floats:
    """Return shares of values that may be negative, 1 for the largest in each row, though it be infinite."""
    top = values.max(axis=1, keepdims=True)
    if top.min() > -np.inf:
        return np.asarray(np.exp(values - top))
    return np.where(values == top, 1.0, np.exp(values - np.where(top > -np.inf, top, 0.0)))


def _added(values: Floats) -> Floats:
    """Return row sums from left to right, whatever the number of rows: numpy's own order depends on it."""
    return np.cumsum(values, axis=1)[:, -1]

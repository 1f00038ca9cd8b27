"""Inference: from samples to scores, predictions, probabilities, and the rule that decides."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Flags, Floats, Ints, Positions, check_n_jobs, map_threads
from frri.rules import _predict_kernels as bulk
from frri.rules.matching import Matcher
from frri.rules.rule import label_array

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet


# Fewer blocks of samples stay in one thread.
MANY_BLOCKS = 16


class Decision:
    """The predictions of a rule set for some samples; each part is computed when it is first used.

    Parameters
    ----------
    ruleset : RuleSet
    matrix : ndarray of float64, shape (n_samples, n_features)
        Encoded by `frri.table.to_matrix`.
    n_jobs : int, optional
        Number of threads for many samples (see `frri._util.n_threads`); without influence on the
        results.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> low = Rule((NumericCondition.below("a", 3),), "low", 0.9)
    >>> rules = RuleSet((low, Rule((), "any", 0.5)), (Attribute("a", 0, 9),), ("any", "low"))
    >>> decision = rules.decide([[1], [5]])
    >>> decision.answers.tolist(), decision.deciding.tolist()
    (['low', 'any'], [0, 1])
    """

    def __init__(self, ruleset: "RuleSet", matrix: Floats, n_jobs: int | None = None) -> None:
        check_n_jobs(n_jobs)
        self.ruleset = ruleset
        self.matrix = matrix
        self.n_jobs = n_jobs
        self._matcher: Matcher = ruleset.arrays.matcher
        self._link = ruleset.semantics.meaning.link

    @cached_property
    def answers(self) -> NDArray[Any]:
        """The predicted label of each sample, or in regression the number."""
        if self.ruleset.task == "regression":
            return self.scores[:, 0]
        return label_array(self.ruleset.classes)[self.index]

    @cached_property
    def index(self) -> Positions:
        """The position of each sample's predicted class."""
        self._check_classes()
        if self._in_bulk:
            return self._bulk(with_scores=False).decided
        if self._link == "steps":
            return np.asarray((self.scores[:, 1:] > 0.5).sum(axis=1))
        decided: Positions = self.scores.argmax(axis=1)
        if self._link == "shares" and len(self._silent_rows):
            decided[self._silent_rows] = self._fallback.argmax(axis=1)
        return decided

    @cached_property
    def scores(self) -> Floats:
        """Samples x classes: scores by the table of `frri.rules.semantics`.

        A row of zeros where no rule fires and the fallback decides between classes; in regression
        one column, the predicted number.
        """
        if self._in_bulk:
            self.index, scores = self._bulk(with_scores=True)
            return scores
        ruleset, matcher, clipped = self.ruleset, self._matcher, self._clipped
        by_nearest = self._link == "steps" and last_resort(ruleset) == "nearest"

        def score(rows: slice) -> Floats:
            near = matcher.nearness(clipped[rows]) if by_nearest else None
            return scores_of(ruleset, matcher.matching(clipped[rows]), near)

        scores = self._in_blocks(np.empty((len(clipped), max(len(ruleset.classes), 1))), score)
        if ruleset.semantics.name == "weighted-mean" and last_resort(ruleset) == "nearest":
            for rows in self._silent_blocks():
                nearest = matcher.nearness(clipped[rows]).argmax(axis=1)
                scores[rows, 0] = ruleset.arrays.says[nearest, 0]
        return scores

    @cached_property
    def probabilities(self) -> Floats:
        """Samples x classes, each row with sum 1; the predicted class has the largest one."""
        self._check_classes()
        link, scores = self._link, self.scores
        if link == "steps":
            shares = scores - np.column_stack([scores[:, 1:], np.zeros(len(scores))])
        elif link == "softmax":
            shares = exponentials(scores)
        else:
            shares = scores.copy()
            if len(self._silent_rows):
                near = last_resort(self.ruleset) == "nearest"
                shares[self._silent_rows] = exponentials(self._fallback) if near else self._fallback
        shares /= shares.sum(axis=1, keepdims=True)
        if self.ruleset.trust < 1.0 or link == "steps":
            sizes = np.array(self.ruleset.class_counts)
            shares = shrink_to_priors(shares, self.index, self.ruleset.trust, sizes)
        return raise_to_first(shares, self.index)

    @cached_property
    def deciding(self) -> Positions:
        """The position of the rule that decides about each sample; -1 where no single one does."""
        ruleset, matcher, clipped = self.ruleset, self._matcher, self._clipped
        decides, kind = ruleset.semantics.meaning.decides, last_resort(ruleset)
        found = np.full(len(clipped), -1, dtype=np.intp)
        if decides is not None and len(ruleset):
            index = self.index

            def decide(rows: slice) -> Positions:
                degrees = matcher.matching(clipped[rows])
                if decides == "first":
                    return np.asarray((degrees > 0.0).argmax(axis=1))
                return self._strongest(degrees * matcher.weights, index[rows])

            self._in_blocks(found, decide)
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
        """Samples for which no rule with a weight fires: the fallback decides."""
        if self._link == "shares":
            return np.asarray(~(self.scores.max(axis=1) > 0.0))
        matcher, clipped = self._matcher, self._clipped

        def is_silent(rows: slice) -> Flags:
            weighted = matcher.matching(clipped[rows]) * matcher.weights
            return np.asarray(~(weighted > 0.0).any(axis=1))

        return self._in_blocks(np.empty(len(clipped), dtype=np.bool_), is_silent)

    @cached_property
    def degrees(self) -> Floats:
        """Samples x rules: the degree to which the conditions of each rule hold, unweighted."""
        matcher, clipped = self._matcher, self._clipped
        degrees = np.empty((len(self.matrix), len(self.ruleset)))
        return self._in_blocks(degrees, lambda rows: matcher.matching(clipped[rows]))

    def _check_classes(self) -> None:
        if self.ruleset.task == "regression":
            raise ValueError(
                f"The rules for {self.ruleset.target!r} predict numbers and know no classes; "
                "use predict."
            )

    @cached_property
    def _clipped(self) -> Floats:
        return self._matcher.clipped(self._filled)

    @cached_property
    def _filled(self) -> Floats:
        return self.matrix if self._finite else self._matcher.filled(self.matrix)

    @cached_property
    def _finite(self) -> bool:
        """False where a value is missing or infinite, or the sum is too large to know."""
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(self.matrix.sum()))

    @cached_property
    def _in_bulk(self) -> bool:
        worth = bulk.pays(self.ruleset.semantics, self._matcher, self._filled)
        return worth and (self._finite or not np.isinf(self._filled).any())

    def _bulk(self, *, with_scores: bool) -> bulk.BulkPredictions:
        task = self._matcher, self._filled, self.ruleset.arrays.classes, len(self.ruleset.classes)
        return bulk.decide(*task, with_scores=with_scores, n_jobs=self.n_jobs)

    def _in_blocks(self, result: NDArray[Any], compute: Callable[[slice], Any]) -> NDArray[Any]:
        """Fill an array block by block, in several threads if there are many."""
        blocks = [(block.start, block.stop) for block in self._matcher.blocks(len(self.matrix))]

        def fill(start: int, stop: int) -> None:
            result[start:stop] = compute(slice(start, stop))

        map_threads(fill, blocks, self.n_jobs if len(blocks) >= MANY_BLOCKS else 1)
        return result

    @cached_property
    def _silent_rows(self) -> Positions:
        return np.flatnonzero(self.silent)

    def _silent_blocks(self) -> Iterator[Positions]:
        for block in self._matcher.blocks(len(self._silent_rows)):
            yield self._silent_rows[block]

    @cached_property
    def _fallback(self) -> Floats:
        """Silent samples x classes: the largest value decides."""
        ruleset, kind = self.ruleset, last_resort(self.ruleset)
        priors = np.array(ruleset.class_counts)
        if kind == "priors":
            return np.broadcast_to(priors, (len(self._silent_rows), len(priors)))
        nothing = -np.inf if kind == "nearest" else 0.0
        votes = (_VOTES[kind](ruleset, self._clipped[rows]) for rows in self._silent_blocks())
        values = np.concatenate([best_per_class(ruleset, block, nothing) for block in votes])
        counts = (kind == "nearest") | (values.max(axis=1, keepdims=True) > 0.0)
        return np.where(counts, values, priors)

    def _strongest(self, votes: Floats, index: Positions) -> Positions:
        """Return the first of the strongest rules of a class; -1 where the class has no rules."""
        own = self.ruleset.arrays.classes == index[:, None]
        best = np.where(own, votes, -np.inf).argmax(axis=1)
        # All infinitely far away: the first one still has to be one of its own.
        best = np.where(own[np.arange(len(own)), best], best, own.argmax(axis=1))
        return np.where(own.any(axis=1), best, -1)


# ---------------------------------------------------------------- where no rule fires


def last_resort(ruleset: "RuleSet") -> str:
    """Return the fallback; the priors or the base if it has no rule to use."""
    fallback = ruleset.fallback
    if fallback == "nearest" and (ruleset.arrays.weights > 0.0).any():
        return "nearest"
    if fallback in {"stretched", "partial"} and len(ruleset):
        return fallback
    return "base" if "base" in ruleset.semantics.meaning.fallbacks else "priors"


def _nearness(ruleset: "RuleSet", block: Floats) -> Floats:
    return ruleset.arrays.matcher.nearness(block)


def _stretched(ruleset: "RuleSet", block: Floats) -> Floats:
    """Return the degree of the longest beginning of a rule that holds, times its weight."""
    matcher = ruleset.arrays.matcher
    memberships = np.maximum(matcher.uncut(block), 0.0)
    starts, place = matcher.indptr[:-1], _places(matcher)
    lengths = np.diff(matcher.indptr)[matcher.rule_of]
    kept = np.minimum.reduceat(np.where(memberships > 0.0, lengths, place), starts, axis=1)
    degrees = matcher.join(np.where(place < kept[:, matcher.rule_of], memberships, 1.0))
    return np.where(kept > 0, degrees, 0.0) * ruleset.arrays.weights_of_parts(kept)


def _partial(ruleset: "RuleSet", block: Floats) -> Floats:
    """Return the weight of the subset of conditions that hold; 0 where none does."""
    matcher = ruleset.arrays.matcher
    # Longer rules have no weights, so their bits do not matter.
    bits = np.int64(1) << np.minimum(_places(matcher), 62)
    holds = np.where(matcher.uncut(block) > 0.0, bits, 0)
    subsets = np.add.reduceat(holds, matcher.indptr[:-1], axis=1)
    return np.where(subsets > 0, ruleset.arrays.weights_of_parts(subsets), 0.0)


def _places(matcher: Matcher) -> Ints:
    """Return the place of every condition in its rule."""
    return np.arange(len(matcher.columns)) - matcher.indptr[matcher.rule_of]


_VOTES: Mapping[str, Callable[["RuleSet", Floats], Floats]] = {
    "nearest": _nearness,
    "stretched": _stretched,
    "partial": _partial,
}


# Larger exponents of e are near the end of floating point, and make no difference to a probability.
LARGEST_EXPONENT = 700.0
# The smallest floating-point number above one half.
ABOVE_HALF = 0.5 + 2.0**-53


def scores_of(ruleset: "RuleSet", degrees: Floats, near: Floats | None = None) -> Floats:
    """Return samples x classes from samples x rules; in regression one column.

    Parameters
    ----------
    ruleset : RuleSet
    degrees : ndarray of shape (n_samples, n_rules)
    near : ndarray of shape (n_samples, n_rules), optional
        Weighted uncut values, where "at-least-class" falls back on the nearest rules.
    """
    weighted = degrees * ruleset.arrays.weights
    name = ruleset.semantics.name
    if name == "first-match":
        return _first_match(ruleset, degrees)
    if name == "at-least-class":
        return _at_least_class(ruleset, weighted, near)
    return _SCORES[name](ruleset, weighted)


def best_per_class(ruleset: "RuleSet", values: Floats, nothing: float) -> Floats:
    """Return samples x classes: the largest value of the rules of each class."""
    best = np.full((len(values), len(ruleset.classes)), nothing)
    for c, own in ruleset.arrays.of_classes:
        values.take(own, axis=1).max(axis=1, out=best[:, c])
    return best


def _added_votes(ruleset: "RuleSet", weighted: Floats) -> Floats:
    scores = np.zeros((len(weighted), len(ruleset.classes)))
    for c, own in ruleset.arrays.of_classes:
        scores[:, c] = _sum_rows(weighted.take(own, axis=1))
    return scores


def _first_match(ruleset: "RuleSet", degrees: Floats) -> Floats:
    scores = np.zeros((len(degrees), len(ruleset.classes)))
    fires = degrees > 0.0
    rows = np.flatnonzero(fires.any(axis=1))
    if len(rows):
        scores[rows] = ruleset.arrays.says[fires[rows].argmax(axis=1)]
    return scores


def _added_to_base(ruleset: "RuleSet", weighted: Floats) -> Floats:
    says = ruleset.arrays.says
    columns = [
        _sum_rows(np.column_stack([np.full(len(weighted), start), weighted * says[:, c]]))
        for c, start in enumerate(ruleset.base)
    ]
    return np.column_stack(columns)


def _weighted_mean(ruleset: "RuleSet", weighted: Floats) -> Floats:
    if not weighted.shape[1]:
        return np.full((len(weighted), 1), ruleset.base[0])
    total = _sum_rows(weighted)
    with np.errstate(invalid="ignore"):
        mean = _sum_rows(weighted * ruleset.arrays.says[:, 0]) / total
    return np.where(total > 0.0, mean, ruleset.base[0])[:, None]


def _cumulative_logits(ruleset: "RuleSet", weighted: Floats) -> Floats:
    """Return the logistic function of each class's base plus the sum of what rules add; 1 first.

    It is above one half exactly where the sum is above 0. So a decision depends on the sign of the
    sum, and not on the last bit of an exponential function, which differs between machines.
    """
    added = weighted * ruleset.arrays.says[:, 0]
    sums = _sum_rows(np.column_stack([np.zeros(len(added)), added]))[:, None]
    odds = np.minimum(-(sums + np.array(ruleset.base)), LARGEST_EXPONENT)
    shares = 1.0 / (1.0 + np.exp(odds))
    shares = np.where(odds < 0.0, np.maximum(shares, ABOVE_HALF), np.minimum(shares, 0.5))
    return np.column_stack([np.ones(len(added)), shares])


def _at_least_class(ruleset: "RuleSet", weighted: Floats, near: Floats | None) -> Floats:
    """Return the fraction of votes about "at least class t" that are for it; 1 for the first class.

    A rule "at least k" votes for all classes up to k, a rule "at most k" against all above it; the
    strongest one counts. Where no rule votes, the nearest rules do by how far those of the other
    side are, or else the class priors.
    """
    pro, contra = _strongest(ruleset, weighted, 0.0)
    nobody = ~((pro > 0.0) | (contra > 0.0))
    pro, contra = _fill_by_priors(ruleset, pro, contra, nobody)
    if near is not None:
        nearest, opposed = _strongest(ruleset, near, -np.inf)
        asked = nobody & (np.maximum(nearest, opposed) > -np.inf)
        pro = np.where(asked, np.maximum(-opposed, 0.0), pro)
        contra = np.where(asked, np.maximum(-nearest, 0.0), contra)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # In this form rounding keeps the order of the thresholds.
        shares = np.where(pro > 0.0, 1.0 / (1.0 + contra / pro), 0.0)
    shares[:, 0] = 1.0
    return shares


def _strongest(ruleset: "RuleSet", votes: Floats, nothing: float) -> tuple[Floats, Floats]:
    """Return samples x classes: the largest vote for "at least" each class, and against it."""
    rising, k = ruleset.arrays.rising, ruleset.arrays.classes
    pro, contra = np.empty((2, len(votes), len(ruleset.classes)))
    for t in range(len(ruleset.classes)):
        pro[:, t] = votes[:, rising & (k >= t)].max(axis=1, initial=nothing)
        contra[:, t] = votes[:, ~rising & (k < t)].max(axis=1, initial=nothing)
    return pro, contra


def _fill_by_priors(
    ruleset: "RuleSet", pro: Floats, contra: Floats, nobody: Flags
) -> tuple[Floats, Floats]:
    """Fill in, where no rule votes, the priors of the classes that are left.

    These are neither below the highest "at least" nor above the lowest "at most". If none of them
    occurs in training, they have equal priors.
    """
    n_classes = len(ruleset.classes)
    thresholds = np.arange(n_classes)
    lowest = (pro[:, 1:] > 0.0).sum(axis=1)[:, None]
    highest = n_classes - 1 - (contra > 0.0).sum(axis=1)[:, None]
    before = np.concatenate(([0.0], np.cumsum(ruleset.class_counts)))
    possible = before[np.maximum(highest, lowest) + 1] - before[lowest] > 0.0
    for sums, some in ((before, possible), (np.arange(n_classes + 1.0), ~possible)):
        asked = nobody & some & (thresholds > 0)
        pro = np.where(asked, sums[highest + 1] - sums[thresholds], pro)
        contra = np.where(asked, sums[thresholds] - sums[lowest], contra)
    return pro, contra


def _sum_rows(values: Floats) -> Floats:
    """Return row sums from left to right; the order of numpy's own sums depends on the shape."""
    return np.cumsum(values, axis=1)[:, -1]


_SCORES: Mapping[str, Callable[["RuleSet", Floats], Floats]] = {
    "best-rule": lambda ruleset, weighted: best_per_class(ruleset, weighted, 0.0),
    "added-votes": _added_votes,
    "softmax-votes": _added_to_base,
    "cumulative-logits": _cumulative_logits,
    "weighted-mean": _weighted_mean,
    "added-contributions": _added_to_base,
}


# A number times this is the next one, or the one after that.
SLIGHTLY_MORE = 1.0 + 2.0**-52


def exponentials(values: Floats) -> Floats:
    """Return exp(value - largest of the row), 1 for the largest, though it be infinite."""
    top = values.max(axis=1, keepdims=True)
    if top.min() > -np.inf:
        return np.asarray(np.exp(values - top))
    return np.where(values == top, 1.0, np.exp(values - np.where(top > -np.inf, top, 0.0)))


def raise_to_first(shares: Floats, decided: Positions) -> Floats:
    """Raise, in place, probabilities of predicted classes that rounding left behind or level."""
    behind = np.flatnonzero(shares.argmax(axis=1) != decided)
    if len(behind):
        shares[behind, decided[behind]] = shares[behind].max(axis=1) * SLIGHTLY_MORE
    return shares


def shrink_to_priors(shares: Floats, decided: Positions, trust: float, sizes: Floats) -> Floats:
    """Mix probabilities with the class priors; the predicted class keeps the largest one.

    Classes that come out ahead of it are levelled with it: together they keep their sum, and each
    has the same.

    Parameters
    ----------
    shares : ndarray of shape (n_samples, n_classes)
        Probabilities by the rules.
    decided : ndarray of int, shape (n_samples,)
        The predicted class.
    trust : float
        The fraction that comes from the rules.
    sizes : ndarray of shape (n_classes,)
        Sizes of the classes in training.

    Examples
    --------
    >>> shares, decided = np.array([[0.0, 1.0, 0.0]]), np.array([1])
    >>> shrink_to_priors(shares, decided, 0.5, np.array([1.0, 1.0, 2.0])).tolist()
    [[0.125, 0.625, 0.25]]
    >>> shrink_to_priors(shares, decided, 0.0, np.array([1.0, 1.0, 2.0])).tolist()
    [[0.25, 0.375, 0.375]]
    """
    mixed: Floats = trust * shares + (1.0 - trust) * (sizes / sizes.sum())
    rows = np.arange(len(mixed))
    behind = np.flatnonzero(mixed[rows, decided] < mixed.max(axis=1, initial=0.0))
    if len(behind):
        part, own = mixed[behind], (np.arange(len(behind)), decided[behind])
        ahead = part.copy()
        ahead[own] = np.inf
        ahead = -np.sort(-ahead, axis=1)
        ahead[:, 0] = part[own]
        # The mean of the class and the largest others rises as long as the next one is above it.
        level = (np.cumsum(ahead, axis=1) / np.arange(1, ahead.shape[1] + 1)).max(axis=1)
        np.minimum(part, level[:, None], out=part)
        part[own] = level
        mixed[behind] = part
    return mixed

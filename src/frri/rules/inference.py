"""Inference: from samples to scores, predictions, probabilities, and the rule that decides.

Scores are the table of `frri.rules.semantics` in numpy. Sums run from left to right whatever the
number of samples, because exports must reproduce them.

Scores of ordinal classes fall from class to class. None falls where rules "at least" a class, or
those that add, count more, and rules "at most" a class, or those that subtract, count less; in
floating point too. So if the former can only count more and the latter only less as a feature
grows, then no prediction falls as it grows.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from frri._compile import pays
from frri._util import Flags, Floats, Ints, Positions, check_n_jobs, map_threads
from frri.rules import _predict_kernels as kernels
from frri.rules.matching import RuleArrays
from frri.rules.rule import label_array

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet

Array = TypeVar("Array", bound=NDArray[Any])

# Fewer blocks of samples stay in one thread.
MANY_BLOCKS = 16
# Larger exponents of e are near the end of floating point, and make no difference to a probability.
LARGEST_EXPONENT = 700.0
# The smallest floating-point number above one half.
ABOVE_HALF = 0.5 + 2.0**-53
# A number times this is the next one, or the one after that.
SLIGHTLY_MORE = 1.0 + 2.0**-52


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
        self.ruleset, self.matrix, self.n_jobs = ruleset, matrix, n_jobs
        self._arrays: RuleArrays = ruleset.arrays
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
        if self.ruleset.task == "regression":
            problem = "predict numbers and know no classes; use predict"
            raise ValueError(f"The rules for {self.ruleset.target!r} {problem}.")
        if self._bulk is not None and not self.ruleset.costs:
            return self._bulk.decided
        if self._link == "steps":
            return np.asarray((self.scores[:, 1:] > 0.5).sum(axis=1))
        decided: Positions = self.scores.argmax(axis=1)
        if self._link == "shares" and self.silent.any():
            nearest = None if self._bulk is None else self._bulk.decided[self.silent]
            decided[self.silent] = self._fallback.argmax(axis=1) if nearest is None else nearest
        return decided

    @cached_property
    def scores(self) -> Floats:
        """Samples x classes: scores by the table of `frri.rules.semantics`.

        A row of zeros where no rule fires and the fallback decides between classes; in regression
        one column, the predicted number.
        """
        ruleset, arrays = self.ruleset, self._arrays
        if self._bulk is not None:
            found = self._bulk.scores
            return found * ruleset.score_factors if ruleset.costs else found
        by_nearest = last_resort(ruleset) == "nearest"

        def score(block: Floats) -> Floats:
            block = arrays.clipped(block)
            near = arrays.nearness(block) if by_nearest and self._link == "steps" else None
            return compute_scores(ruleset, arrays.matching(block), near)

        scores = self._map_blocks(score, self.matrix)
        if by_nearest and ruleset.semantics.name == "weighted-mean" and self.silent.any():
            scores[self.silent] = arrays.says[self.deciding[self.silent]]
        return scores

    @cached_property
    def probabilities(self) -> Floats:
        """Samples x classes, each row with sum 1; the predicted class has the largest one."""
        decided, link, scores = self.index, self._link, self.scores
        if link == "steps":
            shares = scores - np.column_stack([scores[:, 1:], np.zeros(len(scores))])
        elif link == "softmax":
            shares = _exponentials(scores)
        else:
            shares = scores.copy()
            if self.silent.any():
                near = last_resort(self.ruleset) == "nearest"
                shares[self.silent] = _exponentials(self._fallback) if near else self._fallback
        shares /= shares.sum(axis=1, keepdims=True)
        if self.ruleset.trust < 1.0 or link == "steps":
            trust, priors = self.ruleset.trust, self.ruleset.priors
            shares = shrink_to_priors(shares, decided, trust, priors)
        # Rounding may leave the predicted class behind or level.
        behind = np.flatnonzero(shares.argmax(axis=1) != decided)
        shares[behind, decided[behind]] = shares[behind].max(axis=1) * SLIGHTLY_MORE
        return shares

    @cached_property
    def deciding(self) -> Positions:
        """The position of the rule that decides about each sample; -1 where no single one does."""
        ruleset, arrays, silent = self.ruleset, self._arrays, self.silent
        decides, kind = ruleset.semantics.meaning.decides, last_resort(ruleset)
        found = np.full(len(self.matrix), -1, dtype=np.intp)
        if decides is None and kind not in _VOTES:
            return found
        index = self.index if ruleset.classes else found

        def decide(block: Floats, index: Positions) -> Positions:
            degrees = arrays.matching(block)
            if decides == "first":
                return np.asarray((degrees > 0.0).argmax(axis=1))
            return _find_strongest(arrays, degrees * arrays.weights, index)

        def fall_back(block: Floats, index: Positions) -> Positions:
            votes = _VOTES[kind](arrays, block)
            if not ruleset.classes:
                return np.asarray(votes.argmax(axis=1))
            voted = (kind == "nearest") | (votes.max(axis=1) > 0.0)
            return np.where(voted, _find_strongest(arrays, votes, index), -1)

        if decides is not None and not silent.all():
            found[~silent] = self._map_blocks(decide, self._clipped[~silent], index[~silent])
        if kind in _VOTES and self._link != "steps" and silent.any():
            found[silent] = self._map_blocks(fall_back, self._clipped[silent], index[silent])
        return found

    @cached_property
    def silent(self) -> Flags:
        """Samples for which no rule with a weight fires: the fallback decides."""
        if self._link == "shares":
            return np.asarray(~(self.scores.max(axis=1) > 0.0))
        arrays = self._arrays

        def is_silent(block: Floats) -> Flags:
            return np.asarray(~(arrays.matching(block) * arrays.weights > 0.0).any(axis=1))

        return self._map_blocks(is_silent, self._clipped)

    @cached_property
    def degrees(self) -> Floats:
        """Samples x rules: the degree to which the conditions of each rule hold, unweighted."""
        return self._map_blocks(self._arrays.matching, self._clipped)

    @cached_property
    def _clipped(self) -> Floats:
        return self._arrays.clipped(self.matrix)

    @cached_property
    def _fallback(self) -> Floats:
        """Silent samples x classes: the largest value decides."""
        arrays, kind = self._arrays, last_resort(self.ruleset)
        priors, silent = self.ruleset.priors, self._clipped[self.silent]
        if kind == "priors":
            return np.broadcast_to(priors, (len(silent), len(priors)))
        nothing = -np.inf if kind == "nearest" else 0.0
        values = self._map_blocks(
            lambda block: best_per_class(arrays, _VOTES[kind](arrays, block), nothing), silent
        )
        if kind == "nearest":
            return values
        counts = values.max(axis=1, keepdims=True) > 0.0
        return np.where(counts, values * self.ruleset.score_factors, priors)

    @cached_property
    def _bulk(self) -> kernels.BulkPredictions | None:
        """The results of compiled kernels, which know the best and the nearest rule by minima."""
        semantics, arrays = self.ruleset.semantics, self._arrays
        known = semantics.is_max_min and semantics.fallback == "nearest" and self.matrix.shape[1]
        size, cold, warm = len(self.matrix) * len(arrays.columns), kernels.COLD, kernels.WARM
        pay = pays(kernels, size, compiled_from=cold, loaded_from=cold, used_from=warm)
        if not (known and pay and (arrays.weights > 0.0).all()):
            return None
        filled = arrays.filled(self.matrix)
        return None if np.isinf(filled).any() else kernels.decide(arrays, filled, self.n_jobs)

    def _map_blocks(self, compute: Callable[..., Array], *samples: NDArray[Any]) -> Array:
        """Join what is computed for blocks of samples, in several threads if there are many."""
        blocks = [(b.start, b.stop) for b in self._arrays.blocks(len(samples[0]))]
        n_jobs = self.n_jobs if len(blocks) >= MANY_BLOCKS else 1

        def work(start: int, stop: int) -> Array:
            return compute(*(part[start:stop] for part in samples))

        parts: Any = map_threads(work, blocks, n_jobs)
        return np.concatenate(parts)  # type: ignore[return-value]


def _find_strongest(arrays: RuleArrays, votes: Floats, index: Positions) -> Positions:
    """Return the first of the strongest rules of a class; -1 where the class has no rules."""
    own = arrays.classes == index[:, None]
    best = np.where(own, votes, -np.inf).argmax(axis=1)
    # All infinitely far away: the first one still has to be one of its own.
    best = np.where(own[np.arange(len(own)), best], best, own.argmax(axis=1))
    return np.where(own.any(axis=1), best, -1)


def best_per_class(arrays: RuleArrays, values: Floats, nothing: float = 0.0) -> Floats:
    """Return samples x classes: the largest value of the rules of each class."""
    best = np.full((len(values), len(arrays.labels)), nothing)
    for c, own in arrays.of_classes:
        values.take(own, axis=1).max(axis=1, out=best[:, c])
    return best


# ---------------------------------------------------------------- where no rule fires
def last_resort(ruleset: "RuleSet") -> str:
    """Return the fallback; the priors or the base if it has no rule to use."""
    fallback = ruleset.fallback
    if fallback == "nearest" and (ruleset.arrays.weights > 0.0).any():
        return "nearest"
    if fallback in {"stretched", "partial"} and len(ruleset):
        return fallback
    return "base" if "base" in ruleset.semantics.meaning.fallbacks else "priors"


def _stretched(arrays: RuleArrays, block: Floats) -> Floats:
    """Return the degree of the longest beginning of a rule that holds, times its weight."""
    memberships = np.maximum(arrays.uncut(block), 0.0)
    place, lengths = _places(arrays), np.diff(arrays.indptr)[arrays.rule_of]
    ends = np.where(memberships > 0.0, lengths, place)
    kept = np.minimum.reduceat(ends, arrays.indptr[:-1], axis=1)
    degrees = arrays.join(np.where(place < kept[:, arrays.rule_of], memberships, 1.0))
    return np.where(kept > 0, degrees, 0.0) * arrays.weights_of_parts(kept)


def _partial(arrays: RuleArrays, block: Floats) -> Floats:
    """Return the weight of the subset of conditions that hold; 0 where none does."""
    # Longer rules have no weights, so their bits do not matter.
    bits = np.int64(1) << np.minimum(_places(arrays), 62)
    holds = np.where(arrays.uncut(block) > 0.0, bits, 0)
    subsets = np.add.reduceat(holds, arrays.indptr[:-1], axis=1)
    return np.where(subsets > 0, arrays.weights_of_parts(subsets), 0.0)


def _places(arrays: RuleArrays) -> Ints:
    """Return the place of every condition in its rule."""
    return np.arange(len(arrays.columns)) - arrays.indptr[arrays.rule_of]


_VOTES: Mapping[str, Callable[[RuleArrays, Floats], Floats]] = {
    "nearest": RuleArrays.nearness,
    "stretched": _stretched,
    "partial": _partial,
}


# ---------------------------------------------------------------- scores
def compute_scores(ruleset: "RuleSet", degrees: Floats, near: Floats | None = None) -> Floats:
    """Return samples x classes from samples x rules; in regression one column."""
    arrays, name = ruleset.arrays, ruleset.semantics.name
    weighted = degrees * arrays.weights
    if name == "best-rule":
        return best_per_class(arrays, weighted) * ruleset.score_factors
    if name == "added-votes":
        scores = np.zeros((len(weighted), len(arrays.labels)))
        for c, own in arrays.of_classes:
            scores[:, c] = _sum_rows(weighted.take(own, axis=1))
        return scores * ruleset.score_factors
    if name == "first-match":
        return _score_first_match(arrays, degrees) * ruleset.score_factors
    if name == "at-least-class":
        return _score_at_least_class(ruleset, weighted, near)
    if name == "weighted-mean":
        return _score_mean(ruleset, weighted)
    bases = (0.0,) if name == "cumulative-logits" else ruleset.base
    sums = [_sum_rows(weighted, base, arrays.says[:, c]) for c, base in enumerate(bases)]
    return np.column_stack(sums) if bases is ruleset.base else _score_logits(sums[0], ruleset.base)


def _sum_rows(values: Floats, base: float = 0.0, factors: Floats | None = None) -> Floats:
    """Return row sums from left to right; the order of numpy's own sums depends on the shape.

    Columns are multiplied by factors, if there are any.
    """
    factors = np.ones(values.shape[1]) if factors is None else factors
    sums = np.full(len(values), base, dtype=np.float64)
    if len(values) < values.shape[1]:
        return np.cumsum(np.column_stack([sums, values * factors]), axis=1)[:, -1]
    for column, factor in zip(values.T, factors.tolist(), strict=True):
        if factor:
            sums += column if factor == 1.0 else column * factor
    return sums


def _score_first_match(arrays: RuleArrays, degrees: Floats) -> Floats:
    scores, fires = np.zeros((len(degrees), len(arrays.labels))), degrees > 0.0
    rows = np.flatnonzero(fires.any(axis=1))
    if len(rows):
        scores[rows] = arrays.says[fires[rows].argmax(axis=1)]
    return scores


def _score_mean(ruleset: "RuleSet", weighted: Floats) -> Floats:
    total = _sum_rows(weighted)
    with np.errstate(invalid="ignore"):
        mean = _sum_rows(weighted, 0.0, ruleset.arrays.says[:, 0]) / total
    return np.where(total > 0.0, mean, ruleset.base[0])[:, None]


def _score_logits(sums: Floats, base: tuple[float, ...]) -> Floats:
    """Return the logistic function of each class's base plus the sum of what rules add; 1 first.

    It is above one half exactly where the sum is above 0. So a decision depends on the sign of the
    sum, and not on the last bit of an exponential function, which differs between machines.
    """
    odds = np.minimum(-(sums[:, None] + np.array(base)), LARGEST_EXPONENT)
    shares = 1.0 / (1.0 + np.exp(odds))
    shares = np.where(odds < 0.0, np.maximum(shares, ABOVE_HALF), np.minimum(shares, 0.5))
    return np.column_stack([np.ones(len(sums)), shares])


def _score_at_least_class(ruleset: "RuleSet", weighted: Floats, near: Floats | None) -> Floats:
    """Return the fraction of votes about "at least class t" that are for it; 1 for the first class.

    A rule "at least k" votes for all classes up to k, a rule "at most k" against all above it; the
    strongest one counts. Where no rule votes, the nearest rules do by how far those of the other
    side are, or else the class priors.
    """
    pro, contra = _strongest_votes(ruleset.arrays, weighted, 0.0)
    nobody = ~((pro > 0.0) | (contra > 0.0))
    pro, contra = _fill_by_priors(ruleset, pro, contra, nobody)
    if near is not None:
        nearest, opposed = _strongest_votes(ruleset.arrays, near, -np.inf)
        asked = nobody & (np.maximum(nearest, opposed) > -np.inf)
        pro = np.where(asked, np.maximum(-opposed, 0.0), pro)
        contra = np.where(asked, np.maximum(-nearest, 0.0), contra)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # In this form rounding keeps the order of the thresholds.
        shares = np.where(pro > 0.0, 1.0 / (1.0 + contra / pro), 0.0)
    shares[:, 0] = 1.0
    return shares


def _strongest_votes(arrays: RuleArrays, votes: Floats, nothing: float) -> tuple[Floats, Floats]:
    """Return samples x classes: the largest vote for "at least" each class, and against it."""
    rising, k = arrays.rising, arrays.classes
    pro, contra = np.empty((2, len(votes), len(arrays.labels)))
    for t in range(len(arrays.labels)):
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


# ---------------------------------------------------------------- probabilities
def _exponentials(values: Floats) -> Floats:
    """Return exp(value - largest of the row), 1 for the largest, though it be infinite."""
    top = values.max(axis=1, keepdims=True)
    return np.where(values == top, 1.0, np.exp(values - np.where(top > -np.inf, top, 0.0)))


def shrink_to_priors(shares: Floats, decided: Positions, trust: float, sizes: Floats) -> Floats:
    """Mix probabilities with the class priors; the predicted class keeps the largest one.

    Classes that come out ahead of it are levelled with it: together they keep their sum, and each
    has the same.
    """
    mixed: Floats = trust * shares + (1.0 - trust) * (sizes / sizes.sum())
    own = mixed[np.arange(len(mixed)), decided]
    behind = np.flatnonzero((mixed > own[:, None]).any(axis=1))
    if len(behind):
        part, at = mixed[behind], (np.arange(len(behind)), decided[behind])
        ahead = part.copy()
        ahead[at] = np.inf
        ahead = -np.sort(-ahead, axis=1)
        ahead[:, 0] = own[behind]
        # The mean of the class and the largest others rises as long as the next one is above it.
        level = (np.cumsum(ahead, axis=1) / np.arange(1, ahead.shape[1] + 1)).max(axis=1)
        np.minimum(part, level[:, None], out=part)
        part[at] = level
        mixed[behind] = part
    return mixed

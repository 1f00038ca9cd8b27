"""Calibration of class probabilities by samples that the rules were not fitted to.

Rules predict their training samples better than new ones. Calibration compares held-out decisions
about training samples with their classes and finds two numbers: the fraction of a probability that
comes from the rules, while the rest comes from the class priors, and the factor of votes that are
summed (temperature scaling). By default each half of the samples is decided by rules learned from
the other half; additive rules use the folds in which their number of rules is chosen.
"""

import warnings
from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from frri._reproducible import exp, log, total
from frri._util import Flags, Floats, Positions, Words
from frri.learners.training_table import SPREAD, TrainingTable
from frri.rules.inference import shrink_to_priors

# Maximum number of distinct samples to calibrate on, and the minimum number for which it is done.
MAX_SAMPLES = 1_000
MIN_SAMPLES = 20
# Fractions that may come from the rules, and factors of votes: quarters of a doubling, 1 first.
TRUSTS = (*(np.arange(20) / 20).tolist(), 0.97, 0.98, 0.99, 0.995)
SCALES = tuple(sqrt(sqrt(2.0**k)) for k in sorted(range(-4, 9), key=abs))
# Losses that differ by less are equal: sums are rounded.
TIE = 1e-9


class Calibration(NamedTuple):
    """Fraction (below 1) of a probability that comes from the rules, and factor of summed votes."""

    trust: float
    scale: float = 1.0


def calibration_of(learner: Any, table: TrainingTable) -> Calibration:
    """Return the calibration of a fitted estimator with the least held-out log loss.

    Without `calibrate`, and with too few samples, the weight of the rules is n / (n + K) for n
    distinct samples and K classes.
    """
    samples = HeldOut.of(table)
    n_first, n_all = samples.half.sum(), len(samples.half)
    suffice = samples.n_distinct >= MIN_SAMPLES and 0 < n_first < n_all
    if not learner.calibrate or not suffice:
        return Calibration(samples.n_distinct / (samples.n_distinct + len(table.labels)))
    shares, decided = cross_fit(learner, table, samples)
    classes, weights = table.classes[samples.rows], table.all_weights[samples.rows]
    sizes = np.array(table.class_counts)
    return least_loss(shares, decided, classes, sizes, weights, samples.weight)


class HeldOut(NamedTuple):
    """Samples to calibrate on, the half to which each belongs, and mean weight of distinct ones.

    They depend on values and classes of samples only, not on their order or on how often they
    occur: a repeated sample is the same as a weight of 2.
    """

    rows: Positions
    half: Flags
    n_distinct: int
    weight: float

    @classmethod
    def of(cls, table: TrainingTable) -> Self:
        """Choose samples of a table, in proportion to the sizes of the classes."""
        first, inverse, _ = table.equal_rows
        own = table.classes[first]
        rank, kept = evenly_chosen(own, MAX_SAMPLES)
        rows = np.flatnonzero(kept[inverse])
        half = ((rank + own) % 2 == 1)[inverse[rows]]
        weight = float(table.all_weights[rows].sum()) / int(kept.sum())
        return cls(rows, half, int(kept.sum()), weight)


def evenly_chosen(classes: Positions, most: int, least: int = 0) -> tuple[Positions, Flags]:
    """Return the number of each sample in its class, and which to take, in proportion to sizes.

    Of a class with fewer samples than `least`, all are taken.
    """
    order = classes.argsort(kind="stable")
    sizes = np.bincount(classes)
    rank = np.empty(len(classes), dtype=np.intp)
    rank[order] = np.arange(len(classes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return rank, rank < np.maximum(least, np.ceil(sizes * min(1.0, most / len(classes))))[classes]


def cross_fit(learner: Any, table: TrainingTable, samples: HeldOut) -> tuple[Floats, Positions]:
    """Return probabilities and decisions for each half by rules learned from the other half."""
    rows, classes = samples.rows, table.classes[samples.rows]
    shares, decided = np.zeros((len(rows), len(table.labels))), np.zeros(len(rows), dtype=np.intp)
    for asked in (samples.half, ~samples.half):
        present, part = np.unique(classes[~asked]), table.take(rows[~asked])
        one = learner._for_part(rows[~asked], part.labels)  # noqa: SLF001 - the two are one thing
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they have been given for the whole table
            one._learn(part)  # noqa: SLF001
        decision = one.ruleset_.decide(table.encoded.take(rows[asked]), n_jobs=learner.n_jobs)
        shares[np.ix_(asked, present)] = decision.probabilities
        decided[asked] = present[decision.index]
    return shares, decided


def mixed(keys: Words, seed: int) -> Words:
    """Return keys in another random order for each seed; distinct ones stay so (splitmix64)."""
    found = keys + np.uint64((seed + 1) * SPREAD % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        found = (found ^ (found >> np.uint64(shift))) * np.uint64(factor)
    return found ^ (found >> np.uint64(31))


def least_loss(
    shares: Floats,
    decided: Positions,
    classes: Positions,
    sizes: Floats,
    weights: Floats,
    surprise: float = 1.0,
    scales: Sequence[float] = SCALES[:1],
) -> Calibration:
    """Return the calibration with the least log loss; see `frri.rules.inference`.

    `shares` are probabilities by the rules, `decided` the predicted and `classes` the true classes,
    `sizes` those of the classes. The scale is found first, with the largest trust, and then the
    trust. One more sample of weight `surprise` is counted whose class has probability 0 by the
    rules, so that trust is never complete.
    """

    def loss(scaled: Floats, trust: float) -> float:
        own = shrink_to_priors(scaled, decided, trust, sizes)[np.arange(len(shares)), classes]
        logs = log(np.append(own, 1.0 - trust))
        return float(-total(weights * logs[:-1]) - surprise * logs[-1])

    tie = TIE * float(weights.sum())
    scale = _first_least(scales, lambda one: loss(scale_votes(shares, one), TRUSTS[-1]), tie)
    scaled = scale_votes(shares, scale)
    return Calibration(_first_least(TRUSTS, lambda one: loss(scaled, one), tie), scale)


def scale_votes(shares: Floats, scale: float) -> Floats:
    """Return probabilities as if the votes behind them were multiplied.

    Examples
    --------
    >>> scale_votes(np.array([[0.25, 0.75]]), 2.0).round(3)
    array([[0.1, 0.9]])
    """
    if scale == 1.0:
        return shares
    raised = exp(scale * log(shares / shares.max(axis=1, keepdims=True)))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _first_least(values: Sequence[float], loss: Callable[[float], float], tie: float) -> float:
    """Return the first value with the least loss, up to rounding."""
    best, found = np.inf, values[0]
    for value in values:
        now = loss(value)
        if now < best - tie:
            best, found = now, value
    return found

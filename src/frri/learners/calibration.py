"""How far the votes of rules can be trusted, told by objects that the rules were not learned from.

Rules agree with the objects they were learned from far better than with new ones; strict rules
agree with them in everything. So the table is halved, each half is asked about by rules learned
from the other, and the answers say how much of a probability should come from rules, and how much
from the sizes of the classes. Votes that are added up are penalised in learning, which makes them
too small where rules are sure and keeps them too large where they are not: the answers say as well
by how much to stretch them all.
"""

from __future__ import annotations

import warnings
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from frri._reproducible import exp, log, total
from frri.rules.inference import shrink_to_priors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from frri._util import Flags, Floats, Positions, Words
    from frri.learners.base import RuleClassifier
    from frri.learners.training_table import TrainingTable

# Different objects that are asked about, at most: one number is to be found, and more cost time.
MOST_OBJECTS = 1_000
# Fewer than this tell nothing about rules learned from half of them.
FEWEST_OBJECTS = 20
# What may be found, from no trust at all on.
TRUSTS = (*(np.arange(20) / 20).tolist(), 0.97, 0.98, 0.99, 0.995)
# By how much votes that are added up may be stretched, first of all not: quarters of a doubling.
STRETCHES = tuple(sqrt(sqrt(2.0**k)) for k in sorted(range(-4, 9), key=abs))
# Losses that differ by less are equal: sums are rounded.
TIE = 1e-9


class Calibration(NamedTuple):
    """How probabilities come from what rules say.

    Attributes
    ----------
    trust : float
        The share of them that should come from rules, from 0 to below 1.
    stretch : float
        What votes that are added up should be multiplied with.
    """

    trust: float
    stretch: float = 1.0


def calibration_of(
    learner: RuleClassifier, table: TrainingTable, *, refit: bool = True
) -> Calibration:
    """Calibrate the probabilities of an estimator by fits on two halves of its table.

    Parameters
    ----------
    learner : RuleClassifier
        Not changed.
    table : TrainingTable
        What it has learned from.

    refit : bool, default=True
        If False, nothing is fitted: the weight of the rules is n / (n + K) for n distinct samples
        and K classes, as in a table too small to be halved.

    Returns
    -------
    Calibration
        What gives the objects of each half the least logarithmic loss.
    """
    rows, half, n_distinct = halves(table)
    classes, n_classes = table.classes[rows], len(table.labels)
    if not refit or n_distinct < FEWEST_OBJECTS or not 0 < half.sum() < len(rows):
        return Calibration(n_distinct / (n_distinct + n_classes))
    shares, decided = np.zeros((len(rows), n_classes)), np.zeros(len(rows), dtype=np.intp)
    for asked in (half, ~half):
        present, part = np.unique(classes[~asked]), table.take(rows[~asked])
        one = learner._for_part(rows[~asked], part.labels)  # noqa: SLF001 - the two are one thing
        with warnings.catch_warnings():
            # What they say has been said about the whole table.
            warnings.simplefilter("ignore")
            one._learn(part)  # noqa: SLF001
        decision = one.ruleset_.decide(table.encoded.take(rows[asked]), n_jobs=learner.n_jobs)
        shares[np.ix_(asked, present)] = decision.probabilities
        decided[asked] = present[decision.index]
    sizes = np.array(table.class_counts)
    weights = table.all_weights[rows]
    surprise = float(weights.sum()) / n_distinct
    added_up = learner.ruleset_.semantics.meaning.link == "softmax"
    stretches = STRETCHES if added_up else STRETCHES[:1]
    return least_loss(shares, decided, classes, sizes, weights, surprise, stretches)


def halves(table: TrainingTable) -> tuple[Positions, Flags, int]:
    """Return the samples to calibrate on, the half of each, and the number of distinct ones.

    Both depend on the values of an object and on its class alone, and not on its place or on how
    often it occurs: whoever repeats a row or gives it a weight of 2 gets the same.
    """
    first, inverse, distinct = equal_rows(table)
    own = table.classes[first]
    order = own.argsort(kind="stable")
    sizes = np.bincount(own, minlength=len(table.labels))
    rank = np.empty(len(distinct), dtype=np.intp)
    rank[order] = np.arange(len(distinct)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    most = np.ceil(sizes * min(1.0, MOST_OBJECTS / len(distinct)))
    kept = rank < most[own]
    rows = np.flatnonzero(kept[inverse])
    return rows, ((rank + own) % 2 == 1)[inverse[rows]], int(kept.sum())


_SPREAD = 0x9E3779B97F4A7C15
_ODD = np.uint64(_SPREAD)


def equal_rows(table: TrainingTable) -> tuple[Positions, Positions, Words]:
    """Find samples that differ in values or class: the first of each, its index by sample, a key.

    They come in the order of their keys, which depend on values and class alone.
    """
    keys = _keys(table.values) ^ (table.classes.astype(np.uint64) + np.uint64(1)) * _ODD
    distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first, inverse, distinct


def mixed(keys: Words, seed: int) -> Words:
    """Keys as lots that a seed decides: different ones stay different (splitmix64).

    Examples
    --------
    >>> keys = np.arange(5, dtype=np.uint64)
    >>> mixed(keys, 0).argsort(), mixed(keys, 1).argsort()
    (array([...]), array([...]))
    """
    found = keys + np.uint64((seed + 1) * _SPREAD % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        found = (found ^ (found >> np.uint64(shift))) * np.uint64(factor)
    return found ^ (found >> np.uint64(31))


def _keys(values: Floats) -> Words:
    """Return a hash of the values of each row."""
    known = np.where(np.isnan(values), np.inf, values + 0.0)  # -0 equals 0
    keys = np.zeros(len(values), dtype=np.uint64)
    for column in known.T:
        keys = (keys ^ np.ascontiguousarray(column).view(np.uint64)) * _ODD
        keys ^= keys >> np.uint64(29)
    return keys


def least_loss(
    shares: Floats,
    decided: Positions,
    classes: Positions,
    sizes: Floats,
    weights: Floats,
    surprise: float = 1.0,
    stretches: Sequence[float] = STRETCHES[:1],
) -> Calibration:
    """Return the calibration with the least log loss; see `frri.rules.inference`.

    The stretch is found first, with all the trust that there can be, and then the trust. One more
    object is counted that no rule would have foreseen, so that no trust is ever complete.

    Parameters
    ----------
    shares : ndarray of shape (n_objects, n_classes)
        By rules.
    decided, classes : ndarray of int
        The class decided for, and the true one.
    sizes : ndarray of shape (n_classes,)
        Of the classes.
    weights : ndarray of shape (n_objects,)
    surprise : float, default=1.0
        What that object weighs.
    stretches : sequence of float, default=(1.0,)
        Those allowed. Stretched votes are powers of the shares.

    Examples
    --------
    >>> shares = np.array([[1.0, 0.0]] * 9)
    >>> decided = np.zeros(9, dtype=np.intp)
    >>> least_loss(shares, decided, decided, np.array([0.5, 0.5]), np.ones(9))
    Calibration(trust=0.8, stretch=1.0)
    """

    def loss(stretched: Floats, trust: float) -> float:
        own = shrink_to_priors(stretched, decided, trust, sizes)[np.arange(len(shares)), classes]
        return float(-total(weights * log(own)) - surprise * log(1.0 - trust))

    tie = TIE * float(weights.sum())
    stretch = _first_least(stretches, lambda one: loss(powers(shares, one), TRUSTS[-1]), tie)
    stretched = powers(shares, stretch)
    return Calibration(_first_least(TRUSTS, lambda one: loss(stretched, one), tie), stretch)


def powers(shares: Floats, stretch: float) -> Floats:
    """Shares of classes as if the votes behind them were multiplied.

    Examples
    --------
    >>> powers(np.array([[0.25, 0.75]]), 2.0).round(3)
    array([[0.1, 0.9]])
    """
    if stretch == 1.0:
        return shares
    raised = exp(stretch * log(shares / shares.max(axis=1, keepdims=True)))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _first_least(values: Sequence[float], loss: Callable[[float], float], tie: float) -> float:
    """Return the first value with the least loss, up to rounding."""
    best, found = np.inf, values[0]
    for value in values:
        now = loss(value)
        if now < best - tie:
            best, found = now, value
    return found

"""Scores of ordered classes: of each class, how much speaks for "at least this class".

Here two rows of the table in `frri.rules.semantics` are carried out in numpy. In both, scores fall
from class to class. And none falls where rules "at least" a class, or those that add, count more,
and rules "at most" a class, or those that subtract, count less; in floating point too. So if the
former can only count more and the latter only less as an attribute grows, then no answer falls as
it grows.
"""

from typing import TYPE_CHECKING

import numpy as np

from frri._util import Flags, Floats

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet

# Larger exponents of e are near the end of floating point, and make no difference to a share.
LARGEST_EXPONENT = 700.0
# The smallest floating-point number above one half.
ABOVE_HALF = 0.5 + 2.0**-53


def at_least_class(ruleset: "RuleSet", degrees: Floats, near: Floats | None = None) -> Floats:
    """Return how much of what speaks about "at least class t" speaks for it; 1 for the lowest class.

    A rule "at least k" speaks for all classes up to k, a rule "at most k" against all above it;
    the strongest one counts. About what no rule speaks, the nearest rules do by how far the other
    side's are, or else the shares in training.

    Parameters
    ----------
    ruleset : RuleSet
    degrees : ndarray of shape (n_objects, n_rules)
    near : ndarray of shape (n_objects, n_rules), optional
        Weighted uncut values, where the nearest rules are asked.

    Returns
    -------
    ndarray of shape (n_objects, n_classes)
    """
    counted = degrees * ruleset.arrays.weights
    pro, contra = _strongest(ruleset, counted, 0.0)
    nobody = ~((pro > 0.0) | (contra > 0.0))
    pro, contra = _by_sizes(ruleset, pro, contra, nobody)
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


def cumulative_logits(ruleset: "RuleSet", degrees: Floats) -> Floats:
    """Return the logistic function of each class's base plus the sum of what rules add; 1 for the lowest.

    It is above one half exactly where the sum is above 0. So a decision depends on the sign of the
    sum, and not on the last bit of an exponential function, which differs between machines.

    Parameters
    ----------
    ruleset : RuleSet
    degrees : ndarray of shape (n_objects, n_rules)

    Returns
    -------
    ndarray of shape (n_objects, n_classes)
    """
    counted = degrees * ruleset.arrays.weights * ruleset.arrays.says[:, 0]
    sums = np.cumsum(np.column_stack([np.zeros(len(counted)), counted]), axis=1)[:, -1:]
    odds = np.minimum(-(sums + np.array(ruleset.base)), LARGEST_EXPONENT)
    shares = 1.0 / (1.0 + np.exp(odds))
    shares = np.where(odds < 0.0, np.maximum(shares, ABOVE_HALF), np.minimum(shares, 0.5))
    return np.column_stack([np.ones(len(counted)), shares])


def _strongest(ruleset: "RuleSet", votes: Floats, nothing: float) -> tuple[Floats, Floats]:
    """Return objects x classes: the largest vote for "at least" each class, and the largest against it."""
    rising, k = ruleset.arrays.rising, ruleset.arrays.classes
    pro, contra = np.empty((2, len(votes), len(ruleset.classes)))
    for t in range(len(ruleset.classes)):
        pro[:, t] = votes[:, rising & (k >= t)].max(axis=1, initial=nothing)
        contra[:, t] = votes[:, ~rising & (k < t)].max(axis=1, initial=nothing)
    return pro, contra


def _by_sizes(
    ruleset: "RuleSet", pro: Floats, contra: Floats, nobody: Flags
) -> tuple[Floats, Floats]:
    """Return where nobody speaks, the shares in training of the classes that are left.

    Those are neither below the highest "at least" nor above the lowest "at most"; if there are
    none of them in training, they have equal shares.
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

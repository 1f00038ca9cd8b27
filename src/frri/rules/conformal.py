"""Conformal prediction intervals, which hold their level on new samples of the same distribution.

Split conformal prediction. The absolute errors on m held-out samples and the error on a new sample
are exchangeable: the new one is at most the k-th smallest of the m with a probability of at least
k / (m + 1), whatever the rules and the samples are. So the half-width of the interval of level p is
the k-th smallest error with k = ceil(p (m + 1)).

`frri fit` takes the errors of its cross-validation, or of its test set, and learns the rules from
all rows. The level then holds approximately: errors of models that lack a part of the rows are, as
a rule, larger.

Half-widths are stored in `RuleSet.about` under "intervals", which an edit of the rules removes.
"""

from math import ceil, inf
from typing import TYPE_CHECKING, Any

import numpy as np

from frri._util import Floats

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet

# The levels of which half-widths are stored.
LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
# What a level may be off by in floating point.
ROUNDING = 1e-9


def half_widths(errors: Floats) -> dict[str, Any]:
    """Return the half-widths of all levels that the number of held-out samples allows."""
    ascending = np.sort(np.abs(errors))
    ranks = {level: ceil(level * (len(errors) + 1) - ROUNDING) for level in LEVELS}
    kept = [[level, float(ascending[k - 1])] for level, k in ranks.items() if 0 < k <= len(errors)]
    return {"rows": len(errors), "half_widths": kept}


def half_width(ruleset: "RuleSet", level: float) -> float:
    """Return the half-width of the interval of a level."""
    if ruleset.task != "regression":
        raise ValueError(
            f"The rules for {ruleset.target!r} predict classes; intervals are of numbers, "
            "use predict_proba."
        )
    kept = ruleset.about.get("intervals")
    if kept is None:
        raise ValueError(
            f"The rules for {ruleset.target!r} have no intervals: learn them with "
            "calibration_fraction=0.2, or by frri fit with its check on held-out rows (--cv 5)."
        )
    try:
        known = {float(one): float(width) for one, width in kept["half_widths"]}
    except (KeyError, TypeError, ValueError):  # a file may contain anything
        known = {}
    if not known or not all(0.0 <= width < inf for width in known.values()):
        raise ValueError("The intervals in the model's description cannot be used; learn it again.")
    if level not in LEVELS:
        raise ValueError(f"level must be one of {', '.join(map(str, LEVELS))}, got {level!r}.")
    if level not in known:
        raise ValueError(
            f"An interval of level {level:g} needs more than the {kept.get('rows')} rows that were "
            f"held back; {' and '.join(map(str, known))} can be had."
        )
    return known[level]

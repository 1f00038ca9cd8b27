"""The held-out estimate that a model carries: how good it is on rows it was not trained on."""

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

from frri.rules.json_format import About

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet


def evaluation_of(ruleset: "RuleSet") -> dict[str, Any] | None:
    """Return the held-out estimate of a rule set, None if it has none; a file may hold anything.

    Examples
    --------
    >>> from frri import RuleSet
    >>> evaluation_of(RuleSet((), (), ("no", "yes"))) is None
    True
    """
    found: Any = About(ruleset.about).plain().get("evaluation")
    try:
        baseline = found["baseline"]
        numbers = [found["score"], *found["interval"], baseline["score"], found["rows"]]
        numbers += [one.get("error", 0.0) for one in (found, baseline)]
        valid = len(numbers) == 7 and all(map(isfinite, numbers))
        cells, known = found.get("confusion", [(0, 0, 1)]), range(max(len(ruleset.classes), 1))
        valid &= bool(cells) and all(a in known and b in known and n > 0 for a, b, n in cells)
        return {**found, "measure": str(found["measure"])} if valid else None
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def evaluation_text(estimate: Mapping[str, Any]) -> str:
    """Return a held-out estimate as a sentence.

    Examples
    --------
    >>> baseline = {"answer": "no", "score": 0.65}
    >>> estimate = {"score": 0.741, "interval": [0.71, 0.77], "rows": 768, "baseline": baseline}
    >>> print(evaluation_text(estimate | {"measure": "accuracy"}))
    On held-out rows: accuracy 0.74 (95 % interval 0.71 to 0.77, 768 rows); majority class no: 0.65.
    """
    low, high = estimate["interval"]
    baseline, measure = estimate["baseline"], estimate["measure"]
    constant = "majority class" if measure == "accuracy" else "constant prediction"
    error = f", mean absolute error {estimate['error']:.4g}" if "error" in estimate else ""
    return (
        f"On held-out rows: {measure} {estimate['score']:.2f} "
        f"(95 % interval {low:.2f} to {high:.2f}, {estimate['rows']:,} rows){error}; "
        f"{constant} {baseline.get('answer')}: {baseline['score']:.2f}."
    )

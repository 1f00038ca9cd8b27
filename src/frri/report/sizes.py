"""What is known of how many rules are worth their while, and of which rules come back, for the page."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

from frri.rules import RuleSet


def size_path(about: Mapping[str, Any]) -> dict[str, Any] | None:
    """The sizes that were tried in cross-validation, if a model says so; a file may say anything.

    Examples
    --------
    >>> path = {"sizes": [2, 5], "scores": [0.7, 0.8], "errors": [0.02, 0.01], "chosen": 5, "measure": "R2"}
    >>> size_path({"path": path}) == path
    True
    >>> size_path({"path": {"sizes": [2]}}) is size_path({}) is None
    True
    """
    path = about.get("path")
    if not isinstance(path, Mapping):
        return None
    lists = [path.get(key) for key in ("sizes", "scores", "errors")]
    if not all(isinstance(one, list | tuple) and one for one in lists):
        return None
    numbers = [[one for one in each if _is_number(one)] for each in lists if each is not None]
    sizes, scores, errors = numbers
    if not len(sizes) == len(scores) == len(errors) == len(path["sizes"]):
        return None
    if path.get("chosen") not in sizes:
        return None
    return {
        "sizes": sizes,
        "scores": scores,
        "errors": errors,
        "chosen": path["chosen"],
        "measure": str(path.get("measure", "score")),
    }


def returning(ruleset: RuleSet, stability: Any) -> dict[str, Any] | None:
    """For each rule the share of the resamples in which it came back.

    Parameters
    ----------
    ruleset : RuleSet
    stability : Stability or None
        Of these very rules.

    Examples
    --------
    >>> returning(RuleSet((), (), (0, 1)), None)
    """
    if stability is None:
        return None
    if len(stability.returns) != len(ruleset) or stability.ruleset != ruleset:
        raise ValueError(
            f"stability is of other rules than the {len(ruleset)} of this page; "
            "find it out with ruleset= these rules."
        )
    return {
        "returns": list(stability.returns),
        "similarity": stability.similarity,
        "n_resamples": stability.n_resamples,
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and isfinite(value)

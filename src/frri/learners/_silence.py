"""Classes that no rule speaks for, and those that have one although there are to be fewer rules."""

import warnings
from collections.abc import Mapping
from numbers import Integral
from typing import Any

from frri._util import join_names
from frri.rules import RuleSet
from frri.rules.semantics import CLASS_RULES

# Parameters that leave rules out.
LIMITS = {"max_rules": None, "max_conditions": None, "min_support": 0.0, "min_new_coverage": 0.0}


def warn_of_silence(ruleset: RuleSet, parameters: Mapping[str, Any]) -> None:
    """Say for which classes there is no rule, and why; rules that vote may do without for some.

    And if there are more rules than there may be, for every class to have one.
    """
    votes = ruleset.semantics.name not in CLASS_RULES
    most = parameters.get("max_rules")
    if (
        isinstance(most, Integral)
        and most < len(ruleset.classes)
        and len(ruleset) > most
        and not votes
    ):
        warnings.warn(
            f"max_rules is {most}, but there is at least one rule for each of the "
            f"{len(ruleset.classes)} classes.",
            UserWarning,
            stacklevel=4,
        )
    if votes and (len(ruleset) or len(ruleset.classes) < 2):
        return
    heard = {rule.consequent for rule in ruleset}
    silent = [c for c, label in enumerate(ruleset.classes) if label not in heard]
    if not silent:
        return
    limits = [
        f"{name}={parameters[name]}"
        for name in LIMITS
        if parameters.get(name, LIMITS[name]) != LIMITS[name]
    ]
    within = f" with {' and '.join(limits)}" if limits else ""
    names = join_names(repr(ruleset.classes[c]) for c in silent)
    warnings.warn(
        f"There is no rule for {names}: {_reason(ruleset, silent, votes)}{within}.",
        UserWarning,
        stacklevel=4,
    )


def _reason(ruleset: RuleSet, silent: list[int], votes: bool) -> str:
    if votes:
        return "no condition tells them apart well enough to be worth a rule"
    if len(ruleset.classes) == 1:
        return "all rows have this class, so that there is nothing to tell apart"
    rows, all_rows = sum(ruleset.class_counts[c] for c in silent), sum(ruleset.class_counts)
    too_few = "is too little" if rows == 1 else "are too few"
    alike = f"{too_few}, or too much like rows of other classes, to make one"
    return f"{rows:g} of {all_rows:g} rows {alike}"

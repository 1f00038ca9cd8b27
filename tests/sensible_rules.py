"""Checks for conditions of a fitted model that make no sense for the training table.

Tests and benchmarks use `senseless_conditions`. It takes the rules and the training table, and checks both the printed
and the evaluated conditions.
"""

import numpy as np

from frri.rules import NumericCondition
from frri.rules.text import condition_texts


def senseless_conditions(ruleset, table, *, is_exact=False):
    """Return a sentence for each condition that makes no sense.

    A condition must hold fully for a value within the range of its column, must not contradict another
    condition of its rule, and must have no fraction in a column of integers. With `is_exact` only its core
    is checked for fractions: slopes of FRRI end as in the paper.
    """
    found = []
    kinds = {attribute.name: attribute.kind for attribute in ruleset.attributes}
    for number, rule in enumerate(ruleset, start=1):
        texts = condition_texts(ruleset, rule)
        where = f"rule {number}: {' AND '.join(texts)}"
        ranges = {}
        for condition in rule.conditions:
            if (
                not isinstance(condition, NumericCondition)
                or kinds[condition.attribute] != "numeric"
            ):
                continue
            name = condition.attribute
            values = np.asarray(table[name], dtype=float)
            values = values[~np.isnan(values)]
            low, high = condition.core_low, condition.core_high
            if low > values.max() or high < values.min():
                found.append(f"outside the data, {where}")
            bounds = (low, high) if is_exact else condition.trapezoid
            finite = [bound for bound in bounds if np.isfinite(bound)]
            if (values % 1 == 0).all() and any(bound % 1 for bound in finite):
                found.append(f"a fraction of integers, {where}")
            if {*values} == {0.0, 1.0} and low != high and not is_exact:
                found.append(f"a bound instead of = 0 or = 1, {where}")
            before = ranges.get(name, (-np.inf, np.inf))
            ranges[name] = max(low, before[0]), min(high, before[1])
        found += [f"a contradiction, {where}" for low, high in ranges.values() if low > high]
        if len(texts) > len({c.attribute for c in rule.conditions}):
            found.append(f"two conditions for a column, {where}")
    return found

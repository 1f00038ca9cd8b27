"""Conditions of a fitted model that make no sense to a person who knows the training table.

`senseless_conditions` is used by tests and by benchmarks. It takes the rules and the table that they were
learned from, and judges what is printed as well as what is evaluated.
"""

import numpy as np

from frri.rules import NumericCondition
from frri.rules.text import condition_texts


def senseless_conditions(ruleset, table, *, is_exact=False):
    """A sentence for each condition without sense; an empty list is what is wanted.

    A condition must hold fully for a value within the range of its column, must not contradict another
    condition of its rule, and must have no fraction in a column of integers. With `is_exact` only its core
    is checked for fractions: slopes of strict FRRI end where the paper has them end.
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

"""How much of what rules say rests on each attribute."""

from typing import TYPE_CHECKING

import numpy as np

from frri._util import Floats

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet


def attribute_shares(ruleset: "RuleSet") -> Floats:
    """The share of each attribute in what the rules say; without data, and without any chance in it.

    A rule counts for its weight times what it covered in training, or, where it adds a number, for the
    size of that number. It divides this evenly among the attributes that it uses.

    Parameters
    ----------
    ruleset : RuleSet

    Returns
    -------
    ndarray of shape (n_attributes,)
        Sums to 1; all 0 if no rule that counts has a condition.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> a, b = (NumericCondition.below(name, 3) for name in "ab")
    >>> rules = (Rule((a,), 0, 0.5), Rule((a, b), 1))
    >>> attribute_shares(RuleSet(rules, (Attribute("a"), Attribute("b")), (0, 1))).round(2)
    array([0.67, 0.33])
    """
    place = {attribute.name: j for j, attribute in enumerate(ruleset.attributes)}
    meaning = ruleset.semantics.meaning
    adds = meaning.adds and meaning.says == "number"
    shares = np.zeros(len(place))
    for rule in ruleset:
        covered = 1.0 if rule.statistics is None else rule.statistics.covered
        size = abs(float(rule.consequent)) if adds else 1.0
        for name in rule.attributes:
            shares[place[name]] += rule.weight * covered * size / len(rule.attributes)
    total = shares.sum()
    return np.asarray(shares / total) if total > 0.0 else shares

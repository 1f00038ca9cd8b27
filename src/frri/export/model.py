"""The part of a saved ruleset that programs need to evaluate it."""

from typing import Any

from frri.rules.ruleset import RuleSet

_OF_RULES = ("if", "then", "weight", "distribution", "partial_weights", "votes", "relation")


def evaluated_model(ruleset: RuleSet) -> dict[str, Any]:
    """The saved form without history and statistics.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "no", 0.9, source=7)
    >>> evaluated_model(RuleSet((rule,), (Attribute("age"),), ("no", "yes")))["rules"][0].keys()
    dict_keys(['if', 'then', 'weight'])
    """
    content = ruleset.to_dict()
    del content["about"]
    content["rules"] = [
        {key: rule[key] for key in _OF_RULES if key in rule} for rule in content["rules"]
    ]
    return content


def written_model(content: dict[str, Any], write: Any) -> str:
    """A dictionary literal with an attribute and a rule per line, values written by `write`.

    Examples
    --------
    >>> print(written_model({"target": "class", "rules": [1, 2]}, repr))
    {
      'target': 'class',
      'rules': [
        1,
        2,
      ],
    }
    """
    lines = ["{"]
    for key, value in content.items():
        if key in {"attributes", "rules"} and value:
            lines.append(f"  {write(key)}: [")
            lines += [f"    {write(item)}," for item in value]
            lines.append("  ],")
        else:
            lines.append(f"  {write(key)}: {write(value)},")
    return "\n".join([*lines, "}"])

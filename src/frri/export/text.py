"""Rules as plain text: one sentence, one line each."""

from frri.export.quoting import one_line
from frri.rules.ruleset import RuleSet
from frri.rules.text import ruleset_lines


def to_text(ruleset: RuleSet) -> str:
    r"""One line per rule; line breaks and terminal codes in names are shown as spaces.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "no", 0.9)
    >>> print(to_text(RuleSet((rule,), (Attribute("age"),), ("no", "yes"))))
    IF age < 30 THEN class = no   [confidence 0.90]
    """
    return "\n".join(map(one_line, ruleset_lines(ruleset)))


def numbered_lines(ruleset: RuleSet) -> list[str]:
    """The same lines with the numbers of the rules in front; what follows the rules has none.

    Examples
    --------
    >>> from frri import Rule
    >>> numbered_lines(RuleSet((Rule((), 2.5),), (), (), semantics="added-contributions"))
    ['1. ALWAYS class +2.5', 'BASE class 0']
    """
    lines = to_text(ruleset).splitlines()
    numbers = [f"{r}. " for r in range(1, len(ruleset) + 1)] + [""] * (len(lines) - len(ruleset))
    return [number + line for number, line in zip(numbers, lines, strict=True)]

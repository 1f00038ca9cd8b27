"""Rules merged into more general ones, for a page on which a reader opens what is of interest."""

from typing import Any

from frri._util import Positions
from frri.rules import RuleSet
from frri.rules.hierarchy import SUPPORTED, Hierarchy, RuleNode
from frri.rules.rule import label_array
from frri.rules.text import rule_sentence
from frri.table import EncodedTable

# Merging compares all pairs of rules again and again, and more than this nobody opens one by one.
MOST_RULES = 60


def merged_rules(
    ruleset: RuleSet, table: EncodedTable, classes: Positions
) -> list[dict[str, Any]] | None:
    """The roots of `RuleSet.hierarchy`, each with what is below it; None where nothing can be merged.

    Parameters
    ----------
    ruleset : RuleSet
    table : EncodedTable
        Rows.
    classes : ndarray of int
        The positions of their classes.

    Returns
    -------
    list of dict or None
        Each with its sentence (`text`), the position of its class (`class`), how many rows it covers
        (`covered`) and which share of them rightly (`precision`), the positions of the `rules` that it
        stands for, and its `children`.

    Examples
    --------
    >>> import numpy as np
    >>> from frri import Attribute, NumericCondition, Rule
    >>> conditions = NumericCondition.below("a", 3), NumericCondition.below("a", 4)
    >>> rules = RuleSet(tuple(Rule((c,), 0) for c in conditions), (Attribute("a", 0, 9),), (0, 1))
    >>> table = EncodedTable(np.arange(9.0).reshape(-1, 1), rules.attributes)
    >>> (root,) = merged_rules(rules, table, (np.arange(9) > 3).astype(int))
    >>> root["text"], root["covered"], root["precision"], root["rules"]
    ('IF a < 4 THEN class = 0', 4, 1.0, [0, 1])
    """
    if len(ruleset) > MOST_RULES or not SUPPORTED.accepts(ruleset.semantics):
        return None
    tree = ruleset.hierarchy(table, label_array(ruleset.classes)[classes])
    if not any(root.children for root in tree.roots):
        return None
    return [_node(tree, root) for root in tree.roots]


def _node(tree: Hierarchy, node: RuleNode) -> dict[str, Any]:
    """What is shown, and no more of `Hierarchy.to_dict`: a page is mailed."""
    return {
        "text": rule_sentence(tree.ruleset, node.rule),
        "class": tree.ruleset.classes.index(node.rule.consequent),
        "covered": round(node.covered),
        "precision": node.precision,
        "rules": list(node.rules),
        "children": [_node(tree, child) for child in node.children],
    }

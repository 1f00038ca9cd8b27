"""A model in a notebook: the page in a frame of its own, so that neither can break the other."""

from html import escape

from frri.report.facts import SUPPORTED
from frri.report.page import report_html
from frri.rules import RuleSet
from frri.rules.text import ruleset_html

HEIGHT = 720


def notebook_html(ruleset: RuleSet) -> str:
    """The page in a sandboxed frame, and the plain table for viewers that leave frames out.

    Rules with a meaning that the page does not know yet are shown as the table alone.

    Parameters
    ----------
    ruleset : RuleSet

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a", 0, 9),), (0, 1))
    >>> notebook_html(rules)[:50]
    '<iframe title="Rules for class" sandbox="allow-scr...'
    """
    table = ruleset_html(ruleset)
    if not SUPPORTED.accepts(ruleset.semantics):
        return table
    page = escape(report_html(ruleset))
    title = escape(f"Rules for {ruleset.target}")
    return (
        f'<iframe title="{title}" sandbox="allow-scripts allow-downloads" '
        f'style="width:100%;height:{HEIGHT}px;border:1px solid #8884;border-radius:8px" '
        f'srcdoc="{page}"></iframe>'
        f"<details><summary>Rules as a plain table</summary>{table}</details>"
    )

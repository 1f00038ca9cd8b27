"""The facts about a model as one HTML file that needs nothing else, not even a network."""

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any

from frri import __version__
from frri._util import import_optional, write_atomically
from frri.report.bundle import page_script, page_style
from frri.report.facts import MAX_ROWS, SUPPORTED, facts
from frri.report.headline import number_shower, opening, recognised
from frri.rules import RuleSet
from frri.rules.text import rule_text, ruleset_html

TABS = (
    ("rules", "Rules"),
    ("what-if", "What-if"),
    ("cases", "Cases"),
    ("overview", "Overview"),
    ("edit", "Edit"),
)


def write_report(
    ruleset: RuleSet,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    max_rows: int = MAX_ROWS,
    names: Any = None,
    stability: Any = None,
) -> None:
    """Write the page about a model to a file, whole or not at all.

    Parameters
    ----------
    ruleset : RuleSet or fitted learner
    path : path
    X : array-like or data frame, optional
        Rows to show the rules on: training rows or, for an honest accuracy, others.
    y : array-like, optional
        Their classes, or their numbers.
    max_rows : int, default=5000
        As many rows are embedded at most; of more, a random sample is.
    names : sequence, optional
        What the rows are called, one name per row; by default they are numbered.
    stability : Stability, optional
        What `frri.compare.stability` found out about these rules: how often each comes back.

    Examples
    --------
    >>> import tempfile
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a", 0, 9),), (0, 1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(rules, f"{folder}/report.html", [[1], [2], [4]], [0, 1, 1])
    """
    write_atomically(
        path, report_html(ruleset, X, y, max_rows=max_rows, names=names, stability=stability)
    )


def report_html(
    ruleset: RuleSet,
    X: Any = None,
    y: Any = None,
    *,
    max_rows: int = MAX_ROWS,
    names: Any = None,
    stability: Any = None,
) -> str:
    """The page about a model as a text.

    Parameters
    ----------
    ruleset : RuleSet or fitted learner
    X, y : array-like or data frame, optional
        Rows to show the rules on, and their classes or numbers.
    max_rows : int, default=5000
    names : sequence, optional
        What the rows are called.
    stability : Stability, optional
        How often each rule comes back in resamples.

    Returns
    -------
    str
        A whole HTML document.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a", 0, 9),), (0, 1))
    >>> "default-src &#39;none&#39;" in report_html(rules)
    True
    """
    rules: RuleSet = getattr(ruleset, "ruleset_", ruleset)
    known = facts(rules, X, y, max_rows=max_rows, names=names, stability=stability)
    return render(known, rules)


def render(known: Mapping[str, Any], ruleset: RuleSet) -> str:
    """The page that shows the facts about a model.

    Parameters
    ----------
    known : mapping
        What `facts` returned.
    ruleset : RuleSet
    """
    jinja2 = import_optional("jinja2", "The page", "report")
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    source = files("frri").joinpath("report/template.html").read_text(encoding="utf-8")
    script, style = page_script(), page_style()
    page: str = environment.from_string(source).render(
        policy=_policy(script, style),
        version=__version__,
        title=f"Rules for {ruleset.target}",
        learner=known["overview"]["learner"] or "rules",
        edits=ruleset.about.get("edits"),
        target=ruleset.target,
        opening=opening(known),
        figures=_figures(known),
        tabs=TABS,
        kind="classes" if known["numbers"] is None else "numbers",
        sentences=[rule_text(ruleset, rule) for rule in ruleset],
        sampled=_sampled(known["data"]),
        # Checked in: these two are files of this package.
        script=Markup(script),  # noqa: S704
        style=Markup(style),  # noqa: S704
        facts=Markup(embeddable(known)),  # noqa: S704 - no character of markup is left in it
    )
    return page


def embeddable(content: Any) -> str:
    r"""JSON without any character that could end the script element which holds it.

    Examples
    --------
    >>> print(embeddable({"name": "</script><b>&"}))
    {"name":"\u003c/script\u003e\u003cb\u003e\u0026"}
    """
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(script: str, style: str) -> str:
    """Nothing may be fetched, and nothing may run or style but what this file was written with."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _sampled(data: Mapping[str, Any] | None) -> str:
    if data is None or not data["sampled"]:
        return ""
    return f"{data['n_embedded']:,} of {data['n_rows']:,} rows are embedded, drawn at random"


def _figures(known: Mapping[str, Any]) -> list[dict[str, str]]:
    """The numbers at the head of the page."""
    overview, measured = known["overview"], known["performance"]
    proof = overview["proof"] or {}
    n_rules, n_conditions = overview["n_rules"], overview["n_conditions"]
    # Files of the first version have no claim: there was only one.
    notes = {"optimal": f"proved to be {proof.get('claim', 'the fewest')}"}
    bounded = f"at least {proof['lower_bound']} needed" if "lower_bound" in proof else ""
    figures = [
        _figure("Rules", f"{n_rules:,}", notes.get(str(proof.get("status")), bounded)),
        _figure(
            "Conditions",
            f"{n_conditions / n_rules:.1f}" if n_rules else "0",
            "per rule",
        ),
    ]
    if known["numbers"] is not None:
        return [*figures, *_number_figures(known)]
    if measured is not None:
        share = f"{measured['accuracy']:.1%}".replace("%", " %")
        figures.append(_figure("Accuracy", share, recognised(known)))
    if overview["n_training"] is None:
        return [*figures, _figure("Classes", f"{len(known['model']['classes']):,}", "")]
    learned = _figure("Learned from", f"{overview['n_training']:,.7g}", "rows")
    return [*figures[:2], learned, *figures[2:]]


def _number_figures(known: Mapping[str, Any]) -> list[dict[str, str]]:
    measured, n_training = known["performance"], known["overview"]["n_training"]
    figures = []
    if n_training is not None:
        figures.append(_figure("Learned from", f"{n_training:,.7g}", "rows"))
    if measured is not None:
        note = f"on average, of {measured['rows']:,} given rows"
        figures.append(_figure("Off by", number_shower(known)(measured["mae"]), note))
    return figures


def _figure(title: str, value: str, note: str) -> dict[str, str]:
    return {"title": title, "value": value, "note": note}


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

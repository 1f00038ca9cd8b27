"""The report of a model as one HTML file that needs no other file and no network."""

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from frri import __version__
from frri._util import import_optional, write_atomically
from frri.report.facts import MAX_ROWS, SUPPORTED, facts
from frri.report.headline import headline, key_figures
from frri.rules import RuleSet
from frri.rules.text import rule_text, ruleset_html

TABS = (
    ("rules", "Rules"),
    ("what-if", "What-if"),
    ("cases", "Cases"),
    ("overview", "Overview"),
    ("edit", "Edit"),
)
# Pixels of the page in a notebook.
HEIGHT = 720


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
    """Write the page of a model to a file, completely or not at all.

    Parameters
    ----------
    ruleset : RuleSet or fitted estimator
    path : path
    X : array-like or data frame, optional
        Samples to show the rules on: those of the training or, for an unbiased accuracy, others.
    y : array-like, optional
        Their classes, or their numbers.
    max_rows : int, default=5000
        Maximum number of embedded samples; of more, a random subset is embedded.
    names : sequence, optional
        Names of the samples; by default they are numbered.
    stability : Stability, optional
        Result of `frri.compare.stability` for these rules.

    Examples
    --------
    >>> import tempfile
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("a", 3),), 0)
    >>> rules = RuleSet((rule,), (Attribute("a", 0, 9),), (0, 1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(rules, f"{folder}/report.html", [[1], [2], [4]], [0, 1, 1])
    """
    write_atomically(
        path, report_html(ruleset, X, y, max_rows=max_rows, names=names, stability=stability)
    )


def report_html(ruleset: RuleSet, X: Any = None, y: Any = None, **options: Any) -> str:
    """Return the page of a model as a string.

    Parameters
    ----------
    ruleset : RuleSet or fitted estimator
    X, y : array-like or data frame, optional
        Samples to show the rules on, and their classes or numbers.
    **options
        `max_rows`, `names` and `stability`, as in `write_report`.

    Returns
    -------
    str
        A complete HTML document.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("a", 3),), 0)
    >>> "default-src &#39;none&#39;" in report_html(RuleSet((rule,), (Attribute("a"),), (0, 1)))
    True
    """
    rules: RuleSet = getattr(ruleset, "ruleset_", ruleset)
    return render(facts(rules, X, y, **options), rules)


def render(known: Mapping[str, Any], ruleset: RuleSet) -> str:
    """Return the page that shows facts.

    Parameters
    ----------
    known : mapping
        Result of `facts`.
    ruleset : RuleSet
    """
    jinja2 = import_optional("jinja2", "The page", "report")
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    script, style = (_read(name) for name in ("page.js", "page.css"))
    page: str = environment.from_string(_read("template.html")).render(
        policy=_policy(script, style),
        version=__version__,
        title=f"Rules for {ruleset.target}",
        learner=known["overview"]["learner"] or "rules",
        edits=ruleset.about.get("edits"),
        target=ruleset.target,
        opening=headline(known),
        figures=key_figures(known),
        tabs=TABS,
        kind="classes" if known["numbers"] is None else "numbers",
        sentences=[rule_text(ruleset, rule) for rule in ruleset],
        sampled=_sampled(known["data"]),
        # Both are files of this package.
        script=Markup(script),  # noqa: S704
        style=Markup(style),  # noqa: S704
        facts=Markup(to_embedded_json(known)),  # noqa: S704 - no character of markup is left in it
    )
    return page


def notebook_html(ruleset: RuleSet) -> str:
    """Return the page in a sandboxed frame, and the plain table for viewers without frames.

    Rules of semantics that the page does not support are shown as the table alone.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("a", 3),), 0)
    >>> notebook_html(RuleSet((rule,), (Attribute("a", 0, 9),), (0, 1)))[:50]
    '<iframe title="Rules for class" sandbox="allow-scr...'
    """
    table = ruleset_html(ruleset)
    if not SUPPORTED.accepts(ruleset.semantics):
        return table
    title = escape(f"Rules for {ruleset.target}")
    return (
        f'<iframe title="{title}" sandbox="allow-scripts allow-downloads" '
        f'style="width:100%;height:{HEIGHT}px;border:1px solid #8884;border-radius:8px" '
        f'srcdoc="{escape(report_html(ruleset))}"></iframe>'
        f"<details><summary>Rules as a plain table</summary>{table}</details>"
    )


def to_embedded_json(content: Any) -> str:
    r"""Return JSON without any character that could end the script element around it.

    Examples
    --------
    >>> print(to_embedded_json({"name": "</script><b>&"}))
    {"name":"\u003c/script\u003e\u003cb\u003e\u0026"}
    """
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _read(name: str) -> str:
    """Read a file of this package; `make page` bundles the scripts and the style sheets."""
    return files("frri.report").joinpath(name).read_text(encoding="utf-8")


def _policy(script: str, style: str) -> str:
    """Return a policy that allows the script and the style of the page and no requests."""
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

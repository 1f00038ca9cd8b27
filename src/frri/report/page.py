"""The report of a model as one HTML file that needs no other file and no network."""

import base64
import hashlib
import json
import os
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from frri import __version__
from frri._util import import_optional, write_atomically
from frri.report.facts import facts
from frri.rules import RuleSet
from frri.rules.text import isolate, rule_text, ruleset_html
from frri.table import Attribute

TABS = [(text.lower(), text) for text in ("Rules", "What-if", "Cases", "Overview")]
# Rules that are listed where scripts may not run, at most.
MOST_PLAIN = 100
# Pixels of the page in a notebook.
HEIGHT = 720


def write_report(
    ruleset: RuleSet, path: str | os.PathLike[str], X: Any = None, y: Any = None, **options: Any
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
    fixed : collection of str, optional
        Features that cannot change, such as age: no counterfactual explanation changes them.
    title : str, optional
        Title of the page, for example the question that the model answers.
    unit : str, default="rows"
        Plural noun for the samples in the headline, such as "patients".

    Examples
    --------
    >>> import tempfile
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("a", 3),), 0)
    >>> rules = RuleSet((rule,), (Attribute("a", 0, 9),), (0, 1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(rules, f"{folder}/report.html", [[1], [2], [4]], [0, 1, 1])
    """
    write_atomically(path, report_html(ruleset, X, y, **options))


def report_html(
    ruleset: RuleSet,
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
    unit: str = "rows",
    **options: Any,
) -> str:
    """Return the page of a model as a string, a complete HTML document.

    Parameters
    ----------
    ruleset : RuleSet or fitted estimator
    X, y : array-like or data frame, optional
        Samples to show the rules on, and their classes or numbers.
    title, unit, **options
        As in `write_report`.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("a", 3),), 0)
    >>> "default-src &#39;none&#39;" in report_html(RuleSet((rule,), (Attribute("a"),), (0, 1)))
    True
    """
    jinja2 = import_optional("jinja2", "The page", "report")
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    rules: RuleSet = getattr(ruleset, "ruleset_", ruleset)
    known = facts(rules, X, y, **options)
    data, sampled = known["data"], ""
    if data is not None and data["sampled"]:
        sampled = f"{data['n_embedded']:,} of {data['n_rows']:,} rows are embedded, drawn at random"
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    script, style = (_read(name) for name in ("page.js", "page.css"))
    page: str = environment.from_string(_read("template.html")).render(
        policy=(
            f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
            "img-src data:; base-uri 'none'; form-action 'none'"
        ),
        version=__version__,
        title=title,
        learner=known["overview"]["learner"] or "rules",
        edits=rules.about.get("edits"),
        target=rules.target,
        opening=headline(known, unit),
        tabs=TABS,
        kind="classes" if known["numbers"] is None else "numbers",
        sentences=[rule_text(rules, rule) for rule in rules.rules[:MOST_PLAIN]],
        n_more=max(len(rules) - MOST_PLAIN, 0),
        sampled=sampled,
        # Both are files of this package.
        script=Markup(script),  # noqa: S704
        style=Markup(style),  # noqa: S704
        facts=encode_facts(known),
    )
    return page


def notebook_html(ruleset: RuleSet) -> str:
    """Return the page in a sandboxed frame, and the plain table for viewers without frames."""
    table = ruleset_html(ruleset)
    title = escape(f"Rules for {ruleset.target}")
    return (
        f'<iframe title="{title}" sandbox="allow-scripts allow-downloads" '
        f'style="width:100%;height:{HEIGHT}px;border:1px solid #8884;border-radius:8px" '
        f'srcdoc="{escape(report_html(ruleset))}"></iframe>'
        f"<details><summary>Rules as a plain table</summary>{table}</details>"
    )


def encode_facts(content: Any) -> str:
    """Return facts as base64 of their deflated JSON: no character can end the element around it."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    packed = zlib.compress(text.encode("utf-8", "surrogatepass"), 9)
    return base64.b64encode(packed).decode("ascii")


@cache
def _read(name: str) -> str:
    """Read a file of this package; `make page` bundles the scripts and the style sheets."""
    return files("frri.report").joinpath(name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def headline(known: Mapping[str, Any], unit: str = "rows") -> str:
    r"""Return the sentences that open the page, from the result of `frri.report.facts`.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> rule = Rule((NumericCondition.below("a", 3),), "x")
    >>> rules = RuleSet((rule,), (Attribute("a", 0, 9),), ("x", "y"))
    >>> print(headline(facts(rules, [[1], [4]], ["x", "y"])))
    1 rule. On the 2 given rows 50 of 100 are classified correctly (9 to 91); majority class x: 50.
    """
    overview, measured = known["overview"], known["performance"]
    estimate = overview["evaluation"]
    count = f"{overview['n_rules']:,} {'rule' if overview['n_rules'] == 1 else 'rules'}"
    if overview["n_training"] is not None:
        count += f" from {overview['n_training']:,.7g} {unit}"
    if estimate is not None and overview["is_training"] is not False:
        return f"{count}. {_held_out(known, estimate, unit)}"
    if measured is None:
        need = "labels" if known["numbers"] is None else "target values"
        return f"{count}. Add rows with {need} to measure the accuracy."
    if overview["is_training"]:
        return (
            f"{count}. Accuracy on new data is unknown: these are the training rows, "
            "whose results are in Overview."
        )
    whose = "new" if overview["is_training"] is False else "given"
    if known["numbers"] is not None:
        show = number_format(known)
        sentence = (
            f"On the {measured['rows']:,} {whose} {unit} the mean absolute error is "
            f"{show(measured['mae'])} (R² {measured['r2']:.2f}); "
            f"predicting the mean {show(measured['mean'])}: {show(measured['mean_mae'])}."
        )
    else:
        majority, fraction = measured["always"]
        low, high = measured["interval"]
        sentence = (
            f"On the {known['data']['n_rows']:,} {whose} {unit} "
            f"{100 * measured['accuracy']:.0f} of 100 are classified correctly "
            f"({100 * low:.0f} to {100 * high:.0f}); "
            f"majority class {isolate(known['model']['classes'][majority])}: {100 * fraction:.0f}."
        )
    if overview["is_training"] is None and overview["n_training"] is not None:
        sentence += " If the rules were learned from them, results on new data are worse."
    return f"{count}. {sentence}"


def _held_out(known: Mapping[str, Any], estimate: Mapping[str, Any], unit: str) -> str:
    """Return the held-out estimate that came with the model as a sentence."""
    score, baseline = estimate["score"], estimate["baseline"]
    low, high = estimate["interval"]
    if estimate["measure"] == "accuracy":
        answer = f" {isolate(baseline['answer'])}" if "answer" in baseline else ""
        return (
            f"On new data about {_of_100(score)} of 100 {unit} are classified correctly "
            f"({_of_100(low)} to {_of_100(high)}); majority class{answer}: "
            f"{_of_100(baseline['score'])}."
        )
    measure = "R²" if estimate["measure"] == "R2" else estimate["measure"]
    result = f"{measure} {score:.2f} ({low:.2f} to {high:.2f})"
    if "error" not in estimate:
        return f"On new data {result}; constant prediction: {baseline['score']:.2f}."
    is_number = known["numbers"] is not None
    show = number_format(known) if is_number else "{:.2f} classes".format
    without = f"{'mean' if is_number else 'median class'}: {show(baseline.get('error', 0.0))}"
    without = f" (predicting the {without})" if "error" in baseline else ""
    error = f"predictions are off by {show(estimate['error'])} on average"
    return f"On new data {error}{without}; {result}."


def _of_100(fraction: float) -> str:
    """Return a fraction in percent, rounded as `frri fit` rounds it."""
    return f"{100 * float(f'{fraction:.2f}'):.0f}"


def number_format(known: Mapping[str, Any]) -> Callable[[float], str]:
    """Return the function that writes predicted numbers, to three more places than their range."""
    show = Attribute("number", known["numbers"]["low"], known["numbers"]["high"]).show
    return lambda value: show(value).replace("-", "\N{MINUS SIGN}")

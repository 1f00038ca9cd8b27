"""The report of a model as one HTML file that needs no other file and no network."""

import base64
import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from math import floor
from typing import Any

from frri import __version__
from frri._util import import_optional, write_atomically
from frri.report.facts import facts
from frri.rules import RuleSet
from frri.rules.evaluation import evaluation_text
from frri.rules.text import isolate, rule_text, ruleset_html
from frri.table import Attribute

TABS = [(text.lower(), text) for text in ("Rules", "What-if", "Cases", "Overview", "Edit")]
# A smaller number of rules is named if it loses no more accuracy than this.
LOSS = 0.01
# Of more classes, only the least and the most often recognized ones are named.
MOST_CLASSES = 4
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


def report_html(ruleset: RuleSet, X: Any = None, y: Any = None, **options: Any) -> str:
    """Return the page of a model as a string, a complete HTML document.

    Parameters
    ----------
    ruleset : RuleSet or fitted estimator
    X, y : array-like or data frame, optional
        Samples to show the rules on, and their classes or numbers.
    **options
        `max_rows`, `names` and `stability`, as in `write_report`.

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
        title=f"Rules for {rules.target}",
        learner=known["overview"]["learner"] or "rules",
        edits=rules.about.get("edits"),
        target=rules.target,
        opening=headline(known),
        figures=key_figures(known),
        tabs=TABS,
        kind="classes" if known["numbers"] is None else "numbers",
        sentences=[rule_text(rules, rule) for rule in rules],
        sampled=sampled,
        # Both are files of this package.
        script=Markup(script),  # noqa: S704
        style=Markup(style),  # noqa: S704
        facts=Markup(to_embedded_json(known)),  # noqa: S704 - no character of markup is left in it
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


def to_embedded_json(content: Any) -> str:
    """Return JSON without any character that could end the script element around it."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _read(name: str) -> str:
    """Read a file of this package; `make page` bundles the scripts and the style sheets."""
    return files("frri.report").joinpath(name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def headline(known: Mapping[str, Any]) -> str:
    r"""Return the sentence that opens the page, from the result of `frri.report.facts`.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> rule = Rule((NumericCondition.below("a", 3),), "x")
    >>> rules = RuleSet((rule,), (Attribute("a", 0, 9),), ("x", "y"))
    >>> headline(facts(rules, [[1], [2], [4]], ["x", "x", "y"])).replace("\u00a0", " ")
    '1 rule, right on 67 % of 3 given rows (95 % interval 21 to 94); always answering x: 67 %.'
    """
    overview, measured = known["overview"], known["performance"]
    rules = _counted(overview["n_rules"], "rule")
    if _is_held_out(overview):
        return f"{rules}. {evaluation_text(overview['evaluation'])}".replace(" %", "\u00a0%")
    if measured is None:
        good = "how good it is" if overview["n_rules"] == 1 else "how good they are"
        what = "class" if known["numbers"] is None else "number"
        return f"{rules}; {good} can be told with rows whose {what} is known."
    if known["numbers"] is not None:
        show, verb = number_format(known), "predicted"
        quality = (
            f"{rules}, off by {show(measured['mae'])} on average "
            f"on {_counted(measured['rows'], 'given row')} (R2 {measured['r2']:.2f})"
        )
        mean, off = show(measured["mean"]), show(measured["mean_mae"])
        baseline = f"always answering the mean {mean}: off by {off}"
    else:
        verb = "decided"
        low, high = (round(100 * end) for end in measured["interval"])
        whose = {True: "training", False: "new"}.get(overview["is_training"], "given")
        majority, fraction = measured["always"]
        quality = (
            f"{rules}, right on {percent(measured['accuracy'])} of "
            f"{_counted(known['data']['n_rows'], f'{whose} row')} (95 % interval {low} to {high})"
        )
        label = known["model"]["classes"][majority]
        baseline = f"always answering {isolate(label)}: {percent(fraction)}"
    caution = ""
    if overview["is_training"]:
        caution = f" Rows not seen in training will be {verb} less well."
    elif overview["is_training"] is None and overview["n_training"] is not None:
        caution = f" If the rules were learned from these rows, others will be {verb} less well."
    sentence = f"{'; '.join([quality, baseline, *_fewer(known)])}.{caution}"
    # A number and its sign stay on one line.
    return sentence.replace(" %", "\u00a0%")


def _is_held_out(overview: Mapping[str, Any]) -> bool:
    """Return whether the page opens with the held-out estimate of the model.

    It does unless the given rows are known to be others than those of the training.
    """
    return overview["evaluation"] is not None and overview["is_training"] is not False


def key_figures(known: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the numbers at the head of the page, each with a title and a note."""
    overview, measured = known["overview"], known["performance"]
    proof = overview["proof"] or {}
    n_rules, n_conditions = overview["n_rules"], overview["n_conditions"]
    note = f"at least {proof['lower_bound']} needed" if "lower_bound" in proof else ""
    if proof.get("status") == "optimal":
        # Files of the first version have no claim: there was only one.
        note = f"proved to be {proof.get('claim', 'the fewest')}"
    figures = [
        ("Rules", f"{n_rules:,}", note),
        ("Conditions", f"{n_conditions / n_rules:.1f}" if n_rules else "0", "per rule"),
    ]
    if overview["n_training"] is not None:
        figures.append(("Learned from", f"{overview['n_training']:,.7g}", "rows"))
    if _is_held_out(overview):
        estimate = overview["evaluation"]
        score = f"{estimate['score']:.2f}"
        figures.append((estimate["measure"].capitalize(), score, "on held-out rows"))
    elif measured is not None and known["numbers"] is not None:
        note = f"on average, of {measured['rows']:,} given rows"
        figures.append(("Off by", number_format(known)(measured["mae"]), note))
    elif measured is not None:
        accuracy = f"{measured['accuracy']:.1%}".replace("%", " %")
        figures.append(("Accuracy", accuracy, recognized(known)))
    if overview["n_training"] is None and known["numbers"] is None:
        figures.append(("Classes", f"{len(known['model']['classes']):,}", ""))
    return [{"title": title, "value": value, "note": note} for title, value, note in figures]


def recognized(known: Mapping[str, Any]) -> str:
    """Return the recall of each class; of many classes the lowest and the highest."""
    rows, hits = Counter[int](), Counter[int]()
    for truth, decided, count in known["performance"]["confusion"]:
        rows[truth] += count
        hits[truth] += count * (truth == decided)
    recalls = [(c, hits[c] / rows[c]) for c in sorted(rows)]
    joint = ", "
    if len(recalls) > MOST_CLASSES:
        ascending = sorted(recalls, key=lambda one: one[1])
        recalls, joint = [ascending[0], ascending[-1]], " to "
    labels = known["model"]["classes"]
    return joint.join(f"of {isolate(labels[c])}: {percent(recall)}" for c, recall in recalls)


def percent(fraction: float) -> str:
    """Return a percentage; halves are rounded up, as in the views of the page.

    Examples
    --------
    >>> percent(0.678), percent(0.945), percent(0.0321), percent(0.0)
    ('68 %', '95 %', '3.2 %', '0 %')
    """
    if 0 < fraction < 0.0995:
        return f"{100 * fraction:.1f} %"
    return f"{floor(100 * fraction + 0.5)} %"


def number_format(known: Mapping[str, Any]) -> Callable[[float], str]:
    """Return the function that writes predicted numbers, to three more places than their range."""
    show = Attribute("number", known["numbers"]["low"], known["numbers"]["high"]).show
    return lambda value: show(value).replace("-", "\N{MINUS SIGN}")


def _fewer(known: Mapping[str, Any]) -> list[str]:
    """Return the smallest number of rules that is about as good, if it is at most half of them."""
    curve, numbers = known["curve"] or [], known["numbers"] is not None

    def is_enough(one: Mapping[str, Any]) -> bool:
        if numbers:
            return bool(one["mae"] <= curve[-1]["mae"] * (1 + LOSS))
        return bool(one["accuracy"] >= curve[-1]["accuracy"] - LOSS)

    best = next(filter(is_enough, curve[:-1]), None)
    if best is None or not 0 < 2 * best["n_rules"] <= known["overview"]["n_rules"]:
        return []
    which = "first" if known["model"]["semantics"]["name"] == "first-match" else "broadest"
    count = f"{which} rule" if best["n_rules"] == 1 else f"{best['n_rules']:,} {which} rules"
    quality = number_format(known)(best["mae"]) if numbers else percent(best["accuracy"])
    return [f"the {count} alone: {quality}"]


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

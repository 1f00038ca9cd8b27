"""Pictures of rules, with matplotlib (`pip install frri[plot]`).

Every function draws into the axes it is given or makes a figure of its own, and returns the figure.
Colours are those of Okabe and Ito, which people with any kind of colour vision can tell apart.
"""

from math import inf
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from frri._util import Flags, Floats, import_optional
from frri.pareto.frontier import Frontier
from frri.rules import NominalCondition, NumericCondition, Rule, RuleSet
from frri.rules.rule import as_labels
from frri.rules.rule_statistics import quality
from frri.rules.text import conclusion_text, condition_text
from frri.table import Attribute, to_matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# In the order of the page's classes; of yellow a shade that can be seen on white.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#CFC01F", "#000000")
MARKERS = "os^Dv<>P"
GREY = "#777777"


def plot_rule(ruleset: RuleSet, index: int, X: Any = None, y: Any = None) -> "Figure":
    """A rule: the membership of each of its conditions over the distribution of the attribute.

    Parameters
    ----------
    ruleset : RuleSet
    index : int
        The rule's position.
    X, y : table and labels, optional
        Objects whose distributions are drawn, by class if there are labels.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a", 0, 9),), (0, 1))
    >>> len(plot_rule(rules, 0).axes)
    1
    """
    _matplotlib()
    rule = ruleset[index]
    names = rule.attributes
    if not names:
        raise ValueError(f"Rule {index} has no conditions to draw.")
    columns = {attribute.name: j for j, attribute in enumerate(ruleset.attributes)}
    matrix = None if X is None else to_matrix(X, ruleset.attributes)
    groups = _groups(ruleset, matrix, y)
    across = 2 if len(names) == 4 else min(len(names), 3)
    down = -(-len(names) // across)
    figure = _figure((4.2 * across, 2.9 * down + 1.1))
    said = conclusion_text(ruleset, rule)
    title = f"Rule {index}: THEN {said}   (confidence {rule.weight:.2f})"
    figure.suptitle(title, fontsize=12)
    for position, name in enumerate(names):
        axes = figure.add_subplot(down, across, position + 1)
        attribute = ruleset.attributes[columns[name]]
        values = (
            []
            if matrix is None
            else [(label, matrix[rows, columns[name]]) for label, rows in groups]
        )
        _draw_attribute(axes, attribute, rule, values, ruleset)
    if matrix is not None and y is not None:
        _legend(figure, ruleset)
    return figure


def plot_rules(ruleset: RuleSet, X: Any = None, y: Any = None, *, most: int = 30) -> "Figure":
    """The rules as bars: what share they cover, and their precision with its confidence interval.

    Parameters
    ----------
    ruleset : RuleSet
    X, y : table and labels, optional
        By default the statistics from training.
    most : int
        How many rules to draw at most, those that cover most.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a", 0, 9),), (0, 1))
    >>> len(plot_rules(rules, [[1], [2], [8]], [0, 0, 1]).axes)
    2
    """
    _matplotlib()
    found = sorted(quality(ruleset, X, y), key=lambda one: -one.coverage)[:most]
    if not found:
        raise ValueError("There are no rules to draw.")
    height = max(2.2, 0.3 * len(found) + 1.4)
    figure = _figure((9.0, height))
    left = figure.add_subplot(1, 2, 1)
    right = figure.add_subplot(1, 2, 2, sharey=left)
    places = np.arange(len(found))
    colours = [_colour(ruleset, ruleset[one.rule].consequent) for one in found]
    left.barh(places, [100 * one.coverage for one in found], color=colours, height=0.7)
    left.set_xlabel("covers, % of rows")
    left.set_yticks(places, [f"rule {one.rule}" for one in found])
    left.invert_yaxis()
    for place, colour, one in zip(places, colours, found, strict=True):
        if one.precision is not None and one.low is not None and one.high is not None:
            right.plot([100 * one.low, 100 * one.high], [place, place], color=colour, linewidth=2)
            right.plot(100 * one.precision, place, "o", color=colour, markersize=6)
    right.set_xlim(-3, 103)
    right.set_xlabel("precision, % with 95 % interval")
    right.tick_params(labelleft=False)
    for axes in (left, right):
        axes.grid(axis="x", color="#dddddd", linewidth=0.7)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    shown = (
        f"the {len(found)} of {len(ruleset)} that cover most" if len(found) < len(ruleset) else ""
    )
    figure.suptitle(f"Rules for {ruleset.target}" + (f" ({shown})" if shown else ""), fontsize=12)
    _legend(figure, ruleset)
    return figure


def plot_map(
    ruleset: RuleSet, x: str, y: str, X: Any = None, labels: Any = None, *, most: int = 40
) -> "Figure":
    """Two attributes: the cores (filled) and supports (dashed) of the rules as boxes, objects as marks.

    Parameters
    ----------
    ruleset : RuleSet
    x, y : str
        Attributes with an order; rules that use neither of them are left out.
    X, labels : table and labels, optional
        Objects to draw.
    most : int
        How many rules to draw at most, those with the greatest weight.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> attributes = Attribute("a", 0, 9), Attribute("b", 0, 1)
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), attributes, (0, 1))
    >>> len(plot_map(rules, "a", "b").axes)
    1
    """
    _matplotlib()
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - optional

    chosen = [_ordered(ruleset, name) for name in (x, y)]
    figure = _figure((6.4, 5.6))
    axes = figure.add_subplot()
    spans = [_span(attribute, ruleset) for _, attribute in chosen]
    users = [rule for rule in ruleset if {x, y} & set(rule.attributes)]
    for rule in sorted(users, key=lambda rule: -rule.weight)[:most]:
        colour = _colour(ruleset, rule.consequent)
        for which, style in (
            ("core", {"facecolor": (colour, 0.2), "linewidth": 1.5}),
            ("support", {"facecolor": "none", "linewidth": 1.0, "linestyle": "--"}),
        ):
            left, right = _interval(rule, x, spans[0], which)
            low, high = _interval(rule, y, spans[1], which)
            box = Rectangle((left, low), right - left, high - low, edgecolor=colour)
            box.update(style)
            axes.add_patch(box)
    if X is not None:
        matrix = to_matrix(X, ruleset.attributes)
        for label, rows in _groups(ruleset, matrix, labels):
            c = None if label is None else ruleset.classes.index(label)
            axes.scatter(
                matrix[rows, chosen[0][0]],
                matrix[rows, chosen[1][0]],
                s=16,
                marker="o" if c is None else MARKERS[c % len(MARKERS)],
                color=GREY if c is None else COLOURS[c % len(COLOURS)],
                edgecolors="white",
                linewidths=0.4,
                zorder=3,
            )
    axes.set_xlim(*_padded(spans[0]))
    axes.set_ylim(*_padded(spans[1]))
    _ticks(axes.xaxis, chosen[0][1])
    _ticks(axes.yaxis, chosen[1][1])
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"Rules for {ruleset.target}: full match filled, reach dashed", fontsize=12)
    _legend(figure, ruleset, MARKERS)
    return figure


def plot_sizes(learner: Any) -> "Figure":
    """Score by number of rules, with one standard error each way, and the size that was chosen.

    Parameters
    ----------
    learner : estimator
        Fitted with ``max_rules="1se"``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from frri import CompactFRRIClassifier
    >>> clf = CompactFRRIClassifier(max_rules="1se").fit(*load_iris(return_X_y=True))
    >>> len(plot_sizes(clf).axes)
    1
    """
    _matplotlib()
    path = getattr(learner, "path_", None)
    if path is None:
        raise ValueError('There are no sizes to draw: fit the learner with max_rules="1se".')
    figure = _figure((6.4, 3.8))
    axes = figure.add_subplot()
    axes.errorbar(
        path.sizes, path.scores, yerr=path.errors, color=COLOURS[0], marker="o", capsize=3
    )
    near = path.score_of(path.best) - path.errors[path.sizes.index(path.best)]
    axes.axhline(near, color=GREY, linestyle="--", linewidth=1)
    axes.plot(
        path.chosen, path.score_of(path.chosen), "o", color=COLOURS[1], markersize=11, zorder=3
    )
    axes.set_xscale("log")
    axes.set_xticks(path.sizes, [str(size) for size in path.sizes])
    axes.minorticks_off()
    axes.set_xlabel("at most so many rules")
    axes.set_ylabel(path.measure)
    axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"{path.chosen} rules are within one standard error of the best", fontsize=12)
    return figure


def plot_frontier(frontier: Frontier) -> "Figure":
    """The fewest errors found for each number of rules, and the errors below which there is proved to be none.

    Parameters
    ----------
    frontier : Frontier
        What `frri.frontier` returns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from frri import RIPPERClassifier, frontier
    >>> X, y = load_iris(return_X_y=True)
    >>> pool = RIPPERClassifier(random_state=0).fit(X, y).ruleset_
    >>> len(plot_frontier(frontier(pool, X, y)).axes)
    1
    """
    _matplotlib()
    sizes = [point.at_most for point in frontier.points]
    found, proved = ([getattr(p, what) for p in frontier.points] for what in ("errors", "bound"))
    figure = _figure((6.4, 3.8))
    axes = figure.add_subplot()
    axes.plot(sizes, found, color=COLOURS[0], marker="o", label="found")
    axes.plot(sizes, proved, color=GREY, marker="_", linestyle="--", label="proved: no fewer")
    axes.fill_between(sizes, proved, found, color=GREY, alpha=0.15, linewidth=0)
    axes.set_xticks(sizes)
    axes.set_xlabel("at most so many rules")
    axes.set_ylabel(f"errors on {frontier.n_objects:,} objects")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.suptitle(f"The best of {len(frontier.pool):,} rules", fontsize=12)
    return figure


def _matplotlib() -> None:
    import_optional("matplotlib", "Drawing rules", "plot")


def _figure(size: tuple[float, float]) -> "Figure":
    """A figure without pyplot: nothing is shown or kept behind the caller's back."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - optional
    from matplotlib.figure import Figure  # noqa: PLC0415 - optional

    figure = Figure(figsize=size, layout="constrained", dpi=110)
    FigureCanvasAgg(figure)
    return figure


def _colour(ruleset: RuleSet, label: Any) -> str:
    # Rules that say numbers share a colour.
    position = ruleset.classes.index(label) if label in ruleset.classes else 0
    return COLOURS[position % len(COLOURS)]


def _groups(ruleset: RuleSet, matrix: Floats | None, labels: Any) -> list[tuple[Any, Flags]]:
    """Rows by class; all together without labels."""
    if matrix is None:
        return []
    if labels is None:
        return [(None, np.ones(len(matrix), dtype=bool))]
    values = as_labels(labels)
    if values.shape != (len(matrix),):
        raise ValueError(f"Expected {len(matrix)} labels, one per row, got shape {values.shape}.")
    return [(label, values == label) for label in ruleset.classes]


def _draw_attribute(
    axes: "Axes", attribute: Attribute, rule: Rule, values: list[Any], ruleset: RuleSet
) -> None:
    conditions = [c for c in rule.conditions if c.attribute == attribute.name]
    texts = [condition_text(c, attribute, ruleset.clip) for c in conditions]
    axes.set_title(fill(" AND ".join(texts), 42), fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    data = [column[~np.isnan(column)] for _, column in values]
    shades = [GREY if label is None else _colour(ruleset, label) for label, _ in values]
    if attribute.kind == "nominal":
        _draw_categories(axes, attribute, conditions, data, shades)
        return
    low, high = _span(attribute, ruleset)
    if any(len(column) for column in data):
        bins: Any = np.linspace(low, high, 21)
        if attribute.kind == "ordinal":
            bins = np.arange(len(attribute.categories or ()) + 1) - 0.5
        clipped = [np.clip(column, low, high) for column in data]
        axes.hist(clipped, bins=bins, stacked=True, color=shades, alpha=0.75)
    axes.set_ylabel("objects" if data else "membership")
    ends = [b for c in conditions if isinstance(c, NumericCondition) for b in c.trapezoid]
    near = np.array([end for end in ends if low <= end <= high])
    beside = np.nextafter(near, inf), np.nextafter(near, -inf)
    grid = np.sort(np.concatenate([np.linspace(low, high, 501), near, *beside]))
    membership = np.min([c.membership(grid) for c in conditions], axis=0)
    over = axes.twinx() if data else axes
    if data:
        over.spines[["top"]].set_visible(False)
        over.set_ylabel("membership")
    over.plot(grid, membership, color="black", linewidth=2)
    over.set_ylim(0, 1.08)
    over.set_yticks([0, 0.5, 1])
    _ticks(axes.xaxis, attribute)
    axes.set_xlim(low, high)


def _draw_categories(
    axes: "Axes", attribute: Attribute, conditions: list[Any], data: list[Floats], shades: list[str]
) -> None:
    """Bars of the categories; those that the rule allows have a black frame."""
    categories = attribute.categories or ()
    allowed = [
        all(category in c.values for c in conditions if isinstance(c, NominalCondition))
        for category in categories
    ]
    places = np.arange(len(categories))
    counts = [[int((column == code).sum()) for code in places] for column in data] or [
        [1] * len(places)
    ]
    base = np.zeros(len(places))
    for count, shade in zip(counts, shades or [GREY], strict=True):
        axes.bar(places, count, bottom=base, color=shade, alpha=0.75)
        base += np.array(count)
    for place, inside in zip(places, allowed, strict=True):
        if inside:
            axes.bar(place, base[place], fill=False, edgecolor="black", linewidth=1.8)
    axes.set_ylabel("objects" if data else "")
    if not data:
        axes.set_yticks([])
    _ticks(axes.xaxis, attribute)
    names = [
        f"{name} ✓" if inside else name for name, inside in zip(categories, allowed, strict=True)
    ]
    axes.set_xticks(places, [fill(name, 12) for name in names], fontsize=8)
    axes.tick_params(axis="x", rotation=30 if len(categories) > 4 else 0)


def _ordered(ruleset: RuleSet, name: str) -> tuple[int, Attribute]:
    for j, attribute in enumerate(ruleset.attributes):
        if attribute.name == name:
            if attribute.kind == "nominal":
                raise ValueError(f"Attribute {name!r} has no order; a map needs two that have one.")
            return j, attribute
    known = ", ".join(attribute.name for attribute in ruleset.attributes)
    raise ValueError(f"There is no attribute {name!r}; there are {known}.")


def _span(attribute: Attribute, ruleset: RuleSet) -> tuple[float, float]:
    """The training range; without one, what the conditions speak of."""
    low, high = attribute.low, attribute.high
    if attribute.kind == "ordinal":
        return low - 0.5, high + 0.5
    ends = [
        end
        for rule in ruleset
        for c in rule.conditions
        if isinstance(c, NumericCondition) and c.attribute == attribute.name
        for end in c.trapezoid
        if abs(end) < inf
    ]
    low = low if low > -inf else min(ends, default=0.0) - 1.0
    high = high if high < inf else max(ends, default=0.0) + 1.0
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _padded(span: tuple[float, float]) -> tuple[float, float]:
    low, high = span
    return low - 0.03 * (high - low), high + 0.03 * (high - low)


def _interval(rule: Rule, name: str, span: tuple[float, float], which: str) -> tuple[float, float]:
    """Where all conditions of a rule on an attribute hold, fully or at all, within a span."""
    low, high = span
    for c in rule.conditions:
        if isinstance(c, NumericCondition) and c.attribute == name:
            low = max(low, c.core_low if which == "core" else c.support_low)
            high = min(high, c.core_high if which == "core" else c.support_high)
    return low, max(low, high)


def _ticks(axis: Any, attribute: Attribute) -> None:
    """Categories by name, dates as dates."""
    if attribute.categories is not None:
        axis.set_ticks(range(len(attribute.categories)), list(attribute.categories))
    elif attribute.kind == "date":
        from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - optional

        axis.set_major_locator(MaxNLocator(3))
        axis.set_tick_params(labelsize=8)
        axis.set_major_formatter(lambda value, _: attribute.show(float(np.floor(value))))


def _legend(figure: "Figure", ruleset: RuleSet, markers: str = "s") -> None:
    """The classes below the picture."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 - optional

    marks = [
        Line2D(
            [], [], marker=markers[c % len(markers)], color=COLOURS[c % len(COLOURS)], linestyle=""
        )
        for c in range(len(ruleset.classes))
    ]
    names = [f"{ruleset.target} = {label}" for label in ruleset.classes]
    figure.legend(
        marks,
        names,
        loc="outside lower center",
        ncols=min(4, len(names)),
        frameon=False,
        fontsize=9,
    )

"""Plots of rules, with matplotlib (`pip install frri[plot]`).

Every function returns a new figure, which is neither shown nor kept by pyplot. The colors are those
of Okabe and Ito, which people with any kind of color vision can distinguish.
"""

from math import inf
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frri._util import Floats, import_optional
from frri.explain.bounds import value_range
from frri.rules import NumericCondition, Rule, RuleSet
from frri.rules.rule import as_labels
from frri.rules.rule_statistics import quality
from frri.rules.text import conclusion_text, condition_text
from frri.table import Attribute, to_matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# In the order of the classes of the report; the yellow is dark enough to be seen on white.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#CFC01F", "#000000")
MARKERS = "os^Dv<>P"
GRAY = "#777777"


def plot_rule(ruleset: RuleSet, index: int, X: Any = None, y: Any = None) -> "Figure":
    """Plot the membership function of each condition of a rule over its feature's distribution.

    Parameters
    ----------
    ruleset : RuleSet
    index : int
        Position of the rule.
    X, y : table and labels, optional
        Samples whose distributions are drawn, by class if there are labels.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("a", 3),), 0)
    >>> len(plot_rule(RuleSet((rule,), (Attribute("a", 0, 9),), (0, 1)), 0).axes)
    1
    """
    rule = ruleset[index]
    names = rule.attributes
    if not names:
        raise ValueError(f"Rule {index} has no conditions to draw.")
    groups = _split_by_class(ruleset, X, y)
    n_columns = 2 if len(names) == 4 else min(len(names), 3)
    n_rows = -(-len(names) // n_columns)
    conclusion = conclusion_text(ruleset, rule)
    title = f"Rule {index}: THEN {conclusion}   (confidence {rule.weight:.2f})"
    figure = _make_figure(4.2 * n_columns, 2.9 * n_rows + 1.1, title)
    positions = {attribute.name: j for j, attribute in enumerate(ruleset.attributes)}
    for position, name in enumerate(names):
        axes = _add_axes(figure, n_rows, n_columns, position + 1)
        _draw_feature(axes, ruleset, rule, positions[name], groups)
    if X is not None and y is not None:
        _add_legend(figure, ruleset)
    return figure


def plot_rules(ruleset: RuleSet, X: Any = None, y: Any = None, *, most: int = 30) -> "Figure":
    """Plot the coverage of rules as bars, and their precision with its confidence interval.

    Parameters
    ----------
    ruleset : RuleSet
    X, y : table and labels, optional
        By default the statistics from training.
    most : int
        Maximum number of rules to draw, those with the largest coverage.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("a", 3),), 0)
    >>> rules = RuleSet((rule,), (Attribute("a", 0, 9),), (0, 1))
    >>> len(plot_rules(rules, [[1], [2], [8]], [0, 0, 1]).axes)
    2
    """
    import_optional("matplotlib", "Drawing rules", "plot")
    shown = sorted(quality(ruleset, X, y), key=lambda one: -one.coverage)[:most]
    if not shown:
        raise ValueError("There are no rules to draw.")
    title = f"Rules for {ruleset.target}"
    if len(shown) < len(ruleset):
        title += f" (the {len(shown)} of {len(ruleset)} that cover most)"
    figure = _make_figure(9.0, max(2.2, 0.3 * len(shown) + 1.4), title)
    left = _add_axes(figure, 1, 2, 1)
    right = _add_axes(figure, 1, 2, 2, sharey=left)
    places = np.arange(len(shown))
    colors = [_class_color(ruleset, ruleset[one.rule].consequent) for one in shown]
    left.barh(places, [100 * one.coverage for one in shown], color=colors, height=0.7)
    left.set_xlabel("covers, % of rows")
    left.set_yticks(places, [f"rule {one.rule}" for one in shown])
    left.invert_yaxis()
    for place, color, one in zip(places, colors, shown, strict=True):
        if one.precision is not None and one.low is not None and one.high is not None:
            right.plot([100 * one.low, 100 * one.high], [place, place], color=color, linewidth=2)
            right.plot(100 * one.precision, place, "o", color=color, markersize=6)
    right.set_xlim(-3, 103)
    right.set_xlabel("precision, % with 95 % interval")
    right.tick_params(labelleft=False)
    for axes in (left, right):
        axes.grid(axis="x", color="#dddddd", linewidth=0.7)
        axes.set_axisbelow(True)
    _add_legend(figure, ruleset)
    return figure


def plot_map(
    ruleset: RuleSet, x: str, y: str, X: Any = None, labels: Any = None, *, most: int = 40
) -> "Figure":
    """Plot the cores (filled) and supports (dashed) of rules over two features, and samples.

    Parameters
    ----------
    ruleset : RuleSet
    x, y : str
        Names of features with an order; rules that use neither of them are left out.
    X, labels : table and labels, optional
        Samples to draw.
    most : int
        Maximum number of rules to draw, those with the greatest weight.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> attributes = Attribute("a", 0, 9), Attribute("b", 0, 1)
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), attributes, (0, 1))
    >>> len(plot_map(rules, "a", "b").axes)
    1
    """
    columns = [_find_ordered(ruleset, name) for name in (x, y)]
    spans = [_axis_range(ruleset, j) for j in columns]
    title = f"Rules for {ruleset.target}: full match filled, reach dashed"
    figure = _make_figure(6.4, 5.6, title)
    axes = _add_axes(figure)
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - optional

    users = [rule for rule in ruleset if {x, y} & set(rule.attributes)]
    for rule in sorted(users, key=lambda rule: -rule.weight)[:most]:
        color = _class_color(ruleset, rule.consequent)
        core: dict[str, Any] = {"facecolor": (color, 0.2), "linewidth": 1.5}
        support: dict[str, Any] = {"facecolor": "none", "linewidth": 1.0, "linestyle": "--"}
        for part, style in (("core", core), ("support", support)):
            left, right = _interval(rule, x, spans[0], part)
            low, high = _interval(rule, y, spans[1], part)
            box = Rectangle((left, low), right - left, high - low, edgecolor=color, **style)
            axes.add_patch(box)
    points: dict[str, Any] = {"s": 16, "edgecolors": "white", "linewidths": 0.4, "zorder": 3}
    for group in _split_by_class(ruleset, X, labels):
        places = group.matrix[:, columns].T
        axes.scatter(*places, marker=group.marker, color=group.color, **points)
    for axis, j, (low, high) in zip((axes.xaxis, axes.yaxis), columns, spans, strict=True):
        margin = 0.03 * (high - low)
        set_limits = axes.set_xlim if axis is axes.xaxis else axes.set_ylim
        set_limits(low - margin, high + margin)
        _set_ticks(axis, ruleset.attributes[j])
        axis.set_label_text(ruleset.attributes[j].name)
    _add_legend(figure, ruleset, MARKERS)
    return figure


# ------------------------------------------------------------------ figures
def _make_figure(width: float, height: float, title: str) -> "Figure":
    """Make a figure without pyplot, which would show or keep it."""
    import_optional("matplotlib", "Drawing rules", "plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - optional
    from matplotlib.figure import Figure  # noqa: PLC0415 - optional

    figure = Figure(figsize=(width, height), layout="constrained", dpi=110)
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=12)
    return figure


def _add_axes(figure: "Figure", *position: int, **options: Any) -> "Axes":
    axes: Axes = figure.add_subplot(*position, **options)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _set_ticks(axis: Any, attribute: Attribute) -> None:
    """Label categories by name and dates as dates."""
    if attribute.categories is not None:
        axis.set_ticks(range(len(attribute.categories)), list(attribute.categories))
    elif attribute.kind == "date":
        from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - optional

        axis.set_major_locator(MaxNLocator(3))
        axis.set_tick_params(labelsize=8)
        axis.set_major_formatter(lambda value, _: attribute.show(float(np.floor(value))))


def _add_legend(figure: "Figure", ruleset: RuleSet, markers: str = "s") -> None:
    """List the classes below the plot."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 - optional

    handles = [
        Line2D([], [], marker=markers[c % len(markers)], color=COLORS[c % len(COLORS)], ls="")
        for c in range(len(ruleset.classes))
    ]
    names = [f"{ruleset.target} = {label}" for label in ruleset.classes]
    place: dict[str, Any] = {"loc": "outside lower center", "ncols": min(4, len(names))}
    figure.legend(handles, names, frameon=False, fontsize=9, **place)


# ------------------------------------------------------------------ samples and features
class _Group(NamedTuple):
    """Samples of one class, or all of them."""

    color: str
    marker: str
    matrix: Floats


def _split_by_class(ruleset: RuleSet, X: Any, labels: Any) -> list[_Group]:
    """Return encoded samples by class; all together without labels, nothing without samples."""
    if X is None:
        return []
    matrix = to_matrix(X, ruleset.attributes)
    if labels is None:
        return [_Group(GRAY, "o", matrix)]
    values = as_labels(labels, len(matrix))
    return [
        _Group(COLORS[c % len(COLORS)], MARKERS[c % len(MARKERS)], matrix[values == label])
        for c, label in enumerate(ruleset.classes)
    ]


def _class_color(ruleset: RuleSet, label: Any) -> str:
    # Rules that predict numbers share a color.
    position = ruleset.classes.index(label) if label in ruleset.classes else 0
    return COLORS[position % len(COLORS)]


def _draw_feature(axes: "Axes", ruleset: RuleSet, rule: Rule, j: int, groups: list[_Group]) -> None:
    """Draw the conditions of a rule on one feature over the distribution of the samples."""
    attribute = ruleset.attributes[j]
    conditions = [c for c in rule.conditions if c.attribute == attribute.name]
    texts = [condition_text(c, attribute, ruleset.clip) for c in conditions]
    axes.set_title(fill(" AND ".join(texts), 42), fontsize=9)
    data = [group.matrix[:, j][~np.isnan(group.matrix[:, j])] for group in groups]
    colors = [group.color for group in groups]
    if attribute.kind == "nominal":
        _draw_categories(axes, attribute, conditions, data, colors)
        return
    low, high = _axis_range(ruleset, j)
    if any(len(column) for column in data):
        bins: Any = np.linspace(low, high, 21)
        if attribute.kind == "ordinal":
            bins = np.arange(len(attribute.categories or ()) + 1) - 0.5
        clipped = [np.clip(column, low, high) for column in data]
        axes.hist(clipped, bins=bins, stacked=True, color=colors, alpha=0.75)
    axes.set_ylabel("samples" if data else "membership")
    ends = [b for c in conditions if isinstance(c, NumericCondition) for b in c.trapezoid]
    bends = np.array([end for end in ends if low <= end <= high])
    beside = np.nextafter(bends, inf), np.nextafter(bends, -inf)
    grid = np.sort(np.concatenate([np.linspace(low, high, 501), bends, *beside]))
    membership = np.min([c.membership(grid) for c in conditions], axis=0)
    over = axes
    if data:
        over = axes.twinx()
        over.spines[["top"]].set_visible(False)
        over.set_ylabel("membership")
    over.plot(grid, membership, color="black", linewidth=2)
    over.set_ylim(0, 1.08)
    over.set_yticks([0, 0.5, 1])
    _set_ticks(axes.xaxis, attribute)
    axes.set_xlim(low, high)


def _draw_categories(
    axes: "Axes", attribute: Attribute, conditions: list[Any], data: list[Floats], colors: list[str]
) -> None:
    """Draw a bar for each category, with a black frame if the rule allows it."""
    categories = attribute.categories or ()
    allowed = [all(c.allows(category) for c in conditions) for category in categories]
    places = np.arange(len(categories))
    heights = np.zeros(len(places))
    counts = [np.array([(column == code).sum() for code in places]) for column in data]
    for count, color in zip(counts or [np.ones(len(places))], colors or [GRAY], strict=True):
        axes.bar(places, count, bottom=heights, color=color, alpha=0.75)
        heights += count
    framed = places[allowed]
    axes.bar(framed, heights[framed], fill=False, edgecolor="black", linewidth=1.8)
    axes.set_ylabel("samples" if data else "")
    if not data:
        axes.set_yticks([])
    marks = [" ✓" if inside else "" for inside in allowed]
    names = [fill(name + mark, 12) for name, mark in zip(categories, marks, strict=True)]
    axes.set_xticks(places, names, fontsize=8)
    axes.tick_params(axis="x", rotation=30 if len(categories) > 4 else 0)


def _find_ordered(ruleset: RuleSet, name: str) -> int:
    """Return the position of a feature that has an order."""
    names = [attribute.name for attribute in ruleset.attributes]
    if name not in names:
        raise ValueError(f"There is no attribute {name!r}; there are {', '.join(names)}.")
    if ruleset.attributes[names.index(name)].kind == "nominal":
        raise ValueError(f"Attribute {name!r} has no order; a map needs two that have one.")
    return names.index(name)


def _axis_range(ruleset: RuleSet, j: int) -> tuple[float, float]:
    """Return the range of values to draw, with half a step around categories."""
    low, high = value_range(ruleset, j)
    if ruleset.attributes[j].kind == "ordinal" or high <= low:
        return low - 0.5, high + 0.5
    return low, high


def _interval(rule: Rule, name: str, span: tuple[float, float], part: str) -> tuple[float, float]:
    """Return the core or the support of a rule on one feature, within a span."""
    low, high = span
    for c in rule.conditions:
        if isinstance(c, NumericCondition) and c.attribute == name:
            low = max(low, c.core_low if part == "core" else c.support_low)
            high = min(high, c.core_high if part == "core" else c.support_high)
    return low, max(low, high)

"""Draw the steps of FRRI: the box of a sample, the opened box, and a minimum-size cover.

The library computes everything in the figure.
"""

from math import inf

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from frri import ConditionType, FRRIClassifier, NumericCondition, Rule

# Okabe and Ito's blue and vermilion; the classes also differ in marker and line style.
STYLES = {"circle": ("#0072B2", "o", "-"), "square": ("#D55E00", "s", (0, (5, 2)))}
INK = "#222222"
LOW, HIGH = -0.06, 1.06

# The first circle is the sample whose box is shown. Both features range from 0 to 1.
CIRCLES = [(0.26, 0.7), (0.0, 0.9), (0.1, 0.62), (0.2, 0.97), (0.16, 0.42), (0.06, 0.17)]
CIRCLES += [(0.3, 0.3), (0.24, 0.04), (0.42, 0.13), (0.55, 0.0), (0.6, 0.22)]
SQUARES = [(0.5, 0.88), (0.52, 0.6), (0.63, 0.79), (0.6, 0.5), (0.78, 1.0), (0.84, 0.7)]
SQUARES += [(0.95, 0.86), (1.0, 0.55), (0.81, 0.43), (0.88, 0.24), (0.97, 0.06)]


def draw() -> Figure:
    """Draw three panels of the same samples: the box, the opened box and the cover."""
    X = np.array(CIRCLES + SQUARES)
    y = np.array(["circle"] * len(CIRCLES) + ["square"] * len(SQUARES))
    clf = FRRIClassifier().fit(X, y)
    similar = [ConditionType.SIMILAR, ConditionType.SIMILAR]
    panels = {
        "1  The box of a sample: no other class inside": ([rule_of(clf, X, similar)], [0]),
        "2  Opened while no other class gets in": ([rule_of(clf, X, clf.condition_types_[0])], [0]),
        f"3  Minimum-size cover: {len(clf.ruleset_)} of {len(X)} boxes": (
            clf.ruleset_.rules,
            clf.selected_,
        ),
    }
    figure = Figure(figsize=(11.4, 4.3), layout="constrained")
    for axes, (title, (rules, makers)) in zip(figure.subplots(1, 3), panels.items(), strict=True):
        axes.set_title(title, fontsize=13, loc="left", pad=9)
        for rule in rules:
            draw_rule(axes, rule, shades=8 if len(rules) == 1 else 1)
        for label, (color, marker, _) in STYLES.items():
            place = X[y == label].T
            axes.plot(*place, marker, color=color, markersize=7, markeredgecolor="white")
        axes.plot(*X[makers].T, "o", markersize=15, fillstyle="none", color=INK)
        draw_frame(axes)
    draw_confidence(figure.axes[0], X[0], clf.confidence_[0])
    return figure


def rule_of(clf: FRRIClassifier, X: np.ndarray, types: list[ConditionType]) -> Rule:
    """Return the rule of the first sample with conditions of these types."""
    reach, conditions = clf.confidence_[0], []
    for name, value, kind in zip(("x0", "x1"), X[0], types, strict=True):
        low = (value - reach, value) if kind & ConditionType.AT_LEAST else (-inf, -inf)
        high = (value, value + reach) if kind & ConditionType.AT_MOST else (inf, inf)
        conditions.append(NumericCondition(name, *low, *high))
    return Rule(tuple(conditions), "circle", reach)


def draw_rule(axes: Axes, rule: Rule, shades: int) -> None:
    """Draw the box that a rule covers, darker where its degree is higher."""
    color, _, line = STYLES[rule.consequent]
    trapezoids = {c.attribute: np.clip(c.trapezoid, LOW - 1, HIGH + 1) for c in rule.conditions}
    everything = np.array([LOW - 1, LOW - 1, HIGH + 1, HIGH + 1])
    across, up = (trapezoids.get(name, everything) for name in ("x0", "x1"))
    for degree in np.arange(shades) / shades:
        corners = [
            (end[0] + degree * (end[1] - end[0]), end[3] - degree * (end[3] - end[2]))
            for end in (across, up)
        ]
        (left, right), (bottom, top) = corners
        shape = Rectangle((left, bottom), right - left, top - bottom, linewidth=0)
        shape.set(facecolor=color, alpha=0.11 if shades == 1 else 0.05)
        axes.add_patch(shape)
    border = Rectangle((across[0], up[0]), across[3] - across[0], up[3] - up[0], fill=False)
    border.set(edgecolor=color, linewidth=1.7, linestyle=line)
    axes.add_patch(border)


def draw_confidence(axes: Axes, place: np.ndarray, reach: float) -> None:
    """Draw the half-width of a box: the distance to the nearest sample of another class."""
    x, level = place
    arrow = {"arrowstyle": "<->", "color": INK, "linewidth": 1.2, "shrinkA": 6, "shrinkB": 0}
    axes.annotate("", (x + reach, level), (x, level), arrowprops=arrow)
    axes.text(x, level - 0.13, f"weight {reach:.2f}", va="top", ha="center", color=INK, size=12)


def draw_frame(axes: Axes) -> None:
    """Draw the axes of two features, scaled by their ranges."""
    axes.set(xlim=(LOW, HIGH), ylim=(LOW, HIGH), aspect="equal")
    axes.set_xticks([0, 1], ["min", "max"])
    axes.set_yticks([0, 1], ["min", "max"], rotation=90, va="center")
    axes.set_xlabel("first feature", labelpad=-8, size=12)
    axes.set_ylabel("second feature", labelpad=-8, size=12)
    axes.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    draw().savefig("idea_picture.svg")

"""Figures of rules."""

import re
import sys
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

from frri import Attribute, NominalCondition, NumericCondition, Rule, RuleSet

pytest.importorskip("matplotlib")

from frri import plots

RULES = RuleSet(
    (
        Rule(
            (
                NominalCondition("colour", frozenset({"red", "blue"})),
                NumericCondition("day", 19200, 19300, 19500, 19800),
                NumericCondition("size", core_high=1, support_high=1),
            ),
            "yes",
            0.8,
        ),
        Rule((NumericCondition("day", 19000, 19100), NumericCondition("a", 1, 2, 2, 3)), "no", 0.4),
        Rule((), "no", 0.1),
    ),
    (
        Attribute("colour", categories=("blue", "green", "red")),
        Attribute("day", 19000.0, 20000.0, kind="date"),
        Attribute("size", categories=("S", "M", "L"), kind="ordinal"),
        Attribute("a"),
    ),
    ("no", "yes"),
    target="buys",
)
GENERATOR = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "colour": GENERATOR.choice(["blue", "green", "red"], 60),
        "day": pd.Timestamp("2022-01-08") + pd.to_timedelta(GENERATOR.integers(0, 1000, 60), "D"),
        "size": GENERATOR.choice(["S", "M", "L"], 60),
        "a": GENERATOR.random(60) * 4,
    }
)
LABELS = RULES.predict(TABLE)


@pytest.mark.parametrize("arguments", [(), (TABLE,), (TABLE, LABELS)])
def test_a_rule_is_drawn_condition_by_condition(arguments):
    figure = plots.plot_rule(RULES, 0, *arguments)
    figure.canvas.draw()
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert [title.split()[0] for title in titles[::2]] == ["colour", "size"]
    assert "yes" in figure.get_suptitle()


def test_a_tick_marks_the_categories_that_an_exclusion_allows():
    exclusion = NominalCondition("colour", frozenset({"red"}), excludes=True)
    figure = plots.plot_rule(replace(RULES, rules=(Rule((exclusion,), "yes"),)), 0)
    names = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert names == ["blue ✓", "green ✓", "red"]


def test_bars_show_coverage_and_precision():
    figure = plots.plot_rules(RULES, TABLE, LABELS, most=2)
    figure.canvas.draw()
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names[0] == "rule 2"
    assert len(names) == 2
    with pytest.raises(ValueError, match="no statistics"):
        plots.plot_rules(RULES)


def test_a_rule_that_covers_nothing_has_a_bar_but_no_precision():
    nothing = RULES.with_rule(Rule((NumericCondition("a", 1e6, 1e6),), RULES.classes[0]))
    before, after = (plots.plot_rules(rules, TABLE, LABELS).axes for rules in (RULES, nothing))
    assert len(after[0].patches) == len(before[0].patches) + 1
    assert len(after[1].lines) == len(before[1].lines)
    with pytest.raises(ValueError, match="no rules to draw"):
        plots.plot_rules(replace(RULES, rules=()), TABLE, LABELS)


@pytest.mark.parametrize("arguments", [(), (TABLE,), (TABLE, LABELS)])
def test_a_map_has_a_core_and_a_support_per_rule(arguments):
    figure = plots.plot_map(RULES, "day", "a", *arguments)
    figure.canvas.draw()
    assert len(figure.axes[0].patches) == 4


def test_no_labels_overlap():
    figure = plots.plot_rule(RULES, 0, TABLE, LABELS)
    figure.canvas.draw()
    for axes in figure.axes:
        boxes = [t.get_window_extent() for t in axes.get_xticklabels() if t.get_text()]
        inside = [b for b in boxes if axes.bbox.x0 <= (b.x0 + b.x1) / 2 <= axes.bbox.x1]
        for i, first in enumerate(inside):
            assert not any(first.overlaps(second) for second in inside[i + 1 :])


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plots.plot_rule(RULES, 2), "Rule 2 has no conditions"),
        (lambda: plots.plot_map(RULES, "colour", "a"), "'colour' has no order"),
        (lambda: plots.plot_map(RULES, "b", "a"), "no attribute 'b'"),
        (lambda: plots.plot_map(RULES, "day", "a", TABLE, LABELS[:3]), "Expected 60 labels"),
    ],
)
def test_figures_that_cannot_be_drawn(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_without_matplotlib_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'frri\[plot\]'"):
        plots.plot_rules(RULES)


def test_importing_the_library_does_not_import_matplotlib():
    import subprocess

    code = "import sys, frri, frri.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_classes_have_the_colors_of_the_page():
    style = files("frri.report").joinpath("static/style.css").read_text()
    light = style[: style.index("@media (prefers-color-scheme: dark)")]
    colours = re.findall(r"--c-\d: (#[0-9a-f]{6});", light)
    assert [colour.upper() for colour in colours] == list(plots.COLORS[: len(colours)])
    # All pairs of colors are distinguishable with red-green color blindness.
    for blind in BLIND.values():
        seen = [blind @ linear(colour) for colour in colours]
        for i, first in enumerate(seen):
            for second in seen[:i]:
                assert np.abs(first - second).max() > 0.06


def linear(colour):
    """Return the linear RGB values of a color."""
    values = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


# Viénot, Brettel and Mollon (1999): linear RGB values as seen by dichromats.
BLIND = {
    "protan": np.array(
        [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]]
    ),
    "deutan": np.array(
        [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]]
    ),
}

"""Figures of a comparison, each with its settings and versions on the lower edge.

The colors are those of Okabe and Ito, which people with any kind of color vision can distinguish;
each learner has a marker of its own as well, for print in black and white.
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from frri._util import Floats, Positions, import_optional
from frri.compare.evaluate import LEARNERS
from frri.compare.statistics import ALPHA, Comparison
from frri.table.columns import Column

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Inches.
WIDTH = 7.0

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "h", "p")

_SETTINGS = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "svg.hashsalt": "frri",
}


@dataclass(frozen=True, eq=False)
class Picture:
    """A finished figure: its name in file names, a caption, and the SVG file."""

    name: str
    caption: str
    svg: bytes


@dataclass(frozen=True)
class Painter:
    """Draw figures in one style.

    `labels` are the shown names of learners, `credit` has the settings, versions and seed for the
    lower edge.
    """

    labels: Mapping[str, str]
    credit: str

    def critical_difference(self, name: str, comparison: Comparison, what: str) -> Picture:
        """Draw average ranks on a line; learners without a significant difference are joined."""
        assert comparison.conover is not None  # noqa: S101 - drawn after a Friedman test only
        assert comparison.friedman is not None  # noqa: S101
        posthocs = import_optional("scikit_posthocs", "A figure", "bench")
        ranks = comparison.ranks.rename(self.labels)
        # Pairs are compared only where the Friedman test finds a difference at all.
        p_values = comparison.conover if comparison.significant else comparison.conover * 0.0 + 1.0
        figure, axes = self._canvas(1.4 + 0.25 * len(ranks))
        posthocs.critical_difference_diagram(
            ranks,
            p_values.rename(index=self.labels, columns=self.labels),
            alpha=ALPHA,
            ax=axes,
            label_fmt_left="{label}  {rank:.2f}",
            label_fmt_right="{rank:.2f}  {label}",
            color_palette={self.labels[one]: self._look(one)[0] for one in comparison.ranks.index},
        )
        caption = (
            f"Average ranks by {what} over {comparison.n_datasets} datasets, 1 is best. Learners "
            f"joined by a bar do not differ significantly (Conover, {comparison.correction} "
            f"correction, {ALPHA:.0%}). Friedman: chi-squared {comparison.friedman[0]:.1f}, "
            f"p = {comparison.friedman[1]:.2g}."
        )
        return self._finish(name, caption, figure)

    def trade_off(self, accuracy: Column, size: Column) -> Picture:
        """Draw balanced accuracy against number of rules, with the Pareto front."""
        figure, axes = self._canvas(4.2)
        known = [one for one in accuracy.index if accuracy[one] == accuracy[one] and size[one] > 0]
        points = np.array([[size[one], accuracy[one]] for one in known]).reshape(-1, 2)
        axes.plot(*points[pareto_front(points)].T, color="#999999", linewidth=1, linestyle="--")
        for learner, (x, y) in zip(known, points, strict=True):
            color, marker = self._look(learner)
            edge: dict[str, Any] = {"markeredgecolor": "white", "markeredgewidth": 0.5}
            axes.plot([x], [y], marker, linestyle="none", color=color, markersize=8, **edge)
            beside: dict[str, Any] = {"textcoords": "offset points", "xytext": (6, 3)}
            axes.annotate(self.labels[learner], (x, y), **beside, fontsize=8)
        axes.set_xscale("log")
        # Numbers of rules in full, not as powers of ten.
        for ticks in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
            ticks(lambda value, _: f"{value:,.7g}" if f"{value:e}"[0] in "1235" else "")
        axes.set_xlabel("rules, mean over the datasets (logarithmic)")
        axes.set_ylabel("balanced accuracy, mean over the datasets")
        axes.grid(color="#EEEEEE", which="major")
        axes.margins(0.15, 0.1)
        caption = (
            "Mean balanced accuracy against mean number of rules (leaves, for trees). The dashed "
            "line joins the learners that no other beats in both."
        )
        return self._finish("trade_off", caption, figure)

    def _look(self, learner: Any) -> tuple[str, str]:
        """Return color and marker, the same in every figure; added learners come last."""
        place = list(dict.fromkeys([*LEARNERS, *self.labels])).index(learner)
        return COLORS[place % len(COLORS)], MARKERS[place % len(MARKERS)]

    def _canvas(self, height: float) -> "tuple[Figure, Axes]":
        matplotlib = _matplotlib()
        with matplotlib.rc_context(_SETTINGS):
            # Without pyplot there is no global state to disturb.
            figure = matplotlib.figure.Figure(figsize=(WIDTH, height), layout="constrained")
            return figure, figure.subplots()

    def _finish(self, name: str, caption: str, figure: "Figure") -> Picture:
        figure.supxlabel(fill(self.credit, 150), fontsize=6, color="#555555")
        stream = io.BytesIO()
        with _matplotlib().rc_context(_SETTINGS):
            figure.savefig(stream, format="svg", metadata={"Date": None})
        return Picture(name, caption, stream.getvalue())


def pareto_front(points: Floats) -> Positions:
    """Return the points that no other is left of and above, from left to right.

    Small is good in the first column, large in the second.
    """
    order = np.lexsort((-points[:, 1], points[:, 0]))
    heights = points[order, 1]
    before = np.maximum.accumulate(np.concatenate([[-np.inf], heights]))[:-1]
    return np.asarray(order[heights > before])


def _matplotlib() -> Any:
    import_optional("matplotlib.figure", "A figure", "bench")
    return import_optional("matplotlib", "A figure", "bench")

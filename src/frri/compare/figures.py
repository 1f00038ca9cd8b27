"""Figures of a comparison: every one says on its lower edge what made it.

The colours are those of Okabe and Ito, which people with any kind of colour vision can tell apart; every
learner has a marker of its own as well, so that figures survive black-and-white print.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from frri._util import Floats, Ints, Positions, import_optional
from frri.compare.evaluate import LEARNERS
from frri.compare.statistics import ALPHA, Comparison

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Inches.
WIDTH = 7.0

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
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
    """A finished figure.

    Attributes
    ----------
    name : str
        For file names.
    caption : str
        What it shows, in a sentence or two.
    svg, png : bytes
    """

    name: str
    caption: str
    svg: bytes
    png: bytes


@dataclass(frozen=True)
class Painter:
    """Draws figures that look alike.

    Attributes
    ----------
    labels : mapping
        From the learners' names to those shown.
    credit : str
        Settings, versions and seed, for the lower edge.
    """

    labels: Mapping[str, str]
    credit: str

    def critical_difference(self, name: str, comparison: Comparison, what: str) -> Picture:
        """Average ranks on a line; learners between which no difference is proved are joined."""
        assert comparison.conover is not None  # noqa: S101 - drawn after a Friedman test only
        ranks = comparison.ranks.sort_values(kind="stable")
        n = len(ranks)
        half = (n + 1) // 2
        order = comparison.conover.loc[ranks.index, ranks.index].to_numpy()
        # Pairs are looked at only where the Friedman test finds a difference at all.
        bars = _cliques(ranks.to_numpy(), order if comparison.significant else np.ones((n, n)))
        depth = 0.55 + 0.22 * len(bars)
        figure, axes = self._canvas(1.3 + 0.22 * len(bars) + 0.3 * half)
        axes.set(
            xlim=(1 - 0.62 * (n - 1) / 2, n + 0.62 * (n - 1) / 2), ylim=(depth + 0.5 * half, -0.75)
        )
        axes.axis("off")
        axes.plot([1, n], [0, 0], color="black", linewidth=1)
        for tick in range(1, n + 1):
            axes.plot([tick, tick], [0, -0.12], color="black", linewidth=1)
            axes.text(tick, -0.22, str(tick), ha="center", va="bottom")
        margin = 0.06 * (n - 1)
        for i, (learner, rank) in enumerate(ranks.items()):
            left = i < half
            level = depth + 0.5 * (i if left else n - 1 - i)
            end = 1 - margin if left else n + margin
            axes.plot([rank, rank, end], [0, level, level], color="#555555", linewidth=0.8)
            axes.plot(
                [end], [level], self._marker(learner), color=self._colour(learner), markersize=7
            )
            text = (
                f"{self.labels[learner]}  {rank:.2f}"
                if left
                else f"{rank:.2f}  {self.labels[learner]}"
            )
            side = -1 if left else 1
            axes.text(
                end + side * margin / 2, level, text, ha="right" if left else "left", va="center"
            )
        for row, (best, worst) in enumerate(bars):
            height = 0.28 + 0.22 * row
            axes.plot([best - 0.02, worst + 0.02], [height, height], color="black", linewidth=3)
        assert comparison.friedman is not None  # noqa: S101
        caption = (
            f"Average ranks by {what} over {comparison.n_datasets} data sets, 1 is best. Learners joined "
            f"by a bar do not differ significantly (Conover, {comparison.correction} correction, "
            f"{ALPHA:.0%}). Friedman: chi-squared {comparison.friedman[0]:.1f}, "
            f"p = {comparison.friedman[1]:.2g}."
        )
        return self._finish(name, caption, figure)

    def dots(self, name: str, table: "pd.DataFrame", what: str) -> Picture:
        """One line per data set, one marker per learner."""
        figure, axes = self._canvas(1.6 + max(0.3, 0.07 * table.shape[1]) * len(table))
        heights = np.arange(len(table))[::-1]
        for height in heights[::2]:
            axes.axhspan(height - 0.5, height + 0.5, color="#F5F5F5", linewidth=0)
        # Side by side within a line, so that equal results do not hide each other.
        offsets = np.linspace(0.36, -0.36, len(table.columns)) if len(table.columns) > 1 else [0.0]
        for learner, offset in zip(table.columns, offsets, strict=True):
            axes.plot(
                table[learner],
                heights + offset,
                self._marker(learner),
                color=self._colour(learner),
                label=self.labels[learner],
                markersize=6,
                alpha=0.9,
                markeredgecolor="white",
                markeredgewidth=0.5,
                linestyle="none",
            )
        axes.set_yticks(heights, [str(d) for d in table.index])
        axes.set_xlabel(what)
        axes.grid(axis="x", color="#EEEEEE")
        axes.set_ylim(-0.5, len(table) - 0.5)
        self._legend(axes, len(table.columns))
        return self._finish(name, f"Mean {what} over the folds, per data set.", figure)

    def trade_off(
        self, name: str, accuracy: "pd.Series[float]", size: "pd.Series[float]", what: str
    ) -> Picture:
        """Accuracy against number of rules, with the learners that no other beats in both."""
        figure, axes = self._canvas(4.2)
        known = [l for l in accuracy.index if accuracy[l] == accuracy[l] and size[l] > 0]  # noqa: E741
        points = np.array([[size[l], accuracy[l]] for l in known]).reshape(-1, 2)  # noqa: E741
        front = pareto_front(points)
        axes.plot(*points[front].T, color="#999999", linewidth=1, linestyle="--", zorder=1)
        for learner, (x, y) in zip(known, points, strict=True):
            axes.plot(
                [x],
                [y],
                self._marker(learner),
                color=self._colour(learner),
                markersize=8,
                label=self.labels[learner],
                linestyle="none",
            )
        axes.set_xscale("log")
        # Numbers of rules as people write them, not as powers of ten.
        for ticks in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
            ticks(lambda value, _: f"{value:,.7g}" if f"{value:e}"[0] in "1235" else "")
        axes.set_xlabel("rules, mean over the data sets (logarithmic)")
        axes.set_ylabel(f"{what}, mean over the data sets")
        axes.grid(color="#EEEEEE", which="major")
        axes.margins(0.1)
        self._legend(axes, len(known))
        caption = (
            f"Mean {what} against mean number of rules (leaves, for trees). The dashed line joins the "
            "learners that no other beats in both."
        )
        return self._finish(name, caption, figure)

    def lengths(self, name: str, counts: Mapping[str, Ints]) -> Picture:
        """How long the rules of each learner are."""
        shown = {l: c for l, c in counts.items() if c[1:].sum() > 0}  # noqa: E741
        columns = min(len(shown), 3)
        rows = -(-len(shown) // columns)
        figure, grid = self._canvases(0.9 + 1.55 * rows, rows, columns)
        longest = max(_reach(c) for c in shown.values())
        for axes in grid[len(shown) :]:
            axes.axis("off")
        for axes, (learner, count) in zip(grid, shown.items(), strict=False):
            share = count[1:] / count[1:].sum()
            axes.bar(np.arange(1, len(count)), share, color=self._colour(learner), width=0.85)
            mean = float(share @ np.arange(1, len(count)))
            axes.set_title(f"{self.labels[learner]}, mean {mean:.1f}", fontsize=8)
            axes.set_xlim(0.4, longest + 0.6)
            axes.xaxis.set_major_locator(_matplotlib().ticker.MaxNLocator(integer=True))
            axes.yaxis.set_major_formatter(lambda v, _: f"{100 * v:.0f} %")
        for axes in grid[max(0, len(shown) - columns) : len(shown)]:
            axes.set_xlabel("conditions")
        caption = (
            "Share of rules by number of conditions, all folds and data sets together, default rules "
            f"left out. Lengths above {longest} (at most 1 % of a learner's rules) are not shown."
        )
        return self._finish(name, caption, figure)

    # ------------------------------------------------------------------ inside

    def _colour(self, learner: Any) -> str:
        return COLOURS[self._place(learner) % len(COLOURS)]

    def _marker(self, learner: Any) -> str:
        return MARKERS[self._place(learner) % len(MARKERS)]

    def _place(self, learner: Any) -> int:
        """A learner looks the same whoever it is compared with; those added come after the known ones."""
        if learner in LEARNERS:
            return LEARNERS.index(learner)
        added = [name for name in self.labels if name not in LEARNERS]
        return len(LEARNERS) + added.index(learner)

    def _canvas(self, height: float) -> "tuple[Figure, Axes]":
        figure, axes = self._canvases(height, 1, 1)
        return figure, axes[0]

    def _canvases(self, height: float, rows: int, columns: int) -> "tuple[Figure, Sequence[Axes]]":
        matplotlib = _matplotlib()
        with matplotlib.rc_context(_SETTINGS):
            # Without pyplot there is no global state to disturb.
            figure = matplotlib.figure.Figure(figsize=(WIDTH, height), layout="constrained")
            grid = figure.subplots(rows, columns, squeeze=False)
        return figure, list(grid.ravel())

    def _legend(self, axes: "Axes", n: int) -> None:
        figure = axes.figure
        figure.legend(loc="outside upper center", ncols=min(n, 4), frameon=False, fontsize=8)

    def _finish(self, name: str, caption: str, figure: "Figure") -> Picture:
        matplotlib = _matplotlib()
        figure.supxlabel(fill(self.credit, 150), fontsize=6, color="#555555")
        files = {}
        with matplotlib.rc_context(_SETTINGS):
            for kind, metadata in (("svg", {"Date": None}), ("png", {"Software": "frri"})):
                stream = io.BytesIO()
                figure.savefig(stream, format=kind, dpi=150, metadata=metadata)
                files[kind] = stream.getvalue()
        return Picture(name, caption, files["svg"], files["png"])


def pareto_front(points: Floats) -> Positions:
    """The points that no other is left of and above, from left to right.

    Parameters
    ----------
    points : array of shape (n, 2)
        Small is good in the first column, large in the second.

    Examples
    --------
    >>> pareto_front(np.array([[9, 0.7], [15, 0.71], [100, 0.70], [5, 0.5]])).tolist()
    [3, 0, 1]
    """
    front: list[int] = []
    for i in np.lexsort((-points[:, 1], points[:, 0])):
        if not front or points[i, 1] > points[front[-1], 1]:
            front.append(int(i))
    return np.array(front, dtype=np.intp)


def _cliques(ranks: Floats, p_values: Floats) -> list[tuple[float, float]]:
    """The longest runs of neighbours in rank of which no two differ significantly."""
    found: list[tuple[int, int]] = []
    for start in range(len(ranks)):
        end = start
        while end + 1 < len(ranks) and (p_values[start : end + 2, end + 1][:-1] >= ALPHA).all():
            end += 1
        if end > start and not any(s <= start and end <= e for s, e in found):
            found.append((start, end))
    return [(float(ranks[s]), float(ranks[e])) for s, e in found]


def _reach(counts: Ints) -> int:
    """The length that 99 % of the rules do not exceed."""
    share = np.cumsum(counts[1:]) / counts[1:].sum()
    return int(np.searchsorted(share, 0.99 - 1e-9)) + 1


def _matplotlib() -> Any:
    for module in ("matplotlib.figure", "matplotlib.ticker"):
        import_optional(module, "A figure", "bench")
    return import_optional("matplotlib", "A figure", "bench")

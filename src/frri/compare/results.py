"""Results of a run: from cells to one number per dataset and learner."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from frri._util import Ints, import_optional
from frri.compare.datasets import Dataset
from frri.compare.evaluate import FULL, Cell
from frri.compare.stability import similarity

if TYPE_CHECKING:
    import pandas as pd

COSTS = ("fit_seconds", "predict_seconds", "peak_memory_mb")


@dataclass(frozen=True, eq=False)
class Results:
    """The cells of a grid and summaries of them.

    Attributes
    ----------
    data : mapping
        Datasets by name.
    learners : sequence of str
    cells : sequence of dict
        In the order dataset, learner, fold.
    settings, versions : mapping
        Settings and versions of the run.
    not_run : mapping
        Pairs of dataset and learner that do not fit together, with the reason.
    """

    data: Mapping[str, Dataset]
    learners: Sequence[str]
    cells: Sequence[Cell]
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    not_run: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def means(self, name: str) -> "pd.DataFrame":
        """Return datasets x learners: the mean of a metric or cost over the folds.

        Of memory it is the median. Where a fold has failed there is nan. Folds to which the metric
        does not apply (such as the length of rules, if there is only a default) are left out.

        Examples
        --------
        >>> cells = [
        ...     {"dataset": "wine", "learner": "tree", "fold": i, "scores": {"rules": r}}
        ...     for i, r in enumerate([9.0, 10.0])
        ... ]
        >>> Results({"wine": None}, ["tree"], cells, {}, {}).means("rules")
              tree
        wine   9.5
        """
        # A fit that loads compiled kernels takes memory that the others in that process do not.
        middle = np.median if name == "peak_memory_mb" else np.mean
        return self._table(lambda cells: _average([_value(cell, name) for cell in cells], middle))

    def full(self, name: str) -> "pd.DataFrame":
        """Return datasets x learners: a metric of the model that was fitted on all samples."""
        return self._table(
            lambda cells: _average([_value(cell, name) for cell in cells]), full=True
        )

    def pooled_balanced_accuracy(self) -> "pd.DataFrame":
        """Return datasets x learners: the mean recall of the pooled predictions of all folds.

        With small classes it differs from the mean over the folds, which leaves a class out where
        it is absent.
        """

        def pooled(cells: Sequence[Cell]) -> float:
            totals: dict[str, Ints] = {}
            for cell in cells:
                for c, counts in cell["recalls"].items():
                    totals[c] = totals.get(c, np.zeros(2, np.int64)) + np.array(counts)
            return float(np.mean([hits / members for hits, members in totals.values()]))

        return self._table(pooled)

    def stability(self) -> "pd.DataFrame":
        """Return datasets x learners: the similarity of the conditions of the folds, from 0 to 1.

        Two folds share most samples, so it is higher than that of resamples: see
        `frri.compare.stability`.
        """

        def alike(cells: Sequence[Cell]) -> float:
            found = [frozenset(cell["marks"]) for cell in cells if "marks" in cell]
            return similarity(found) if len(found) > 1 else np.nan

        return self._table(alike)

    def length_with_default(self) -> "pd.DataFrame":
        """Return datasets x learners: conditions per rule of the model of all samples.

        A default rule counts as one condition.
        """

        def length(cells: Sequence[Cell]) -> float:
            counts = np.array(cells[0].get("lengths", []))
            conditions = np.maximum(np.arange(len(counts)), 1)
            return float(counts @ conditions / counts.sum()) if counts.sum() else np.nan

        return self._table(length, full=True)

    def lengths(self, learner: str) -> Ints:
        """Return the numbers of rules of each length, from 0, of a learner in all folds."""
        own = [c for c in self.cells if c["learner"] == learner and c["fold"] != FULL]
        counts = [cell["lengths"] for cell in own if "lengths" in cell]
        total = np.zeros(max(map(len, counts), default=0), np.int64)
        for row in counts:
            # A fold without any rule has an empty row, which numpy would take for floats.
            total[: len(row)] += np.array(row, np.int64)
        return total

    @property
    def failures(self) -> list[Cell]:
        """Cells that have failed."""
        return [cell for cell in self.cells if "failure" in cell]

    def frame(self) -> "pd.DataFrame":
        """Return one row per cell: scores, selection, costs, notes and failure."""
        rows: list[dict[str, Any]] = []
        for cell in self.cells:
            row = {
                "dataset": cell["dataset"],
                "learner": cell["learner"],
                "fold": "all" if cell["fold"] == FULL else cell["fold"],
                **cell.get("scores", {}),
                "selection": cell.get("selection", {}).get("status"),
                "failure": cell.get("failure"),
                "notes": "; ".join(cell.get("notes", [])) or None,
                **{key: cell.get("cost", {}).get(key) for key in COSTS},
            }
            rows.append(row)
        rows += [
            {"dataset": data, "learner": learner, "failure": reason}
            for (data, learner), reason in self.not_run.items()
        ]
        return import_optional("pandas", "A comparison", "bench").DataFrame(rows)

    def proved(self, learner: str) -> tuple[int, int]:
        """Return how many selections of a learner are proven smallest, and the number of all."""
        found = [
            c["selection"].get("status")
            for c in self.cells
            if c["learner"] == learner and "selection" in c
        ]
        return found.count("optimal"), len(found)

    def _table(self, summary: Any, *, full: bool = False) -> "pd.DataFrame":
        groups: dict[tuple[str, str], list[Cell]] = {}
        for cell in self.cells:
            if (cell["fold"] == FULL) == full:
                groups.setdefault((cell["dataset"], cell["learner"]), []).append(cell)
        table = import_optional("pandas", "A comparison", "bench").DataFrame(
            np.nan, index=list(self.data), columns=list(self.learners), dtype=np.float64
        )
        for (data, learner), cells in groups.items():
            if not any("failure" in cell for cell in cells):
                table.loc[data, learner] = summary(cells)
        return table


def _value(cell: Cell, name: str) -> float | None:
    value: float | None = cell.get("cost" if name in COSTS else "scores", {}).get(name)
    return value


def _average(values: Sequence[float | None], middle: Any = np.mean) -> float:
    known = [value for value in values if value is not None]
    return float(middle(known)) if known else np.nan

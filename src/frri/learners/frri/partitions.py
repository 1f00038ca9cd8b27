"""FRRI on bags of a table that is nowhere in one piece: what each of its parts answers.

A part draws some of its objects, from which the rules are made; says how far each rule may reach before it
covers an object of another class; and counts what the rules chosen cover. Nobody needs more than one part.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from frri.learners.frri.bags import drawn_objects, draws_of_rows
from frri.learners.frri.check_batches import nearest_in_batches
from frri.learners.training import named_labels
from frri.rules.rule import label_array
from frri.rules.rule_statistics import statistics_from_counts

__all__ = ["CoverageCounts", "Partition", "draws_of_rows"]

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frri._util import Floats, Ints, Positions
    from frri.learners.frri.bagging import FRRIBaggingClassifier
    from frri.learners.frri.rule_pool import RulePool
    from frri.learners.training import TrainingTable
    from frri.rules import RuleSet


@dataclass(frozen=True, eq=False)
class Partition:
    """Rows of a table, and their labels."""

    rows: Any
    labels: Any

    def __len__(self) -> int:
        return len(self.labels)

    def draw(
        self, learner: FRRIBaggingClassifier, share: Any, seeds: Sequence[int]
    ) -> tuple[Partition, Ints, list[Positions]]:
        """What bags draw: the rows drawn by any, where these stand, and which of them each bag draws."""
        if not len(self) or not seeds:
            return self._take(np.arange(0)), np.arange(0), [np.arange(0) for _ in seeds]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it is said of all that is drawn
            table = learner._training_table(self.rows, self.labels)  # noqa: SLF001 - the two are one thing
        draws = drawn_objects(table, share, list(seeds))
        rows = [np.sort(draws.rows(bag)) for bag in range(len(seeds))]
        places = np.unique(np.concatenate(rows))
        return self._take(places), places, [np.searchsorted(places, some) for some in rows]

    def nearest(self, pool: RulePool, table: TrainingTable, missing: str) -> Floats:
        """How far the nearest enemy of every rule is among these objects."""
        some = [(self.rows, self.labels)] if len(self) else []
        return nearest_in_batches(pool, table, some, missing, n_jobs=1)[0]

    def counted(self, ruleset: RuleSet) -> CoverageCounts:
        """What rules cover here."""
        n_rules, n_classes = len(ruleset), len(ruleset.classes)
        if not len(self):
            return CoverageCounts(
                np.zeros((n_rules, n_classes)), np.zeros(n_rules), np.zeros(n_classes), 0
            )
        _, labels = named_labels(self.labels)
        known = ruleset.statistics(self.rows, labels)
        classes = label_array(ruleset.classes)
        return CoverageCounts(
            np.array([one.support for one in known], dtype=np.float64).reshape(n_rules, n_classes),
            np.array([one.alone for one in known], dtype=np.float64),
            np.array([(labels == label).sum() for label in classes], dtype=np.float64),
            int((~ruleset.covers(self.rows).any(axis=1)).sum()),
        )

    def _take(self, places: Ints) -> Partition:
        rows, labels = (getattr(all_, "iloc", all_)[places] for all_ in (self.rows, self.labels))
        return Partition(rows, labels)


class CoverageCounts(NamedTuple):
    """Objects of each class under each rule, under it alone, of each class, and under no rule."""

    support: Floats
    alone: Floats
    sizes: Floats
    n_uncovered: int

    def and_of(self, other: Self) -> CoverageCounts:
        """Those of two parts together."""
        return CoverageCounts(
            self.support + other.support,
            self.alone + other.alone,
            self.sizes + other.sizes,
            self.n_uncovered + other.n_uncovered,
        )

    def written_into(self, ruleset: RuleSet) -> RuleSet:
        """The rules with what they cover."""
        counts = (array.astype(np.int64) for array in self[:3])
        known = statistics_from_counts(ruleset.arrays.classes, *counts)
        rules = (replace(rule, statistics=one) for rule, one in zip(ruleset, known, strict=True))
        sizes = tuple(self.sizes.tolist())
        return replace(ruleset, rules=tuple(rules), class_counts=sizes)

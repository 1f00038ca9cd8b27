"""Further objects, part by part, which rules from elsewhere must not cover if they are of another class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from frri.learners.boxes import scaled_values
from frri.learners.frri.rule_pool import Objects, RulePool, nearest_enemies
from frri.rules.rule import label_array
from frri.table import to_matrix
from frri.table.checks import check_complete

if TYPE_CHECKING:
    from collections.abc import Iterable

    from frri._util import Floats
    from frri.learners.training import TrainingTable


def nearest_in_batches(
    pool: RulePool,
    table: TrainingTable,
    batches: Iterable[tuple[Any, Any]],
    missing: str,
    n_jobs: int | None = None,
) -> tuple[Floats, int]:
    """How far the nearest enemy of every rule is among further objects, and how many objects these are.

    Parameters
    ----------
    pool : RulePool
    table : TrainingTable
        What the rules come from: its attributes, ranges and classes hold for further objects.
    batches : iterable of (table, labels)
    missing : {"typical", "similar", "error"}
    n_jobs : int, optional
    """
    least, count = np.full(len(pool), np.inf), 0
    labels = label_array(table.labels)
    for X, y in batches:
        matrix = to_matrix(X, table.attributes)
        if missing == "error":
            check_complete(matrix, table.attributes)
        place = np.minimum(np.searchsorted(labels, y), len(labels) - 1)
        # A class that the table does not have is one of enemies only.
        classes = np.where(labels[place] == np.asarray(y), place, -1)
        seen = replace(table, values=_as_seen(matrix, table, typical=missing == "typical"))
        values, rigid = scaled_values(seen)
        found = nearest_enemies(pool, Objects(values, classes, rigid), n_jobs)
        least, count = np.minimum(least, found.least), count + len(classes)
    return least, count


def _as_seen(matrix: Floats, table: TrainingTable, *, typical: bool) -> Floats:
    """Values as rules see them: an ordered category never seen is missing, and what is missing typical."""
    ordered = np.array([attribute.kind == "ordinal" for attribute in table.attributes])
    matrix = np.where(ordered & (matrix < 0.0), np.nan, matrix)
    if not typical:
        return matrix
    codes = np.array([attribute.typical_code for attribute in table.attributes])
    return np.where(np.isnan(matrix), codes, matrix)

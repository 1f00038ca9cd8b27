"""The data sets of a run at a glance, and what the paper printed about its own."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from frri.compare.datasets import Dataset
from frri.compare.optional import import_pandas
from frri.compare.tables import Table, Value

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Facts:
    """The shape of a data set.

    Attributes
    ----------
    attributes, objects, classes : int
    imbalance_ratio : float
        The size of the largest class divided by that of the smallest.
    """

    attributes: int
    objects: int
    classes: int
    imbalance_ratio: float


def facts(data: Dataset) -> Facts:
    """The shape of a data set.

    Examples
    --------
    >>> from frri.compare import load
    >>> facts(load("spectfheart"))
    Facts(attributes=44, objects=267, classes=2, imbalance_ratio=3.85...)
    """
    counts = np.unique(data.y, return_counts=True)[1]
    return Facts(data.X.shape[1], len(data.y), len(counts), float(counts.max() / counts.min()))


def dataset_table(data: Iterable[Dataset]) -> Table:
    """Attributes, objects, classes and imbalance ratio, with what the paper says where it differs.

    Examples
    --------
    >>> from frri.compare import load
    >>> print(dataset_table([load("spectfheart"), load("wine")]).markdown())
    | data set | attributes | objects | classes | imbalance ratio | remark |
    |---|--:|--:|--:|--:|---|
    | spectfheart | 44 | 267 | 2 | 3.85 | paper prints 38.56 |
    | wine | 13 | 178 | 3 | 1.48 |  |
    """
    printed = paper_table("datasets")
    rows: list[list[Value]] = []
    for d in data:
        found = facts(d)
        remarks = list(d.notes)
        if d.name in printed.index and not d.notes:
            row = printed.loc[d.name]
            remarks += [
                f"paper prints {row[name]:g}"
                for name in ("attributes", "objects", "classes", "imbalance_ratio")
                if round(getattr(found, name), 2) != row[name]
            ]
        rows.append(
            [
                d.name,
                found.attributes,
                found.objects,
                found.classes,
                found.imbalance_ratio,
                "; ".join(remarks),
            ]
        )
    columns = ["data set", "attributes", "objects", "classes", "imbalance ratio", "remark"]
    return Table("Data sets", columns, rows, digits=[0, 0, 0, 2, 0])


def paper_table(name: str) -> "pd.DataFrame":
    """A table of the paper as printed.

    Parameters
    ----------
    name : {"datasets", "balanced_accuracy", "rules", "length", "rules_conover"}

    Examples
    --------
    >>> paper_table("rules").loc["wine"].to_dict()
    {'frri': 8, 'modlem': 13, 'quickrules-paper': 211, 'furia': 7, 'ripper': 5}
    """
    path = resources.files("frri.compare") / "paper" / f"{name}.csv"
    with path.open(encoding="utf-8") as file:
        return import_pandas().read_csv(file, index_col=0)

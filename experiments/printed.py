"""The tables that the paper prints."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from frri.compare.datasets import Dataset

LEARNERS = ("frri", "modlem", "quickrules-paper", "furia", "ripper")
"""The five algorithms of the paper, in the order of its tables."""


def paper_table(name: str) -> pd.DataFrame:
    """Return a table of the paper as printed.

    Parameters
    ----------
    name : {"datasets", "balanced_accuracy", "rules", "length", "rules_conover"}

    Examples
    --------
    >>> paper_table("rules").loc["wine"].to_dict()
    {'frri': 8, 'modlem': 13, 'quickrules-paper': 211, 'furia': 7, 'ripper': 5}
    """
    return pd.read_csv(Path(__file__).parent / "paper" / f"{name}.csv", index_col=0)


def find_misprints(data: Mapping[str, Dataset]) -> dict[str, str]:
    """Return the printed shapes that differ from those of the datasets, by dataset.

    Examples
    --------
    >>> from frri.compare import load
    >>> find_misprints({"wine": load("wine"), "spectfheart": load("spectfheart")})
    {'spectfheart': 'paper prints 38.56'}
    """
    found = {}
    for name, row in paper_table("datasets").iterrows():
        if name in data and not data[name].notes:
            shape = data[name].shape
            off = [f"{row[key]:g}" for key, value in shape.items() if round(value, 2) != row[key]]
            if off:
                found[str(name)] = f"paper prints {', '.join(off)}"
    return found

"""Significance tests of the differences between learners over datasets, as in the paper.

The procedure is a Friedman test, then Conover's comparison of all pairs with Holm's correction, and
Wilcoxon's signed ranks for two learners. The tests are those of scipy and scikit-posthocs.
"""

import warnings
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats

from frri._util import import_optional
from frri.table.columns import Column, Frame

ALPHA = 0.05


@dataclass(frozen=True, eq=False)
class Comparison:
    """Learners compared over datasets.

    Attributes
    ----------
    ranks : pandas.Series
        Average rank of each learner; 1 is best, equal values share their ranks.
    n_datasets : int
        Number of datasets with a value for every learner; the others are left out.
    friedman : tuple of float, optional
        Statistic and p-value; None with fewer than three learners or two datasets.
    conover : pandas.DataFrame, optional
        Learners x learners: corrected p-values; None where there is no Friedman test.
    pairs : pandas.DataFrame
        One row per pair of learners: wins, ties, losses of the first, and Wilcoxon's p-values:
        two-sided, and one-sided for "the first is better" and "the first is worse".
    correction : str
    """

    ranks: Column
    n_datasets: int
    friedman: tuple[float, float] | None
    conover: Frame | None
    pairs: Frame
    correction: str

    @property
    def significant(self) -> bool:
        """Whether the Friedman test finds a difference at the 5 % level."""
        return self.friedman is not None and self.friedman[1] < ALPHA


def compare(table: Frame, *, higher_is_better: bool = True, correction: str = "holm") -> Comparison:
    """Compare learners over datasets.

    Parameters
    ----------
    table : pandas.DataFrame
        Datasets x learners, such as `Results.means`. Datasets with missing values are left out.
    higher_is_better : bool, default=True
    correction : str, default="holm"
        For the number of pairs: a method of `statsmodels.stats.multitest.multipletests`.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"a": [3, 4, 5, 6.0], "b": [1, 2, 3, 7], "c": [0, 1, 2, 3]})
    >>> found = compare(table)
    >>> found.ranks.to_dict()
    {'a': 1.25, 'b': 1.75, 'c': 3.0}
    >>> found.pairs[["first", "second", "wins", "ties", "losses"]].head(1)
      first second  wins  ties  losses
    0     a      b     3     0       1
    """
    complete = table.dropna(axis=0)
    oriented = complete if higher_is_better else -complete
    ranks = (
        oriented.rank(axis=1, ascending=False).mean() if len(complete) else table.iloc[:0].mean()
    )
    friedman, conover = None, None
    some_differ = bool((oriented.max(axis=1) > oriented.min(axis=1)).any())
    if complete.shape[1] >= 3 and len(complete) >= 2 and some_differ:
        found = stats.friedmanchisquare(*oriented.to_numpy().T)
        friedman = (float(found.statistic), float(found.pvalue))
        posthocs = import_optional("scikit_posthocs", "A comparison", "bench")
        with np.errstate(divide="ignore", invalid="ignore"):
            p_values = posthocs.posthoc_conover_friedman(oriented.to_numpy(), p_adjust=correction)
        # Where every dataset gives the same order, the statistic is infinite or undefined at 0 / 0.
        conover = p_values.set_axis(ranks.index, axis=0).set_axis(ranks.index, axis=1).fillna(1.0)
    return Comparison(ranks, len(complete), friedman, conover, _pairs(oriented), correction)


def wilcoxon(differences: Any, alternative: str = "two-sided") -> float:
    """Return the p-value of Wilcoxon's signed ranks; 1 if nothing differs.

    Parameters
    ----------
    differences : array-like of float
        One per dataset; zeros are left out.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
    """
    values = np.asarray(differences, dtype=np.float64)
    values = values[values != 0]
    if not len(values):
        return 1.0
    with warnings.catch_warnings():
        # With equal differences it warns that the p-value is the normal approximation's.
        warnings.simplefilter("ignore")
        return float(stats.wilcoxon(values, alternative=alternative).pvalue)


def _pairs(oriented: Frame) -> Frame:
    columns = ["first", "second", "wins", "ties", "losses", "two-sided", "better", "worse"]
    rows = []
    for first, second in combinations(oriented.columns, 2):
        difference = (oriented[first] - oriented[second]).to_numpy()
        counts = [int((np.sign(difference) == sign).sum()) for sign in (1, 0, -1)]
        tests = [wilcoxon(difference, side) for side in ("two-sided", "greater", "less")]
        rows.append([first, second, *counts, *tests])
    return import_optional("pandas", "A comparison", "bench").DataFrame(rows, columns=columns)

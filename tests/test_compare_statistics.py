"""Significance tests, compared with their definitions."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from frri.compare import compare
from frri.compare.page import format_p_value
from frri.compare.statistics import wilcoxon


def test_conover_is_as_defined():
    """Conover 1999, section 5.8, written out."""
    values = np.random.default_rng(0).normal(size=(9, 4))
    ranks = stats.rankdata(values, axis=1)
    b, k = ranks.shape
    sums = ranks.sum(axis=0)
    freedom = (b - 1) * (k - 1)
    scale = np.sqrt(2 * (b * (ranks**2).sum() - (sums**2).sum()) / freedom)
    found = compare(pd.DataFrame(values), correction="bonferroni").conover.to_numpy()
    for i in range(k):
        for j in range(i):
            p = 2 * stats.t.sf(abs(sums[i] - sums[j]) / scale, freedom)
            assert found[i, j] == pytest.approx(min(1, 6 * p))


def test_directions():
    table = pd.DataFrame({"a": [1.0, 2, 3, 4, 5], "b": [2.0, 3, 4, 5, 6], "c": [0, 1, 2, 3, 9.0]})
    high, low = compare(table), compare(table, higher_is_better=False)
    assert high.ranks["b"] == 1.2
    assert low.ranks["b"] == 2.8
    pair = high.pairs.iloc[0]
    assert (pair["wins"], pair["ties"], pair["losses"]) == (0, 0, 5)
    assert pair["worse"] == pytest.approx(1 / 32)
    assert low.pairs.iloc[0]["better"] == pytest.approx(1 / 32)
    assert pair["two-sided"] == pytest.approx(2 / 32)


def test_too_little_for_a_test():
    two = compare(pd.DataFrame({"a": [1.0, 2], "b": [2.0, 3]}))
    assert two.friedman is two.conover is None
    assert not two.significant
    gaps = compare(pd.DataFrame({"a": [1.0, np.nan], "b": [2.0, 3], "c": [1.0, 1]}))
    assert gaps.n_datasets == 1
    assert gaps.friedman is None
    same = compare(pd.DataFrame({c: [1.0, 2, 3] for c in "abc"}))
    assert same.friedman is None
    assert (same.pairs["two-sided"] == 1).all()
    nothing = compare(pd.DataFrame({"a": [np.nan], "b": [1.0]}))
    assert nothing.n_datasets == 0


def test_learners_in_the_same_order_everywhere():
    """The statistic is infinite then: p-values are 0, without warnings."""
    table = pd.DataFrame([[3.0, 2, 1]] * 6, columns=list("abc"))
    found = compare(table)
    assert found.significant
    assert found.conover.loc["a", "c"] == 0


def test_wilcoxon_without_differences():
    assert wilcoxon([0, 0.0]) == 1
    assert wilcoxon([0, 1, 2, 3, 4, 5], "greater") == 0.03125


def test_p_values_are_formatted():
    assert [format_p_value(p) for p in (0.5, 0.0005, 0.0004, float("nan"))] == [
        "0.500",
        "0.001",
        "<0.001",
        "-",
    ]

"""Tests of significance: against definitions, and against what the paper prints."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from frri.compare import compare
from frri.compare.claims import claims, conover_as_printed
from frri.compare.facts import paper_table
from frri.compare.statistics import wilcoxon
from frri.compare.tables import p_value

PRINTED = Path(__file__).parent / "reference"
LABELS = {
    "FRRI": "frri",
    "MODLEM": "modlem",
    "QuickRules": "quickrules-paper",
    "FURIA": "furia",
    "RIPPER": "ripper",
}


def printed(name, dtype=None):
    """A table as transcribed from the paper, with its rows of means and ranks."""
    return pd.read_csv(PRINTED / f"paper_{name}.csv", index_col=0, dtype=dtype).rename(
        columns=LABELS
    )


@pytest.mark.parametrize("name", ["balanced_accuracy", "rules", "length"])
def test_the_tables_that_come_along_are_the_papers(name):
    table = printed(name)
    body = table.drop(index=[i for i in ("mean", "average rank") if i in table.index])
    pd.testing.assert_frame_equal(paper_table(name), body, check_dtype=False)
    digits = {"balanced_accuracy": 3, "rules": 0, "length": 2}[name]
    # Half a unit of the last place, and the same again for the rounding of the entries.
    assert np.allclose(table.loc["mean"], body.mean(), atol=1.001 * 10.0**-digits)


def test_the_printed_ranks_are_those_of_the_printed_accuracies_but_for_one_tie():
    table = printed("balanced_accuracy")
    ranks = compare(table.iloc[:18]).ranks
    off = (table.loc["average rank"] - ranks).round(2)
    assert off[["frri", "modlem", "ripper"]].tolist() == [0, 0, 0]
    # australian: QuickRules and FURIA print the same value and did not have the same.
    assert off["furia"] == pytest.approx(0.5 / 18, abs=0.005)
    assert off["quickrules-paper"] == pytest.approx(-0.5 / 18, abs=0.005)


def test_the_printed_p_values_come_from_a_formula_with_a_missing_square():
    """None of the six that are not below 0.001 is that of Conover's test; all are of the old formula."""
    rules = paper_table("rules")
    right, flawed = compare(rules, higher_is_better=False).conover, conover_as_printed(rules)
    shown = printed("rules_conover", str).rename(index=LABELS)
    for first, row in shown.iterrows():
        for second, text in row.dropna().items():
            if text.startswith("<"):
                assert flawed.loc[first, second] < 0.001
            else:
                assert f"{flawed.loc[first, second]:.3f}" == text
                assert right.loc[first, second] < 0.001
    assert f"{right.loc['frri', 'modlem']:.4f}" == "0.0007"


def test_what_the_paper_says_about_significance():
    found = {claim.statement.split(",")[0]: claim for claim in claims()}
    broken = [statement for statement, claim in found.items() if not claim.holds]
    assert len(found) == 8
    assert broken == [
        (
            "FRRI is significantly (p < 0.05) more accurate than all others on the data sets with "
            "imbalance ratio above 6"
        ),
        "The same with the real imbalance ratios",
        "The p-values of the paper's table of pairs for the number of rules",
    ]
    assert "ripper 0.078" in found[broken[0]].found


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
    """The statistic is infinite then: p-values are 0 and nothing warns."""
    table = pd.DataFrame([[3.0, 2, 1]] * 6, columns=list("abc"))
    found = compare(table)
    assert found.significant
    assert found.conover.loc["a", "c"] == 0


def test_wilcoxon_without_differences():
    assert wilcoxon([0, 0.0]) == 1
    assert wilcoxon([0, 1, 2, 3, 4, 5], "greater") == 0.03125


def test_p_values_for_people():
    assert [p_value(p) for p in (0.5, 0.0005, 0.0004, float("nan"))] == [
        "0.500",
        "0.001",
        "<0.001",
        "-",
    ]

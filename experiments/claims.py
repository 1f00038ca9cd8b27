"""Tests of the paper's statements about significance, with the results that it prints."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.multitest import multipletests

from experiments.printed import paper_table
from frri.compare.datasets import load
from frri.compare.page import format_p_value
from frri.compare.statistics import ALPHA, compare, wilcoxon

QUICKRULES = "quickrules-paper"
RIVALS = ("modlem", QUICKRULES, "furia", "ripper")


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, tested with its printed results.

    Attributes
    ----------
    statement : str
    found : str
        Result of the test.
    holds : bool
    """

    statement: str
    found: str
    holds: bool


def conover_as_printed(table: pd.DataFrame) -> pd.DataFrame:
    """Conover's comparison as scikit-posthocs computed it before version 0.8.1, with Holm's correction.

    That version lacks a square: it computes the test statistic from the sum of the rank sums instead
    of their squared distances from the mean. The statistic then has almost no effect, and p-values
    are far too large. All ten p-values that the paper prints are those of this formula.

    Parameters
    ----------
    table : pandas.DataFrame
        Datasets x algorithms.

    Returns
    -------
    pandas.DataFrame
        Algorithms x algorithms.

    Examples
    --------
    >>> float(conover_as_printed(paper_table("rules")).loc["modlem", "frri"].round(3))
    0.407
    """
    n, k = table.shape
    ranks = table.rank(axis=1).to_numpy()
    sums = ranks.sum(axis=0)
    spread = ((ranks**2).sum() - n * k * (k + 1) ** 2 / 4) / (k - 1)
    flawed = (sums.sum() - n * ((k + 1) / 2) ** 2) / spread
    freedom = (n - 1) * (k - 1)
    scale = np.sqrt(spread * 2 * n * (k - 1) / freedom * (1 - flawed / (n * (k - 1))))
    upper = np.triu_indices(k, 1)
    p = 2 * stats.t.sf(np.abs(sums[upper[0]] - sums[upper[1]]) / scale, freedom)
    matrix = np.eye(k)
    matrix[upper] = multipletests(p, method="holm")[1]
    matrix = np.maximum(matrix, matrix.T)
    return pd.DataFrame(matrix, index=table.columns, columns=table.columns)


def claims() -> list[Claim]:
    """Test the statements, in the order of the paper.

    Examples
    --------
    >>> [claim.holds for claim in claims()]
    [True, True, False, False, True, False, True, True]
    """
    accuracy, rules = paper_table("balanced_accuracy"), paper_table("rules")
    length = paper_table("length")
    return [
        _friedman("Balanced accuracy differs between the algorithms, p < 0.001", accuracy, True, 0.001),
        _worst(accuracy),
        _imbalanced(accuracy, "FRRI is significantly (p < 0.05) more accurate than all others on the "
                    "datasets with imbalance ratio above 6", printed=True),
        _imbalanced(accuracy, "The same with the real imbalance ratios, by which spectfheart is not "
                    "among them", printed=False),
        _friedman("Numbers of rules differ, p < 0.0001", rules, False, 0.0001),
        _printed_p_values(rules),
        _fewer_rules(rules),
        _lengths(length),
    ]  # fmt: skip


def _friedman(statement: str, table: pd.DataFrame, higher: bool, level: float) -> Claim:
    found = compare(table, higher_is_better=higher).friedman
    assert found is not None  # noqa: S101 - five algorithms on 18 datasets
    return Claim(statement, f"chi-squared {found[0]:.1f}, p = {found[1]:.2g}", found[1] < level)


def _worst(accuracy: pd.DataFrame) -> Claim:
    conover = compare(accuracy).conover
    assert conover is not None  # noqa: S101
    largest = float(conover[QUICKRULES].drop(QUICKRULES).max())
    statement = "QuickRules is significantly less accurate than every other algorithm"
    return Claim(
        statement,
        f"Conover with Holm's correction: p at most {format_p_value(largest)}",
        largest < ALPHA,
    )


def _imbalanced(accuracy: pd.DataFrame, statement: str, *, printed: bool) -> Claim:
    ratios = (
        paper_table("datasets")["imbalance_ratio"].to_dict()
        if printed
        else {name: load(name).shape["imbalance_ratio"] for name in accuracy.index}
    )
    chosen = accuracy.loc[[name for name in accuracy.index if ratios[name] > 6]]
    p = {r: wilcoxon(chosen["frri"] - chosen[r], "greater") for r in RIVALS}
    listing = ", ".join(f"{r.removesuffix('-paper')} {format_p_value(v)}" for r, v in p.items())
    found = (
        f"the paper does not name its test; one-sided Wilcoxon on {len(chosen)} sets, p-values "
        f"against: {listing}"
    )
    return Claim(statement, found, max(p.values()) < ALPHA)


def _printed_p_values(rules: pd.DataFrame) -> Claim:
    correct = compare(rules, higher_is_better=False).conover
    assert correct is not None  # noqa: S101
    flawed = conover_as_printed(rules)
    agree, by_flaw, total = 0, 0, 0
    for learner, row in paper_table("rules_conover").iterrows():
        for other, shown in row.dropna().items():
            text = f"{float(shown):.3f}" if not str(shown).startswith("<") else str(shown)
            agree += format_p_value(correct.loc[learner, other]) == text
            by_flaw += _below_or_equal(flawed.loc[learner, other], text)
            total += 1
    found = (
        f"{agree} of {total} p-values come out of Conover's test with Holm's correction; {by_flaw} of "
        f"{total} of the formula with a missing square that scikit-posthocs had before version 0.8.1. "
        f"By the right one all pairs differ; the largest p-value, {correct.to_numpy()[~np.eye(5, dtype=bool)].max():.4f}, "
        "is that of FRRI and MODLEM, for which the paper prints 0.407"
    )
    return Claim(
        "The p-values of the paper's table of pairs for the number of rules", found, agree == total
    )


def _below_or_equal(p: float, text: str) -> bool:
    return p < 0.001 if text.startswith("<") else f"{p:.3f}" == text


def _fewer_rules(rules: pd.DataFrame) -> Claim:
    p = wilcoxon(rules["modlem"] - rules["frri"], "greater")
    statement = "FRRI has significantly fewer rules than MODLEM, one-sided Wilcoxon, p < 0.05"
    return Claim(statement, f"p = {p:.3f}", p < ALPHA)


def _lengths(length: pd.DataFrame) -> Claim:
    conover = compare(length, higher_is_better=False).conover
    assert conover is not None  # noqa: S101
    largest = float(
        conover.loc[["modlem", "furia", "ripper"], ["frri", QUICKRULES]].to_numpy().max()
    )
    between = float(conover.loc["frri", QUICKRULES])
    statement = (
        "Rules of MODLEM, FURIA and RIPPER are significantly (p < 0.01) shorter than those of FRRI and "
        "QuickRules, which do not differ"
    )
    found = f"Conover with Holm's correction: p at most {format_p_value(largest)}; FRRI and QuickRules {format_p_value(between)}"
    return Claim(statement, found, largest < 0.01 and between >= ALPHA)

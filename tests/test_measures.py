"""Accuracy and other metrics; quality, overlap, importance and drift of rules."""

import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, fisher_exact, ttest_ind
from sklearn.datasets import load_wine
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    brier_score_loss,
    confusion_matrix,
    precision_recall_fscore_support,
    r2_score,
    roc_auc_score,
)

from frri import Attribute, MODLEMClassifier, NumericCondition, Rule, RuleSet
from frri.cli import main
from frri.report.facts import facts
from frri.rules import compare
from frri.rules.contributions import permutation_importance
from frri.rules.measures import (
    accuracy,
    balanced_accuracy,
    brier_score,
    confusion,
    majority,
    measure_classes,
    wilson,
)
from frri.rules.rule_statistics import (
    drift,
    fisher_less,
    is_training_table,
    overlap,
    quality,
    to_frame,
)
from thorough import often

GENERATOR = np.random.default_rng(0)
X = GENERATOR.random((400, 3))
Y = (X[:, 0] + 0.1 * GENERATOR.standard_normal(400) > 0.5).astype(int)
LOW, HIGH = NumericCondition.below("a", 0.5), NumericCondition("a", 0.5, 0.5)
RULES = RuleSet(
    (Rule((LOW,), 0), Rule((HIGH,), 1), Rule((NumericCondition("b", 0.9, 0.9),), 1, 0.1)),
    tuple(Attribute(name, 0, 1) for name in "abc"),
    (0, 1),
    class_counts=tuple(np.bincount(Y).astype(float).tolist()),
).with_statistics(X, Y)


@pytest.mark.parametrize(("hits", "trials"), [(0, 3), (3, 3), (9, 10), (50, 400), (1, 1)])
def test_wilson_agrees_with_scipy(hits, trials):
    interval = binomtest(hits, trials).proportion_ci(0.95, method="wilson")
    assert wilson(hits, trials) == pytest.approx((interval.low, interval.high))


def test_fisher_agrees_with_scipy():
    for a, n, b, m in GENERATOR.integers(0, 40, (50, 4)):
        n, m = n + a, m + b  # noqa: PLW2901
        expected = fisher_exact([[a, n - a], [b, m - b]], alternative="less").pvalue
        assert fisher_less(int(a), int(n), int(b), int(m)) == pytest.approx(expected, rel=1e-6)


def test_quality_on_training_and_on_new_data_agree_on_the_same_table():
    assert quality(RULES) == quality(RULES, X, Y)
    first = quality(RULES)[0]
    assert first.coverage == pytest.approx((X[:, 0] < 0.5).mean())
    assert first.low < first.precision < first.high
    assert first.lift == pytest.approx(first.precision / (Y == 0).mean())
    with pytest.raises(ValueError, match="Rule 0 has no statistics"):
        quality(RULES.with_changed_rule(0, weight=0.5))


def test_a_rule_that_covers_nothing_has_no_precision():
    nothing = quality(RULES, X[X[:, 0] < 0.5], Y[X[:, 0] < 0.5])[1]
    assert (nothing.covered, nothing.precision, nothing.low) == (0, None, None)


def test_overlap_counts_common_rows():
    pairs = overlap(RULES, X)
    covers = RULES.covers(X)
    assert {(p.first, p.second) for p in pairs} == {(0, 2), (1, 2)}
    for pair in pairs:
        both = (covers[:, pair.first] & covers[:, pair.second]).sum()
        either = (covers[:, pair.first] | covers[:, pair.second]).sum()
        assert (pair.both, pair.jaccard) == (both, pytest.approx(both / either))
    assert [pair.agree for pair in pairs if pair.first == 0] == [False]


def test_the_attribute_that_decides_is_the_important_one():
    found = permutation_importance(RULES, X, Y)
    assert found[0].attribute == "a"
    assert found[0].drop > 0.2
    assert {one.attribute: one.rules for one in found} == {"a": 2, "b": 1, "c": 0}
    assert found == permutation_importance(RULES, X, Y)


def test_importance_of_attributes_in_regression_is_the_loss_of_r2():
    high = Rule((NumericCondition("a", 0.5, 0.5),), 5.0)
    attributes = tuple(Attribute(name, 0, 1) for name in "abc")
    rules = RuleSet((high,), attributes, semantics="added-contributions", base=(1.0,))
    truth = 1.0 + 5.0 * (X[:, 0] >= 0.5) + GENERATOR.normal(size=len(X))
    found = {
        one.attribute: one for one in permutation_importance(rules, X, truth, repeats=2, seed=3)
    }
    random, lost = np.random.default_rng(3), []
    for _ in range(2):
        shuffled = X.copy()
        shuffled[:, 0] = random.permutation(X[:, 0])
        lost.append(r2_score(truth, rules.predict(X)) - r2_score(truth, rules.predict(shuffled)))
    assert found["a"].drop == pytest.approx(np.mean(lost))
    assert found["a"].spread == pytest.approx(np.std(lost))
    assert found["b"].drop == found["c"].drop == 0
    truth[4] = np.nan
    with pytest.raises(ValueError, match="holds nan in row 5; correct the row or drop it"):
        permutation_importance(rules, X, truth)
    with pytest.raises(ValueError, match="holds nan in row 5"):
        rules.score(X, truth)


@pytest.mark.parametrize(
    ("rows", "label", "repeats", "message"),
    [
        (3, "none", 5, "None of the labels, such as 'none', is one of the model's classes"),
        (0, "none", 5, "There are no rows"),
        (3, RULES.classes[0], 0, "repeats must be an integer from 1 on, not 0"),
        (3, RULES.classes[0], 1.5, "not 1.5"),
    ],
)
def test_importance_without_a_measure(rows, label, repeats, message):
    with pytest.raises(ValueError, match=message):
        permutation_importance(RULES, X[:rows], [label] * rows, repeats=repeats)


def numeric_rules(task):
    """Return regression or ordinal rules without statistics, a table and its target."""
    generator = np.random.default_rng(4)
    table = generator.uniform(0, 9, (60, 2)).round(1)
    conditions = [
        (NumericCondition("a", core_high=4, support_high=6),),
        (NumericCondition("b", core_low=5, support_low=3),),
        (NumericCondition("a", 100, 101),),
    ]
    rules = tuple(Rule(one, float(k - 1), 0.5 + k) for k, one in enumerate(conditions))
    attributes = Attribute("a", 0, 9), Attribute("b", 0, 9)
    if task == "regression":
        return RuleSet(rules, attributes, semantics="weighted-mean"), table, table.sum(axis=1)
    target = np.array(["low", "mid", "high"])[generator.integers(0, 3, 60)]
    classes = ("low", "mid", "high")
    sizes = tuple(float((target == label).sum()) for label in classes)
    given = {"semantics": "cumulative-logits", "class_counts": sizes}
    return RuleSet(rules, attributes, classes, **given), table, target


@pytest.mark.parametrize("weighted", [False, True])
def test_statistics_of_regression_rules_are_those_of_the_covered_rows(weighted):
    rules, table, target = numeric_rules("regression")
    weights = np.random.default_rng(1).integers(1, 4, 60) / 2.0 if weighted else np.ones(60)
    covers = rules.covers(table)
    found = rules.statistics(table, target, weights if weighted else None)
    for one, cover in zip(found, covers.T, strict=True):
        alone = cover & (covers.sum(axis=1) == 1)
        assert (one.covered, one.alone, one.total) == (
            weights[cover].sum(),
            weights[alone].sum(),
            weights.sum(),
        )
        assert (one.precision, one.lift) == (None, None)
        if not cover.any():
            assert (one.mean, one.deviation) == (None, None)
            continue
        mean = np.average(target[cover], weights=weights[cover])
        variance = np.average((target[cover] - mean) ** 2, weights=weights[cover])
        assert (one.mean, one.deviation) == pytest.approx((mean, variance**0.5))
    assert [one.covered for one in quality(rules.with_statistics(table, target, weights))] == [
        one.covered for one in found
    ]


def test_statistics_of_rules_that_add_to_log_odds_count_classes():
    rules, table, target = numeric_rules("ordinal")
    found = rules.statistics(table, target)
    for one, cover in zip(found, rules.covers(table).T, strict=True):
        assert one.support == tuple((target[cover] == label).sum() for label in rules.classes)
        assert (one.precision, one.lift) == (None, None)
    assert "median" in str(rules.with_statistics(table, target))


@pytest.mark.parametrize("task", ["regression", "ordinal"])
def test_a_mean_target_that_differs_is_pointed_out(task):
    rules, table, target = numeric_rules(task)
    known = rules.with_statistics(table, target)
    assert RuleSet.from_json(known.to_json()) == known
    assert is_training_table(known, table, target)
    assert not is_training_table(known, table[:-1], target[:-1])
    assert not any(one.mean_differs or one.fires_less for one in drift(known, table, target))
    other = target + 3.0 if task == "regression" else np.where(np.arange(60) % 9, "high", "mid")
    flags = drift(known, table, other)
    assert [one.mean_differs for one in flags] == [True, True, False]
    assert [one.mean_differs for one in drift(known, table)] == [False] * 3
    first = rules.covers(table)[:, 0]
    codes, new = target, other
    if task == "ordinal":
        codes, new = (np.array([rules.classes.index(c) for c in one]) for one in (target, other))
    expected = ttest_ind(codes[first], new[first], equal_var=False).pvalue
    assert flags[0].p_mean_differs == pytest.approx(expected)
    assert (flags[0].mean, flags[0].new_mean) == pytest.approx(
        (codes[first].mean(), new[first].mean())
    )


def test_the_same_table_does_not_drift():
    for one in drift(RULES, X, Y):
        assert not one.fires_less
        assert not one.errs_more
        assert one.coverage == pytest.approx(one.new_coverage)


def test_rules_that_cover_less_or_misclassify_more_are_flagged():
    new = X.copy()
    new[:, 1] *= 0.9
    flags = drift(RULES, new, 1 - Y)
    assert [one.fires_less for one in flags] == [False, False, True]
    assert [one.errs_more for one in flags] == [True, True, False]
    unlabelled = drift(RULES, new)
    assert [one.fires_less for one in unlabelled] == [False, False, True]
    assert unlabelled[0].new_precision is None


def test_results_become_tables():
    assert list(to_frame(quality(RULES))["rule"]) == [0, 1, 2]
    assert "jaccard" in to_frame(overlap(RULES, X))
    assert "errs_more" in to_frame(drift(RULES, X, Y))


@settings(max_examples=often(100), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_measures_of_decisions_are_those_of_scikit_learn(pairs):
    truth, decided = np.array(pairs).T
    assert accuracy(truth, decided) == accuracy_score(truth, decided)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes that are decided but do not occur
        expected = balanced_accuracy_score(truth, decided)
    assert balanced_accuracy(truth, decided) == pytest.approx(expected, abs=1e-15)
    names = np.array(["a", "b", "c", "d"])
    assert balanced_accuracy(names[truth], names[decided]) == balanced_accuracy(truth, decided)
    table = np.zeros((4, 4), dtype=int)
    for true, taken_for, rows in confusion(truth, decided):
        table[true, taken_for] = rows
    assert (table == confusion_matrix(truth, decided, labels=range(4))).all()


def test_all_outputs_show_the_same_measures(tmp_path, capsys):
    X, y = load_wine(return_X_y=True, as_frame=True)
    ruleset = MODLEMClassifier().fit(X[::2], y[::2]).ruleset_
    ruleset.save(tmp_path / "model.json")
    X.assign(target=y).to_csv(tmp_path / "wine.csv", index=False)
    assert (
        main(["evaluate", "--json", str(tmp_path / "model.json"), str(tmp_path / "wine.csv")]) == 0
    )
    evaluated = json.loads(capsys.readouterr().out)
    shown = facts(ruleset, X, y)["performance"]
    effect = compare(ruleset, ruleset, X, y)
    for name in ("accuracy", "balanced_accuracy"):
        assert evaluated[name] == shown[name] == getattr(effect, name)[0]


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_measures_of_classes_are_those_of_scikit_learn(n_classes):
    generator = np.random.default_rng(n_classes)
    classes = generator.integers(0, n_classes, 200)
    # Few distinct probabilities, so that there are ties.
    shares = generator.integers(1, 4, (200, n_classes)).astype(float)
    shares /= shares.sum(axis=1, keepdims=True)
    decided = shares.argmax(axis=1)
    found = measure_classes(classes, decided, shares)
    expected = precision_recall_fscore_support(classes, decided, labels=range(n_classes))
    measures = [[one["precision"], one["recall"], one["f1"], one["rows"]] for one in found]
    np.testing.assert_allclose(measures, np.column_stack(expected))
    for c, one in enumerate(found):
        assert one["auc"] == pytest.approx(roc_auc_score(classes == c, shares[:, c]))
    truth = shares[:, 1] if n_classes == 2 else shares
    assert brier_score(classes, shares) == pytest.approx(brier_score_loss(classes, truth))
    assert majority(classes)[1] == np.bincount(classes).max() / 200


def test_measures_of_classes_that_do_not_occur_are_none():
    shares = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    first, second, third = measure_classes(np.array([0, 0]), np.array([0, 1]), shares)
    assert (first["precision"], first["recall"], first["auc"]) == (1.0, 0.5, None)
    assert (second["precision"], second["recall"], second["f1"]) == (0.0, None, 0.0)
    assert (third["precision"], third["recall"], third["f1"], third["auc"]) == (
        None,
        None,
        None,
        None,
    )

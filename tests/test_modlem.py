"""MODLEM: comparison with its definitions and reference results, scikit-learn checks and bad input."""

import csv
import json
import pickle
from dataclasses import replace
from math import inf, isnan, nan
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive_rough as naive
from frri import RuleSet
from frri.compare.datasets import load
from frri.learners import modlem
from frri.learners.modlem import BinnedTable, MODLEMClassifier, approximations
from frri.learners.training_table import TrainingTable, Weights
from frri.rules import NominalCondition, Rule
from frri.table import Attribute
from thorough import often

REFERENCE = Path(__file__).parent / "reference" / "rough.csv"


@parametrize_with_checks(
    [MODLEMClassifier(), MODLEMClassifier(criterion="entropy", approximation="upper")],
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# --- against the definitions


@st.composite
def tables(draw, missing=True):
    """Return tables of few values, with many ties, duplicates, contradictions and constants."""
    n, m = draw(st.integers(2, 14)), draw(st.integers(1, 3))
    nominal = draw(st.lists(st.booleans(), min_size=m, max_size=m))
    numbers = st.sampled_from([0.0, 0.1, 0.5, 2.0, 7.0])
    codes = st.sampled_from([0.0, 1.0, 2.0])
    absent = st.just(nan)
    columns = []
    for is_nominal in nominal:
        values = codes if is_nominal else numbers
        if missing:
            values = st.one_of(values, values, values, absent)
        columns.append(draw(st.lists(values, min_size=n, max_size=n)))
    classes = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return [list(row) for row in zip(*columns, strict=True)], classes, nominal


def attributes_of(nominal):
    return [
        Attribute(f"a{j}", categories=("p", "q", "r")) if is_nominal else Attribute(f"a{j}", 0, 7)
        for j, is_nominal in enumerate(nominal)
    ]


def binned(rows, classes, nominal):
    return BinnedTable.of(np.array(rows), np.array(classes), attributes_of(nominal))


@given(tables(), st.sampled_from(["lower", "upper", "none"]))
def test_approximations_follow_the_definition(table, kind):
    rows, classes, _ = table
    found = approximations(np.array(rows), np.array(classes), 3, kind)
    for c in range(3):
        assert set(np.flatnonzero(found[c])) == naive.approximation(rows, classes, c, kind)


def test_many_columns_discern_objects():
    # More combinations of values than an integer can encode, and only the last columns differ.
    n = 50
    ranks = np.vstack([np.tile(np.arange(n) // 2 * 2, (70, 1)), np.arange(n) % 2, [0] * n])
    values, classes = ranks.T.astype(float), np.arange(n) % 2
    assert approximations(values, classes, 2, "lower").sum() == n
    assert approximations(values[:, :70], classes, 2, "lower").sum() == 0


@given(tables())
def test_cut_points_follow_the_definition(table):
    rows, classes, nominal = table
    found = binned(rows, classes, nominal)
    for j, is_nominal in enumerate(nominal):
        column = [row[j] for row in rows]
        if is_nominal:
            assert found.end[j] - found.first[j] == 3
        else:
            cuts = found.upper[found.first[j] : found.end[j] - 1].tolist()
            assert cuts == naive.cut_points(column, classes)


def test_cut_between_neighbouring_numbers_separates_them():
    low, high = 1.0, np.nextafter(1.0, 2.0)
    cut = BinnedTable.of(np.array([[low], [high]]), np.array([0, 1]), [Attribute("a")]).upper
    assert low < cut[0] <= high


def conditions_of(table, rules, nominal):
    """Return rules in the format of the reference implementation."""
    return [
        (
            own,
            {
                c[0]: float(c[1] - table.first[c[0]]) if nominal[c[0]] else table.interval(c)
                for c in conditions
            },
        )
        for own, conditions in rules
    ]


# Weights are fractions that are not round: with round ones, scores that are equal by definition may differ in
# the last digit.
amounts = st.one_of(
    st.none(),
    st.lists(st.integers(1, 4), min_size=14, max_size=14),
    st.lists(st.sampled_from([0.25, 0.5, 1.5]), min_size=14, max_size=14),
    st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).random(14).tolist()),
)


def weights_of(given_weights, n):
    if given_weights is None:
        return Weights.of(np.ones(n)), naive.EQUAL
    return Weights.of(np.array(given_weights[:n], dtype=float)), given_weights[:n]


@settings(deadline=None, max_examples=often(200))
@given(
    tables(),
    amounts,
    st.sampled_from(["laplace", "entropy"]),
    st.sampled_from(["lower", "upper", "none"]),
    st.sampled_from([None, 1, 2]),
)
def test_covering_follows_the_definition(table, given_weights, criterion, kind, most):
    rows, classes, nominal = table
    weights, plain = weights_of(given_weights, len(rows))
    pairs = naive.test_pairs(rows, classes, nominal)
    targets = [naive.approximation(rows, classes, c, kind) for c in range(3)]
    expected = [
        (c, naive.merged(tests))
        for c, target in enumerate(targets)
        for tests in naive.rules_of_class(rows, target, pairs, 3, criterion, plain, most or 1000)
    ]
    flags = np.array([[i in target for i in range(len(rows))] for target in targets])
    entropy = criterion == "entropy"
    data = binned(rows, classes, nominal)
    search = modlem.SplitSearch(data, weights, 3, entropy=entropy)
    found = modlem.induce(search, flags, most)
    assert conditions_of(data, found, nominal) == expected


@settings(deadline=None, max_examples=often(200))
@given(tables(), amounts, st.sampled_from(["lower", "upper", "none"]))
@example(([[0.0, nan], [0.0, 0.0], [nan, 0.0]], [1, 0, 1], [True, True]), None, "lower")
def test_counts_follow_the_definition(table, given_weights, kind):
    rows, classes, nominal = table
    weights, plain = weights_of(given_weights, len(rows))
    data, codes = binned(rows, classes, nominal), np.array(classes)
    targets = approximations(np.array(rows), codes, 3, kind)
    rules = modlem.induce(modlem.SplitSearch(data, weights, 3, entropy=False), targets)
    attributes = tuple(attributes_of(nominal))
    amounts = None if given_weights is None else np.array(given_weights[: len(rows)], dtype=float)
    table = TrainingTable(np.array(rows), codes, (0, 1, 2), attributes, "class", amounts)
    covered = [np.flatnonzero(data.covered(conditions)) for _, conditions in rules]
    made = [Rule((), own) for own, _ in rules]
    measured = MODLEMClassifier()._measured(table, list(zip(made, covered, strict=True)))
    statistics = [rule.statistics for rule in measured]
    estimates = [modlem._m_estimates(some, data, targets[c], weights) for c, some in rules]

    named = conditions_of(data, rules, nominal)
    covers = [under(rows, conditions) for _, conditions in named]
    for r, (c, conditions) in enumerate(named):
        target = set(np.flatnonzero(targets[c]).tolist())
        prior = float(naive.weigh(target, plain)) / float(naive.weigh(range(len(rows)), plain))
        for subset in range(1 << len(conditions)):
            part = {a: k for bit, (a, k) in enumerate(conditions.items()) if subset >> bit & 1}
            inside = under(rows, part)
            p, t = (float(naive.weigh(some, plain)) for some in (inside & target, inside))
            assert estimates[r][subset] == pytest.approx((p + 3 * prior) / (t + 3))
        others = set().union(*(own for k, own in enumerate(covers) if k != r))
        wanted = float(naive.weigh(covers[r] - others, plain))
        assert statistics[r].alone == pytest.approx(wanted)
        for label in range(3):
            own = {i for i in covers[r] if classes[i] == label}
            wanted = float(naive.weigh(own, plain))
            assert statistics[r].support[label] == pytest.approx(wanted)


def under(rows, conditions):
    return {
        i
        for i, row in enumerate(rows)
        if all(naive.holds(row[a], k) for a, k in conditions.items())
    }


def noisy(n, seed, *, gaps=False):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4)).round(2)
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0.3) ^ (random.random(n) < 0.15)).astype(int)
    y += (X[:, 2] > 1) * 2
    if gaps:
        X[random.random(X.shape) < 0.05] = nan
    return X, y


@settings(deadline=None, max_examples=often(120))
@given(
    tables(),
    st.sampled_from(["laplace", "entropy"]),
    st.sampled_from(["lower", "upper", "none"]),
)
def test_rules_weights_and_predictions_follow_the_definition(table, criterion, kind):
    rows, classes, nominal = table
    present = sorted(set(classes))
    codes = [present.index(c) for c in classes]
    names = np.array(["p", "q", "r"], dtype=object)
    frame = pd.DataFrame(
        {
            f"a{j}": [None if isnan(x) else names[int(x)] for x in column] if nominal[j] else column
            for j, column in enumerate(map(list, zip(*rows, strict=True)))
        }
    )
    for j, column in enumerate(frame):
        if nominal[j]:
            frame[column] = frame[column].astype(object)
    model = MODLEMClassifier(criterion=criterion, approximation=kind, missing="fails")
    # A nominal column without any value is treated like a numeric one.
    if any(frame[f"a{j}"].isna().all() for j in range(len(nominal)) if nominal[j]):
        return
    # Categories are sorted texts, so codes keep their order but may skip unused ones.
    renumbered = [list(row) for row in rows]
    for j, is_nominal in enumerate(nominal):
        if is_nominal:
            used = sorted({row[j] for row in rows if row[j] == row[j]})
            for row in renumbered:
                row[j] = float(used.index(row[j])) if row[j] == row[j] else nan
    model.fit(frame, classes)
    expected = naive.modlem(renumbered, codes, len(present), nominal, criterion, kind)
    assert [(r.consequent, len(r.conditions)) for r in model.ruleset_] == [
        (present[c], len(conditions)) for c, conditions in expected
    ]
    for rule, (c, conditions) in zip(model.ruleset_, expected, strict=True):
        target = naive.approximation(renumbered, codes, c, kind)
        assert rule.weight == pytest.approx(naive.m_estimate(renumbered, target, conditions))
        for condition, (a, wanted) in zip(rule.conditions, conditions.items(), strict=True):
            assert condition.attribute == f"a{a}"
            if not isinstance(condition, NominalCondition):
                low, high = wanted
                column = [row[a] for row in renumbered if row[a] == row[a]]
                if all(value == int(value) for value in column):  # 1.5 <= x < 4.5 is 2 <= x <= 4
                    low, high = np.ceil(low), np.ceil(high) - 1
                    if {*column} == {0, 1}:
                        low, high = max(low, 0), min(high, 1)
                    assert condition.core_high == high
                assert (condition.support_low, condition.support_high) == (low, high)
    scores = np.array(
        [
            naive.modlem_scores(expected, renumbered, codes, len(present), kind, row)
            for row in renumbered
        ]
    )
    shares = scores / scores.sum(axis=1, keepdims=True)
    by_rules = replace(model.ruleset_, trust=1.0)
    np.testing.assert_allclose(by_rules.predict_proba(frame), shares, atol=1e-12)


def test_partial_matching_of_unseen_objects_follows_the_definition():
    X, y = noisy(60, 1)
    new, _ = noisy(30, 2)
    model = MODLEMClassifier().fit(X, y)
    rules = naive.modlem(X.tolist(), y.tolist(), 4, [False] * 4)
    scores = np.array(
        [
            naive.modlem_scores(rules, X.tolist(), y.tolist(), 4, "lower", row)
            for row in new.tolist()
        ]
    )
    assert (model.predict(new) == scores.argmax(axis=1)).all()
    assert (model.ruleset_.scores(new).max(axis=1) == 0).any()


# --- against the reference


def reference(algorithm, dataset):
    with REFERENCE.open(encoding="utf-8") as file:
        return [
            row
            for row in csv.DictReader(file)
            if (row["algorithm"], row["dataset"]) == (algorithm, dataset)
        ]


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("criterion", ["laplace", "entropy"])
@pytest.mark.parametrize("dataset", ["wine", "glass", "wisconsin", "dermatology"])
def test_reference_results(dataset, criterion):
    data = load(dataset)
    X, y = data.X.to_numpy(), data.y.astype(int)
    expected = reference("MODLEM" if criterion == "laplace" else "MODLEM-entropy", dataset)
    folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, data.y))
    assert len(expected) == len(folds)
    for row, (train, test) in zip(expected, folds, strict=True):
        model = MODLEMClassifier(criterion=criterion).fit(X[train], y[train])
        lengths = [len(rule.conditions) for rule in model.ruleset_]
        assert len(lengths) == int(row["n_rules"])
        assert np.mean(lengths) == pytest.approx(float(row["mean_length"]), abs=1e-6)
        right = model.predict(X[test]) == y[test]
        recalls = [right[y[test] == c].mean() for c in np.unique(y[test])]
        assert np.mean(recalls) == pytest.approx(float(row["balanced_accuracy"]), abs=5e-4)


def test_negative_zeros_are_zeros():
    """The original has different results on ionosphere, because it treats -0.0 as a value below 0.0.

    The file of KEEL has 22 of them, a result of rounding. If a number just below 0 replaces them, the
    number of rules is that of the original: 29.7 on average.
    """
    data = load("ionosphere")
    X = data.X.to_numpy()
    negative = np.signbit(X) & (X == 0)
    assert negative.sum() == 22
    unsigned, below = np.where(negative, 0.0, X), np.where(negative, -1e-300, X)
    sizes = []
    for train, _ in StratifiedKFold(10, shuffle=True, random_state=0).split(X, data.y):
        rules = MODLEMClassifier().fit(X[train], data.y[train]).ruleset_
        assert rules == MODLEMClassifier().fit(unsigned[train], data.y[train]).ruleset_
        original = MODLEMClassifier().fit(below[train], data.y[train]).ruleset_
        sizes.append((len(rules), len(original)))
    own, theirs = zip(*sizes, strict=True)
    assert own == (27, 30, 30, 29, 29, 28, 33, 30, 33, 32)
    assert theirs == (27, 29, 30, 29, 28, 28, 32, 29, 33, 32)


# --- behaviour


@pytest.mark.parametrize(
    "labels",
    [["no", "yes"], [False, True], [-3, 7], [0.0, 2.0], np.array(["b", "a"], dtype=object)],
)
def test_labels_of_any_type(labels):
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.asarray(labels)[[0, 0, 1, 1]]
    model = MODLEMClassifier().fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    assert [rule.consequent for rule in model.ruleset_] == sorted(set(y.tolist()))


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_with_names_and_missing_values(library):
    frame = library.DataFrame(
        {
            "colour": ["red", "red", "blue", None, "green", "green"],
            "size": [1.0, 2.0, 1.5, 4.0, None, 5.0],
        }
    )
    y = ["a", "a", "a", "b", "b", "b"]
    model = MODLEMClassifier().fit(frame, y)
    assert model.predict(frame).tolist() == y
    text = str(model.ruleset_)
    assert "colour" in text or "size" in text
    unseen = library.DataFrame({"colour": ["violet", None], "size": [1.0, None]})
    assert set(model.predict(unseen)) <= {"a", "b"}
    assert model.ruleset_.statistics(frame, y) == tuple(r.statistics for r in model.ruleset_)


def test_lem2_on_nominal_data():
    frame = pd.DataFrame(
        {
            "headache": ["yes", "yes", "no", "no", "yes", "no", "no", "no"],
            "weakness": ["yes", "no", "no", "no", "yes", "yes", "yes", "no"],
            "nausea": ["no", "yes", "yes", "no", "no", "no", "yes", "yes"],
        }
    )
    y = ["flu", "flu", "well", "well", "flu", "well", "flu", "well"]
    model = MODLEMClassifier().fit(frame, y)
    assert model.predict(frame).tolist() == y
    assert all(isinstance(c, NominalCondition) for rule in model.ruleset_ for c in rule.conditions)
    assert all(rule.statistics.precision == 1.0 for rule in model.ruleset_)


def test_intervals_are_one_condition():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    for scale, bounds in ((0.5, (0.75, 1.25)), (1.0, (2.0, 2.0))):  # 2 is the only integer
        rules = MODLEMClassifier().fit(scale * X, [0, 0, 1, 0, 0]).ruleset_
        (middle,) = [rule for rule in rules if rule.consequent == 1]
        (condition,) = middle.conditions
        assert (condition.core_low, condition.support_high) == bounds
        if scale == 0.5:
            assert condition.membership([0.7, 0.75, 1.2499, 1.25]).tolist() == [0, 1, 1, 0]


def test_one_class_and_contradictions():
    one = MODLEMClassifier().fit([[1.0], [2.0]], ["a", "a"])
    assert len(one.ruleset_) == 0
    assert one.predict([[5.0]]).tolist() == ["a"]
    torn = MODLEMClassifier().fit([[1.0], [1.0], [1.0]], ["a", "b", "b"])
    assert torn.predict([[1.0]]).tolist() == ["b"]


def test_long_rules_have_no_partial_weights():
    # The first object differs from each other object in a single attribute, so its rule needs all attributes.
    m = 18
    X = np.vstack([np.ones(m), 1 - np.eye(m)])
    model = MODLEMClassifier().fit(X, [1] + [0] * m)
    (long,) = [rule for rule in model.ruleset_ if rule.consequent == 1]
    assert len(long.conditions) == m
    assert long.partial_weights == ()
    assert long.weight == pytest.approx((1 + 3 / (m + 1)) / 4)
    assert model.predict(X).tolist() == [1] + [0] * m


def test_statistics_and_about():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = MODLEMClassifier(criterion="entropy").fit(X, y)
    assert model.ruleset_.about["learner"] == "MODLEM"
    assert model.ruleset_.about["parameters"]["criterion"] == "entropy"
    assert all(rule.statistics is not None for rule in model.ruleset_)
    assert all(0 < rule.weight < inf for rule in model.ruleset_)


def test_pickle_clone_json_pipeline_and_search():
    X, y = load_iris(return_X_y=True)
    model = MODLEMClassifier().fit(X, y)
    assert (pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)).all()
    assert clone(model).get_params() == model.get_params()
    read = RuleSet.from_json(model.ruleset_.to_json())
    new = X + np.random.default_rng(0).normal(scale=0.5, size=X.shape)
    assert (read.predict(new) == model.predict(new)).all()
    json.loads(model.ruleset_.to_json())
    pipeline = make_pipeline(StandardScaler(), MODLEMClassifier()).fit(X, y)
    assert pipeline.score(X, y) > 0.95
    search = GridSearchCV(MODLEMClassifier(), {"criterion": ["laplace", "entropy"]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.85


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"criterion": "gini"}, "criterion must be one of laplace, entropy, got 'gini'"),
        ({"approximation": None}, "approximation must be one of lower, upper, none, got None"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        MODLEMClassifier(**parameters).fit([[1.0], [2.0]], [0, 1])


def test_bad_tables():
    with pytest.raises(ValueError, match="Column 0 holds inf"):
        MODLEMClassifier().fit([[inf], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="'continuous'"):
        MODLEMClassifier().fit([[1.0], [2.0]], [0.5, 1.5])

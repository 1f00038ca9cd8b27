"""FURIAClassifier: comparison with a reference implementation and Java original, scikit-learn checks."""

import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive_baselines as naive
from frri._compile import compiled
from frri.learners.ripper import _kernels as kernels
from frri.learners.ripper import _support_kernels as support_kernels
from frri.learners.ripper import furia as fuzzifying
from frri.learners.ripper import ripper as growing
from frri.learners.ripper._kernels import SortedColumns
from frri.learners.ripper.furia import FURIAClassifier
from frri.learners.ripper.ripper import split, without_redundant
from frri.rules import NominalCondition, RuleSet
from test_ripper import as_tests, compare_with_reference


@parametrize_with_checks(
    [
        FURIAClassifier(),
        FURIAClassifier(t_norm="minimum", fallback="priors", optimizations=1),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# ---------------------------------------------------------------- parts, compared with the reference implementation


class Case:
    """A random table with random rules for class 0."""

    def __init__(self, seed):
        X, self.y, nominal = naive.random_table(seed, n_max=25)
        self.frame = naive.as_frame(X, nominal)
        table = FURIAClassifier(missing="fails")._training_table(self.frame, self.y)
        self.X = table.values
        self.nominal = [attribute.kind == "nominal" for attribute in table.attributes]
        rng = np.random.default_rng(seed)
        self.own = self.y == 0
        if seed % 3 == 0:
            given = np.random.default_rng(seed).integers(1, 9, len(X)) / 4
            table = replace(table, weights=given)
        self.columns = SortedColumns.of(table)
        everything = list(range(len(X)))
        tests = list(naive.tests_in_order(self.X, everything, self.nominal))
        drawn = [
            [tests[i] for i in rng.integers(0, len(tests), size=rng.integers(1, 4))]
            for _ in range(4)
        ]
        grown = naive.grow(self.X, self.own, [], everything, self.nominal, 2)
        self.rules = [naive.tightest(rule) for rule in [*drawn, grown]]

    def supports(self, rule, kernels=support_kernels):
        tests = np.array(without_redundant(as_tests(rule))).reshape(-1, 3)
        return tests, kernels.widen(self.columns, self.own, tests)


# Interpreted and compiled.
FORMS = (support_kernels, compiled(support_kernels))


@pytest.mark.parametrize("seed", range(60))
def test_purest_support_of_a_test(seed):
    case = Case(seed)
    columns, weights = case.columns, case.columns.weights
    relevant = np.random.default_rng(seed).random(len(case.X)) < 0.8
    for rule in case.rules:
        for test in rule:
            column, comparison, value = as_tests([test])[0]
            column = columns.values[int(column)]
            failed = np.where(relevant, ~kernels.satisfies(column, comparison, value), 2)
            inside = weights[failed == 0].sum(), weights[(failed == 0) & case.own].sum()
            order = columns.order[int(test[0])]
            outward = support_kernels.beyond(column, order, comparison, value)
            known = column, value, inside, outward, failed, case.own, weights
            purity, support = support_kernels.purest_support(*known)
            np.testing.assert_array_equal(FORMS[1].purest_support(*known), (purity, support))
            expected, widest = naive.purest_support(
                case.X, case.own, test, np.flatnonzero(relevant).tolist(), case.columns.weights
            )
            assert (None if np.isnan(support) else support) == widest
            assert purity == pytest.approx(float(expected))


@pytest.mark.parametrize("seed", range(60))
def test_fuzzified_rules(seed):
    case = Case(seed)
    for rule in case.rules:
        expected = naive.fuzzify(case.X, case.own, rule, case.columns.weights)
        for form in FORMS:
            found = [None if np.isnan(end) else end for end in case.supports(rule, form)[1]]
            assert found == expected


@pytest.mark.parametrize("t_norm", ["product", "minimum"])
@pytest.mark.parametrize("seed", range(30))
def test_certainty_factors_of_all_beginnings(seed, t_norm):
    case = Case(seed)
    for rule in case.rules:
        weights = case.columns.weights
        ends = naive.fuzzify(case.X, case.own, rule, weights)
        slopes = list(zip(without_redundant(as_tests(rule)), case.supports(rule)[1], strict=True))
        degrees = fuzzifying.prefix_degrees(case.columns.values, slopes, t_norm)
        found = fuzzifying.certainties(degrees, case.own, weights)
        expected = [
            float(naive.certainty(case.X, case.own.tolist(), rule[:k], ends[:k], t_norm, weights))
            for k in range(len(rule) + 1)
        ]
        assert found == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(45))
def test_whole_rules(seed):
    """One-vs-rest with the same random splits, then fuzzified; seeds from 30 on have weights."""
    X, y, nominal = naive.random_table(seed, n_max=30)
    frame = naive.as_frame(X, nominal)
    weights = None if seed < 30 else np.random.default_rng(seed).integers(1, 9, len(X)) / 4
    model = FURIAClassifier(random_state=seed, missing="fails")
    table = model._with_copies(model._training_table(frame, y, weights))
    random, weights = np.random.RandomState(seed), table.weights

    def deal(rows):
        chosen = np.zeros(len(table.values), dtype=bool)
        chosen[rows] = True
        parts = split(table.classes, chosen, 3, random)
        return [np.flatnonzero(part).tolist() for part in parts]

    expected = []
    for c, label in enumerate(table.labels):
        own = (table.classes == c).tolist()
        problem = naive.ClassProblem(
            table.values,
            own,
            list(range(len(table.values))),
            [attribute.kind == "nominal" for attribute in table.attributes],
            float(np.average(own, weights=weights)),
            2,
            deal,
            pruned=False,
            keep_hopeless=True,
            weights=weights,
        )
        for rule in problem.rules(2):
            tests = naive.tightest(rule)
            supports = naive.fuzzify(table.values, own, tests, weights)
            expected.append((label, tests, without_integer_slopes(tests, supports, table.values)))
    model._learn(table)
    assert [as_naive_rule(rule, table.attributes) for rule in model.ruleset_] == expected


def without_integer_slopes(tests, supports, values):
    """Return the ends of slopes, except slopes between neighboring integers in a column of integers."""
    ends = []
    for (j, _, value), end in zip(tests, supports, strict=True):
        column = values[:, j][~np.isnan(values[:, j])]
        gap = end is not None and abs(end - value) <= 1 and (column == np.floor(column)).all()
        ends.append(None if gap else end)
    return ends


def as_naive_rule(rule, attributes):
    names = [attribute.name for attribute in attributes]
    tests, supports = [], []
    for c in rule.conditions:
        j = names.index(c.attribute)
        if isinstance(c, NominalCondition):
            (value,) = c.values
            tests.append((j, "=", float(attributes[j].categories.index(value))))
            supports.append(None)
        elif c.core_low == c.core_high:  # a column of 0 and 1
            assert {*c.trapezoid} in ({0}, {1})
            tests.append((j, ">=" if c.core_low else "<=", c.core_low))
            supports.append(None)
        elif c.core_high < np.inf:
            tests.append((j, "<=", c.core_high))
            supports.append(c.support_high if c.support_high > c.core_high else None)
        else:
            tests.append((j, ">=", c.core_low))
            supports.append(c.support_low if c.support_low < c.core_low else None)
    return rule.consequent, tests, supports


@pytest.mark.parametrize("fallback", ["stretch", "priors"])
@pytest.mark.parametrize("t_norm", ["product", "minimum"])
@pytest.mark.parametrize("seed", range(12))
def test_votes_stretching_and_priors(seed, t_norm, fallback):
    X, y, nominal = naive.random_table(seed, n_max=25)
    frame = naive.as_frame(X, nominal)
    model = FURIAClassifier(
        t_norm=t_norm, fallback=fallback, random_state=seed, missing="fails"
    ).fit(frame, y)
    attributes = model.ruleset_.attributes
    table = model._new_values(frame)
    rules = [as_naive_rule(rule, attributes) for rule in model.ruleset_]
    rng = np.random.default_rng(seed)
    new = np.column_stack([rng.permutation(table[:, j]) for j in range(table.shape[1])])[:15]
    shown = RuleSet.probabilities(replace(model.ruleset_, trust=1.0), new)
    classes = model.classes_.tolist()
    for x, shares in zip(new, shown, strict=True):
        scores = naive.furia_scores(
            table, y.tolist(), classes, rules, t_norm, fallback == "stretch", x
        )
        total = sum(scores.values(), Fraction(0))
        assert shares == pytest.approx([float(scores[c] / total) for c in classes])


# ---------------------------------------------------------------- behaviour


def test_rules_are_unordered_and_weighted_by_certainty():
    X, y = load_iris(return_X_y=True)
    rules = FURIAClassifier(random_state=0).fit(X, y).ruleset_
    assert {rule.consequent for rule in rules} == {0, 1, 2}
    assert rules.combination == "sum"
    assert rules.fallback == "stretched"
    assert all(0 < rule.weight < 1 for rule in rules)
    for rule in rules:
        m = len(rule.conditions)
        assert len(rule.partial_weights) == m + 1
        assert rule.partial_weights[m] == pytest.approx(rule.weight * (m + 1) / (m + 2))


def test_same_seed_same_rules_and_seeds_matter():
    X, y = make_classification(200, 6, flip_y=0.2, random_state=0)
    first, again = (FURIAClassifier(random_state=1).fit(X, y).ruleset_ for _ in range(2))
    assert first == again
    others = {str(FURIAClassifier(random_state=s).fit(X, y).ruleset_) for s in range(5)}
    assert len(others) > 1


def test_compiled_and_interpreted_fits_agree(monkeypatch):
    X, y = make_classification(300, 8, n_classes=3, n_informative=5, random_state=1)
    fits = []
    for chosen in (kernels, compiled(kernels)):
        monkeypatch.setattr(growing, "kernels_for", lambda _, chosen=chosen: chosen)
        fits.append(FURIAClassifier(random_state=0).fit(X, y).ruleset_)
    assert fits[0] == fits[1]


def test_the_former_name_of_fallback_warns():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(FutureWarning, match="now called fallback"):
        old = FURIAClassifier(uncovered="priors", random_state=0).fit(X, y)
    assert old.ruleset_ == FURIAClassifier(fallback="priors", random_state=0).fit(X, y).ruleset_


def test_a_rule_without_conditions_does_not_vote():
    """A single class needs no test; the fallback then predicts."""
    model = FURIAClassifier(optimizations=0).fit([[1.0], [2.0], [3.0]], ["a", "a", "a"])
    assert [(rule.conditions, rule.weight) for rule in model.ruleset_] == [((), 0.0)]
    assert model.predict([[7.0]]).tolist() == ["a"]


@pytest.mark.parametrize(
    "labels",
    [["no", "yes"], [7, 3], [True, False], [1.0, 2.0], np.array(["b", "a"], dtype=object)],
)
def test_labels_of_any_type(labels):
    X, codes = make_classification(80, 4, random_state=0)
    y = np.asarray(labels)[codes]
    model = FURIAClassifier(random_state=0).fit(X, y)
    assert set(model.predict(X)) <= set(y)
    assert model.score(X, y) > 0.8


def test_names_and_missing_values_in_data_frames():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], 200).astype(object),
            "size": rng.random(200),
        }
    )
    y = np.where((frame["colour"] == "red") & (frame["size"] > 0.4), "buy", "leave")
    frame.loc[:20, "colour"] = None
    frame.loc[30:40, "size"] = np.nan
    model = FURIAClassifier(random_state=0).fit(frame, y)
    nominal = {c for r in model.ruleset_ for c in r.conditions if isinstance(c, NominalCondition)}
    assert NominalCondition("colour", frozenset({"red"})) in nominal
    assert model.score(frame[41:], y[41:]) > 0.97
    assert model.predict(pd.DataFrame({"colour": [None], "size": [np.nan]}))[0] == "leave"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"folds": 1}, "folds must be an integer from 2 on, got 1"),
        ({"min_weight": -1}, "min_weight must be a number from 0 on, got -1"),
        ({"optimizations": 1.5}, "optimizations must be an integer from 0 on, got 1.5"),
        ({"t_norm": "drastic"}, "t_norm must be one of product, minimum, got 'drastic'"),
        ({"fallback": "guess"}, "fallback must be one of stretch, priors, got 'guess'"),
        ({"fallback": ["priors"]}, "fallback must be one of stretch, priors"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        FURIAClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_saved_rules_predict_the_same():
    X, y, nominal = naive.random_table(4)
    frame = naive.as_frame(X, nominal)
    model = FURIAClassifier(random_state=0).fit(frame, y)
    loaded = RuleSet.from_json(model.ruleset_.to_json())
    assert loaded == model.ruleset_
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    unpickled = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(unpickled.predict_proba(frame), model.predict_proba(frame))


def test_tools_of_scikit_learn():
    X, y = load_iris(return_X_y=True, as_frame=True)
    assert clone(FURIAClassifier(t_norm="minimum")).t_norm == "minimum"
    pipeline = make_pipeline(StandardScaler(), FURIAClassifier(random_state=0))
    grid = {"furiaclassifier__t_norm": ["product", "minimum"]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.85
    assert search.best_estimator_[-1].ruleset_.about["learner"] == "FURIA"


# ---------------------------------------------------------------- the original implementation


@pytest.mark.parametrize("name", ["wine", "dermatology"])
def test_agrees_with_the_reference_on_average(name):
    from frri.compare.datasets import load

    compare_with_reference(FURIAClassifier, "FURIA", load(name))

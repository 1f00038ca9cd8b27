"""FRRI bagging: the pooled rules, compared with their definition, and properties of every bag."""

import os
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive
import naive_bagging
from frri import ConditionType, FRRIBaggingClassifier, FRRIClassifier, RuleSet
from frri.learners.frri import bagging
from frri.learners.frri.bagging import draw_bags, draw_features, rules_of_bag
from thorough import often

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@parametrize_with_checks(
    [FRRIBaggingClassifier(n_estimators=2)],
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


class Recording(FRRIBaggingClassifier):
    """Records the pool, and the objects of every bag."""

    def _pool(self, table, draws, seeds):
        self.seen, self.seeds, self.table = ~draws.unseen, seeds, table
        self.pool = super()._pool(table, draws, seeds)
        return self.pool


def plain_rules(model):
    """Return the pool in the format of the reference implementation."""
    pool = model.pool
    kinds = [[ConditionType(int(kind)).name for kind in types] for types in pool.types]
    return [
        (kinds[r], pool.points[r], pool.radii[r], pool.classes[r], pool.bags[r])
        for r in range(len(pool.radii))
    ]


# ---------------------------------------------------------------- by the definition


@st.composite
def tables(draw):
    """Ties, repetitions, contradictions, constant columns, missing values, categories, one class, one row."""
    n, m = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    cells = st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.75, 1.0, None])
    columns = [draw(st.lists(cells, min_size=n, max_size=n)) for _ in range(m)]
    scale = draw(st.sampled_from([1.0, 1e-9, 1e200, 92.0]))
    frame = pd.DataFrame({f"x{j}": np.array(c, dtype=float) * scale for j, c in enumerate(columns)})
    if draw(st.booleans()):
        frame["kind"] = draw(st.lists(st.sampled_from("ab"), min_size=n, max_size=n))
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    settings = {
        "max_samples": draw(st.sampled_from([0.3, 0.7, 1.0, 5])),
        "max_features": draw(st.sampled_from([0.5, 1.0])),
        "attribute_order": draw(st.sampled_from(["given", "random"])),
    }
    return frame, y, settings


@settings(max_examples=often(120), deadline=None)
@given(tables())
def test_any_pool_by_definition(case):
    frame, y, parameters = case
    model = Recording(n_estimators=3, random_state=0, missing="similar", **parameters).fit(frame, y)
    _, labels = np.unique(y, return_inverse=True)
    nominal = [j for j, a in enumerate(model.table.attributes) if a.kind == "nominal"]
    values = naive.scale(model.table.values, nominal=nominal)
    rules = plain_rules(model)
    reach, table, chosen = naive_bagging.pooled(rules, values, labels, nominal)

    assert model.selection_.status == "optimal"
    order = sorted(chosen, key=lambda r: (rules[r][3], -sum(table[r]), r))
    assert model.bags_.tolist() == [rules[r][4] for r in order]
    assert model.selected_.tolist() == [model.pool.sources[r] for r in order]
    assert [rule.weight for rule in model.ruleset_] == [reach[r] for r in order]
    assert model.uncovered_.tolist() == np.flatnonzero(~table.any(axis=0)).tolist()
    assert model.selection_.n_dropped == (~table.any(axis=1)).sum()
    narrow = np.array(reach) < model.pool.radii
    assert model.selection_.n_narrowed == (narrow & table.any(axis=1)).sum()
    # Rules in units of the table have the same coverage, without objects of other classes.
    covers = model.ruleset_.covers(frame)
    assert (covers == table[order].T).all()
    assert not (covers & (y[:, None] != [rule.consequent for rule in model.ruleset_])).any()

    predictions = [
        naive_bagging.unseen(rules, values, labels, v, model.seen, labels.max() + 1, nominal)
        for v in range(len(y))
    ]
    asked = [v for v in range(len(y)) if predictions[v] is not None]
    right = np.array([predictions[v] == labels[v] for v in asked])
    assert np.array_equal(model.oob_score_, right.mean() if asked else np.nan, equal_nan=True)
    recalls = (
        [right[labels[asked] == c].mean() for c in set(labels[asked].tolist())]
        if asked
        else [np.nan]
    )
    np.testing.assert_allclose(model.oob_balanced_score_, np.mean(recalls))


@settings(max_examples=often(80), deadline=None)
@given(tables())
def test_every_pooled_rule_is_one_of_its_bag(case):
    """Also check that the rules of a bag cover its coverable objects."""
    frame, y, parameters = case
    parameters |= {"attribute_order": "given"}
    model = Recording(n_estimators=2, random_state=1, missing="similar", **parameters).fit(frame, y)
    _, labels = np.unique(y, return_inverse=True)
    is_nominal = [a.kind == "nominal" for a in model.table.attributes]
    values = naive.scale(model.table.values, nominal=np.flatnonzero(is_nominal))
    rules = plain_rules(model)
    for bag, (rows, seed) in enumerate(zip(model.seen, model.seeds, strict=True)):
        used = draw_features(values.shape[1], parameters["max_features"], seed)
        nominal = [j for j, a in enumerate(used) if is_nominal[a]]
        members = np.flatnonzero(rows)
        part, classes = values[np.ix_(members, used)], labels[members]
        confidence = naive.confidences(part, classes, nominal=nominal)
        kinds = naive.shorten_all(
            part, classes, confidence, list(range(len(used))), nominal=nominal
        )
        table = naive.covering_table(part, classes, confidence, kinds, nominal)
        mine = [r for r, rule in enumerate(rules) if rule[4] == bag]
        places = [members.tolist().index(model.pool.sources[r]) for r in mine]
        for r, u in zip(mine, places, strict=True):
            assert rules[r][2] == confidence[u]
            assert [rules[r][0][a] for a in used] == kinds[u]
            assert sum(kind != "UNUSED" for kind in rules[r][0]) == sum(
                k != "UNUSED" for k in kinds[u]
            )
        assert (table[places].any(axis=0) == table.any(axis=0)).all()


def test_blocks_and_threads_change_nothing(monkeypatch):
    X, y = load_wine(return_X_y=True)
    model = FRRIBaggingClassifier(n_estimators=4, random_state=3, n_jobs=1).fit(X, y)
    monkeypatch.setattr(bagging, "MOST_PAIRS", 1)
    other = FRRIBaggingClassifier(n_estimators=4, random_state=3, n_jobs=2).fit(X, y)
    assert other.ruleset_ == model.ruleset_
    assert other.oob_score_ == model.oob_score_
    assert other.selection_ | {"seconds": None} == model.selection_ | {"seconds": None}


# ---------------------------------------------------------------- bags


@pytest.fixture(scope="module")
def table():
    """Return a training table with repetitions."""
    X, y = load_iris(return_X_y=True)
    return FRRIBaggingClassifier()._training_table(np.r_[X, X[::2]], np.r_[y, y[::2]])


def test_bags_are_stratified_and_keep_equal_objects_together(table):
    drawn = ~draw_bags(table, 0.3, list(range(20))).unseen
    assert len({bag.tobytes() for bag in drawn}) == 20
    equal = {}
    for row, (values, c) in enumerate(zip(table.values.tolist(), table.classes, strict=True)):
        equal.setdefault((*values, c), []).append(row)
    first = [rows[0] for rows in equal.values()]
    for rows in equal.values():
        assert (drawn[:, rows] == drawn[:, rows[:1]]).all()
    for c, size in enumerate(np.bincount(table.classes[first])):
        assert (
            drawn[:, first][:, table.classes[first] == c].sum(axis=1) == round(0.3 * size)
        ).all()
    # All objects are drawn about equally often.
    assert 0.05 < drawn[:, first].mean(axis=0).std() < 0.15
    assert len(draw_bags(table, 9, [0]).rows(0)) == 9
    assert not draw_bags(table, 10**6, [0]).unseen.any()


def test_some_attributes():
    assert draw_features(10, 0.3, 0).tolist() == sorted(set(draw_features(10, 0.3, 0).tolist()))
    assert len(draw_features(10, 0.3, 0)) == 3
    assert len(draw_features(3, 0.1, 0)) == 1
    X, y = load_wine(return_X_y=True)
    model = FRRIBaggingClassifier(n_estimators=2, max_features=0.2, random_state=0).fit(X, y)
    for bag in range(2):
        of_bag = [rule for rule, b in zip(model.ruleset_, model.bags_, strict=True) if b == bag]
        assert len({name for rule in of_bag for name in rule.attributes}) <= 3


def test_order_and_repetitions_of_rows_do_not_matter_and_weights_are_repetitions():
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    times = np.arange(len(y)) % 3
    weighted = FRRIBaggingClassifier(n_estimators=3, random_state=0).fit(X, y, sample_weight=times)
    repeated = FRRIBaggingClassifier(n_estimators=3, random_state=0).fit(
        X.repeat(times, axis=0), y.repeat(times)
    )
    assert [str(rule) for rule in weighted.ruleset_] == [str(rule) for rule in repeated.ruleset_]
    assert weighted.oob_score_ == pytest.approx(repeated.oob_score_)
    assert weighted.ruleset_.trust == repeated.ruleset_.trust
    backwards = FRRIBaggingClassifier(n_estimators=3, random_state=0).fit(X[::-1], y[::-1])
    forwards = FRRIBaggingClassifier(n_estimators=3, random_state=0).fit(X, y)
    assert backwards.oob_score_ == forwards.oob_score_


# Processes take seconds to start.
BACKENDS = ["threading", *(["loky"] if os.environ.get("FRRI_THOROUGH") else [])]


@pytest.mark.parametrize("backend", BACKENDS)
def test_joblib_decides_where_bags_are_made(backend):
    X, y = load_iris(return_X_y=True)
    alone = FRRIBaggingClassifier(n_estimators=2, random_state=5).fit(X, y)
    with joblib.parallel_config(backend, n_jobs=2):
        together = FRRIBaggingClassifier(n_estimators=2, random_state=5).fit(X, y)
    assert together.ruleset_ == alone.ruleset_


def test_bags_can_be_sent_to_other_processes(monkeypatch):
    """Inputs and results of bags survive pickling."""
    X, y = load_iris(return_X_y=True)
    alone = FRRIBaggingClassifier(n_estimators=2, random_state=5, conditions={0: "at most"}).fit(
        X, y
    )

    def sent(*given, **settings):
        given, settings = pickle.loads(pickle.dumps((given, settings)))
        return pickle.loads(pickle.dumps(rules_of_bag(*given, **settings)))

    assert pickle.loads(pickle.dumps(rules_of_bag)) is rules_of_bag

    monkeypatch.setattr(bagging, "rules_of_bag", sent)
    model = FRRIBaggingClassifier(n_estimators=2, random_state=5, conditions={0: "at most"}).fit(
        X, y
    )
    assert model.ruleset_ == alone.ruleset_


# ---------------------------------------------------------------- the estimator


def test_one_bag_of_all_objects_has_rules_of_frri():
    X, y = load_wine(return_X_y=True)
    model = FRRIBaggingClassifier(n_estimators=1, max_samples=1.0, max_features=1.0).fit(X, y)
    plain = FRRIClassifier().fit(X, y)
    assert model.selection_.n_narrowed == model.selection_.n_dropped == 0
    assert len(model.uncovered_) == 0
    assert len(model.ruleset_) >= len(plain.ruleset_)
    for rule, u in zip(model.ruleset_, model.selected_, strict=True):
        assert rule.weight == plain.confidence_[u]
        assert len(rule.conditions) == np.count_nonzero(plain.condition_types_[u])
    assert np.isnan(model.oob_score_)
    assert 0 < model.ruleset_.trust < 1  # by halves, as there are no unseen objects


def test_missing_values_categories_and_a_file(tmp_path):
    random = np.random.default_rng(0)
    X = pd.DataFrame({"x": random.normal(size=80), "kind": random.choice(["a", "b", "c"], 80)})
    y = np.where((X["kind"] == "a") | (X["x"] > 1), "yes", "no")
    X.loc[::7, "x"], X.loc[::9, "kind"] = np.nan, None
    for missing in ("similar", "typical"):
        model = FRRIBaggingClassifier(
            n_estimators=4, random_state=0, missing=missing, conditions={"x": "at least"}
        )
        with pytest.warns(
            UserWarning, match="covered by no rule of any bag .more or larger bags .*: rows"
        ):
            model.fit(X, y)
        model.ruleset_.save(tmp_path / "rules.json")
        loaded = RuleSet.load(tmp_path / "rules.json")
        assert loaded == model.ruleset_
        assert loaded.about["selection"]["n_pooled"] == model.selection_.n_pooled
        assert loaded.predict(X).tolist() == model.predict(X).tolist()
        assert all(
            c.core_high == np.inf for rule in loaded for c in rule.conditions if c.attribute == "x"
        )


def test_limits_hold():
    X, y = load_wine(return_X_y=True)
    settings = {"n_estimators": 3, "random_state": 0}
    few = FRRIBaggingClassifier(max_rules=4, **settings).fit(X, y)
    assert len(few.ruleset_) == 4
    assert {rule.consequent for rule in few.ruleset_} == {0, 1, 2}
    short = FRRIBaggingClassifier(max_conditions=2, **settings).fit(X, y)
    assert max(len(rule.conditions) for rule in short.ruleset_) == 2
    broad = FRRIBaggingClassifier(min_support=0.2, **settings).fit(X, y)
    assert all(rule.statistics.support[rule.consequent] >= 0.2 * 48 for rule in broad.ruleset_)
    part = FRRIBaggingClassifier(coverage=0.8, **settings).fit(X, y)
    assert part.selection_.claim.startswith("the fewest that cover 80% of each class of ")
    assert len(part.ruleset_) < len(FRRIBaggingClassifier(**settings).fit(X, y).ruleset_)


def test_a_search_without_time_reports_missing_proofs():
    X, y = load_wine(return_X_y=True)
    with pytest.warns(UserWarning, match="not proven optimal: .* stopped by `time_limit`"):
        FRRIBaggingClassifier(n_estimators=2, random_state=0, time_limit=0).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be an integer from 1 on, got 0"),
        ({"max_samples": 0}, "max_samples must be an integer from 1 on, got 0"),
        (
            {"max_samples": 1.5},
            "max_samples must be a fraction above 0 up to 1 or an integer, got 1.5",
        ),
        ({"max_features": 0.0}, "max_features must be a fraction above 0 up to 1, got 0.0"),
        ({"attribute_order": [0]}, "attribute_order must be one of given, random"),
        ({"missing": "fails"}, "missing must be one of typical, similar, error"),
        ({"max_rules": 3, "coverage": 0.5}, "coverage and max_rules contradict"),
    ],
)
def test_parameters_that_make_no_sense(parameters, message):
    with pytest.raises(ValueError, match=message):
        FRRIBaggingClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])

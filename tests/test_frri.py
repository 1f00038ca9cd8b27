"""FRRIClassifier: the worked example, the reference implementation, scikit-learn checks, bad input."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive
import worked_example as example
from frri import (
    ConditionType,
    FRRIClassifier,
    MODLEMClassifier,
    RIPPERClassifier,
    RuleSet,
    induction,
)
from frri.learners.frri import classifier, pipeline
from frri.table import to_matrix
from thorough import often

quiet = pytest.mark.filterwarnings("ignore::UserWarning")


@quiet
@parametrize_with_checks(
    [
        FRRIClassifier(),
        FRRIClassifier(attribute_order="random", random_state=0),
        FRRIClassifier(missing="error"),
    ],
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# ---------------------------------------------------------------- the worked example of the paper


@pytest.fixture(scope="module")
def fitted():
    frame = pd.DataFrame(example.X, columns=example.NAMES)
    return FRRIClassifier().fit(frame, pd.Series(example.Y, name="d"))


def test_worked_example_confidences(fitted):
    np.testing.assert_allclose(fitted.confidence_, example.CONFIDENCES, atol=5e-7)


def test_worked_example_shortened_rules(fitted):
    kinds = [[kind.name for kind in row] for row in fitted.condition_types_]
    assert kinds == [list(row) for row in example.KINDS]


def test_worked_example_covering_table(fitted):
    """Each candidate, as a separate rule set, has the coverage of the paper's table."""
    from frri.learners.training_table import box_rule

    table = FRRIClassifier()._training_table(
        pd.DataFrame(example.X, columns=example.NAMES), example.Y
    )
    rules = tuple(
        box_rule(table, u, fitted._types[u], fitted.confidence_[u], int(example.Y[u]))
        for u in range(7)
    )
    candidates = RuleSet(rules, table.attributes, table.labels, clip=True)
    assert candidates.covers(example.X).T.tolist() == np.asarray(example.TABLE, dtype=bool).tolist()


def test_worked_example_minimal_cover(fitted):
    assert fitted.selection_.status == "optimal"
    assert fitted.selection_.n_rules == fitted.selection_.lower_bound == 2
    assert (
        sorted(fitted.selected_) == naive.fit(np.array(example.X), np.array(example.Y))["selected"]
    )
    assert [rule.source for rule in fitted.ruleset_] == fitted.selected_.tolist()


def test_worked_example_prediction():
    """With u2 and u5 chosen, as the paper does, the new object is of class 0 (its text says 1)."""
    scaled = np.array(example.PRINTED)
    low, high = np.array(example.X).min(axis=0), np.array(example.X).max(axis=0)
    frame = pd.DataFrame(example.X, columns=example.NAMES)
    clf = FRRIClassifier().fit(frame, example.Y)
    from frri.learners.training_table import box_rule

    table = clf._training_table(frame, example.Y)
    rules = tuple(
        box_rule(table, u, clf._types[u], clf.confidence_[u], int(example.Y[u])) for u in (1, 4)
    )
    chosen = RuleSet(rules, table.attributes, table.labels, clip=True)
    new_object = low + np.array(example.NEW_OBJECT) * (high - low)
    scores = chosen.scores([new_object])[0]
    # The paper rounds a2(u5) to 0.05; in full precision it is 0.0543.
    np.testing.assert_allclose(scores, example.NEW_OBJECT_SCORES, atol=0.005)
    assert chosen.predict([new_object])[0] == example.NEW_OBJECT_CLASS == 0
    assert scaled.shape == (7, 8)


def test_rules_read_in_the_users_units(fitted):
    lines = str(fitted.ruleset_).splitlines()
    assert len(lines) == 2
    assert all(
        "THEN d = " in line and "weight" in line and "precision 1.00" in line for line in lines
    )


# ---------------------------------------------------------------- the reference implementation


@st.composite
def tables(draw):
    n = draw(st.integers(1, 9))
    m = draw(st.integers(1, 4))
    values = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, 0.3, 0.1])
    X = np.array(draw(st.lists(st.lists(values, min_size=m, max_size=m), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.integers(0, draw(st.integers(0, 3))), min_size=n, max_size=n)))
    scale = draw(st.sampled_from([1.0, 1e-9, 1e9, 1e-200, 1e200, 92.0]))
    shift = draw(st.sampled_from([0.0, 1.0, -3.0]))
    order = np.array(draw(st.permutations(range(m))))
    return (X + shift) * scale, y, order


@quiet
@settings(max_examples=often(1500), deadline=None)
@given(tables())
def test_whole_algorithm_agrees_with_the_definitions(table):
    X, y, order = table
    expected = naive.fit(X, y, order)
    clf = FRRIClassifier(attribute_order=order).fit(X, y)
    np.testing.assert_array_equal(clf.confidence_, expected["confidences"])
    assert [[k.name for k in row] for row in clf.condition_types_] == [
        list(k) for k in expected["kinds"]
    ]
    assert sorted(clf.selected_) == list(expected["selected"])
    assert clf.selection_.status == "optimal"
    assert clf.uncovered_.tolist() == sorted(expected["left_out"])

    new = np.vstack([X, X[::-1] * 1.5, np.zeros((1, X.shape[1]))])
    scaled = naive.scale(X, new)
    for row, got, shares in zip(scaled, clf.predict(new), clf.predict_proba(new), strict=True):
        scores, uncut = naive.predict_scores(
            expected["rule_kinds"],
            expected["rule_anchors"],
            expected["rule_confidences"],
            expected["rule_classes"],
            expected["n_classes"],
            row,
        )
        values = scores if max(scores) > 1e-9 else uncut
        # Up to rounding: a tie may be broken either way by the last bit.
        assert values[list(clf.classes_).index(got)] >= max(values) - 1e-9
        assert shares.sum() == pytest.approx(1.0)


@quiet
@settings(max_examples=often(200), deadline=None)
@given(tables())
def test_one_order_per_object(table):
    X, y, _ = table
    orders = np.array([np.roll(np.arange(X.shape[1]), i) for i in range(len(X))])
    expected = naive.fit(X, y, orders)
    clf = FRRIClassifier(attribute_order=orders).fit(X, y)
    assert [[k.name for k in row] for row in clf.condition_types_] == [
        list(k) for k in expected["kinds"]
    ]
    assert sorted(clf.selected_) == list(expected["selected"])


# ---------------------------------------------------------------- mixed tables

NAMES = ["RED", "green", "blue", "a'b", "x, y", "1", "z"]
SIZES = ["S", "M", "L"]


def random_frame(rng, n):
    """Return a data frame with all types of columns and missing values, and the same table as numbers."""
    columns, codes, nominal, conditions, initial = {}, [], [], {}, []
    for a in range(rng.integers(1, 5)):
        kind = rng.choice(["number", "date", "ordinal", "nominal", "boolean"])
        name = f"{kind} {a}"
        if kind == "number":
            values = rng.integers(0, 4, n) * 0.3 if rng.integers(2) else rng.random(n) * 50 - 20
        elif kind == "date":
            values = 19000.0 + rng.integers(0, 5, n)
        elif kind == "ordinal":
            values = np.concatenate(([0, len(SIZES) - 1], rng.integers(0, len(SIZES), n)))[:n]
        else:
            values = rng.integers(0, 2 if kind == "boolean" else len(NAMES), n)
        values = values.astype(float)
        gaps = rng.random(n) < rng.choice([0, 0.3, 1], p=[0.6, 0.35, 0.05])
        if kind == "ordinal":
            gaps[:2] = False  # the reference computes the range from the values
        values[gaps] = np.nan
        if kind == "number":
            columns[name] = values
        elif kind == "date":
            # the conversion of pandas reads undefined values where days are missing
            columns[name] = [
                pd.NaT if np.isnan(v) else pd.Timestamp(v * 86_400 * 10**9) for v in values
            ]
        elif kind == "ordinal":
            texts = [None if np.isnan(v) else SIZES[int(v)] for v in values]
            columns[name] = pd.Categorical(texts, categories=SIZES, ordered=True)
        elif kind == "nominal":
            texts = [None if np.isnan(v) else NAMES[int(v)] for v in values]
            columns[name] = pd.Series(texts, dtype=object)
        else:
            truths = [None if np.isnan(v) else bool(v) for v in values]
            columns[name] = pd.Series(truths, dtype=object)
        restriction = rng.choice(["any", "at most", "at least", "never"], p=[0.7, 0.1, 0.1, 0.1])
        if kind in {"nominal", "boolean"}:
            nominal.append(a)
            restriction = "any" if restriction != "never" else restriction
        conditions[name] = str(restriction)
        start = {"any": "SIMILAR", "never": "UNUSED"}
        initial.append(start.get(restriction, restriction.replace(" ", "_").upper()))
        codes.append(values)
    return pd.DataFrame(columns), np.column_stack(codes), tuple(nominal), conditions, initial


@quiet
@pytest.mark.parametrize("seed", range(4))
def test_mixed_tables_agree_with_the_definitions(seed):
    rng = np.random.default_rng(seed)
    for _ in range(often(250)):
        n = int(rng.integers(3, 10))
        frame, X, nominal, conditions, initial = random_frame(rng, n)
        y = rng.integers(0, rng.integers(1, 4), n)
        order = rng.permutation(X.shape[1])
        expected = naive.fit(X, y, order, initial, nominal)
        clf = FRRIClassifier(attribute_order=order, conditions=conditions, missing="similar")
        clf.fit(frame, y)
        np.testing.assert_array_equal(clf.confidence_, expected["confidences"])
        kinds = [[k.name for k in row] for row in clf.condition_types_]
        assert kinds == [list(k) for k in expected["kinds"]]
        assert sorted(clf.selected_) == list(expected["selected"])
        assert clf.uncovered_.tolist() == sorted(expected["left_out"])
        covered = clf.ruleset_.covers(frame)
        assert (covered == expected["table"][clf.selected_].T).all()

        new = frame.sample(frac=1, random_state=0).mask(rng.random(frame.shape) < 0.2)
        new = new.astype(frame.dtypes)
        codes = to_matrix(new, clf.ruleset_.attributes)
        # The codes of the model count only the categories that occur.
        for a in nominal:
            known = clf.ruleset_.attributes[a].categories
            names = ["False", "True"] if list(frame)[a].startswith("boolean") else NAMES
            codes[:, a] = [c if np.isnan(c) else names.index(known[int(c)]) for c in codes[:, a]]
        scaled = naive.scale(X, codes, nominal)
        rules = [
            expected[f"rule_{part}"] for part in ("kinds", "anchors", "confidences", "classes")
        ]
        for row, got in zip(scaled, clf.predict(new), strict=True):
            scores, uncut = naive.predict_scores(*rules, expected["n_classes"], row, nominal)
            values = scores if max(scores) > 1e-9 else uncut
            assert values[list(clf.classes_).index(got)] >= max(values) - 1e-9


def test_rules_are_printed_with_categories_and_dates():
    frame = pd.DataFrame(
        {
            "colour": ["red", "red", "blue", "blue"],
            "day": pd.to_datetime(["2023-01-01", "2023-01-11", "2023-01-01", "2023-01-11"]),
            "size": pd.Categorical(["M", "S", "S", "S"], categories=["S", "M", "L"], ordered=True),
        }
    )
    clf = FRRIClassifier().fit(frame, ["a", "b", "c", "c"])
    assert str(clf.ruleset_[-1]).count("blue") == 1
    text = str(clf.ruleset_)
    assert "colour = blue" in text
    assert "2023-01-" in text
    again = RuleSet.from_json(clf.ruleset_.to_json())
    assert again.predict(frame).tolist() == clf.predict(frame).tolist() == ["a", "b", "c", "c"]
    # The middle of three sizes is half the range away from either end.
    assert clf.confidence_[0] == 1.0
    sizes = FRRIClassifier(conditions={"day": "never", "colour": "never"})
    with pytest.warns(UserWarning, match="as far as conditions on them are allowed: rows 2, 3, 4"):
        sizes.fit(frame, ["a", "b", "c", "c"])
    assert sizes.confidence_.tolist() == [0.5, 0, 0, 0]


def test_a_category_never_seen_fails_by_all():
    frame = pd.DataFrame({"colour": ["red", "blue"], "x": [0.0, 1.0]})
    clf = FRRIClassifier().fit(frame, ["a", "b"])
    assert clf.predict(pd.DataFrame({"colour": ["green"], "x": [0.1]})).tolist() == ["a"]
    assert FRRIClassifier(conditions={"x": "never"}).fit(frame, ["a", "b"]).ruleset_.covers(
        pd.DataFrame({"colour": ["green"], "x": [0.1]})
    ).tolist() == [[False, False]]


def test_missing_values_in_arrays():
    X, y = load_iris(return_X_y=True)
    X[::7, 1] = np.nan
    X = np.column_stack((X, np.full(len(X), np.nan)))
    clf = FRRIClassifier(missing="similar").fit(X, y)
    assert (clf._types[:, 4] == ConditionType.UNUSED).all()
    assert (clf._types[::7, 1] == ConditionType.UNUSED).all()
    assert (clf._types[:, 1] != ConditionType.UNUSED).any()
    assert clf.score(X, y) == 1.0
    assert clf.predict(np.full((1, 5), np.nan)).shape == (1,)
    assert clf.ruleset_.missing == "similar"
    assert clf.ruleset_.covers(np.full((1, 5), np.nan)).all()


def test_an_empty_row_is_like_all_others():
    X = [[0.0, 0.1], [np.nan, np.nan], [1.0, 0.9]]
    message = r"same values, missing ones left aside .row 2 is empty .* drop it.: rows 3[.]"
    with pytest.warns(UserWarning, match=message):
        clf = FRRIClassifier(missing="similar").fit(X, ["a", "a", "b"])
    assert clf.confidence_.tolist() == [1, 0, 0]
    assert clf.uncovered_.tolist() == [2]


def test_a_class_without_rules_is_named():
    X = [[0.0, 0.1], [np.nan, np.nan], [1.0, 0.9]]
    with (
        pytest.warns(UserWarning, match=r"^There is no rule for 'b': 1 of 3 rows"),
        pytest.warns(UserWarning, match=r"covered by no rule, .* rows 3[.]"),
    ):
        FRRIClassifier(missing="similar").fit(X, ["a", "a", "b"])


def penguins(seed=0):
    """Return three separate species with some missing values, and two rows without any value."""
    random = np.random.default_rng(seed)
    kinds = np.repeat(["adelie", "chinstrap", "gentoo"], 20)
    centre = np.repeat([0.0, 5.0, 10.0], 20)
    table = pd.DataFrame({name: centre + random.normal(size=60) for name in ("bill", "wing")})
    table["island"] = np.where(centre == 10.0, "biscoe", "dream")
    table.loc[::9, "bill"] = np.nan
    table.loc[4::11, "island"] = None
    table.loc[[3, 50]] = np.nan
    return table, kinds


def test_empty_rows_do_not_prevent_rules_of_others():
    X, y = penguins()
    with (
        pytest.warns(UserWarning, match="There is no rule for"),
        pytest.warns(UserWarning, match="60 of 60 samples are covered by no rule"),
    ):
        FRRIClassifier(missing="similar").fit(X, y)
    with warnings.catch_warnings(action="ignore"):
        clf = FRRIClassifier().fit(X, y)
    assert {rule.consequent for rule in clf.ruleset_} == set(y)
    assert clf.score(X, y) > 0.9


def test_typical_equals_an_imputer():
    X, y = load_iris(return_X_y=True)
    random = np.random.default_rng(1)
    X[random.random(X.shape) < 0.2] = np.nan
    filled = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    with warnings.catch_warnings(action="ignore"):
        clf, other = FRRIClassifier().fit(X, y), FRRIClassifier().fit(filled, y)
    assert clf.ruleset_.missing == "typical"
    assert [a.typical for a in clf.ruleset_.attributes] == np.nanmedian(X, axis=0).tolist()
    assert clf.ruleset_.rules == other.ruleset_.rules
    np.testing.assert_array_equal(clf.predict_proba(X), other.predict_proba(filled))
    again = RuleSet.from_json(clf.ruleset_.to_json())
    np.testing.assert_array_equal(again.predict(X), clf.predict(X))


def test_missing_values_can_be_refused():
    message = r"Missing values \(NaN\) in column 'Pulse' \(1 of 3 rows\)"
    for frame in (with_pulse(np.nan), with_pulse(None).astype(object)):
        with pytest.raises(ValueError, match=message):
            FRRIClassifier(missing="error").fit(frame, LABELS)
    clf = FRRIClassifier(missing="error").fit(FRAME, LABELS)
    with pytest.raises(ValueError, match=message):
        clf.predict(with_pulse(np.nan))
    mixed = FRAME.assign(Sex=["f", "m", "f"])
    clf = FRRIClassifier(missing="error").fit(mixed, LABELS)
    gap = FRAME.assign(Sex=["f", None, "f"])
    for work in (lambda: clf.predict(gap), lambda: clf.fit(gap, LABELS)):
        with pytest.raises(ValueError, match=r"column 'Sex' \(1 of 3 rows\)"):
            work()


@pytest.mark.parametrize(
    ("restriction", "types"),
    [("at most", {0, 1}), ("at least", {0, 2}), ("never", {0}), ("any", {0, 1, 2})],
)
@quiet
def test_conditions_restrict_rules(restriction, types):
    X, y = load_wine(return_X_y=True, as_frame=True)
    clf = FRRIClassifier(conditions={"alcohol": restriction}).fit(X, y)
    assert set(clf._types[:, 0]) == types
    by_position = FRRIClassifier(conditions={0: restriction}).fit(X.to_numpy(), y)
    np.testing.assert_array_equal(by_position._types, clf._types)
    assert clf.ruleset_.about["parameters"]["conditions"] == {"alcohol": restriction}
    assert RuleSet.from_json(clf.ruleset_.to_json()) == clf.ruleset_
    assert RuleSet.from_json(clf.ruleset_.to_json()).about == clf.ruleset_.about


def test_nominal_attributes_have_no_bounds():
    frame = FRAME.assign(Sex=["f", "m", "f"])
    with pytest.raises(
        ValueError, match=r"conditions\['Sex'\] must be 'any' or 'never'.* no order"
    ):
        FRRIClassifier(conditions={"Sex": "at most"}).fit(frame, LABELS)


def test_without_allowed_attributes_there_is_no_rule_but_a_prediction():
    clf = FRRIClassifier(conditions={"Age": "never", "Pulse": "never"})
    with pytest.warns(UserWarning, match="3 of 3 samples"):
        clf.fit(FRAME, LABELS)
    assert len(clf.ruleset_) == 0
    assert clf.predict(FRAME).tolist() == ["a"] * 3


def test_polars_and_pandas_give_the_same_rules_on_mixed_tables():
    rng = np.random.default_rng(0)
    colours = np.array(["red", "green", None], dtype=object)[rng.integers(0, 3, 60)]
    frame = pd.DataFrame({"colour": colours, "x": rng.random(60)})
    y = (frame["x"] > 0.5).to_numpy() & (frame["colour"] != "red").to_numpy()
    one = FRRIClassifier().fit(frame, y)
    other = FRRIClassifier().fit(pl.from_pandas(frame), y)
    assert one.ruleset_ == other.ruleset_
    assert (one.predict(frame) == other.predict(pl.from_pandas(frame))).all()


def test_columns_of_numbers_with_a_few_strings_are_refused():
    message = r"Column 'Pulse' holds 'high' in row 2 among numbers; correct or empty it"
    with pytest.raises(ValueError, match=message):
        FRRIClassifier().fit(with_pulse("high"), LABELS)
    declared = with_pulse("high").astype({"Pulse": "category"})
    assert FRRIClassifier().fit(declared, LABELS).ruleset_.attributes[1].kind == "nominal"
    texts = with_pulse("high").assign(Pulse=["60", "high", "80"])
    assert FRRIClassifier().fit(texts, LABELS).ruleset_.attributes[1].kind == "nominal"


@pytest.mark.parametrize(
    ("load", "step"), [(load_iris, 1), (load_wine, 1), (load_breast_cancer, 2)]
)
def test_rules_cover_all_of_their_class_and_nothing_else(load, step):
    X, y = (part[::step] for part in load(return_X_y=True))
    clf = FRRIClassifier().fit(X, y)
    covers = clf.ruleset_.covers(X)
    assert covers.any(axis=1).all()
    for r, rule in enumerate(clf.ruleset_):
        assert (y[covers[:, r]] == rule.consequent).all()
        assert rule.statistics.precision == 1.0
        assert rule.statistics.covered == covers[:, r].sum()
    assert clf.score(X, y) == 1.0


# ---------------------------------------------------------------- orders, limits, interrupts


def test_random_order_is_reproducible():
    X, y = load_wine(return_X_y=True)
    fits = [FRRIClassifier(attribute_order="random", random_state=s).fit(X, y) for s in (0, 0, 1)]
    assert fits[0].ruleset_ == fits[1].ruleset_
    assert fits[0].ruleset_ != fits[2].ruleset_


def test_without_a_search_the_cover_is_complete_and_unproven():
    X, y = make_classification(400, 8, flip_y=0.2, random_state=0)
    with pytest.warns(UserWarning, match="not proven optimal: at least"):
        clf = FRRIClassifier(work_limit=0).fit(X, y)
    assert clf.selection_.status == "feasible"
    assert clf.selection_.stopped_by == "effort"
    assert 0 < clf.selection_.lower_bound < clf.selection_.n_rules
    assert 0 < clf.selection_.gap < 1
    assert clf.ruleset_.covers(X).any(axis=1).all()


def test_a_time_limit_is_one_for_the_whole_fit(monkeypatch):
    """The time for candidates is subtracted from the time for their selection."""
    X, y = load_iris(return_X_y=True)
    now, given = [0.0], []
    induce, select = induction.induce, pipeline.minimum_cover

    def slow_induce(*arguments, **options):
        now[0] += 7.0
        return induce(*arguments, **options)

    def noting_select(*arguments, time_limit, **options):
        given.append(time_limit)
        return select(*arguments, time_limit=time_limit, **options)

    for module in (classifier, pipeline):
        monkeypatch.setattr(module, "perf_counter", lambda: now[0])
    monkeypatch.setattr(induction, "induce", slow_induce)
    monkeypatch.setattr(pipeline, "minimum_cover", noting_select)
    for limit in (None, 10, 5):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            FRRIClassifier(time_limit=limit).fit(X, y)
    assert given[::3] == [None, 3.0, 0.0]
    # Two trials without a search estimate the shrinkage of probabilities.
    assert len(given) == 9


@quiet
def test_a_time_limit_of_0_still_gives_rules():
    X, y = make_classification(400, 8, flip_y=0.2, random_state=0)
    clf = FRRIClassifier(time_limit=0).fit(X, y)
    assert clf.ruleset_.covers(X).any(axis=1).all()


# ---------------------------------------------------------------- scikit-learn habits


def test_pipeline_grid_search_cross_validation_clone_pickle():
    X, y = load_wine(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), FRRIClassifier())
    scores = cross_validate(pipeline, X, y, cv=3, scoring=["balanced_accuracy", "roc_auc_ovr"])
    assert scores["test_balanced_accuracy"].mean() > 0.85
    assert scores["test_roc_auc_ovr"].mean() > 0.9
    search = GridSearchCV(
        FRRIClassifier(random_state=0), {"attribute_order": ["given", "random"]}, cv=3
    ).fit(X, y)
    assert search.best_score_ > 0.85
    fitted = clone(search.best_estimator_).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.ruleset_ == fitted.ruleset_
    assert (again.predict(X) == fitted.predict(X)).all()


def test_polars_pandas_and_numpy_give_the_same_rules():
    X, y = load_wine(return_X_y=True, as_frame=True)
    from_pandas = FRRIClassifier().fit(X, y)
    from_polars = FRRIClassifier().fit(pl.from_pandas(X), pl.Series("target", y.to_numpy()))
    assert from_pandas.ruleset_ == from_polars.ruleset_
    assert list(from_polars.feature_names_in_) == list(X.columns)
    bare = FRRIClassifier().fit(X.to_numpy(), y.to_numpy())
    assert [rule.weight for rule in bare.ruleset_] == [rule.weight for rule in from_pandas.ruleset_]
    assert (from_polars.predict(pl.from_pandas(X)) == bare.predict(X.to_numpy())).all()


@pytest.mark.parametrize(
    "labels", [["no", "yes", "maybe"], [0, 1, 2], [True, False, True], [1.0, 2.0, 3.0]]
)
def test_labels_of_any_type(labels):
    X, y = load_iris(return_X_y=True)
    target = np.array(labels)[y]
    clf = FRRIClassifier().fit(X, target)
    assert clf.predict(X).dtype == target.dtype
    assert set(clf.predict(X).tolist()) <= set(target.tolist())
    assert RuleSet.from_json(clf.ruleset_.to_json()).predict(X).tolist() == clf.predict(X).tolist()


# ---------------------------------------------------------------- degenerate and bad input


def test_one_class_is_one_rule_and_a_warning():
    with pytest.warns(UserWarning, match="All samples have the class 'a'"):
        clf = FRRIClassifier().fit([[1.0, 2.0], [3.0, 4.0]], ["a", "a"])
    assert len(clf.ruleset_) == 1
    assert clf.ruleset_[0].conditions == ()
    assert clf.predict([[9.0, 9.0]]).tolist() == ["a"]
    assert clf.predict_proba([[9.0, 9.0]]).tolist() == [[1.0]]


def test_contradictory_rows_are_reported_and_left_out():
    X = [[0.0, 1.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]
    with pytest.warns(
        UserWarning, match=r"2 of 4 samples .* same or nearly the same values: rows 1, 2[.]"
    ):
        clf = FRRIClassifier().fit(X, [0, 1, 0, 1])
    assert clf.uncovered_.tolist() == [0, 1]
    assert (clf.confidence_[:2] == 0).all()


def test_with_contradictions_only_there_is_no_rule_but_a_prediction():
    with pytest.warns(UserWarning, match="3 of 3 samples"):
        clf = FRRIClassifier().fit([[1.0], [1.0], [1.0]], [0, 1, 1])
    assert len(clf.ruleset_) == 0
    assert clf.predict([[1.0]]).tolist() == [1]


def test_a_constant_column_is_fine():
    X, y = load_iris(return_X_y=True)
    with_constant = np.column_stack([X[:, :2], np.full(len(X), 7.0), X[:, 2:]])
    clf = FRRIClassifier().fit(with_constant, y)
    assert (clf._types[:, 2] == ConditionType.UNUSED).all()
    assert (clf.predict(with_constant) == FRRIClassifier().fit(X, y).predict(X)).all()


FRAME = pd.DataFrame({"Age": [30.0, 40.0, 50.0], "Pulse": [60.0, 70.0, 80.0]})
LABELS = ["a", "b", "a"]


def with_pulse(value):
    return pd.DataFrame({"Age": [30.0, 40.0, 50.0], "Pulse": [60.0, value, 80.0]})


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (with_pulse(np.inf), LABELS, r"Column 'Pulse' holds inf \(infinity\) in row 2"),
        (
            with_pulse(-1e305),
            LABELS,
            r"Column 'Pulse' holds -1e\+305 \(beyond 1e\+300\) in row 2",
        ),
        (
            with_pulse("high"),
            LABELS,
            "Column 'Pulse' holds 'high' in row 2",
        ),
        (with_pulse("high").assign(Sex=["f", "m", "f"]), LABELS, "'Pulse' holds 'high' in row 2"),
        (FRAME.assign(Sex=["f", "m", "f"]), ["a", "b"], "3 rows but there are 2 labels"),
        (FRAME.assign(Sex=["f", "m", "f"]), None, "requires y to be passed"),
        (FRAME.assign(Sex=["f", "m", "f"]), [np.nan, 1.0, 2.0], "NaN"),
        (FRAME.assign(Sex=["f", "m", "f"]).iloc[:0], [], "0 sample"),
        (with_pulse(np.inf).assign(Sex=["f", "m", "f"]), LABELS, "'Pulse' holds inf"),
        ([[1.0, "x"], [2.0, 3.0], [1.0, 1.0]], LABELS, "Column 1 holds 'x' in row 1"),
        (FRAME, ["a", "b"], "inconsistent numbers of samples"),
        (FRAME.iloc[:0], [], "0 sample"),
        (FRAME.iloc[:, :0], LABELS, "0 feature"),
        (FRAME, [0.5, 1.25, 2.5], "target holds quantities such as 0.5"),
        (FRAME, [np.nan, 1.0, 2.0], "NaN"),
        (FRAME.set_axis(["Age", "Age"], axis=1), LABELS, "more than one column 'Age'"),
        (FRAME, None, "requires y to be passed"),
    ],
)
def test_bad_tables_get_one_sentence(X, y, message):
    with pytest.raises(ValueError, match=message) as caught:
        FRRIClassifier().fit(X, y)
    assert len(str(caught.value).strip().splitlines()) <= 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"work_limit": -1}, "work_limit must be an integer"),
        ({"work_limit": 1.5}, "work_limit must be an integer"),
        ({"work_limit": True}, "work_limit must be an integer"),
        ({"time_limit": -2}, "time_limit must be a number of seconds"),
        ({"time_limit": "long"}, "time_limit must be a number of seconds"),
        ({"time_limit": float("nan")}, "time_limit must be a number of seconds"),
        ({"attribute_order": "best"}, "attribute_order must be one of given, .*, shortest, a perm"),
        ({"candidates": "all"}, "candidates must be one of shortened, all-minimal, got 'all'"),
        ({"max_candidates": 0}, "max_candidates must be an integer from 1 on, got 0"),
        ({"attribute_order": [0, 0]}, r"permutation of 0 to 1, got \[0, 0\]"),
        ({"attribute_order": [0.0, 1.0]}, r"permutation of 0 to 1, got \[0.0, 1.0\]"),
        ({"attribute_order": [0, 1, 2]}, r"shape \(2,\) or \(3, 2\), got \(3,\)"),
        ({"attribute_order": [[0, 1], [1, 0], [1, 1]]}, r"got \[1, 1\]"),
        ({"missing": "mean"}, "missing must be one of typical, similar, error, got 'mean'"),
        ({"conditions": ["Age"]}, r"conditions must be a mapping .*, got \['Age'\]"),
        ({"conditions": {"Agge": "never"}}, "names 'Agge', .* no such column; did you mean 'Age'"),
        ({"conditions": {"zzz": "never"}}, "names 'zzz', .* no such column; it has Age, Pulse"),
        ({"conditions": {2: "never"}}, "names 2, but the table has no such column"),
        ({"conditions": {-1: "never"}}, "names -1, but the table has no such column"),
        ({"conditions": {True: "never"}}, "names True, but the table has no such column"),
        ({"conditions": {"Age": "<="}}, r"conditions\['Age'\] must be 'any', .*, got '<='"),
        ({"conditions": {"Age": None}}, r"conditions\['Age'\] must be 'any', .*, got None"),
    ],
)
def test_bad_parameters_get_one_sentence(parameters, message):
    with pytest.raises(ValueError, match=message) as caught:
        FRRIClassifier(**parameters).fit(FRAME, LABELS)
    assert len(str(caught.value).splitlines()) == 1


def test_predicting_with_other_columns():
    clf = FRRIClassifier().fit(FRAME, LABELS)
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(FRAME[["Pulse", "Age"]])
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(FRAME.rename(columns={"Age": "Years"}))
    with pytest.raises(ValueError, match="Column 'Pulse' holds 'x' in row 1"):
        clf.predict(pd.DataFrame({"Age": [1.0], "Pulse": ["x"]}))


def test_single_precision_gives_no_warning():
    X, y = load_iris(return_X_y=True)
    clf = FRRIClassifier().fit(X.astype(np.float32), y)
    assert clf.predict(X.astype(np.float32)).shape == (150,)


def test_the_right_column_is_named_whatever_the_order():
    clf = FRRIClassifier().fit(FRAME, LABELS)
    with pytest.raises(ValueError, match=r"Column 'Pulse' holds inf"):
        clf.predict(with_pulse(np.inf)[["Pulse", "Age"]])
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(FRAME.assign(more=1.0))


def test_uninformative_columns_are_named():
    X = pd.DataFrame({"id": [f"P{i}" for i in range(30)], "age": np.arange(30.0)})
    y = pd.Series(["a", "b"] * 15, name="risk")
    with pytest.warns(UserWarning, match="Column 'id' has 30 distinct strings in 30 rows"):
        FRRIClassifier().fit(X, y)
    with pytest.warns(UserWarning, match="still has the target 'risk' as a column"):
        FRRIClassifier().fit(X[["age"]].assign(risk=y), y)


def test_missing_labels_are_named():
    with pytest.raises(
        ValueError, match=r"The target has no value \(NaN\) in row 2 \(1 of 3 rows\)"
    ):
        FRRIClassifier().fit(FRAME, ["a", None, "b"])


# ---------------------------------------------------------------- large numbers close together


def covered_rows_keep_their_classes(clf, X, y):
    covered = np.setdiff1d(np.arange(len(X)), clf.uncovered_)
    assert (clf.predict(X)[covered] == np.asarray(y)[covered]).all()
    assert clf.ruleset_.covers(X)[covered].any(axis=1).all()


@quiet
@pytest.mark.parametrize("steps", [4, 16, 256, 4096, 2**20, 2**25, 2**30])
def test_bounds_that_floating_point_cannot_place_are_refused(steps):
    """Consecutive numbers from 2^60 on, then the same minus the smallest one."""
    rng = np.random.default_rng(steps)
    y = rng.integers(0, 2, 60)
    counted = np.column_stack([np.round(rng.random(60) * steps), rng.random(60)])
    X = pd.DataFrame(counted, columns=["time", "other"])
    X["time"] = 2.0**60 + np.spacing(2.0**60) * X["time"]
    if steps < 2**24:
        with pytest.raises(ValueError, match=r"Column 'time' spans only .* count its values from"):
            FRRIClassifier().fit(X, y)
    else:
        covered_rows_keep_their_classes(FRRIClassifier().fit(X, y), X, y)
    covered_rows_keep_their_classes(FRRIClassifier().fit(counted, y), counted, y)


@settings(max_examples=often(120), deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.integers(0, 9), st.integers(0, 1)), min_size=2, max_size=25
    ),
    st.sampled_from([0, 1, 10**3, 10**6, 10**9, -(10**12), 10**15, 17 * 10**17, -(10**25)]),
    st.sampled_from([1e-9, 1e-3, 1.0, 256.0, 1e9, 1e15]),
)
def test_covered_rows_keep_their_classes_at_any_distance_from_zero(rows, offset, unit):
    X = np.array([[offset + unit * a, b] for a, b, _ in rows], dtype=float)
    y = np.array([c for _, _, c in rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            clf = FRRIClassifier().fit(X, y)
        except ValueError as error:
            assert "spans only" in str(error)  # noqa: PT017
            return
    covered_rows_keep_their_classes(clf, X, y)


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_integers_that_are_equal_as_floats_are_refused(form):
    """They would silently become one value, or a constant column if all values are such."""
    first = 1_700_000_000_000_000_000
    values = np.array([[first, 1], [first + 1, 2], [first + 2, 1], [first + 3, 5]])
    y = ["a", "b", "a", "b"]
    for model in (FRRIClassifier(), MODLEMClassifier(), RIPPERClassifier()):
        with pytest.raises(ValueError, match=f"holds {first} and {first + 1}, which are the same"):
            model.fit(form(values), y)
    counted = values - [first, 0]
    FRRIClassifier().fit(form(counted), y)
    MODLEMClassifier().fit(form(counted + np.array([2**53 - 3, 0])), y)


def test_the_old_name_of_the_work_limit_warns():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(FutureWarning, match="effort is now called work_limit"):
        old = FRRIClassifier(effort=100).fit(X, y)
    new = FRRIClassifier(work_limit=100).fit(X, y)
    assert old.ruleset_.rules == new.ruleset_.rules
    assert "effort" not in new.ruleset_.about["parameters"]

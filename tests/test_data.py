"""Input: tables and labels of every type, for all estimators and for rule sets."""

import datetime as dt
from decimal import Decimal
from math import inf

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from frri import (
    Attribute,
    FRRIClassifier,
    FURIAClassifier,
    MODLEMClassifier,
    NominalCondition,
    NumericCondition,
    QuickReduct,
    QuickRulesClassifier,
    RIPPERClassifier,
    Rule,
    RuleSet,
)
from frri.table import to_matrix
from frri.table.columns import is_missing, plain_table

LEARNERS = [
    FRRIClassifier,
    FURIAClassifier,
    MODLEMClassifier,
    QuickRulesClassifier,
    RIPPERClassifier,
]
VALUES = np.arange(20.0).reshape(10, 2)
TEXTS = ["low"] * 5 + ["high"] * 5
AGE = RuleSet(
    (Rule((NumericCondition("age", 30, 30),), "old"),),
    (Attribute("age", 0, 99),),
    ("young", "old"),
    fallback="priors",
)


# ---------------------------------------------------------------- categories

FLAGS = pd.DataFrame({"flag": [True, False] * 10, "n": [1.0, 2.0, 3.0, 4.0] * 5})


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("form", [int, float, str, "boolean", "Int64", lambda v: str(v).upper()])
def test_booleans_come_in_any_form(learner, form):
    clf = learner().fit(FLAGS, np.where(FLAGS["flag"], "yes", "no"))
    known = FLAGS.assign(
        flag=FLAGS["flag"].map(form) if callable(form) else FLAGS["flag"].astype(form)
    )
    assert clf.predict(known).tolist() == clf.predict(FLAGS).tolist() == ["yes", "no"] * 10
    assert clf.ruleset_.predict(known).tolist() == ["yes", "no"] * 10


@pytest.mark.parametrize("form", [float, int, str, lambda v: str(int(v)), Decimal])
def test_categories_that_were_floats_come_in_any_form(form):
    frame = pd.DataFrame({"code": pd.Categorical([1.0, 2.0, 2.5] * 6), "n": np.arange(18.0)})
    clf = RIPPERClassifier().fit(frame, ["a", "b", "b"] * 6)
    assert clf.ruleset_.attributes[0].categories == ("1.0", "2.0", "2.5")
    known = pd.DataFrame({"code": [form(1.0), form(2.0)], "n": [0.0, 0.0]})
    assert clf.predict(known).tolist() == ["a", "b"]
    assert to_matrix(known, clf.ruleset_.attributes)[:, 0].tolist() == [0.0, 1.0]


# ---------------------------------------------------------------- masked arrays


@pytest.mark.parametrize(
    ("array", "fill"),
    [
        (np.array([[1, 2], [3, 4]]), np.nan),
        (np.array([[1.5, 2], [3, 4]], dtype=np.float32), np.nan),
        (np.array([["a", "b"], ["c", "d"]]), None),
        (np.array([[True, False], [True, False]]), None),
        (np.array([["2020-01-01", "2020-01-02"]] * 2, dtype="datetime64[D]"), np.datetime64("NaT")),
    ],
)
def test_the_mask_of_an_array_is_missing(array, fill):
    masked = np.ma.array(array, mask=[[True, False], [False, False]])
    plain = plain_table(masked)
    assert not isinstance(plain, np.ma.MaskedArray)
    assert is_missing(plain[0, 0])
    assert type(plain[0, 0]) is type(fill) or plain.dtype.kind == "f"
    assert plain[0, 1] == array[0, 1]
    whole = plain_table(np.ma.array(array))
    assert (whole == array).all()
    assert whole.dtype == array.dtype


def test_rule_sets_take_a_mask_for_missing_values():
    ages = np.ma.array([[40], [40], [20]], mask=[[False], [True], [False]])
    assert AGE.predict(ages).tolist() == ["old", "young", "young"]
    assert np.isnan(to_matrix(ages, AGE.attributes)).ravel().tolist() == [False, True, False]
    colours = RuleSet(
        (Rule((NominalCondition("c", frozenset({"red"})),), 1),),
        (Attribute("c", categories=("blue", "red")),),
        (0, 1),
        fallback="priors",
    )
    texts = np.ma.array([["red"], ["red"]], mask=[[False], [True]])
    assert colours.predict(texts).tolist() == [1, 0]


@pytest.mark.parametrize("learner", LEARNERS)
def test_learners_take_a_mask_for_missing_values(learner):
    gaps = VALUES.copy()
    gaps[3, 0] = np.nan
    masked = np.ma.array(np.where(np.isnan(gaps), -999.0, gaps), mask=np.isnan(gaps))
    if not learner().__sklearn_tags__().input_tags.allow_nan:
        with pytest.raises(ValueError, match="Missing values"):
            learner().fit(masked, TEXTS)
        return
    seed = {"random_state": 0} if "random_state" in learner().get_params() else {}
    expected = learner(**seed).fit(gaps, TEXTS)
    clf = learner(**seed).fit(masked, TEXTS)
    assert clf.ruleset_ == expected.ruleset_
    assert clf.predict_proba(masked).tolist() == expected.predict_proba(gaps).tolist()


def test_masked_labels_are_missing():
    labels = np.ma.array([0] * 5 + [1] * 5, mask=[0] * 9 + [1])
    with pytest.raises(ValueError, match="NaN"):
        FRRIClassifier().fit(VALUES, labels)
    texts = np.ma.array(TEXTS, mask=[0] * 9 + [1])
    with pytest.raises(ValueError, match=r"The target has no value \(NaN\) in row 10"):
        FRRIClassifier().fit(VALUES, texts)


# ---------------------------------------------------------------- infinite values

SENTENCE = r"Column 'age' holds -?inf \(infinity\) in row 2; replace it by a finite number or drop"


@pytest.mark.parametrize("value", [inf, -inf])
@pytest.mark.parametrize("make", [np.array, lambda v: pd.DataFrame(v, columns=["age"])])
@pytest.mark.parametrize(
    "question", ["predict", "predict_proba", "scores", "degrees", "covers", "statistics"]
)
def test_rule_sets_refuse_infinite_values_as_estimators_do(value, make, question):
    table = make([[1.0], [value]])
    answer = getattr(AGE, question)
    with pytest.raises(ValueError, match=SENTENCE):
        answer(table, ["old", "old"]) if question == "statistics" else answer(table)
    frame = pd.DataFrame({"age": np.arange(10.0)})
    clf = FRRIClassifier().fit(frame, TEXTS)
    with pytest.raises(ValueError, match=SENTENCE):
        clf.predict(pd.DataFrame({"age": [1.0, value]}))


def test_numbers_too_large_to_compute_with_are_refused_too():
    with pytest.raises(ValueError, match=r"Column 'age' holds 1e\+305 \(beyond 1e\+300\) in row 1"):
        AGE.predict([[1e305]])
    assert AGE.predict([[1e299], [np.nan], [1e300]]).tolist() == ["old", "young", "old"]


# ---------------------------------------------------------------- rulesets without attributes


@pytest.mark.parametrize("combination", ["best", "sum", "first"])
@pytest.mark.parametrize("fallback", ["nearest", "stretched", "partial", "priors"])
def test_a_rule_set_without_attributes_predicts_its_default(combination, fallback):
    rules = RuleSet(
        (Rule((), "b", 0.5),),
        (),
        ("a", "b"),
        combination=combination,
        fallback=fallback,
        class_counts=(5, 1),
    )
    assert rules.predict(np.empty((3, 0))).tolist() == ["b"] * 3
    assert rules.predict(pd.DataFrame({"further": [1, 2]})).tolist() == ["b"] * 2
    assert rules.predict_proba([[]]).tolist() == [[0.0, 1.0]]
    assert rules.degrees([[]]).tolist() == [[1.0]]
    explanation = rules.explain([])
    assert explanation == rules.explain({})
    assert (explanation.decision, explanation.unalterable) == ("b", True)
    assert rules.predict(np.empty((10**6, 0))).shape == (10**6,)
    nothing = RuleSet((), (), ("a", "b"), class_counts=(1, 2))
    assert nothing.predict([[]]).tolist() == ["b"]


# ---------------------------------------------------------------- labels


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (np.array([1, 2], dtype=object), "i"),
        (np.array([np.int8(1), 2], dtype=object), "i"),
        (np.array([1.0, 2], dtype=object), "f"),
        (np.array([True, np.False_], dtype=object), "b"),
        (np.array([1, 2**63], dtype=object), "u"),
        (np.array([1, 2**64 - 1], dtype=np.uint64), "u"),
        (pd.Series([1, 2], dtype="Int64"), "i"),
        (np.array(["a", "b"], dtype=object), "O"),
    ],
)
def test_labels_of_any_type_are_learned_saved_and_predicted(learner, labels, kind):
    y = labels.repeat(5)
    clf = learner()
    if "random_state" in clf.get_params():
        clf.set_params(random_state=0)
    clf.fit(VALUES, y)
    assert clf.classes_.dtype.kind == kind
    predicted = clf.predict(VALUES).tolist()
    assert set(predicted) == set(y)
    assert np.mean([a == b for a, b in zip(predicted, y, strict=True)]) >= 0.8
    rules = RuleSet.from_json(clf.ruleset_.to_json())
    assert rules == clf.ruleset_
    assert rules.predict(VALUES).tolist() == predicted
    assert len({type(label) for label in rules.classes}) == 1
    QuickReduct().fit(VALUES, np.asarray(y))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, "a"], "The target holds 1 and 'a', which are of different types; turn all"),
        ([True, 2], "The target holds True and 2, which are of different types"),
        ([2**70, 1], "The target holds 1180591620717411303424; turn the classes into strings"),
        (
            [Decimal(1), Decimal(2)],
            r"The target holds Decimal\('1'\); turn the classes into strings",
        ),
    ],
)
def test_labels_that_are_no_classes_get_one_sentence(labels, message):
    y = np.array(labels, dtype=object).repeat(5)
    with pytest.raises(ValueError, match=message):
        FRRIClassifier().fit(VALUES, y)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_target_given_as_a_table_of_one_column_keeps_its_name(make):
    clf = FRRIClassifier().fit(VALUES, make({"risk": TEXTS}))
    assert clf.ruleset_.target == "risk"
    assert clf.predict(VALUES).tolist() == TEXTS
    with pytest.raises(ValueError, match="1d array"):
        FRRIClassifier().fit(VALUES, make({"risk": TEXTS, "other": TEXTS}))


def test_large_labels_keep_every_digit():
    rules = RuleSet((Rule((), 2**63 + 1),), (Attribute("a"),), (1, 2**63 + 1), class_counts=(1, 1))
    assert rules.predict([[0.0]]).tolist() == [2**63 + 1]
    assert RuleSet.from_json(rules.to_json()) == rules
    both = RuleSet((Rule((), -1),), (Attribute("a"),), (-1, 2**63))
    assert both.predict([[0.0]]).tolist() == [-1]
    with pytest.raises(ValueError, match="where a class label belongs"):
        RuleSet.from_json(rules.to_json().replace(str(2**63 + 1), str(2**64)))


# ---------------------------------------------------------------- columns that do not fit


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        ([1 + 2j], "nominal", "'c' holds values of the type complex128; turn them into"),
        ([1 + 2j], "numeric", "'c' does not hold numbers"),
        ([[1], [2, 3]], "numeric", "'c' does not hold numbers"),
        ([np.timedelta64(1, "D")], "numeric", "'c' holds dates or durations"),
        ([20240517], "date", "'c' does not hold dates"),
    ],
)
def test_columns_of_another_kind_get_one_sentence(values, kind, message):
    attribute = Attribute("c", categories=("a",) if kind == "nominal" else None, kind=kind)
    with pytest.raises(ValueError, match=message):
        to_matrix(pd.DataFrame({"c": values}), (attribute,))


def test_moments_in_a_time_zone_are_those_of_greenwich():
    ahead = dt.timezone(dt.timedelta(hours=2))
    moments = [dt.datetime(1970, 1, 2, 2, tzinfo=ahead), dt.date(1970, 1, 2), None]
    days = to_matrix(
        pd.DataFrame({"c": pd.Series(moments, dtype=object)}), (Attribute("c", kind="date"),)
    )
    assert days[:2, 0].tolist() == [1.0, 1.0]
    assert np.isnan(days[2, 0])
    nothing = to_matrix(pd.DataFrame({"c": [np.nan, np.nan]}), (Attribute("c", kind="date"),))
    assert np.isnan(nothing).all()


def test_dates_too_far_for_microseconds_do_not_come_back_from_the_other_side():
    far = np.array(["300000-01-01", "-300000-01-01", "2020-01-01", "NaT"], dtype="datetime64[D]")
    table = pd.DataFrame({"c": far.astype("datetime64[s]")})
    days = to_matrix(table, (Attribute("c", kind="date"),))[:, 0]
    assert days[:3].tolist() == far[:3].astype(int).tolist()
    assert np.isnan(days[3])
    with pytest.raises(ValueError, match=r"'c' holds dates up to 1.1.*e\+08 days from 1970"):
        FRRIClassifier().fit(table[:3], ["a", "b", "a"])


def test_an_array_is_a_value_that_is_not_missing():
    condition = NominalCondition("c", frozenset({"a"}))
    values = np.empty(2, dtype=object)
    values[:] = [np.zeros(2), "a"]
    assert condition.membership(values).tolist() == [0.0, 1.0]

"""Tables are converted once and passed on in encoded form."""

import io
from contextlib import redirect_stderr, redirect_stdout
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from frri import Attribute, FRRIClassifier, NominalCondition, NumericCondition, Rule, RuleSet
from frri.cli import main
from frri.learners.registry import LEARNERS, RULE_LEARNERS
from frri.report.facts import facts
from frri.rules import compare
from frri.table import encode as encoding
from frri.table import encode_frame, to_matrix

FRAME = pd.DataFrame(
    {
        "size": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "colour": ["red", "red", "blue", "blue", "red", "blue"],
        "day": pd.to_datetime(["2024-01-01"] * 3 + ["2024-02-01"] * 3),
    }
)
Y = ["no", "no", "no", "yes", "yes", "yes"]


class CountedColumn:
    """A column that counts how often it is turned into an array."""

    def __init__(self, values):
        self.values, self.conversions = values, 0

    def __array__(self, dtype=None, copy=None):
        self.conversions += 1
        return np.asarray(self.values, dtype=dtype)

    def __len__(self):
        return len(self.values)


class CountedFrame:
    """A minimal data frame."""

    def __init__(self, frame):
        self.columns, self.shape = list(frame.columns), frame.shape
        self._columns = {name: CountedColumn(frame[name].to_numpy()) for name in frame.columns}

    def __getitem__(self, name):
        return self._columns[name]

    def __len__(self):
        return self.shape[0]

    def conversions(self):
        counts = [column.conversions for column in self._columns.values()]
        for column in self._columns.values():
            column.conversions = 0
        return counts


@pytest.mark.parametrize("name", RULE_LEARNERS)
def test_learners_convert_every_column_once(name):
    table = CountedFrame(FRAME)
    seed = {"random_state": 0} if "random_state" in LEARNERS[name].make().get_params() else {}
    clf = LEARNERS[name].make(**seed).fit(table, Y)
    assert table.conversions() == [1, 1, 1]
    expected = LEARNERS[name].make(**seed).fit(FRAME, Y)
    assert len(clf.ruleset_) == len(expected.ruleset_)
    for method in ("predict", "predict_proba"):
        found = getattr(clf, method)(table)
        assert table.conversions() == [1, 1, 1]
        assert found.shape == getattr(expected, method)(FRAME).shape


def test_methods_of_a_rule_set_convert_every_column_once():
    """Only columns that rules use are converted."""
    ruleset = FRRIClassifier().fit(FRAME, Y).ruleset_
    table = CountedFrame(FRAME)
    ruleset.predict(table)
    assert table.conversions() == [int(name in ruleset.used_attributes) for name in FRAME.columns]
    everything = Rule(
        (
            NumericCondition("size", 1, 1),
            NominalCondition("colour", frozenset({"red"})),
            NumericCondition("day", 1, 1),
        ),
        "no",
    )
    ruleset = ruleset.with_rule(everything)
    for method in ("predict", "predict_proba", "scores", "degrees", "covers"):
        getattr(ruleset, method)(table)
        assert table.conversions() == [1, 1, 1], method
    ruleset.statistics(table, Y)
    assert table.conversions() == [1, 1, 1]
    facts(ruleset, table, Y)
    assert table.conversions() == [1, 1, 1]
    compare(ruleset, ruleset, table, Y)
    assert table.conversions() == [2, 2, 2]  # the two may be about different columns


@pytest.fixture
def conversions(monkeypatch):
    """Record the names of the columns that are encoded or read, in order."""
    seen = []
    encode, describe = encoding._encode, encoding._describe

    def encode_and_note(column, attribute):
        seen.append(attribute.name)
        return encode(column, attribute)

    def describe_and_note(column, name):
        seen.append(name)
        return describe(column, name)

    monkeypatch.setattr(encoding, "_encode", encode_and_note)
    monkeypatch.setattr(encoding, "_describe", describe_and_note)
    return seen


def test_commands_convert_every_column_once(conversions, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.assign(bought=Y).to_csv("table.csv", index=False)
    commands = {
        "fit": ["table.csv", "--target", "bought", "-o", "model.json"],
        "predict": ["model.json", "table.csv", "--proba", "--rules"],
        "evaluate": ["model.json", "table.csv"],
    }
    for command, arguments in commands.items():
        conversions.clear()
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            assert main([command, *arguments]) == 0
        found = [name for name in conversions if name in FRAME.columns]
        used = RuleSet.load("model.json").used_attributes
        # A fit converts all columns for its summary, for the checks of the estimator that chooses a
        # model, and for the model.
        expected = [*FRAME.columns] * 3 if command == "fit" else used
        assert sorted(found) == sorted(expected), command


def test_a_row_is_encoded_as_it_is_among_others():
    frame = pd.DataFrame(
        {
            "a": [1, 2],
            "b": [1.0, np.nan],
            "c": [True, False],
            "d": pd.to_datetime(["2024-01-01 12:00", None]),
            "e": pd.to_datetime(["2024-01-01", "2024-01-02"]).tz_localize("Asia/Tokyo"),
            "f": pd.Categorical([3, 1], [3, 1], ordered=True),
            "g": pd.array([1, 3], dtype="Int64"),
            "h": ["1", "a\0"],
            "i": [date(2024, 1, 1), None],
            "j": [Decimal("1.5"), None],
        }
    )
    kinds = [Attribute(name, categories=("1", "1.0", "3", "True", "a\0")) for name in "abcfgh"]
    kinds += [Attribute(name, kind="date") for name in "dei"]
    kinds += [Attribute(name) for name in "bj"]
    for attribute in kinds:
        column = frame[[attribute.name]]
        rows = [to_matrix(column.iloc[[i]], [attribute])[0] for i in range(2)]
        np.testing.assert_array_equal(np.array(rows), to_matrix(column, [attribute]))


# ---------------------------------------------------------------- encoded tables as tables


@pytest.mark.parametrize("name", RULE_LEARNERS)
def test_learners_take_an_encoded_table(name):
    table = encode_frame(FRAME)
    seed = {"random_state": 0} if "random_state" in LEARNERS[name].make().get_params() else {}
    clf = LEARNERS[name].make(**seed).fit(table, Y)
    expected = LEARNERS[name].make(**seed).fit(FRAME, Y)
    assert clf.ruleset_ == expected.ruleset_
    assert clf.feature_names_in_.tolist() == expected.feature_names_in_.tolist()
    assert clf.n_features_in_ == 3
    assert clf.predict(table).tolist() == clf.predict(FRAME).tolist()
    assert clf.predict_proba(table).tolist() == clf.predict_proba(FRAME).tolist()


def test_an_encoded_table_is_passed_through_whatever_its_ranges():
    table = encode_frame(FRAME)
    assert to_matrix(table, table.attributes) is table.matrix
    wider = (Attribute("size", -9, 99), *table.attributes[1:])
    assert to_matrix(table, wider) is table.matrix
    assert len(table.take([0, 2])) == 2
    assert table.take([2]).matrix[0, 0] == 3.0


@pytest.mark.parametrize(
    "attributes",
    [
        (Attribute("size"),),
        (Attribute("size"), Attribute("colour", categories=("red", "blue"))),
        (Attribute("colour", categories=("blue", "red")), Attribute("size")),
    ],
)
def test_an_encoded_table_of_other_columns_is_refused(attributes):
    table = encode_frame(FRAME[["size", "colour"]])
    with pytest.raises(ValueError, match=r"encoded for other columns \(size, colour\); give the"):
        to_matrix(table, attributes)


def test_weights_and_missing_values_of_encoded_tables():
    clf = LEARNERS["modlem"].make().fit(encode_frame(FRAME), Y, sample_weight=[1, 0, 2, 1, 1, 1])
    assert clf.ruleset_.class_counts == (3.0, 3.0)
    gap = encode_frame(FRAME.assign(colour=["red", None, *FRAME["colour"][2:]]))
    with pytest.raises(
        ValueError, match=r"Missing values \(NaN\) in column 'colour' \(1 of 6 rows\)"
    ):
        LEARNERS["quickrules"].make(missing="error").fit(gap, Y)
    with pytest.raises(ValueError, match="6 rows but there are 5 labels"):
        FRRIClassifier().fit(gap, Y[:5])


def test_a_frame_for_a_model_learned_from_bare_numbers_is_read_by_position():
    clf = FRRIClassifier().fit(np.array([[0.0, 1.0], [1.0, 0.0]] * 3), ["a", "b"] * 3)
    frame = pd.DataFrame({"later": [0.0, 1.0], "names": [1.0, 0.0]})
    with pytest.warns(UserWarning, match="fitted without feature names"):
        assert clf.predict(frame).tolist() == ["a", "b"]


# ---------------------------------------------------------------- missing and extreme values

NUMBERS = [1, 2, 3, 4, 5, 6]


@pytest.mark.filterwarnings("ignore:. of 6 samples are covered by no rule")
@pytest.mark.parametrize("mark", [pd.NA, pd.NaT, None, np.nan, np.datetime64("NaT")])
@pytest.mark.parametrize(
    "make", [lambda v: pd.DataFrame({"a": v}, dtype=object), lambda v: v[:, None]]
)
@pytest.mark.parametrize("name", RULE_LEARNERS)
def test_every_mark_of_a_missing_value_is_taken_among_numbers(name, make, mark):
    values = np.array(NUMBERS, dtype=object)
    values[1] = mark
    learner = LEARNERS[name]
    clf = learner.make()
    few = {"max_rules": 3, "n_estimators": 2}  # their numbers do not matter here
    clf.set_params(**{key: n for key, n in few.items() if key in clf.get_params()})
    if not learner.missing:
        with pytest.raises(ValueError, match=r"Missing values \(NaN\) in column"):
            clf.fit(make(values), Y)
        return
    clf.fit(make(values), Y)
    assert clf.ruleset_.attributes[0].kind == "numeric"
    assert clf.predict(make(values)).shape == (6,)
    assert clf.ruleset_.predict(make(values)).shape == (6,)


@pytest.mark.parametrize("value", [10**400, -(10**5000)], ids=["400", "5000"])
@pytest.mark.parametrize(
    "make", [lambda v: pd.DataFrame({"a": v}, dtype=object), lambda v: v[:, None]]
)
def test_numbers_that_are_too_large_get_a_sentence(make, value):
    values = np.array(NUMBERS, dtype=object)
    values[2] = value
    table = make(values)
    sentence = (
        r"Column ('a'|0) holds -?1e\+(400|5000) in row 3; replace it by a finite number or drop"
    )
    with pytest.raises(ValueError, match=sentence):
        FRRIClassifier().fit(table, Y)
    rules = RuleSet(
        (Rule((NumericCondition("a", 3, 3),), "yes"),), (Attribute("a"),), ("no", "yes")
    )
    for question in (rules.predict, rules.degrees):
        with pytest.raises(ValueError, match=sentence.replace("|0", "")):
            question(table)
    with pytest.raises(ValueError, match=r"holds -?1e\+\d+ in row 1"):
        rules.explain([values[2]])
    with pytest.raises(ValueError, match=r"sample_weight holds -?1e\+\d+ in row 3"):
        LEARNERS["modlem"].make().fit(np.array(NUMBERS)[:, None], Y, sample_weight=values)

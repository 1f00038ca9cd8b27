"""Rows as dictionaries, lazy frames and sparse matrices."""

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from frri import Attribute, FRRIClassifier, NominalCondition, NumericCondition, Rule, RuleSet

RULES = RuleSet(
    rules=(
        Rule((NumericCondition.below("age", 30),), "no", 0.9),
        Rule((NominalCondition("job", frozenset({"nurse"})),), "yes", 0.8),
    ),
    attributes=(Attribute("age", 20, 39), Attribute("job", categories=("clerk", "nurse"))),
    classes=("no", "yes"),
    target="y",
)
TABLE = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0], [0.0, 4.0]])


def test_a_dictionary_is_a_row_or_columns_and_a_list_of_them_rows():
    assert RULES.predict({"age": 25, "job": "clerk", "more": 1}).tolist() == ["no"]
    assert RULES.predict([{"age": 25, "job": "clerk"}, {"job": "nurse", "age": 60}]).tolist() == [
        "no", "yes",
    ]  # fmt: skip
    assert RULES.predict({"age": [25, 60], "job": ["clerk", "nurse"]}).tolist() == ["no", "yes"]
    assert RULES.predict_proba({"age": 25, "job": None}).shape == (1, 2)


def test_a_key_that_some_rows_lack_is_missing_and_one_that_all_lack_is_named():
    assert RULES.predict([{"age": 60, "job": "nurse"}, {"age": 25}]).tolist() == ["yes", "no"]
    with pytest.raises(ValueError, match="The table has no column 'job'; it has age"):
        RULES.predict([{"age": 60}, {"age": 25}])
    with pytest.raises(ValueError, match="either the values of one row or columns of the same"):
        RULES.predict({"age": [60, 25], "job": "nurse"})


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_matrices_are_tables(form):
    labels = ["a", "b", "a", "b"]
    full = FRRIClassifier().fit(TABLE, labels)
    thin = FRRIClassifier().fit(form(TABLE), labels)
    assert thin.ruleset_.rules == full.ruleset_.rules
    assert thin.predict(form(TABLE)).tolist() == full.predict(TABLE).tolist() == labels
    assert thin.ruleset_.predict(form(TABLE)).tolist() == labels


def test_lazy_frames_are_tables():
    frame = pl.DataFrame({"a": TABLE[:, 0], "b": TABLE[:, 1]}).lazy()
    rules = FRRIClassifier().fit(frame, ["a", "b", "a", "b"])
    assert rules.predict(frame).tolist() == ["a", "b", "a", "b"]


@pytest.mark.parametrize("table", [[{"a": 1}, {"a": 2}], {"a": [1, 2]}])
def test_fitting_dictionaries_is_refused_with_a_remedy(table):
    with pytest.raises(TypeError, match=r"not dictionaries: pandas.DataFrame makes one of them"):
        FRRIClassifier().fit(table, ["x", "y"])

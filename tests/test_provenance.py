"""Provenance in saved models."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import frri
from frri import FRRIClassifier, RIPPERClassifier, RuleSet
from frri.learners.registry import LEARNERS, RULE_LEARNERS

X = pd.DataFrame({"a": np.arange(12.0), "b": [1.0, 5.0, 2.0] * 4})
Y = ["low"] * 6 + ["high"] * 6


@pytest.mark.parametrize("name", RULE_LEARNERS)
def test_every_estimator_saves_its_provenance(name, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    estimator = LEARNERS[name].make().fit(X, Y)
    about = RuleSet.from_json(estimator.ruleset_.to_json()).about
    assert about["learner"] == LEARNERS[name].label
    assert about["frri"] == frri.__version__
    given = estimator.get_params().items()
    assert about["parameters"] == {key: value for key, value in given if value != "deprecated"}
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", about["date"])
    assert about["rows"] == 12
    assert re.fullmatch("[0-9a-f]{16}", about["columns"])


def test_the_digest_follows_the_columns():
    def digest(table):
        return FRRIClassifier().fit(table, Y).ruleset_.about["columns"]

    assert digest(X) == digest(X * 2)
    different = [X, X[["b", "a"]], X.rename(columns={"a": "c"}), X.assign(b=X.b.astype(str))]
    assert len({digest(table) for table in different}) == 4


def test_the_date_can_be_set_and_does_not_count(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    first = FRRIClassifier().fit(X, Y).ruleset_
    assert first.about["date"] == "1970-01-02T00:00:00Z"
    assert FRRIClassifier().fit(X, Y).ruleset_.to_json() == first.to_json()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86401")
    second = FRRIClassifier().fit(X, Y).ruleset_
    assert second == first
    assert second.to_json() != first.to_json()


@pytest.mark.parametrize("moment", ["", "today", "1e5", "9" * 30])
def test_an_invalid_date(monkeypatch, moment):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", moment)
    with pytest.raises(ValueError, match=r"SOURCE_DATE_EPOCH must be .*, got "):
        FRRIClassifier().fit(X, Y)


def test_parameters_of_any_type_are_plain():
    orders = np.array([[0, 1]] * 12)
    clf = FRRIClassifier(
        attribute_order=orders,
        conditions={np.int64(0): "any"},
        time_limit=float("inf"),
    ).fit(X, Y)
    parameters = clf.ruleset_.to_dict()["about"]["parameters"]
    assert parameters["attribute_order"] == orders.tolist()
    assert parameters["conditions"] == {"0": "any"}
    assert parameters["time_limit"] == "inf"
    json.dumps(clf.ruleset_.to_dict(), allow_nan=False)

    drawn = RIPPERClassifier(random_state=np.random.RandomState(1), folds=np.int64(3)).fit(X, Y)
    assert drawn.ruleset_.about["parameters"]["random_state"] == "RandomState"
    assert drawn.ruleset_.about["parameters"]["folds"] == 3


def test_a_long_order_is_only_described():
    orders = np.tile([0, 1], (600, 1))
    description = (
        FRRIClassifier(attribute_order=orders)
        .fit(pd.concat([X] * 50), Y * 50)
        .ruleset_.about["parameters"]
    )
    assert description["attribute_order"] == "array of shape (600, 2)"

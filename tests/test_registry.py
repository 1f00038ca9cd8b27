"""The list of estimators and their abilities."""

import inspect
import re
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.utils import get_tags

import frri
from frri import RuleSet
from frri.learners.classification import RuleClassifier
from frri.learners.registry import LEARNERS, REGRESSORS, TASKS, rule_learners
from frri.learners.regression import RuleRegressor


def test_every_public_estimator_is_listed():
    public = {name for name in frri.__all__ if name.endswith(("Classifier", "Regressor"))}
    listed = [TASKS[task][name] for task in TASKS for name in rule_learners(task)]
    # Estimators that choose among the listed ones are not listed.
    chosen = {name for name in public if not name.startswith("AutoRules")}
    assert chosen == {type(learner.make()).__name__ for learner in listed}


@pytest.mark.parametrize("name", REGRESSORS)
def test_abilities_are_those_of_the_regressor(name):
    learner = REGRESSORS[name]
    estimator = learner.make()
    assert learner.missing == get_tags(estimator).input_tags.allow_nan
    assert learner.weights == ("sample_weight" in inspect.signature(estimator.fit).parameters)
    assert learner.rules == learner.nominal == isinstance(estimator, RuleRegressor)
    low, high = estimator.fit([[0.0, 0.0], [1.0, 1.0]] * 5, [0, 1] * 5).predict([[0, 0], [1, 1]])
    assert low < 0.5 < high


@pytest.mark.parametrize("name", LEARNERS)
def test_abilities_are_those_of_the_estimator(name):
    learner = LEARNERS[name]
    estimator = learner.make()
    assert learner.missing == get_tags(estimator).input_tags.allow_nan
    assert learner.weights == ("sample_weight" in inspect.signature(estimator.fit).parameters)
    assert learner.rules == isinstance(estimator, RuleClassifier)
    assert learner.nominal == learner.rules
    assert estimator.fit(np.array([[0.0, 0.0], [1.0, 1.0]] * 5), [0, 1] * 5).predict([[1, 1]]) == [
        1
    ]


def test_the_list_itself_imports_no_learner():
    code = "import sys, frri.learners.registry; print('sklearn' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"


def test_a_learner_that_cannot_be_made_is_one_sentence():
    with pytest.raises(ImportError, match="the learner 'frri' is not available"):
        LEARNERS["frri"].make(nonsense=1)


@pytest.mark.parametrize("name", ["frri", "compact", "ripper", "furia", "modlem", "quickrules"])
def test_missing_values_can_be_imputed(name):
    """As with an imputer, but the imputed values are part of the model file."""
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    filled = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    settings = {"random_state": 0} if name in {"ripper", "furia"} else {}
    with warnings.catch_warnings(action="ignore"):
        mine = LEARNERS[name].make(missing="typical", **settings).fit(X, y).ruleset_
        other = LEARNERS[name].make(**settings).fit(filled, y).ruleset_
    assert mine.missing == "typical"
    assert [replace(rule, statistics=None) for rule in mine] == [
        replace(rule, statistics=None) for rule in other
    ]
    again = RuleSet.from_json(mine.to_json())
    assert again.predict(X).tolist() == other.predict(filled).tolist()


def test_every_estimator_documents_each_parameter_once():
    for task in TASKS.values():
        for learner in task.values():
            if not learner.rules:
                continue
            kind = type(learner.make())
            lines = kind.__doc__.splitlines()
            assert not [line for line in lines if re.fullmatch(r" *\{\w+\}", line)]
            names = [
                name
                for line in lines
                if (found := re.match(r"    ([\w, ]+) : ", line))
                for name in found[1].split(", ")
            ]
            assert len(names) == len(set(names)), kind

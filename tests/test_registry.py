"""The list of learners and what it says about each."""

import inspect
import subprocess
import sys

import numpy as np
import pytest
from sklearn.utils import get_tags

import frri
from frri.learners._base import RuleClassifier
from frri.learners.registry import LEARNERS, RULE_LEARNERS


def test_every_public_classifier_is_listed():
    public = {name for name in frri.__all__ if name.endswith("Classifier")}
    assert public == {type(LEARNERS[name].make()).__name__ for name in RULE_LEARNERS}


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

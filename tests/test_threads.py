"""Numbers of threads."""

import os
import subprocess
import sys

import joblib
import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from sklearn.base import clone
from sklearn.datasets import load_iris

from frri import (
    FRRIClassifier,
    FURIAClassifier,
    MODLEMClassifier,
    QuickRulesClassifier,
    RIPPERClassifier,
)
from frri._util import map_threads, n_threads
from frri.rules import _predict_kernels, inference, matching


@pytest.fixture
def six_cores(monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 6)


@pytest.mark.usefixtures("six_cores")
@pytest.mark.parametrize(
    ("n_jobs", "expected"), [(None, 6), (-1, 6), (-2, 5), (-6, 1), (-99, 1), (1, 1), (9, 9)]
)
def test_the_meaning_of_n_jobs(n_jobs, expected):
    assert n_threads(n_jobs) == expected


def test_without_joblib_there_are_the_cores_of_the_machine(monkeypatch):
    monkeypatch.setitem(sys.modules, "joblib", None)
    assert n_threads(-1) == (os.cpu_count() or 1)
    assert n_threads(2) == 2


def test_few_objects_are_predicted_without_joblib():
    source = """if True:
        import sys
        from frri import Attribute, NumericCondition, Rule, RuleSet
        rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a"),), (0, 1))
        rules.predict([[1], [4]])
        print("joblib" in sys.modules)
    """
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


@pytest.mark.usefixtures("six_cores")
def test_the_joblib_context_is_the_default():
    with parallel_config(n_jobs=4):
        assert n_threads() == 4
        assert n_threads(2) == 2
    with parallel_config(n_jobs=-2):
        assert n_threads() == 5


@pytest.mark.usefixtures("six_cores")
def test_one_of_several_jobs_takes_no_further_cores():
    for backend in ("threading", "loky"):
        assert Parallel(2, backend=backend)(delayed(n_threads)() for _ in range(2)) == [1, 1]
    assert Parallel(2, backend="threading")(delayed(n_threads)(3) for _ in range(2)) == [3, 3]


@pytest.mark.parametrize("n_jobs", [0, True, 1.5, "all"])
def test_invalid_numbers_of_threads(n_jobs):
    message = "n_jobs must be None or an integer other than 0"
    with pytest.raises(ValueError, match=message):
        n_threads(n_jobs)
    with pytest.raises(ValueError, match=message):
        RIPPERClassifier().fit([[0], [1]], [0, 1]).set_params(n_jobs=n_jobs).predict([[0]])


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_come_in_order(n_jobs):
    parts = [(start, start + 3) for start in range(0, 60, 3)]
    assert map_threads(lambda *part: part, parts, n_jobs) == parts
    assert map_threads(lambda *part: part, [], n_jobs) == []


def test_an_error_in_a_thread_is_raised():
    with pytest.raises(ZeroDivisionError):
        map_threads(lambda start, end: end // start, [(1, 1), (0, 1), (1, 1)], 2)


LEARNERS = [
    FRRIClassifier(),
    FURIAClassifier(random_state=0),
    MODLEMClassifier(),
    QuickRulesClassifier(),
    RIPPERClassifier(random_state=0),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_results_do_not_depend_on_the_number_of_threads(learner, monkeypatch):
    monkeypatch.setattr(inference, "MANY_BLOCKS", 1)
    monkeypatch.setattr(matching, "BLOCK", 1 << 6)
    X, y = load_iris(return_X_y=True)
    expected = clone(learner).set_params(n_jobs=1).fit(X, y)
    for n_jobs in (None, -1, 3):
        found = clone(learner).set_params(n_jobs=n_jobs).fit(X, y)
        assert found.ruleset_.rules == expected.ruleset_.rules
        np.testing.assert_array_equal(found.predict(X), expected.predict(X))
        np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))
        rules = found.ruleset_
        for answer in ("predict", "predict_proba", "scores"):
            one, many = (getattr(rules, answer)(X, n_jobs=jobs) for jobs in (1, n_jobs))
            np.testing.assert_array_equal(one, many)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_every_learner_refuses_invalid_numbers_of_threads(learner):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="n_jobs must be None or an integer other than 0"):
        clone(learner).set_params(n_jobs=0).fit(X, y)


def test_predictions_ask_for_the_threads_of_their_learner(monkeypatch):
    X, y = load_iris(return_X_y=True)
    asked = []
    monkeypatch.setattr(inference, "MANY_BLOCKS", 1)

    def map_threads(work, parts, n_jobs):
        asked.append(n_jobs)
        return [work(*part) for part in parts]

    monkeypatch.setattr(inference, "map_threads", map_threads)
    model = MODLEMClassifier(n_jobs=2).fit(X, y)
    asked.clear()
    model.predict(X)
    model.ruleset_.predict(X, n_jobs=5)
    assert list(dict.fromkeys(asked)) == [2, 5]


def test_compiled_predictions_do_not_depend_on_the_number_of_threads(monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(_predict_kernels, "WARM", 0)
    monkeypatch.setattr(_predict_kernels, "COLD", 0)
    X, y = load_iris(return_X_y=True)
    rules = FRRIClassifier().fit(X, y).ruleset_
    many = np.tile(X, (100, 1))
    expected = rules.predict_proba(many, n_jobs=1)
    for n_jobs in (None, 3):
        np.testing.assert_array_equal(rules.predict_proba(many, n_jobs=n_jobs), expected)

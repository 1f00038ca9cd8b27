"""Fits and predictions have the same bits for every processor, BLAS, number of threads, hash seed and compiler.

Child processes fit every estimator on small tables under settings that emulate other machines: several settings at
a time, or each alone in a thorough run, which identifies the cause of a difference. Run as a
program, this file prints a digest of the model file and of the predicted labels of every fit.
"""

import hashlib
import json
import math
import os
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_regressor

from frri._reproducible import log, log2
from thorough import THOROUGH

BASE = {"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "FRRI_JOBS": "1"}
SETTINGS = {
    "without AVX-512": {"NPY_DISABLE_CPU_FEATURES": "X86_V4"},
    "without AVX2": {"NPY_DISABLE_CPU_FEATURES": "X86_V3", "OPENBLAS_CORETYPE": "Nehalem"},
    "BLAS of Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "interpreted": {"NUMBA_DISABLE_JIT": "1"},
    # Kernels that leave their arrays raise an error there.
    "compiled for any processor": {
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_BOUNDSCHECK": "1",
    },
    "two threads, another hash seed": {
        "OPENBLAS_NUM_THREADS": "2",
        "PYTHONHASHSEED": "7",
        "FRRI_JOBS": "2",
    },
}
TOGETHER = [
    ("without AVX2", "compiled for any processor"),
    ("without AVX-512", "BLAS of Haswell", "interpreted", "two threads, another hash seed"),
]
assert {name for names in TOGETHER for name in names} == SETTINGS.keys()


def tables():
    """Yield names, tables and classes: few distinct values, classes of equal size, ties among them."""
    for seed in range(8):
        random = np.random.default_rng(seed)
        n_classes = 2 + seed % 3
        n_rows = 12 * n_classes + 12 * (seed % 2)
        n_rows -= n_rows % n_classes
        y = np.arange(n_rows) % n_classes
        values = random.integers(0, 9, (n_rows, 4)) + y[:, None] * random.integers(0, 4, 4)
        yield f"balanced {seed}", values / 8.0, y
    random = np.random.default_rng(20)
    y = np.repeat([0, 1, 2], 20)
    yield "no information", random.integers(0, 2, (60, 2)).astype(float), y
    yield "symmetric", np.column_stack([y == c for c in range(3)]).astype(float), y
    values = random.integers(0, 1000, (90, 5)) / 7.0
    values[random.integers(0, 10, values.shape) == 0] = np.nan
    yield "missing values", values, (np.nan_to_num(values[:, 0]) > 60).astype(int) + (y[0] > 1)
    values = random.integers(0, 100, (120, 6))
    yield "categories and weights", values, (values[:, :3] > 45).sum(axis=1) // 2


# Estimators that choose among others are compared on a few tables only, with all candidates and references on the
# smallest of them.
FEW = {"max_rules": 6, "references": False, "cv": 2}
CHOICES = {"balanced 0": {"cv": 2}, "no information": FEW, "missing values": FEW}


def estimators(n_jobs, choice):
    """Yield an estimator of every class, and some with other parameters.

    Those that choose an estimator have the parameters `choice`, and are left out if it is None.
    """
    import frri
    from frri._compile import compiled
    from frri.learners.ripper import _kernels

    if "NUMBA_CPU_NAME" in os.environ:
        compiled(_kernels)  # kernels are used for tables of any size from here on
    names = [name for name in frri.__all__ if name.endswith(("Classifier", "Regressor"))]
    fixed = {name: choice for name in names if name.startswith("AutoRules")}
    # Cross-validation of the number of rules is the same for all additive rules.
    for name in ("AdditiveRulesRegressor", "AdditiveRulesOrdinalClassifier"):
        fixed[name] = {"max_rules": 6}
    if choice is None:  # the other tables are enough for it
        for name in ("AdditiveRulesClassifier", "AdditiveRulesBaggingClassifier"):
            fixed[name] = {"max_rules": 6}
    usual = [(name, fixed.get(name, {})) for name in names]
    weighted = {"class_weight": "balanced", "max_rules": 5, "calibrate": False}
    usual.append(("AdditiveRulesClassifier", weighted))
    for name, parameters in usual:
        if parameters is None:
            continue
        estimator = getattr(frri, name)(**parameters)
        given = {"n_jobs": n_jobs, "random_state": 1, "n_estimators": 3}
        known = estimator.get_params()
        yield estimator.set_params(**{key: given[key] for key in given if key in known})


def digests(n_jobs):
    """Return a digest of the model file and one of the predictions for each table and estimator."""
    found = {}
    for name, values, y in tables():
        choice = {} if THOROUGH else CHOICES.get(name)
        for number, estimator in enumerate(estimators(n_jobs, choice)):
            numbers = y + np.nan_to_num(values[:, -1]) * 0.37
            X, weights = values, {}
            if name == "categories and weights":
                X = pd.DataFrame(values, columns=[*"uvwxyz"])
                X = X.assign(named=np.array([*"abcdefg"])[values[:, 0] // 5 % 7])
                if type(estimator).__name__ != "AdditiveRulesBaggingClassifier":
                    weights["sample_weight"] = 1.0 + np.arange(len(X)) % 3 / 3.0
            estimator.fit(X, numbers if is_regressor(estimator) else y, **weights)
            model = estimator.ruleset_.to_dict()
            del model["about"]["date"]
            model["about"]["parameters"].pop("n_jobs", None)
            text = json.dumps(model, sort_keys=True).encode()
            answers = np.ascontiguousarray(estimator.predict(X)).tobytes()
            shorts = [hashlib.sha256(content).hexdigest()[:12] for content in (text, answers)]
            found[f"{name}, {number} {type(estimator).__name__}"] = shorts
    numbers = np.arange(1.0, 100_000.0)  # counts of which estimators use logarithms
    for function in (log, log2):
        found[function.__name__] = [hashlib.sha256(function(numbers).tobytes()).hexdigest()[:12]]
    return found


def test_logarithms_are_right_to_the_last_but_one_bit():
    random = np.random.default_rng(0)
    numbers = np.concatenate([np.arange(1.0, 3000.0), 2.0 ** random.uniform(-60, 60, 3000)])
    for function, exact in ((log, math.log), (log2, math.log2)):
        expected = np.array([exact(number) for number in numbers.tolist()])
        assert (np.abs(function(numbers) - expected) <= 2 * np.spacing(np.abs(expected))).all()
    powers = np.arange(-50, 50)
    assert log2(2.0**powers).tolist() == powers.tolist()


def in_child(**setting):
    """Return the digests that a child process finds under a setting."""
    program = [sys.executable, "-W", "ignore", __file__]
    environment = os.environ | BASE | setting
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def usual():
    return in_child()


@pytest.mark.parametrize(
    "names", [(name,) for name in SETTINGS] if THOROUGH else TOGETHER, ids=", ".join
)
def test_model_files_and_predictions_are_equal(names, usual, tmp_path):
    setting = {key: value for name in names for key, value in SETTINGS[name].items()}
    if "NUMBA_CPU_NAME" in setting:  # kernels on disk are those of this processor
        setting["NUMBA_CACHE_DIR"] = str(tmp_path)
    if "NPY_DISABLE_CPU_FEATURES" in setting:
        setting["NPY_DISABLE_CPU_FEATURES"] = features_from(setting["NPY_DISABLE_CPU_FEATURES"])
    found = in_child(**setting)
    different = [case for case in usual if found[case] != usual[case]]
    assert found.keys() == usual.keys()
    assert not different, f"{len(different)} of {len(usual)} fits differ: {different[:12]}"


def features_from(level):
    """Return the features that numpy can do without on this processor, from a level on.

    The names depend on the version of numpy; it refuses to disable what every processor must have.
    """
    from numpy._core._multiarray_umath import (
        __cpu_dispatch__,
        __cpu_features__,
    )

    from_avx512 = [f for f in __cpu_dispatch__ if f == "X86_V4" or f.startswith("AVX512")]
    older = [f for f in __cpu_dispatch__ if f in {"X86_V3", "AVX2", "FMA3"}]
    found = from_avx512 if level == "X86_V4" else from_avx512 + older
    return " ".join(f for f in found if __cpu_features__.get(f))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    json.dump(digests(int(os.environ["FRRI_JOBS"])), sys.stdout)

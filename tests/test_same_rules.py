"""Identical rules with every version of pandas, from a file or a data frame, with and without numba.

The digests are stored, so that the environments with other versions of packages check the same ones.
"""

import hashlib
import json
import sys
from pathlib import Path

import pandas as pd
import pytest

import frri.cli
from frri import AutoRulesClassifier, AutoRulesOrdinalClassifier, AutoRulesRegressor, RuleSet

PATIENTS = Path(frri.cli.__file__).with_name("patients.csv")
# Options of `frri fit`, the estimator that does the same, and the digest of the rules.
CASES = {
    "risk": (["--cv", "2"], AutoRulesClassifier(cv=2), "f6b095914b4abf0c"),
    "glucose": (
        ["--task", "regression", "--no-check"],
        AutoRulesRegressor(cv=0),
        "8346c4d06195654b",
    ),
    "smoker": (
        ["--task", "ordinal", "--order", "no<yes", "--no-check"],
        AutoRulesOrdinalClassifier(cv=0, class_order=["no", "yes"]),
        "4476b623ad637608",
    ),
}


def digest(ruleset):
    """Return a digest of everything in a model but its provenance."""
    model = ruleset.to_dict()
    del model["about"]
    return hashlib.sha256(json.dumps(model, sort_keys=True).encode()).hexdigest()[:16]


@pytest.mark.parametrize("target", CASES)
def test_command_without_numba(target, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)  # as if it were not installed
    options, _, expected = CASES[target]
    path = tmp_path / "model.json"
    arguments = ["fit", str(PATIENTS), "--target", target, *options, "-o", str(path), "--quiet"]
    assert frri.cli.main(arguments) == 0
    assert digest(RuleSet.load(path)) == expected


@pytest.mark.parametrize("target", CASES)
def test_data_frame_with_numba(target):
    _, estimator, expected = CASES[target]
    frame = pd.read_csv(PATIENTS, parse_dates=["visit"])
    estimator.fit(frame.drop(columns=target), frame[target])
    assert digest(estimator.ruleset_) == expected

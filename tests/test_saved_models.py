"""Models saved by earlier versions, with their recorded predictions.

The files are never written again. A new version of the format gets a folder of its own.
"""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

from frri import RuleSet
from frri.rules import json_format
from programs import python_module

FOLDER = Path(__file__).with_name("golden")
MODELS = sorted(
    path.relative_to(FOLDER).with_suffix("").as_posix()
    for path in FOLDER.glob("v*/*.json")
    if not path.name.endswith(".answers.json")
)


def test_every_learner_and_every_semantics_is_kept():
    learners = {"frri", "furia", "modlem-entropy", "modlem-laplace", "quickrules", "ripper"}
    for version in ("v1", "v2"):
        kept = {name.split("/")[1].rpartition("-")[0] for name in MODELS if version in name}
        assert learners <= kept
    others = {"softmax-votes", "at-least-class", "weighted-mean", "added-contributions"}
    assert others <= {name.split("/")[1] for name in MODELS}


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_model_has_its_recorded_predictions(name):
    path = FOLDER / f"{name}.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    version = int(name[1])
    jsonschema.Draft202012Validator(json_format.schema(version)).validate(content)
    assert content["version"] == version
    ruleset = RuleSet.load(path)
    answers = json.loads((FOLDER / f"{name}.answers.json").read_text(encoding="utf-8"))
    frame = pd.DataFrame(answers["rows"])[[a.name for a in ruleset.attributes]]
    close(ruleset.scores(frame), answers["scores"])
    if ruleset.task == "regression":
        close(ruleset.predict(frame), answers["predictions"])
    else:
        assert ruleset.predict(frame).tolist() == answers["predictions"]
        close(ruleset.predict_proba(frame), answers["probabilities"])
    # Exported modules have the same predictions.
    module = python_module(ruleset)
    close([module.scores(row) for row in answers["rows"]], answers["scores"])
    again = RuleSet.from_json(ruleset.to_json())
    assert again == ruleset
    assert json.loads(ruleset.to_json())["version"] == json_format.VERSION


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("where", "change", "message"),
    [
        (("attributes", 0), {"typical": 30.0}, "'typical' in an attribute, which version 1"),
        (("rules", 0), {"votes": [1.0, 2.0]}, "'votes' in a rule, which version 1"),
        (("rules", 0), {"relation": "is"}, "'relation' in a rule, which version 1"),
        ((), {"missing": "typical"}, "missing must be one of fails, holds in version 1"),
    ],
)
def test_version_1_has_nothing_that_its_schema_has_not(where, change, message):
    first = next(name for name in MODELS if name.startswith("v1/"))
    content = json.loads((FOLDER / f"{first}.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(json_format.schema(1))
    validator.validate(content)
    part = content
    for key in where:
        part = part[key]
    part.update(change)
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(content)
    with pytest.raises(ValueError, match=message):
        RuleSet.from_dict(content)

"""ONNX models, run by onnxruntime: predictions, deciding rules and degrees equal those of the library."""

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest

from frri import Attribute, NominalCondition, NumericCondition, Rule, RuleSet
from frri.export.onnx import to_onnx
from frri.table import to_matrix
from random_models import random_models, random_rows
from test_conformance import FRAME, every
from test_export import hostile_ruleset

OPTIONS = onnxruntime.SessionOptions()
OPTIONS.intra_op_num_threads = OPTIONS.inter_op_num_threads = 1
OPTIONS.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL


def run(ruleset, frame, model=None):
    """The outputs of a model by name."""
    session = onnxruntime.InferenceSession(model or to_onnx(ruleset), OPTIONS)
    matrix, feed = to_matrix(frame, ruleset.attributes), {}
    places = {attribute.name: j for j, attribute in enumerate(ruleset.attributes)}
    for one in session.get_inputs():
        values = matrix[:, places[one.name], None]
        if one.type == "tensor(string)":
            texts = [["" if pd.isna(v) else str(v)] for v in frame[one.name].tolist()]
            values = np.array(texts, dtype=object)
        feed[one.name] = values
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feed), strict=True))


def agree(ruleset, frame, decision=None):
    found, decision = run(ruleset, frame), decision or ruleset.decide(frame)
    answer = found["label"] if ruleset.classes else found["prediction"]
    np.testing.assert_array_equal(answer, decision.answers)
    np.testing.assert_array_equal(found["rule"], decision.deciding + 1)
    if len(ruleset):
        np.testing.assert_array_equal(found["degrees"], decision.degrees)
    if ruleset.classes:
        expected = decision.probabilities
        np.testing.assert_allclose(found["probabilities"], expected, rtol=0, atol=1e-12)


@every
def test_conformance(ruleset, expected):
    del expected  # other tests compare the predictions of the library with it
    agree(ruleset, FRAME)


def test_random_models_of_every_semantics_agree_on_10_000_rows():
    random = np.random.default_rng(7)
    rows = random_rows(random, 10_000)
    models = list(random_models(random))
    assert len({model.semantics.name for model in models}) == 8
    for model in models:
        agree(model, rows)


def test_hostile_names_predict_as_any_others():
    agree(*hostile_ruleset())


def test_a_column_with_the_name_of_an_output_is_refused():
    rule = Rule((NumericCondition.below("rule", 3),), "x")
    with pytest.raises(ValueError, match="Column 'rule' has the name of an output"):
        to_onnx(RuleSet((rule,), (Attribute("rule"),), ("x", "y")))


def test_hundreds_of_rules_are_a_few_hundred_operators():
    random = np.random.default_rng(8)
    rules = sum((next(random_models(random)).rules for _ in range(42)), ())[:500]
    plain = next(random_models(random))
    large = RuleSet(rules, plain.attributes, plain.classes, fallback="nearest")
    model = to_onnx(large)
    assert len(onnx.load_from_string(model).graph.node) < 600
    rows = random_rows(random, 200)
    np.testing.assert_array_equal(run(large, rows, model)["label"], large.predict(rows))


def test_the_model_is_valid_and_carries_its_rules():
    model = onnx.load_from_string(to_onnx(next(random_models(np.random.default_rng(9)))))
    onnx.checker.check_model(model, full_check=True)
    assert {opset.domain for opset in model.opset_import} <= {"", "ai.onnx.ml"}
    about = {entry.key: entry.value for entry in model.metadata_props}
    assert about["classes"] == "x\ny\nz"
    assert about["rules"].startswith("IF ")


def test_categories_have_the_spellings_of_the_library():
    flag = Attribute("smoker", categories=("no", "yes"))
    number = Attribute("floor", categories=("1", "2"))
    rules = (
        Rule((NominalCondition("smoker", ("yes",)), NominalCondition("floor", ("2",))), 1, 0.9),
        Rule((NominalCondition("floor", ("1",), excludes=True),), 0, 0.5),
    )
    ruleset = RuleSet(rules, (flag, number), (0, 1))
    session = onnxruntime.InferenceSession(to_onnx(ruleset), OPTIONS)
    texts = [
        ["yes", "2"],
        ["TRUE", "2.0"],
        ["True", "2"],
        ["1", "2"],
        ["no", "1"],
        ["", "2"],
        ["yes", ""],
    ]
    values = np.array(texts, dtype=object)
    found = session.run(["degrees", "label"], {"smoker": values[:, :1], "floor": values[:, 1:]})
    rows = [[one or None for one in row] for row in texts]
    np.testing.assert_array_equal(found[0], ruleset.degrees(rows))
    assert found[1].tolist() == ruleset.predict(rows).tolist()
    assert found[1].dtype == np.int64


@pytest.mark.parametrize("n", [0, 1])
def test_no_rows_and_rules_without_conditions(n):
    always = RuleSet((Rule((), "x"),), (Attribute("a"),), ("x", "y"))
    session = onnxruntime.InferenceSession(to_onnx(always), OPTIONS)
    assert session.run(["label"], {"a": np.zeros((n, 1))})[0].tolist() == ["x"] * n
    low = RuleSet((Rule((NumericCondition.below("a", 3),), "x"),), (Attribute("a"),), ("x", "y"))
    session = onnxruntime.InferenceSession(to_onnx(low), OPTIONS)
    assert len(session.run(["degrees"], {"a": np.zeros((n, 1))})[0]) == n

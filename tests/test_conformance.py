"""One table of small rule sets with expected predictions, for all engines that apply rules."""

import json

import numpy as np
import pandas as pd
import pytest

import make_conformance
from frri import RuleSet
from frri.explain.bounds import DecisionBounds, Goal, Space
from frri.export import to_javascript, to_python
from frri.export.lowering import lower
from frri.export.program import Assignment
from frri.fuzzy import T_NORMS
from frri.rules import _predict_kernels as bulk
from frri.rules.inference import Decision
from frri.rules.semantics import MEANINGS, Missing
from frri.table import to_matrix
from naive_program import evaluate
from programs import PAGE_EVALUATOR, duck_answers, records, sqlite_answers

TABLE = json.loads(make_conformance.PATH.read_text(encoding="utf-8"))
ROWS = TABLE["rows"]
FRAME = pd.DataFrame(ROWS)
RULESETS = [
    (RuleSet.from_dict(entry["model"] | {"attributes": TABLE["attributes"]}), entry["answers"])
    for entry in TABLE["rulesets"]
]
TITLES = [entry["title"] for entry in TABLE["rulesets"]]


# Parametrization over all rule sets of the table.
every = pytest.mark.parametrize(("ruleset", "expected"), RULESETS, ids=TITLES)


def close(found, expected):
    np.testing.assert_allclose(np.array(found, dtype=float), expected, rtol=0, atol=1e-12)


def the(expected, what):
    return [answer[what] for answer in expected]


# ---------------------------------------------------------------- the table itself


def test_the_table_has_the_results_of_the_reference():
    found = json.loads(make_conformance.written())
    assert found["rows"] == TABLE["rows"]
    for mine, known in zip(found["rulesets"], TABLE["rulesets"], strict=True):
        assert mine["model"] == known["model"]
        assert the(mine["answers"], "deciding") == the(known["answers"], "deciding")
        for what in ("answer", "scores", "probabilities"):
            for a, b in zip(the(mine["answers"], what), the(known["answers"], what), strict=True):
                assert a == (b if isinstance(b, str) or b is None else pytest.approx(b, abs=1e-12))


def test_the_table_has_every_semantics_with_every_setting():
    kinds = [ruleset.semantics for ruleset, _ in RULESETS]
    wanted = {(name, fallback) for name, m in MEANINGS.items() for fallback in m.fallbacks}
    assert {(kind.name, kind.fallback) for kind in kinds} == wanted
    assert {kind.t_norm for kind in kinds} == set(T_NORMS)
    for name in MEANINGS:
        own = {(kind.clip, kind.missing) for kind in kinds if kind.name == name}
        assert {clip for clip, _ in own} == {False, True}
        assert {missing for _, missing in own} == set(Missing.__args__)


# ---------------------------------------------------------------- engines of the library


@every
def test_numpy(ruleset, expected):
    decision = ruleset.decide(FRAME)
    close(decision.scores, the(expected, "scores"))
    assert decision.deciding.tolist() == [-1 if r is None else r for r in the(expected, "deciding")]
    if ruleset.task == "regression":
        close(decision.answers, the(expected, "answer"))
        with pytest.raises(ValueError, match="predict numbers and know no classes; use predict"):
            ruleset.predict_proba(FRAME)
    else:
        assert decision.answers.tolist() == the(expected, "answer")
        close(decision.probabilities, the(expected, "probabilities"))
    assert ruleset.predict(FRAME).tolist() == decision.answers.tolist()
    one_by_one = [ruleset.decide(FRAME.iloc[[i]]) for i in range(len(FRAME))]
    assert [one.answers[0] for one in one_by_one] == decision.answers.tolist()
    assert [one.deciding[0] for one in one_by_one] == decision.deciding.tolist()


@every
def test_compiled_prediction(ruleset, expected, monkeypatch):
    matrix = to_matrix(FRAME, ruleset.attributes)
    monkeypatch.setattr(bulk, "WARM", 1)
    monkeypatch.setattr(bulk, "COLD", 1)
    decision = Decision(ruleset, matrix)
    pays = decision._bulk is not None
    weighted = len(ruleset) and all(rule.weight > 0 for rule in ruleset)
    settings = ruleset.semantics.name, ruleset.t_norm, ruleset.fallback
    assert pays == bool(settings == ("best-rule", "minimum", "nearest") and weighted)
    if not pays:
        return
    close(decision.scores, the(expected, "scores"))
    assert decision.answers.tolist() == the(expected, "answer")
    assert decision.deciding.tolist() == [-1 if r is None else r for r in the(expected, "deciding")]
    close(decision.probabilities, the(expected, "probabilities"))


@every
def test_explanations(ruleset, expected):
    for row, answer in zip(ROWS, expected, strict=True):
        found = ruleset.explain(row, effort=0)
        if ruleset.classes:
            assert found.decision == answer["answer"]
            close(found.shares, answer["probabilities"])
        close(found.scores, answer["scores"])
        assert (found.deciding.index if found.deciding else None) == answer["deciding"]
        assert (found.base is not None) == ruleset.semantics.meaning.adds
        if found.base is not None and ruleset.task == "ordinal":
            passed = answer["scores"][1:]
            asked = ruleset.classes.index(answer["answer"]) - 1
            odds = found.base + sum(rule.contribution for rule in found.firing)
            close(1 / (1 + np.exp(min(-odds, 700))), passed[max(asked, 0)] if passed else 0.5)
        elif found.base is not None:
            first, *others = sorted(answer["scores"], reverse=True)
            lead = first - others[0] if others else first
            close(found.base + sum(rule.contribution for rule in found.firing), lead)
            sizes = [abs(rule.contribution) for rule in found.firing]
            assert sizes == sorted(sizes, reverse=True)


@every
def test_bounds_of_a_single_point(ruleset, expected):
    """Bounds of a box of one point are exact: they exclude all goals that its prediction does not reach."""
    for row, answer in zip(to_matrix(FRAME, ruleset.attributes), expected, strict=True):
        space = Space(ruleset, row, ())
        point = space.start[None, :]
        goals = [(Goal(c, c), label == answer["answer"]) for c, label in enumerate(ruleset.classes)]
        if not ruleset.classes:
            number = float(answer["answer"])
            goals = [(Goal.at_least(number + 1e-6), True), (Goal.at_least(number - 1e-6), False)]
            goals += [(Goal.at_most(number - 1e-6), True), (Goal.at_most(number + 1e-6), False)]
        # The first of equally near rules predicts a number; bounds include all of them.
        ties = not ruleset.classes and ruleset.fallback == "nearest"
        for goal, sure in goals:
            found = bool(DecisionBounds(ruleset, space, goal).survey(point, point).sure[0])
            assert found == sure or (ties and sure)


# ---------------------------------------------------------------- engines elsewhere


@every
def test_scoring_program(ruleset, expected):
    """The reference of all printers has the same bits as the library, except for probabilities."""
    program, decision = lower(ruleset), ruleset.decide(FRAME)
    names = [*assigned(program.steps), *assigned(program.probability_steps)]
    assert len(names) == len(set(names))
    for i, (row, answer) in enumerate(zip(ROWS, expected, strict=True)):
        found = evaluate(program, row)
        assert found["prediction"] == decision.answers[i]
        assert found["rule"] == (0 if answer["deciding"] is None else answer["deciding"] + 1)
        assert found["degrees"] == decision.degrees[i].tolist()
        exact = ruleset.semantics.name != "cumulative-logits"  # which have an exponential
        assert not exact or found["scores"] == decision.scores[i].tolist()
        close(found["scores"], answer["scores"])
        if ruleset.classes:
            assert found["score"] == found["scores"][ruleset.classes.index(found["prediction"])]
            assert found["prediction"] == answer["answer"]
            close(found["probabilities"], answer["probabilities"])


def assigned(steps):
    for step in steps:
        if isinstance(step, Assignment):
            yield step.name
        else:
            yield from (*assigned(step.holds), *assigned(step.fails))
            yield from (name for name, _, _ in step.results)


@every
def test_python_module(ruleset, expected, bare_python):
    programs_agree(bare_python, to_python(ruleset), ruleset, expected)


@every
def test_javascript_module(ruleset, expected, node):
    programs_agree(node, to_javascript(ruleset), ruleset, expected)


@every
def test_evaluator_of_the_page(ruleset, expected, node):
    (node.folder / "evaluator.mjs").write_text(PAGE_EVALUATOR.read_text("utf-8"), encoding="utf-8")
    names = ["explain", "predict", "scores", "probabilities"]
    functions = "".join(f"export const {n} = (row) => page.{n}(model, row);" for n in names)
    source = f'import * as page from "./evaluator.mjs"; const model = {ruleset.to_json()};'
    rows = [page_values(ruleset, row) for row in ROWS]
    programs_agree(node, source + functions, ruleset, expected, rows)


def page_values(ruleset, row):
    """Return a row as on the page: dates in days since 1970."""
    days = to_matrix(pd.DataFrame([row]), ruleset.attributes)[0].tolist()
    return [
        day if attribute.kind == "date" and row[attribute.name] else row[attribute.name]
        for attribute, day in zip(ruleset.attributes, days, strict=True)
    ]


def programs_agree(program, source, ruleset, expected, rows=None):
    names = ["explain", "predict", "scores"]
    names += ["probabilities"] if ruleset.classes else []
    answers = program.run(source, rows or records(FRAME), names)
    for (explained, predicted, scores, *probabilities), answer in zip(
        answers, expected, strict=True
    ):
        decided = (explained["prediction"], predicted)
        if ruleset.classes:
            assert decided == (answer["answer"],) * 2
            close(probabilities[0], answer["probabilities"])
        else:
            close(decided, [answer["answer"]] * 2)
        assert explained["rule"] == (None if answer["deciding"] is None else answer["deciding"] + 1)
        close(scores, answer["scores"])


@every
@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_databases(ruleset, expected, database, duck):
    if database == "sqlite":
        answers = sqlite_answers(ruleset, FRAME)
    else:
        answers = duck_answers(duck, ruleset, FRAME)
    deciding = [None if r is None else r + 1 for r in the(expected, "deciding")]
    answered, scores = the(expected, "answer"), the(expected, "scores")
    if ruleset.task == "regression":
        close([answer[1] for answer in answers], answered)
    else:
        assert [answer[1] for answer in answers] == answered
    assert [answer[2] for answer in answers] == deciding
    if ruleset.task == "ordinal":
        scores = [[s[ruleset.classes.index(a)]] for s, a in zip(scores, answered, strict=True)]
    close([answer[3] for answer in answers], [max(s) for s in scores])

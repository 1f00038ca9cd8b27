"""Named semantics: allowed consequents, and consistent decision, probabilities and deciding rule."""

from dataclasses import replace
from math import inf, nextafter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frri import Attribute, NumericCondition, Rule, RuleSet
from frri.explain.counterfactual import find_counterfactual
from frri.rules.inference import Decision
from frri.rules.matching import LONG
from frri.rules.semantics import MEANINGS, SHORTHANDS, Semantics
from programs import python_module
from random_models import random_ordered_ruleset, random_ruleset
from thorough import often

A = Attribute("a", 0, 8)
BELOW, ABOVE = NumericCondition.below("a", 3), NumericCondition("a", 2, 6)


def small(rules, **more):
    return RuleSet(tuple(rules), (A,), **({"classes": ("no", "maybe", "yes")} | more))


# ---------------------------------------------------------------- the dataclass


def test_settings_one_by_one_are_fields_of_the_semantics():
    given_at_once = Semantics("added-votes", "product", "priors", clip=True, missing="similar")
    one_by_one = {"t_norm": "product", "fallback": "priors", "clip": True, "missing": "similar"}
    ruleset = small([], combination="sum", **one_by_one)
    assert ruleset == small([], semantics=given_at_once)
    assert ruleset.semantics == given_at_once
    for name, value in one_by_one.items():
        assert getattr(ruleset, name) == value
        with pytest.raises(AttributeError):
            setattr(ruleset, name, value)
    assert (ruleset.combination, ruleset.task) == ("sum", "classification")
    # As fields of the dataclass they can be replaced.
    assert replace(ruleset, fallback="nearest").semantics == replace(
        given_at_once, fallback="nearest"
    )
    assert replace(ruleset, combination="first").semantics.name == "first-match"
    assert hash(replace(ruleset, clip=True)) == hash(ruleset)


def test_by_position_the_settings_come_where_they_always_came():
    ruleset = RuleSet((), (A,), (0, 1), "target", "product", "sum", "priors", True, "holds")
    assert ruleset.semantics == Semantics("added-votes", "product", "priors", True, "holds")
    assert RuleSet((), (A,), (0, 1)).semantics == Semantics()


def test_similar_was_called_holds():
    assert Semantics(missing="holds") == Semantics(missing="similar")
    content = small([], missing="similar").to_dict()
    content["semantics"]["missing"] = "holds"
    assert RuleSet.from_dict(content).missing == "similar"


@pytest.mark.parametrize("name", MEANINGS)
def test_every_name_has_a_default_fallback_and_consequents_survive_saving(name):
    meaning = MEANINGS[name]
    assert Semantics(name).fallback == meaning.fallbacks[0]
    numbers = meaning.task == "regression"
    consequents = {
        "class": Rule((BELOW,), "yes"),
        "votes": Rule((BELOW,), "yes", votes=(-1, 0, 0.5)),
        "bound": Rule((BELOW,), "maybe", relation="at most"),
        "number": Rule((BELOW,), 2.5),
    }
    more = {"classes": ()} if numbers else {}
    ruleset = small([consequents[meaning.says]], semantics=name, **more)
    assert RuleSet.from_json(ruleset.to_json()) == ruleset
    assert len(ruleset.predict([[1], [5]])) == 2
    text = {
        "class": "THEN class = yes",
        "votes": "THEN class = yes: +0.50, maybe: +0.00, no: -1.00",
        "bound": "THEN class at most maybe",
        "number": "THEN class +2.5" if meaning.adds else "THEN class = 2.5",
    }
    assert text[meaning.says] in str(ruleset)


def test_a_single_rule_is_printed_with_its_consequent():
    assert "THEN at least yes" in str(Rule((BELOW,), "yes", relation="at least"))
    assert "THEN by votes -1, +0.5" in str(Rule((BELOW,), "yes", votes=(-1, 0.5)))
    assert "THEN yes" in str(Rule((BELOW,), "yes"))


@pytest.mark.parametrize(
    ("rules", "more", "message"),
    [
        ([Rule((), "yes")], {"semantics": "worst-rule"}, "semantics must be one of best-rule"),
        ([Rule((), "yes")], {"semantics": "at-least-class"}, "must be 'at least' or 'at most'"),
        ([Rule((), "yes", relation="at least")], {}, "in best-rule it must be 'is'"),
        ([Rule((), "yes", votes=(1, 2, 3))], {}, "votes, which have no meaning in best-rule"),
        ([Rule((), "yes", votes=(1,))], {"semantics": "softmax-votes"}, "one vote per class"),
        ([Rule((), "yes", votes=(0, 0, inf))], {"semantics": "softmax-votes"}, "one vote per"),
        ([Rule((), "yes")], {"semantics": "weighted-mean", "classes": ()}, "must be a number"),
        ([Rule((), True)], {"semantics": "weighted-mean", "classes": ()}, "must be a number"),
        ([Rule((), inf)], {"semantics": "weighted-mean", "classes": ()}, "must be a number"),
        ([], {"semantics": "weighted-mean"}, "must have no classes"),
        ([], {"base": (1.0,)}, "The base of best-rule must be 0 numbers"),
        ([], {"semantics": "softmax-votes", "base": (1.0,)}, "must be 3 numbers"),
        ([], {"semantics": "softmax-votes", "fallback": "priors"}, "one of base for softmax-votes"),
    ],
)
def test_rules_with_other_consequents_are_refused(rules, more, message):
    with pytest.raises(ValueError, match=message):
        small(rules, **more)


# ---------------------------------------------------------------- decisions and probabilities

near = st.sampled_from([0.03, 0.1, 0.7, 1 / 3]).flatmap(
    lambda x: st.sampled_from([x, nextafter(x, 0), nextafter(x, 1), nextafter(nextafter(x, 1), 1)])
)


@settings(max_examples=often(500), deadline=None)
@given(st.data(), st.sampled_from([*SHORTHANDS.values(), "softmax-votes"]))
def test_the_predicted_class_has_the_largest_probability(data, name):
    """Scores that differ in the last digits, in every order, with and without a firing rule."""
    labels = data.draw(st.permutations(["no", "maybe", "yes"]))
    condition = data.draw(st.sampled_from([(), (ABOVE,), (BELOW,)]))
    rules = [
        Rule(
            condition,
            label,
            data.draw(near),
            partial_weights=(0, data.draw(near)) if condition else (),
            distribution=(data.draw(near), data.draw(near), data.draw(near)),
        )
        for label in labels
    ]
    more = {"class_counts": (data.draw(near), data.draw(near), data.draw(near))}
    if name == "softmax-votes":
        rules = [replace(rule, distribution=None) for rule in rules]
        more["base"] = tuple(data.draw(near) for _ in range(3))
    fallback = data.draw(st.sampled_from(MEANINGS[name].fallbacks))
    ruleset = small(rules, semantics=Semantics(name, fallback=fallback), **more)
    costs = data.draw(st.sampled_from(["accuracy", {"no": 3, "yes": 1 / 3}, {"maybe": 1.1}]))
    ruleset = ruleset.with_decision(costs)
    rows = [[1.0], [2.5], [5.0], [-3.0], [np.nan]]
    shares = ruleset.predict_proba(rows)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    decided = ruleset.predict(rows).tolist()
    assert decided == [ruleset.classes[c] for c in shares.argmax(axis=1)]
    module = python_module(ruleset)
    for row, label, expected in zip(rows, decided, shares, strict=True):
        found = module.probabilities(row)
        assert module.predict(row) == ruleset.classes[found.index(max(found))] == label
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)


def test_scores_that_division_makes_equal_keep_their_order():
    more = nextafter(0.03, 1)
    assert 0.03 / (0.03 + more + 0.02) == more / (0.03 + more + 0.02)
    rules = [Rule((), "no", 0.03), Rule((), "maybe", more), Rule((), "yes", 0.02)]
    ruleset = small(rules)
    assert ruleset.predict([[1]]).tolist() == ["maybe"]
    assert ruleset.predict_proba([[1]])[0].argmax() == 1


def test_the_largest_class_wins_ties_of_probabilities():
    """Sizes of classes whose fractions are equal only by rounding."""
    ruleset = small([], fallback="priors", class_counts=(0.03, nextafter(0.03, 1), 0.02))
    assert ruleset.predict([[1]]).tolist() == ["maybe"]
    assert ruleset.predict_proba([[1]])[0].argmax() == 1


def test_infinitely_far_from_every_rule_there_are_still_probabilities():
    steep = NumericCondition("a", core_high=1, support_high=1 + 1e-9)
    ruleset = small([Rule((steep,), "yes")])
    assert ruleset.predict_proba([[1e300]]).tolist() == [[1 / 3] * 3]
    assert ruleset.decide([[1e300]]).deciding.tolist() == [-1]


# ---------------------------------------------------------------- the deciding rule


def test_a_rule_without_weight_is_never_near():
    """No rule fires at 8; the only rule with a positive weight is far away."""
    ruleset = small([Rule((BELOW,), "yes"), Rule((BELOW,), "yes", 0.0), Rule((ABOVE,), "no", 0.0)])
    assert ruleset.decide([[8], [4]]).deciding.tolist() == [0, 0]
    assert ruleset.explain([8], effort=0).deciding.index == 0


def test_no_proof_uses_a_rule_without_weight():
    """For large values, "yes" is nearer; a rule for "no" with weight 0 must not hide that change."""
    low = NumericCondition("a", core_high=2, support_high=3)
    high = NumericCondition("a", core_low=7, support_low=6)
    everywhere = NumericCondition("a", core_low=-9, support_low=-10)
    ruleset = small([Rule((low,), "no"), Rule((high,), "yes"), Rule((everywhere,), "no", 0.0)])
    found = find_counterfactual(ruleset, np.array([4.0]), {0})
    assert ruleset.predict([[4.0], [5.5]]).tolist() == ["no", "yes"]
    assert found.row is not None
    assert found.cost == pytest.approx(0.5 / 8)


def test_a_list_whose_first_rule_has_no_votes_uses_the_fallback():
    ruleset = small(
        [Rule((), "no", distribution=(0, 0, 0)), Rule((), "yes")],
        combination="first",
        fallback="priors",
        class_counts=(1, 2, 1),
    )
    decision = ruleset.decide([[1]])
    assert decision.answers.tolist() == ["maybe"]
    assert decision.silent.tolist() == [True]
    assert decision.deciding.tolist() == [-1]


@pytest.mark.parametrize("seed", range(often(40)))
def test_many_samples_have_the_degrees_and_scores_of_each_alone(seed):
    random = np.random.default_rng(seed)
    ruleset = random_ruleset(random, "sum", "priors", "product")
    if seed % 2:
        ruleset = random_ordered_ruleset(random, "moves", "base", "product")
    arrays = ruleset.arrays
    # Values on the ends of slopes, next to them, far away, and missing ones.
    ends = np.concatenate([arrays.support_low, arrays.core_low, arrays.core_high, [1e300, -1e300]])
    ends = ends[np.isfinite(ends)]
    ends = np.concatenate([ends, np.nextafter(ends, inf), np.nextafter(ends, -inf)])
    matrix = random.choice(ends, (LONG, len(ruleset.attributes)))
    matrix[:, 2] = random.integers(-1, 3, LONG)
    if seed % 3:
        matrix[random.random(matrix.shape) < 0.1] = np.nan
    alone = [arrays.matching(row[None])[0] for row in matrix]
    assert arrays.matching(matrix).tolist() == np.array(alone).tolist()
    scores = [Decision(ruleset, row[None]).scores[0] for row in matrix]
    assert Decision(ruleset, matrix).scores.tolist() == np.array(scores).tolist()

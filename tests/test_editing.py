"""Manual edits of rules."""

from dataclasses import replace

import pytest

from frri import Attribute, NumericCondition, Rule, RuleSet, RuleStatistics
from frri.rules import compare

LOW, HIGH = NumericCondition.below("a", 3), NumericCondition("a", 3, 3)
SEEN = RuleStatistics((2, 0), 1.0, 2.0, 2)
RULES = RuleSet(
    (
        Rule((LOW,), 0, 0.9, source=4, statistics=SEEN, partial_weights=(0.1, 0.9)),
        Rule((HIGH,), 1, 0.8, distribution=(0.2, 0.8)),
    ),
    (Attribute("a", 0, 9), Attribute("b", 0, 1)),
    (0, 1),
    about={"learner": "by hand"},
)


def test_removing_a_rule_does_not_change_the_original():
    assert RULES.without_rule(0).rules == RULES.rules[1:]
    assert len(RULES) == 2
    assert RULES.without_rule(0).without_rule(0).about == {"learner": "by hand", "edits": 2}


PROVED = replace(RULES, about={"learner": "FRRI", "selection": {"status": "optimal", "n_rules": 2}})


@pytest.mark.parametrize(
    "edit",
    [
        lambda rules: rules.without_rule(0),
        lambda rules: rules.with_rule(Rule((), 1)),
        lambda rules: rules.with_changed_rule(0, weight=0.1),
        lambda rules: rules.with_condition(0, HIGH),
        lambda rules: rules.without_condition(0, 0),
    ],
)
def test_a_proof_does_not_survive_an_edit(edit):
    assert edit(PROVED).about == {"learner": "FRRI", "edits": 1}
    assert PROVED.with_changed_rule(0, weight=0.9).about == PROVED.about
    assert PROVED.with_statistics([[1, 0]], [0]).about == PROVED.about


@pytest.mark.parametrize(
    ("about", "edits"),
    [
        ({"edited": {"removed": 1, "changed": 2, "added": 0}}, 3),
        ({"edited": True}, 1),
        ({"edits": 4}, 4),
        ({"edits": "many"}, None),
        ({"edits": []}, None),
    ],
)
def test_edits_in_old_files_are_read(about, edits):
    content = RULES.to_dict() | {"about": {"selection": {"status": "optimal"}} | about}
    loaded = RuleSet.from_dict(content)
    if edits is None:  # not a number: unknown whether it was edited
        assert loaded.about == content["about"]
    else:
        assert loaded.about == {"edits": edits}
    assert loaded.without_rule(0).about == {"edits": (edits or 0) + 1}


def test_a_new_rule_has_its_position_and_origin():
    rule = Rule((HIGH,), 0)
    assert RULES.with_rule(rule)[2].origin == "written"
    assert RULES.with_rule(rule, 0)[0].conditions == (HIGH,)
    assert RULES.with_rule(rule, 0)[1] == RULES[0]
    changed = RULES.with_rule(rule).with_changed_rule(2, weight=0.1)
    assert changed[2].origin == "written"


def test_a_changed_rule_loses_outdated_statistics():
    weight = RULES.with_changed_rule(0, weight=0.5)[0]
    assert (weight.origin, weight.weight, weight.statistics) == ("edited", 0.5, None)
    assert (weight.partial_weights, weight.source) == ((0.1, 0.9), 4)
    assert RULES.with_changed_rule(0, consequent=1)[0].partial_weights == ()
    assert RULES.with_changed_rule(1, conditions=())[1].distribution is None
    assert RULES.with_changed_rule(1, consequent=1) is RULES
    assert RULES.with_changed_rule(0, weight=0.5)[1] == RULES[1]


def test_conditions_are_added_changed_and_removed():
    b = NumericCondition("b", 0.5, 0.5)
    assert RULES.with_condition(0, b)[0].conditions == (LOW, b)
    assert RULES.with_condition(0, b, replacing=0)[0].conditions == (b,)
    assert RULES.with_condition(0, b).without_condition(0, 0)[0].conditions == (b,)


def test_an_edited_rule_set_is_saved_and_loaded(tmp_path):
    edited = RULES.with_changed_rule(0, weight=0.5).with_rule(Rule((), 1, 0.1))
    edited.save(tmp_path / "rules.json")
    assert RuleSet.load(tmp_path / "rules.json") == edited
    assert RuleSet.load(tmp_path / "rules.json").about == edited.about


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda: RULES.without_rule(2), "no rule 2; the rule set has 2"),
        (lambda: RULES.without_rule(-1), "no rule -1"),
        (lambda: RULES.with_rule(Rule((), 0), 5), "from 0 to 2, got 5"),
        (lambda: RULES.without_condition(0, 1), "Rule 0 has no condition 1; it has 1"),
        (lambda: RULES.with_condition(0, LOW, replacing=3), "no condition 3"),
        (lambda: RULES.with_changed_rule(0, consequent=7), "concludes 7, which is not a class"),
        (lambda: RULES.with_condition(0, NumericCondition("c")), "'c', which is not an attribute"),
    ],
)
def test_edits_that_do_not_fit(edit, message):
    with pytest.raises((IndexError, ValueError), match=message):
        edit()


def test_the_effect_of_an_edit_is_shown():
    X, y = [[1, 0], [2, 0], [4, 0], [5, 0]], [0, 0, 1, 0]
    effect = compare(RULES, RULES.without_rule(0), X, y)
    assert effect.accuracy == (0.75, 0.25)
    assert effect.balanced_accuracy == ((2 / 3 + 1) / 2, 0.5)
    assert effect.coverage == (1.0, 0.5)
    assert (effect.changed, effect.corrected, effect.broken) == ((0, 1), 0, 2)
    assert "accuracy 0.750 -> 0.250" in str(effect)
    with pytest.raises(ValueError, match="Expected 4 labels"):
        compare(RULES, RULES, X, y[:2])

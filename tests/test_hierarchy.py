"""Hierarchies of rules: comparison with the definition, cuts, text, bad input."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine

import naive_hierarchy as naive
from frri import (
    AdditiveRulesClassifier,
    Attribute,
    FRRIClassifier,
    FURIAClassifier,
    MODLEMClassifier,
    NominalCondition,
    NumericCondition,
    RIPPERClassifier,
    Rule,
    RuleSet,
)
from frri.cli import main
from frri.table import EncodedTable
from thorough import often

ATTRIBUTES = (
    Attribute("a", -5, 9),
    Attribute("b", 0, 1),
    Attribute("c", categories=("x", "y", "z")),
)

INFINITE = float("inf")
CODES = [-1.0, 0.0, 1.0, 2.0]


@st.composite
def cases(draw):
    """Return tables with ties, duplicates, contradictory rows, rules without coverage, one class, one row."""
    n = draw(st.integers(1, 12))
    rows = [
        [
            draw(st.sampled_from([-5.0, 0.0, 1.0, 2.5, 9.0])),
            draw(st.sampled_from([0.0, 0.5, 1.0])),
            draw(st.sampled_from(CODES)),
        ]
        for _ in range(n)
    ]
    labels = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    amounts = draw(st.one_of(st.none(), st.lists(st.integers(1, 3), min_size=n, max_size=n)))
    rules = []
    for _ in range(draw(st.integers(0, 6))):
        conditions = {}
        for a, name in enumerate("ab"):
            low, width = draw(st.sampled_from([-6, 0, 0.5, 2])), draw(st.sampled_from([0, 0.5, 3]))
            shape = draw(st.sampled_from(["unused", "above", "below", "between"]))
            if shape != "unused":
                bounds = {
                    "above": (low - width, low, INFINITE, INFINITE),
                    "below": (-INFINITE, -INFINITE, low, low + width),
                    "between": (low - width, low, low + 1, low + 1 + width),
                }[shape]
                conditions[a] = (bounds, NumericCondition(name, *bounds))
        codes = draw(st.sets(st.sampled_from([0.0, 1.0, 2.0]), max_size=2))
        if codes:
            condition = NominalCondition("c", {"xyz"[int(code)] for code in codes})
            if draw(st.booleans()):
                codes, condition = set(CODES) - codes, replace(condition, excludes=True)
            conditions[2] = (codes, condition)
        weight, label = draw(st.sampled_from([0.0, 0.5, 1.0])), draw(st.integers(0, 1))
        rules.append((conditions, label, weight))
    return rows, labels, amounts, rules


@settings(max_examples=often(120), deadline=None)
@given(cases())
def test_merging_by_definition(case):
    rows, labels, amounts, rules = case
    plain = [
        {"if": {a: bounds for a, (bounds, _) in some.items()}, "class": label, "weight": weight}
        for some, label, weight in rules
    ]
    expected = naive.merges(plain, rows, labels, amounts or [1] * len(rows), {2: 3})
    ruleset = RuleSet(
        tuple(
            Rule(tuple(condition for _, condition in some.values()), label, weight)
            for some, label, weight in rules
        ),
        ATTRIBUTES,
        (0, 1),
    )
    table = EncodedTable(np.array(rows), ATTRIBUTES)
    tree = ruleset.hierarchy(table, labels, amounts)
    merged = sorted((node for node in tree.nodes() if node.children), key=lambda node: node.step)
    assert [node.step for node in merged] == list(range(1, len(expected) + 1))
    assert tree.sizes == (len(rules) - len(expected), len(rules))
    below = {r: (r,) for r in range(len(rules))}
    for number, (node, (pair, rule, inside, precision)) in enumerate(
        zip(merged, expected, strict=True), start=len(rules)
    ):
        below[number] = tuple(sorted(below[pair[0]] + below[pair[1]]))
        assert node.rules == below[number]
        found = {
            "abc".index(c.attribute): c.trapezoid
            if isinstance(c, NumericCondition)
            else {
                code for code, value in zip(CODES, (None, *"xyz"), strict=True) if c.allows(value)
            }
            for c in node.rule.conditions
        }
        assert found == rule["if"]
        assert node.rule.weight == pytest.approx(rule["weight"], abs=1e-12)
        assert node.precision == precision
        assert node.covered == sum((amounts or [1] * len(rows))[i] for i in inside)
    for size in range(tree.sizes[0], tree.sizes[1] + 1):
        assert len(tree.cut(size)) == size
    assert tree.cut(len(rules)).rules == ruleset.with_statistics(table, labels, amounts).rules


@pytest.fixture(scope="module")
def wines():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X.iloc[::2, :6], y.iloc[::2].map({0: "a", 1: "b", 2: "c"}).rename("cultivar")


@pytest.fixture(scope="module")
def tree(wines):
    return FRRIClassifier().fit(*wines).ruleset_.hierarchy(*wines)


def test_cuts_predict_by_themselves(tree, wines):
    X, y = wines
    few, many = tree.sizes
    assert few < many
    for ruleset in (tree.cut(few), tree.cut(min_precision=0.9)):
        assert RuleSet.from_json(ruleset.to_json()) == ruleset
        assert set(ruleset.predict(X)) <= {"a", "b", "c"}
        assert "selection" not in ruleset.about  # the proof was about other rules
        assert ruleset.with_statistics(X, y) == ruleset
    assert [len(tree.cut(size)) for size in (few, many, many + 5)] == [few, many, many]
    precise = tree.cut(min_precision=0.9)
    assert all(rule.statistics.precision >= 0.9 for rule in precise)
    assert few < len(precise) < many
    assert tree.cut(min_precision=1.0).score(X, y) == 1.0


def test_a_parent_holds_where_its_rules_do(tree, wines):
    X, _ = wines
    for node in tree.nodes():
        if node.children:
            covers = [
                RuleSet((n.rule,), tree.ruleset.attributes, tree.ruleset.classes, clip=True).covers(
                    X
                )
                for n in (node, *node.children)
            ]
            assert not (covers[1] & ~covers[0]).any()
            assert not (covers[2] & ~covers[0]).any()


def test_text_and_values(tree):
    lines = str(tree).splitlines()
    assert len(lines) == len(list(tree.nodes()))
    assert [line.split()[0] for line in tree.text(depth=0).splitlines() if line[0] != "I"] == [
        str(root.rules[0] + 1) for root in tree.roots if not root.children
    ]
    assert sum("-- " in line for line in lines) == len(lines) - len(tree.roots)
    content = json.loads(json.dumps(tree.to_dict()))
    assert [root["rules"] for root in content["roots"]] == [list(r.rules) for r in tree.roots]
    assert content["roots"][0]["text"].endswith("THEN cultivar = a")
    assert content["roots"][0]["then"] == "a"
    assert content["sizes"] == list(tree.sizes)


@pytest.mark.parametrize(
    "learner",
    [RIPPERClassifier(random_state=0), FURIAClassifier(random_state=0), MODLEMClassifier()],
    ids=lambda learner: type(learner).__name__,
)
def test_every_learner_whose_rules_predict_a_class(learner, wines):
    X, y = wines
    ruleset = learner.fit(X, y).ruleset_
    tree = ruleset.hierarchy(X, y)
    smallest = tree.cut(tree.sizes[0])
    assert set(smallest.predict(X)) <= set(y)
    assert sorted(r for root in tree.roots for r in root.rules) == list(range(len(ruleset)))
    if ruleset.semantics.meaning.is_list:  # the default rule stays last
        assert not smallest[len(smallest) - 1].conditions
        assert smallest[len(smallest) - 1].distribution is not None


def test_bad_requests_get_one_sentence(tree, wines):
    X, y = wines
    votes = AdditiveRulesClassifier(max_rules=4).fit(X, y).ruleset_
    with pytest.raises(
        ValueError, match=r"hierarchy of rules cannot express .*'softmax-votes'.*max_rules"
    ):
        votes.hierarchy(X, y)
    with pytest.raises(ValueError, match=f"max_rules must be {tree.sizes[0]} or more, got 1"):
        tree.cut(1)
    with pytest.raises(ValueError, match="Give either max_rules or min_precision"):
        tree.cut()
    with pytest.raises(ValueError, match="Expected 89 labels"):
        tree.ruleset.hierarchy(X, y[:3])
    with pytest.raises(ValueError, match="'q' is none of the classes"):
        tree.ruleset.hierarchy(X, ["q"] * len(X))


def test_the_command(tree, wines, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y = wines
    X.assign(cultivar=y).to_csv("wines.csv", index=False)
    tree.ruleset.save("model.json")
    run = ["rules", "model.json", "--tree", "wines.csv"]
    assert main([*run, "--depth", "1"]) == 0
    assert capsys.readouterr().out == tree.text(depth=1) + "\n"
    assert main([*run, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(tree.to_dict()))
    few = tree.sizes[0]
    assert main([*run, "--cut", str(few), "-o", "small.json"]) == 0
    assert capsys.readouterr().out.count("\n") == few
    assert RuleSet.load("small.json") == tree.cut(few)
    number = Rule((), 3.0)
    RuleSet((number,), (), semantics="weighted-mean", target="cultivar").save("number.json")
    for wrong, sentence in (
        (["rules", "number.json", "--tree", "wines.csv"], "takes rules that say a class"),
        ([*run, "-o", "small.json"], "say --cut N as well"),
        ([*run, "--class", "a"], "--class does not go together with --tree"),
        ([*run, "--cut", "1"], f"max_rules must be {few} or more"),
        (["rules", "model.json", "--depth", "1"], "--depth belongs to --tree DATA"),
        (["rules", "model.json", "--na-values", "-9"], "--na-values belongs to --tree DATA"),
        (["rules", "model.json", "--drop-unlabelled"], "--drop-unlabelled belongs to --tree DATA"),
    ):
        assert main(wrong) != 0
        assert sentence in capsys.readouterr().err

"""Compact FRRI: the optimized code, compared with the definition, and the estimator."""

from itertools import combinations
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive_compact
from frri import CompactFRRIClassifier, RuleSet
from frri.learners.compact import candidates, classifier
from frri.learners.compact.candidates import (
    BoxSamples,
    RuleSelection,
    box_radii,
    build_candidates,
    error_fraction,
    find_fewest_errors,
    grow_boxes,
)
from frri.learners.compact.tune_bounds import Boxes
from thorough import often

SIDES = {"at most": 1, "at least": 2, "equal": 3}


@parametrize_with_checks([CompactFRRIClassifier()])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@st.composite
def tables(draw):
    """Return few distinct values, so that there are ties, duplicates, contradictions and constant columns."""
    n, m = draw(st.integers(1, 14)), draw(st.integers(1, 3))
    rigid = [draw(st.booleans()) for _ in range(m)]
    cell = [
        st.sampled_from([0.0, 1.0, 2.0]) if r else st.sampled_from([0.0, 0.1, 0.35, 0.8, 1.0])
        for r in rigid
    ]
    values = [[draw(st.one_of(cell[a], st.just(np.nan))) for a in range(m)] for _ in range(n)]
    classes = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    weights = draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    codes = np.unique(classes, return_inverse=True)[1]
    losses = draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    both = (np.array(one, dtype=float) for one in (weights, losses))
    return np.array(values), codes, *both, np.array(rigid)


def chosen(table, share, most):
    values, classes, weights, losses, rigid = table
    samples = BoxSamples(
        values, classes, int(classes.max()) + 1, weights, losses, rigid, len(values)
    )
    anchors = np.arange(len(values))
    reach = 0.5 * box_radii(samples, anchors, 2)
    apart = reach > candidates.TOLERANCE
    anchors, reach = anchors[apart], reach[apart]
    with patch.object(candidates, "MAX_PLANES", 24 if share else 2):  # weights, or their digits
        types = grow_boxes(samples, anchors, reach, share, 4)
    pool = build_candidates(samples, anchors, reach, types, 0.1)
    choice = RuleSelection(samples, pool, 0.002)
    choice.search(most)
    rules = choice.candidates.take(choice.rules)
    found = [(u, far, tuple(t)) for u, far, t in zip(*rules[:3], strict=True)]
    boxes = Boxes.of(samples, rules)
    boxes.fine_tune(samples, 0.4)
    return reach.tolist(), types.tolist(), found, samples, boxes


@settings(max_examples=often(120), deadline=None)
@given(tables(), st.sampled_from([0.0, 0.3]), st.integers(3, 6))
def test_boxes_and_choice_are_those_of_the_definition(table, share, most):
    reach, types, found, samples, boxes = chosen(table, share, most)
    values, classes, weights, losses, rigid = table
    rows = [[None if np.isnan(x) else float(x) for x in row] for row in values]
    columns = {int(a) for a in np.flatnonzero(rigid)}
    labels, units, losses = classes.tolist(), weights.tolist(), losses.tolist()
    rules = []
    for u in range(len(rows)):
        far = naive_compact.reach(rows, labels, columns, u, 2, 0.5)
        if far > naive_compact.TOLERANCE:
            sides = naive_compact.grown(rows, labels, units, columns, u, far, share, 4)
            rules.append((u, far, sides))
    assert reach == [far for _, far, _ in rules]
    assert types == [list(as_types(sides, len(rigid))) for _, _, sides in rules]
    expected = naive_compact.Selection(rows, labels, units, losses, rules, 0.1, 0.002).search(most)
    assert found == [(u, far, as_types(sides, len(rigid))) for (u, far, sides), *_ in expected]
    rules = [rule for rule, *_ in expected]
    moved = naive_compact.TunedRules(rows, labels, units, losses, rules, 0.4)
    assert boxes.weights.tolist() == pytest.approx([weight for _, weight, _ in moved.rules])
    all_sides = []
    for r, (_, _, sides) in enumerate(moved.rules):
        known = {(a, "equal"): code for q, a, code in boxes.rigid if q == r}
        for k in np.flatnonzero(boxes.there[:, r]):
            sign = boxes.signs[k, r]
            side = (int(boxes.attributes[k, r]), "at most" if sign > 0 else "at least")
            known[side] = [sign * boxes.cores[k, r], boxes.widths[k, r]]
        assert known.keys() == sides.keys()
        all_sides.append({(a, known[a, side] if side == "equal" else side) for a, side in known})
        for side, numbers in sides.items():
            assert known[side] == pytest.approx(numbers, abs=1e-9)
    scores = boxes.scores(*boxes.signed_values(values))[0]
    naive_scores = [[moved.score(r, v)[0] for v in range(len(rows))] for r in range(len(found))]
    np.testing.assert_allclose(scores, np.reshape(naive_scores, scores.shape), atol=1e-9)
    for price in (0.0, 0.002, 0.1):
        known = scores.tolist(), all_sides, boxes.classes.tolist(), labels, losses
        kept = naive_compact.worth_their_price(*known, price)
        assert boxes.worth_their_price(samples, price) == kept
        one = boxes.take(kept)
        some = one.scores(*one.signed_values(values))[0]
        np.testing.assert_array_equal(some, scores[kept])


def test_duplicate_boxes_are_removed():
    values = np.linspace(0, 1, 12)[:, None]
    classes, units = (values[:, 0] > 0.5).astype(int), np.ones(12)
    *_, samples, boxes = chosen((values, classes, units, units, np.array([False])), 0.0, 4)
    assert sorted(boxes.classes.tolist()) == [0, 1]
    assert boxes.take([0, 1, 0, 1]).worth_their_price(samples, 0.0) == [0, 1]


def as_types(sides, n_attributes):
    types = [0] * n_attributes
    for a, side in sides:
        types[a] |= SIDES[side]
    return tuple(types)


def test_the_rule_set_has_the_predictions_of_the_selection():
    X, y = load_wine(return_X_y=True, as_frame=True)
    clf = CompactFRRIClassifier().fit(X, y)
    loaded = RuleSet.from_json(clf.ruleset_.to_json())
    assert (loaded.predict(X) == clf.predict(X)).all()
    right = (clf.predict(X) == y).to_numpy()
    sizes = y.map(y.value_counts()).to_numpy()
    balanced = (right / (3 * sizes)).sum()
    assert balanced <= clf.selection_.objective <= balanced + 0.5


def test_max_rules_is_respected():
    X, y = load_wine(return_X_y=True)
    for most in (3, 5, 9):
        clf = CompactFRRIClassifier(max_rules=most, max_conditions=2).fit(X, y)
        assert len(clf.ruleset_) <= most
        assert all(len(rule.conditions) <= 2 for rule in clf.ruleset_)
    with pytest.warns(UserWarning, match="at least one rule for each of the 3 classes"):
        assert len(CompactFRRIClassifier(max_rules=1).fit(X, y).ruleset_) == 3


def test_integer_weights_are_repeated_rows():
    X, y = load_iris(return_X_y=True)
    X, y = X[50::3], y[50::3]
    weights = np.arange(len(y)) % 3
    repeated = np.repeat(np.arange(len(y)), weights)
    one = CompactFRRIClassifier().fit(X, y, sample_weight=weights).ruleset_
    other = CompactFRRIClassifier().fit(X[repeated], y[repeated]).ruleset_
    assert [(rule.conditions, rule.weight) for rule in one] == [
        (rule.conditions, rule.weight) for rule in other
    ]


def test_categories_missing_values_and_dates():
    rng = np.random.default_rng(0)
    n = 120
    X = pd.DataFrame(
        {
            "colour": rng.choice(["red", "blue", None], n),
            "size": np.where(rng.random(n) < 0.2, np.nan, rng.random(n)),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D"),
        }
    )
    y = np.where(X["colour"].eq("red") & (X["day"] > "2024-05-01"), "yes", "no")
    clf = CompactFRRIClassifier().fit(X, y)
    assert clf.score(X, y) > 0.9
    assert "colour = red" in str(clf.ruleset_)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"max_rules": 0}, 'max_rules must be an integer from 1 on or "auto", got 0.'),
        ({"radius_factor": 2}, "radius_factor must be a fraction above 0 up to 1, got 2."),
        ({"radius_factor": 0}, "radius_factor must be a fraction above 0 up to 1, got 0."),
        ({"min_support": -0.1}, "min_support must be a fraction from 0 to 1, got -0.1."),
        ({"kth_neighbor": 1.5}, "kth_neighbor must be an integer from 1 on, got 1.5."),
    ],
)
def test_wrong_parameters_get_one_sentence(parameters, sentence):
    with pytest.raises(ValueError, match=sentence.replace(".", r"\.")):
        CompactFRRIClassifier(**parameters).fit([[1.0], [2.0]], [0, 1])


def crowd(n=240, seed=0):
    """Return few distinct values, so that a part has the ranges of the whole table, and a small class."""
    rng = np.random.default_rng(seed)
    X = np.stack([rng.integers(0, 6, n), rng.integers(0, 9, n), rng.integers(0, 4, n)], axis=1)
    y = np.where(X[:, 0] + rng.normal(size=n) > 3, "high", "low").astype(object)
    y[rng.permutation(n)[:5]] = "rare"
    return X.astype(float), y


def test_rules_of_a_large_table_are_selected_on_a_sample_and_counted_on_all_objects(monkeypatch):
    X, y = crowd()
    monkeypatch.setattr(classifier, "MAX_EVALUATION_SAMPLES", 90)
    classes = np.unique(y, return_inverse=True)[1]
    evaluated = classifier._evaluation_samples(classes, 3)
    assert (np.diff(evaluated) > 0).all()
    counts = np.bincount(classes[evaluated])
    assert counts[2] == 5  # all of a small class
    np.testing.assert_allclose(counts[:2] / np.bincount(classes)[:2], 90 / 240, atol=0.02)
    clf = CompactFRRIClassifier(class_weight="balanced")
    found = clone(clf).fit(X, y).ruleset_
    monkeypatch.undo()
    alone = clone(clf).fit(X[evaluated], y[evaluated]).ruleset_
    assert [(r.conditions, r.consequent) for r in found] == [
        (r.conditions, r.consequent) for r in alone
    ]
    assert [r.weight for r in found] != [r.weight for r in alone]
    sizes = np.bincount(classes)
    for rule, inside in zip(found, found.covers(X).T, strict=True):
        own = ["high", "low", "rare"].index(rule.consequent)
        assert rule.statistics.support == tuple(np.bincount(classes[inside], minlength=3))
        assert classes[rule.source] == own
        # Every class has a third of the weight; the weight of two mean objects is divided equally.
        weight = np.bincount(classes[inside], minlength=3) / (3 * sizes)
        prior = 2 / len(y)
        assert rule.weight == pytest.approx(
            (weight[own] + prior / 3) / (weight.sum() + prior), rel=1e-6
        )


def test_a_sample_keeps_the_weights_of_classes(monkeypatch):
    X, y = crowd()
    monkeypatch.setattr(classifier, "MAX_EVALUATION_SAMPLES", 60)
    clf = CompactFRRIClassifier(class_weight=None)
    table = clf._training_table(X, y)
    part = table.take(classifier._evaluation_samples(table.classes, 3))
    samples = clf._samples(part, table)
    shares = np.bincount(part.classes, samples.loss_weights) / samples.loss_total
    np.testing.assert_allclose(samples.class_weights / samples.total, 1 / 3, rtol=1e-6)
    np.testing.assert_allclose(shares, np.bincount(table.classes) / len(y), rtol=1e-6)
    assert len(part.classes) < 70


def test_the_minimum_error_can_be_certified():
    X, y = load_iris(return_X_y=True)
    clf = CompactFRRIClassifier(max_rules=3, certificate_time_limit=60).fit(X, y)
    known = clf.selection_
    assert 0.0 < known.min_error_bound == known.min_error_found <= known.error
    weights = np.full(len(y), 1 / len(y))
    assert known.error == pytest.approx(weights[clf.predict(X) != y].sum())
    assert dict(clf.ruleset_.about["selection"]) == dict(known)
    plain = CompactFRRIClassifier(max_rules=3).fit(X, y)
    assert plain.ruleset_ == clf.ruleset_
    assert "error" not in plain.selection_
    with pytest.raises(ValueError, match="certificate_time_limit"):
        CompactFRRIClassifier(certificate_time_limit=-1).fit(X, y)


def test_the_fewest_errors_are_those_of_the_definition():
    """Compare the search with all pairs of boxes, decided by the scores of the definition."""
    random = np.random.default_rng(3)
    for _ in range(6):
        values = random.integers(0, 5, (12, 2)) / 4.0
        classes = random.permutation([0, 1] * 6)
        weights, rigid = random.integers(1, 9, 12).astype(float), np.zeros(2, dtype=bool)
        samples = BoxSamples(values, classes, 2, weights, weights, rigid, 12)
        reach = 0.5 * box_radii(samples, np.arange(12), 2)
        anchors = np.flatnonzero(reach > candidates.TOLERANCE)
        if len(anchors) < 2:
            continue
        types = grow_boxes(samples, anchors, reach[anchors], 0.3, 4)
        pool = build_candidates(samples, anchors, reach[anchors], types)
        rules = [
            error_fraction(samples, pool.classes[list(some)], pool.scores[list(some)])
            for size in (1, 2)
            for some in combinations(range(len(pool.classes)), size)
        ]
        found = find_fewest_errors(samples, pool, 2, 60)
        assert found.errors == found.bound
        assert found.errors / samples.total == min(rules)

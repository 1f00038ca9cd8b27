"""The reference implementation, compared with the worked example of the paper and its misprints."""

from itertools import combinations

import numpy as np
import pytest

import naive
import worked_example as example


@pytest.fixture(scope="module")
def fitted():
    return naive.fit(example.X, example.Y)


def random_tables(count=60, seed=0):
    """Yield small tables, half of them on a coarse grid with equal distances and equal objects."""
    random = np.random.default_rng(seed)
    for i in range(count):
        n, m, k = random.integers(1, 13), random.integers(1, 6), random.integers(1, 4)
        values = random.integers(0, 6, (n, m)) / 5 if i % 2 else random.random((n, m))
        yield values, random.integers(0, k, n)


# --- the worked example


def test_scaled_values_round_to_the_printed_table():
    np.testing.assert_allclose(naive.scale(example.X), example.PRINTED, atol=0.00501, rtol=0)


def test_confidences_of_the_example(fitted):
    np.testing.assert_allclose(fitted["confidences"], example.CONFIDENCES, atol=1e-6, rtol=0)


@pytest.mark.parametrize("u", range(7))
def test_shortened_rules_of_the_example(fitted, u):
    used = {
        name: kind
        for name, kind in zip(example.NAMES, fitted["kinds"][u], strict=True)
        if kind != "UNUSED"
    }
    assert used == example.CONDITIONS[u]
    assert fitted["kinds"][u] == example.KINDS[u]


def test_covering_table_of_the_example_cell_for_cell(fitted):
    np.testing.assert_array_equal(fitted["table"], example.TABLE)


def test_two_rules_suffice_on_the_example(fitted):
    assert not example.TABLE.all(axis=1).any(), "no single rule covers all"
    assert fitted["selected"] == example.SELECTED
    assert fitted["left_out"] == []
    assert example.TABLE[example.SELECTED].any(axis=0).all()


def test_matching_degree_of_the_rule_format_example():
    u1, u2 = example.PRINTED[0], example.PRINTED[1]
    kinds = ["SIMILAR", "AT_LEAST", *["UNUSED"] * 4, "AT_MOST", "UNUSED"]
    assert 1 - naive.distance(kinds, u1, u2) == pytest.approx(0.12)


def inference_on_printed_values():
    """Return the rules of u5 and u2 with the printed values of the anchors, and the new object."""
    return (
        [example.KINDS[4], example.KINDS[1]],
        [example.PRINTED[4], example.PRINTED[1]],
        [example.CONFIDENCES[4], example.CONFIDENCES[1]],
        [0, 1],
        2,
        example.NEW_OBJECT,
    )


def test_inference_example():
    scores, uncut = naive.predict_scores(*inference_on_printed_values())
    assert scores == pytest.approx(example.NEW_OBJECT_SCORES, abs=1e-6)
    assert [round(scores[0], 3), round(scores[1], 2)] == [0.596, 0.05]
    assert uncut == scores
    assert naive.predict(*inference_on_printed_values()) == example.NEW_OBJECT_CLASS


def test_inference_example_with_exact_values(fitted):
    assert naive.predict_fitted(fitted, example.NEW_OBJECT) == example.NEW_OBJECT_CLASS


# --- mixed tables


def test_missing_values_fail_nothing():
    for kind in naive.TRIED_IN_ORDER:
        for nominal in (False, True) if kind in {"UNUSED", "SIMILAR"} else (False,):
            for pair in ((np.nan, 0.3), (0.3, np.nan), (np.nan, np.nan)):
                assert naive.fails_by(kind, *pair, nominal=nominal) == 0


def test_nominal_values_are_equal_or_not():
    assert naive.fails_by("SIMILAR", 2.0, 2.0, nominal=True) == 0
    assert naive.fails_by("SIMILAR", 2.0, 3.0, nominal=True) == 1
    assert naive.fails_by("SIMILAR", 2.0, 7.0, nominal=True) == 1
    assert naive.fails_by("UNUSED", 2.0, 3.0, nominal=True) == 0
    with pytest.raises(ValueError, match="AT_MOST"):
        naive.fails_by("AT_MOST", 2.0, 3.0, nominal=True)


def test_scaling_leaves_missing_and_nominal_values_alone():
    table = [[1.0, 5.0, np.nan, 3.0], [np.nan, 7.0, np.nan, 3.0], [3.0, 5.0, np.nan, np.nan]]
    expected = [[0, 5, 0, 0], [np.nan, 7, 0, 0], [1, 5, 0, 0]]
    np.testing.assert_array_equal(naive.scale(table, nominal=(1,)), expected)


def test_a_mixed_table_by_hand():
    """Color (nominal), a number that must be bounded above, and one with a missing value."""
    X = np.array([[0, 1.0, 10.0], [0, 3.0, 20.0], [4, 5.0, np.nan]])
    fitted = naive.fit(X, [0, 1, 1], initial=["SIMILAR", "AT_MOST", "SIMILAR"], nominal=(0,))
    # Only the last attribute discerns object 1 from object 0 of the other class: 1 is at most 3.
    assert fitted["confidences"].tolist() == [1, 1, 1]
    assert fitted["kinds"] == [
        ["UNUSED", "AT_MOST", "AT_MOST"],
        ["UNUSED", "UNUSED", "AT_LEAST"],
        ["SIMILAR", "UNUSED", "UNUSED"],
    ]
    assert fitted["table"].tolist() == [[1, 0, 0], [0, 1, 1], [0, 0, 1]]
    assert fitted["selected"] == [0, 1]


@pytest.mark.parametrize("kind", ["AT_MOST", "AT_LEAST", "UNUSED"])
def test_restricted_attributes_start_and_end_as_declared(kind):
    for values, labels in random_tables(30, seed=7):
        initial = [kind] + ["SIMILAR"] * (values.shape[1] - 1)
        confidence = naive.confidences(values, labels, initial)
        assert (confidence <= naive.confidences(values, labels)).all()
        rules = naive.shorten_all(values, labels, confidence, range(values.shape[1]), initial)
        assert {rule[0] for rule in rules} <= {"UNUSED", kind}
        for u, rule in enumerate(rules):
            for v in naive.others(labels, u):
                assert not naive.covers(rule, values[u], confidence[u], values[v])


# --- three misprints of the paper


def prune_with(t_norm, values, labels, u, confidence):
    """RULE_PRUNE with the covering degree t_norm(matching, confidence)."""
    kinds = ["SIMILAR"] * values.shape[1]
    for a in range(len(kinds)):
        for kind in naive.TRIED_IN_ORDER:
            kinds[a] = kind
            if all(
                t_norm(1 - naive.distance(kinds, values[u], values[v]), confidence)
                < naive.TOLERANCE
                for v in naive.others(labels, u)
            ):
                break
    return kinds


@pytest.mark.parametrize("u", range(7))
def test_misprint_1_with_the_minimum_no_condition_can_be_dropped(fitted, u):
    arguments = (fitted["scaled"], fitted["labels"], u, fitted["confidences"][u])
    assert prune_with(min, *arguments) == ["SIMILAR"] * 8
    assert prune_with(lambda x, y: max(0, x + y - 1), *arguments) == example.KINDS[u]


def test_misprint_1_the_printed_covering_degree_is_the_lukasiewicz_one(fitted):
    u1, u4 = fitted["scaled"][0], fitted["scaled"][3]
    confidence = fitted["confidences"][0]
    kinds = ["UNUSED", "UNUSED", *["SIMILAR"] * 6]
    matching = 1 - naive.distance(kinds, u1, u4)
    assert matching == pytest.approx(0.124183, abs=1e-6)
    assert confidence == pytest.approx(0.934783, abs=1e-6)
    assert round(0.124183 + 0.934783 - 1, 9) == 0.058966
    assert naive.covering_degree(kinds, u1, confidence, u4) == pytest.approx(0.058966, abs=1e-6)
    assert min(matching, confidence) != pytest.approx(0.058966, abs=1e-2)


def test_misprint_2_the_rule_of_u2_is_about_a3_and_a8(fitted):
    kinds, u2 = fitted["kinds"][1], fitted["scaled"][1]
    used = {
        name: (kind, value)
        for name, kind, value in zip(example.NAMES, kinds, u2, strict=True)
        if kind != "UNUSED"
    }
    assert used == {"a3": ("AT_LEAST", 1.0), "a8": ("AT_LEAST", 1.0)}

    # The printed rule (a3 and a7 at least) would cover u5, which is of the other class.
    printed = ["AT_LEAST" if name in {"a3", "a7"} else "UNUSED" for name in example.NAMES]
    assert naive.covers(printed, u2, fitted["confidences"][1], fitted["scaled"][4])
    assert fitted["labels"][4] != fitted["labels"][1]


def test_misprint_3_the_inference_example_predicts_class_0():
    (of_u5, of_u2), (u5, u2), _, _, _, v = inference_on_printed_values()
    assert naive.relation("AT_MOST", u5[0], v[0]) == pytest.approx(0.88)  # printed 0.78
    assert naive.relation("AT_MOST", u5[1], v[1]) == pytest.approx(0.65)  # printed 0.35
    assert naive.relation("AT_LEAST", u2[2], v[2]) == pytest.approx(0.45)  # printed 0.55
    assert naive.relation("AT_LEAST", u2[7], v[7]) == pytest.approx(0.50)
    assert 1 - naive.distance(of_u5, u5, v) == pytest.approx(0.65)
    assert 1 - naive.distance(of_u2, u2, v) == pytest.approx(0.45)
    assert naive.predict(*inference_on_printed_values()) == 0  # printed 1


# --- the definitions


def test_scaling_of_constant_new_and_extreme_values():
    train = [[1.0, 5.0, -1.7e308], [3.0, 5.0, 1.7e308], [2.0, 5.0, 0.0]]
    np.testing.assert_array_equal(naive.scale(train), [[0, 0, 0], [1, 0, 1], [0.5, 0, 0.5]])
    new = [[0.0, 9.0, 0.85e308], [4.0, -9.0, 1.79e308]]
    np.testing.assert_allclose(naive.scale(train, new), [[0, 0, 0.75], [1, 0, 1]], rtol=1e-15)


@pytest.mark.parametrize("kind", naive.TRIED_IN_ORDER)
def test_a_relation_fails_by_1_minus_its_degree(kind):
    grid = np.arange(9) / 8
    for a_u in grid:
        for a_v in grid:
            assert naive.relation(kind, a_u, a_v) == 1 - naive.fails_by(kind, a_u, a_v)


def test_the_one_sided_kinds_fail_on_the_right_side():
    assert naive.fails_by("AT_MOST", 0.25, 0.75) == 0.5
    assert naive.fails_by("AT_MOST", 0.75, 0.25) == 0
    assert naive.fails_by("AT_LEAST", 0.25, 0.75) == 0
    assert naive.fails_by("AT_LEAST", 0.75, 0.25) == 0.5


@pytest.mark.parametrize(
    "implicator",
    [
        lambda x, y: min(1, 1 - x + y),  # Łukasiewicz
        lambda x, y: max(1 - x, y),  # Kleene-Dienes
        lambda x, y: 1 - x + x * y,  # Reichenbach
    ],
)
def test_confidence_is_the_lower_approximation_for_any_usual_implicator(implicator):
    for values, labels in random_tables(20):
        lower = [
            min(
                implicator(1 - max(abs(values[u] - values[v])), float(labels[u] == labels[v]))
                for v in range(len(labels))
            )
            for u in range(len(labels))
        ]
        np.testing.assert_allclose(naive.confidences(values, labels), lower, atol=1e-12)


def test_at_the_tolerance_an_object_is_neither_covered_nor_discerned():
    confidence = 0.5
    at = confidence - naive.TOLERANCE
    rule = (["SIMILAR"], [0.0], confidence)
    assert not naive.covers(*rule, [at])
    assert not naive.discerned(*rule, [at])
    assert naive.covers(*rule, [np.nextafter(at, 0)])
    assert naive.discerned(*rule, [np.nextafter(at, 1)])
    assert naive.discerned(*rule, [confidence])


@pytest.mark.parametrize("confidence", [0.0, 0.5e-6, 1e-6])
def test_a_confidence_within_the_tolerance_covers_nothing(confidence):
    assert not naive.covers(["SIMILAR"], [0.3], confidence, [0.3])
    assert not naive.covers(["UNUSED"], [0.3], confidence, [0.3])


def test_shortening_at_and_below_a_confidence_of_the_tolerance():
    for gap, kinds in [(0.0, "UNUSED"), (0.5e-6, "UNUSED"), (1e-6, "AT_MOST"), (2e-6, "AT_MOST")]:
        values, labels = np.array([[0.0], [gap], [1.0]]), [0, 1, 1]
        confidence = naive.confidences(values, labels)
        assert confidence[0] == gap
        assert naive.shorten(values, labels, 0, confidence[0], [0]) == [kinds]


def test_no_rule_covers_an_object_of_another_class_and_every_clear_one_covers_its_own():
    for values, labels in random_tables():
        confidence = naive.confidences(values, labels)
        kinds = naive.shorten_all(values, labels, confidence, range(values.shape[1]))
        table = naive.covering_table(values, labels, confidence, kinds)
        assert not table[np.not_equal.outer(labels, labels)].any()
        np.testing.assert_array_equal(np.diag(table), confidence > naive.TOLERANCE)


def test_shortening_follows_the_order_it_is_given():
    values, labels = np.array([[0.0, 0.0], [1.0, 1.0]]), [0, 1]
    confidence = naive.confidences(values, labels)
    last, first = ["UNUSED", "AT_MOST"], ["AT_MOST", "UNUSED"]
    assert naive.shorten_all(values, labels, confidence, [0, 1])[0] == last
    assert naive.shorten_all(values, labels, confidence, [1, 0])[0] == first
    per_object = naive.shorten_all(values, labels, confidence, [[1, 0], [0, 1]])
    assert per_object == [first, ["UNUSED", "AT_LEAST"]]


def test_a_single_class_needs_one_rule_without_conditions():
    fitted = naive.fit([[1.0, 2.0], [3.0, 4.0], [5.0, 0.0]], ["a", "a", "a"])
    assert list(fitted["confidences"]) == [1, 1, 1]
    assert fitted["kinds"] == [["UNUSED", "UNUSED"]] * 3
    assert fitted["selected"] == [0]


def test_identical_objects_of_two_classes_are_left_out():
    fitted = naive.fit([[0.0], [0.0], [1.0]], [0, 1, 1])
    assert list(fitted["confidences"]) == [0, 0, 1]
    assert fitted["left_out"] == [0, 1]
    assert fitted["selected"] == [2]


# --- minimum cover


@pytest.mark.parametrize(
    ("rows", "costs", "chosen"),
    [
        (["111", "110", "001"], [9, 1, 1], [0]),  # fewest rows before cost
        (["110", "011", "101"], [3, 1, 1], [1, 2]),  # then cost
        (["110", "011", "101"], [1, 1, 1], [0, 1]),  # then the lower indices
        (["10", "10", "01"], [2, 1, 1], [1, 2]),  # equal covers: the cheaper
        (["10", "01", "10"], [1, 1, 1], [0, 1]),  # equal covers and costs: the first
        # Rows 0 and 2 would do at the same size and cost and come first, but row 1 dominates row 0.
        (["1000", "1100", "0111"], [1, 1, 1], [1, 2]),
        (["00", "10"], [0, 1], [1]),  # column 1 is out of reach
        (["00", "00"], [1, 1], []),
        ([], [], []),
    ],
)
def test_minimum_cover_by_hand(rows, costs, chosen):
    table = np.array([[cell == "1" for cell in row] for row in rows], dtype=bool)
    table = table.reshape(len(rows), -1) if rows else np.zeros((0, 0), dtype=bool)
    assert naive.minimum_cover(table, costs) == chosen


def test_leaving_dominated_rows_out_costs_nothing():
    random = np.random.default_rng(1)
    for _ in range(40):
        shape = random.integers(1, 8, 2)
        table = random.random(shape) < 0.4
        costs = [int(cost) for cost in random.integers(0, 4, shape[0])]
        chosen = naive.minimum_cover(table, costs)
        best = min(
            (size, sum(costs[j] for j in subset))
            for size in range(len(table) + 1)
            for subset in combinations(range(len(table)), size)
            if (table[list(subset)].any(axis=0) == table.any(axis=0)).all()
        )
        assert (len(chosen), sum(costs[j] for j in chosen)) == best


def test_selection_splits_by_class():
    for values, labels in random_tables(30, seed=2):
        fitted = naive.fit(values, labels)
        by_class = []
        for c in range(fitted["n_classes"]):
            own = np.flatnonzero(fitted["labels"] == c)
            part = naive.minimum_cover(
                fitted["table"][np.ix_(own, own)], [fitted["costs"][u] for u in own]
            )
            by_class += [int(own[j]) for j in part]
        assert fitted["selected"] == sorted(by_class)


# --- inference


def test_an_uncovered_object_goes_to_the_nearest_rule():
    rules = ([["SIMILAR"], ["SIMILAR"]], [[0.0], [1.0]], [0.25, 0.25], [0, 1], 3)
    assert naive.predict_scores(*rules, [0.625]) == ([0, 0, 0], [-0.375, -0.125, -np.inf])
    assert naive.predict(*rules, [0.625]) == 1
    assert naive.predict(*rules, [0.375]) == 0
    assert naive.predict(*rules, [0.5]) == 0, "a tie goes to the lowest class"
    assert naive.predict(*rules, [0.875]) == 1


def test_training_objects_are_given_their_own_class_when_covered():
    for values, labels in random_tables(30, seed=3):
        fitted = naive.fit(values, labels)
        for v in range(len(labels)):
            if v not in fitted["left_out"] and fitted["selected"]:
                predicted = naive.predict_fitted(fitted, fitted["scaled"][v])
                assert predicted == fitted["labels"][v]


# --- the transcription


def assert_transcription_agrees(values, labels):
    confidence, kinds, table = naive.literal_induction(values, labels)
    expected = naive.confidences(values, labels)
    np.testing.assert_allclose(confidence, expected, atol=1e-12, rtol=0)
    assert kinds == naive.shorten_all(values, labels, expected, range(values.shape[1]))
    np.testing.assert_array_equal(
        table, naive.covering_table(values, labels, expected, kinds), strict=True
    )


def test_the_transcribed_pseudo_code_agrees_on_the_example():
    values = naive.scale(example.X)
    assert_transcription_agrees(values, example.Y)
    assert naive.literal_induction(values, example.Y)[1] == example.KINDS


@pytest.mark.parametrize("seed", range(4))
def test_the_transcribed_pseudo_code_agrees_on_random_tables(seed):
    for values, labels in random_tables(seed=10 + seed):
        assert_transcription_agrees(values, labels)

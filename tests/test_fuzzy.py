"""The laws of section 2 of the paper, and scaling."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import worked_example
from frri import fuzzy
from frri.fuzzy import IMPLICATORS, T_NORMS, Scaling

ROUNDING = 1e-12

degrees = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.floats(0, 1))
tables = hnp.arrays(
    np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=5), elements=degrees
)
finite = st.floats(allow_nan=False, allow_infinity=False)
each_t_norm = pytest.mark.parametrize("t_norm", T_NORMS.values(), ids=T_NORMS)
each_implicator = pytest.mark.parametrize("implicator", IMPLICATORS.values(), ids=IMPLICATORS)


# T-norms


@each_t_norm
@given(degrees)
def test_one_is_neutral_and_zero_annihilates(t_norm, a):
    assert t_norm(a, 1) == t_norm(1, a) == a
    assert t_norm(a, 0) == t_norm(0, a) == 0


@each_t_norm
@given(degrees, degrees)
def test_t_norms_are_commutative(t_norm, a, b):
    assert t_norm(a, b) == t_norm(b, a)


@each_t_norm
@given(degrees, degrees, degrees)
def test_t_norms_are_associative(t_norm, a, b, c):
    assert abs(t_norm(t_norm(a, b), c) - t_norm(a, t_norm(b, c))) <= ROUNDING


@each_t_norm
@given(degrees, degrees, degrees)
def test_t_norms_are_increasing(t_norm, a, b, c):
    slack = ROUNDING if t_norm is fuzzy.hamacher else 0
    assert t_norm(min(a, b), c) <= t_norm(max(a, b), c) + slack


@each_t_norm
@given(degrees, degrees)
def test_every_t_norm_lies_between_drastic_and_minimum(t_norm, a, b):
    assert fuzzy.drastic(a, b) <= t_norm(a, b) <= fuzzy.minimum(a, b)


@given(degrees, degrees)
def test_t_norms_follow_their_printed_formulas(a, b):
    assert fuzzy.lukasiewicz(a, b) == pytest.approx(max(0, a + b - 1), abs=ROUNDING)
    assert fuzzy.product(a, b) == a * b
    if a + b > 0.001:
        assert fuzzy.hamacher(a, b) == pytest.approx(a * b / (a + b - a * b), abs=ROUNDING)


def test_hamacher_survives_zero_and_underflow():
    assert fuzzy.hamacher([0, 1e-200], [0, 1e-200]).tolist() == [0, 5e-201]


def test_lukasiewicz_gives_the_papers_covering_degree():
    assert fuzzy.lukasiewicz(0.124183, 0.934783) == pytest.approx(0.058966, abs=1e-9)


@each_t_norm
def test_t_norms_broadcast(t_norm):
    assert t_norm(np.ones((3, 1)), [0.1, 0.2]).shape == (3, 2)


@pytest.mark.parametrize("mapping", [T_NORMS, IMPLICATORS])
def test_the_mappings_are_read_only(mapping):
    with pytest.raises(TypeError):
        mapping["mine"] = min


# Implicators


@each_implicator
def test_implicators_extend_the_classical_implication(implicator):
    assert implicator([0, 0, 1, 1], [0, 1, 1, 0]).tolist() == [1, 1, 1, 0]


@each_implicator
@given(degrees, degrees, degrees)
def test_implicators_decrease_in_the_first_and_increase_in_the_second_argument(implicator, a, b, c):
    low, high = min(a, b), max(a, b)
    assert implicator(high, c) <= implicator(low, c)
    assert implicator(c, low) <= implicator(c, high)
    assert 0 <= implicator(a, b) <= 1


@each_implicator
@given(degrees)
def test_truth_implies_a_degree_to_that_degree(implicator, y):
    assert implicator(1, y) == pytest.approx(y, abs=ROUNDING)
    assert implicator(0, y) == 1


@pytest.mark.parametrize(
    ("t_norm", "implicator"),
    [
        (fuzzy.lukasiewicz, fuzzy.lukasiewicz_implicator),
        (fuzzy.minimum, fuzzy.goedel),
        (fuzzy.product, fuzzy.goguen),
    ],
)
@given(degrees, degrees, degrees)
def test_residuation(t_norm, implicator, x, y, z):
    if t_norm(x, z) <= y:
        assert z <= implicator(x, y) + ROUNDING or t_norm(x, z) == pytest.approx(y, abs=ROUNDING)
    if z <= implicator(x, y):
        assert t_norm(x, z) <= y + ROUNDING


# Relations


@given(degrees, degrees, degrees)
def test_indiscernibility_is_a_lukasiewicz_similarity(u, v, w):
    assert fuzzy.indiscernibility(u, u) == 1
    assert fuzzy.indiscernibility(u, v) == fuzzy.indiscernibility(v, u)
    chained = fuzzy.lukasiewicz(fuzzy.indiscernibility(u, v), fuzzy.indiscernibility(v, w))
    assert chained <= fuzzy.indiscernibility(u, w) + ROUNDING


@given(degrees, degrees, degrees)
def test_dominance_is_a_lukasiewicz_preorder(u, v, w):
    assert fuzzy.dominance(u, u) == 1
    assert fuzzy.dominance(max(u, v), min(u, v)) == 1
    chained = fuzzy.lukasiewicz(fuzzy.dominance(u, v), fuzzy.dominance(v, w))
    assert chained <= fuzzy.dominance(u, w) + ROUNDING


@given(degrees, degrees)
def test_indiscernibility_is_dominance_both_ways(u, v):
    both = fuzzy.minimum(fuzzy.dominance(u, v), fuzzy.dominance(v, u))
    assert both == fuzzy.indiscernibility(u, v)


@each_t_norm
@given(tables, st.sampled_from([fuzzy.indiscernibility, fuzzy.dominance]))
def test_relations_over_attributes_are_reflexive_and_joined_by_the_t_norm(t_norm, values, compare):
    matrix = fuzzy.relation(values, t_norm=t_norm, compare=compare)
    assert (np.diagonal(matrix) == 1).all()
    u, v = values[0], values[-1]
    joined = 1.0
    for a in range(values.shape[1]):
        joined = t_norm(joined, compare(u[a], v[a]))
    assert matrix[0, -1] == joined


@given(tables)
def test_the_relation_is_one_minus_the_chebyshev_distance(values):
    distance = np.abs(values[:, None, :] - values[None, :, :]).max(axis=2)
    assert (fuzzy.relation(values) == 1 - distance).all()


def test_relation_between_two_tables_over_chosen_attributes():
    values, other = [[0.0, 0.5, 0.9]], [[0.2, 0.5, 0.1], [0.0, 1.0, 0.9]]
    assert fuzzy.relation(values, other, attributes=[0, 2]) == pytest.approx(np.array([[0.2, 1.0]]))
    mixed = [fuzzy.dominance, fuzzy.dominance, fuzzy.indiscernibility]
    assert fuzzy.relation(values, other, compare=mixed) == pytest.approx(np.array([[0.2, 0.5]]))
    assert fuzzy.relation(values, other, attributes=[]).tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"values": [0.1, 0.2]}, ValueError, r"values has the shape \(2,\)"),
        ({"values": [[0.1]], "other": [0.1]}, ValueError, r"other has the shape \(1,\)"),
        ({"values": [[0.1]], "other": [[0.1, 0.2]]}, ValueError, "1 and 2 attributes"),
        ({"values": [[0.1]], "attributes": [1]}, IndexError, "no attribute 1"),
        ({"values": [[0.1]], "attributes": [-1]}, IndexError, "no attribute -1"),
        ({"values": [[0.1]], "attributes": [True]}, IndexError, "no attribute True"),
        ({"values": [[0.1]], "compare": []}, ValueError, "0 relations for 1 attributes"),
    ],
)
def test_relation_refuses_what_does_not_fit(arguments, error, message):
    with pytest.raises(error, match=message):
        fuzzy.relation(**arguments)


# Approximations


@st.composite
def fuzzy_sets(draw):
    values = draw(tables)
    members = draw(hnp.arrays(np.float64, len(values), elements=degrees))
    return fuzzy.relation(
        values, compare=draw(st.sampled_from([fuzzy.indiscernibility, fuzzy.dominance]))
    ), members


@each_implicator
@given(fuzzy_sets())
def test_the_lower_approximation_of_a_reflexive_relation_is_a_subset(implicator, fuzzy_set):
    matrix, members = fuzzy_set
    assert (fuzzy.lower_approximation(matrix, members, implicator) <= members + ROUNDING).all()


@each_t_norm
@given(fuzzy_sets())
def test_the_upper_approximation_of_a_reflexive_relation_is_a_superset(t_norm, fuzzy_set):
    matrix, members = fuzzy_set
    assert (fuzzy.upper_approximation(matrix, members, t_norm) >= members).all()


@each_implicator
@given(fuzzy_sets())
def test_approximations_follow_their_definition(implicator, fuzzy_set):
    matrix, members = fuzzy_set
    lower = [min(implicator(r, a) for r, a in zip(row, members, strict=True)) for row in matrix]
    upper = [max(min(r, a) for r, a in zip(row, members, strict=True)) for row in matrix]
    assert fuzzy.lower_approximation(matrix, members, implicator).tolist() == lower
    assert fuzzy.upper_approximation(matrix, members).tolist() == upper


@given(fuzzy_sets())
def test_implicators_that_negate_alike_agree_on_crisp_sets(fuzzy_set):
    matrix, members = fuzzy_set
    crisp = members > 0.5
    expected = fuzzy.lower_approximation(matrix, crisp)
    assert (fuzzy.lower_approximation(matrix, crisp, fuzzy.kleene_dienes) == expected).all()
    assert (fuzzy.lower_approximation(matrix, crisp, fuzzy.reichenbach) == expected).all()


@each_implicator
@given(fuzzy_sets(), st.data())
def test_an_object_is_in_the_positive_region_as_in_the_lower_approximation_of_its_own_class(
    implicator, fuzzy_set, data
):
    matrix, _ = fuzzy_set
    labels = data.draw(st.lists(st.sampled_from("abc"), min_size=len(matrix), max_size=len(matrix)))
    own = [
        fuzzy.lower_approximation(matrix, np.array(labels) == label, implicator)[u]
        for u, label in enumerate(labels)
    ]
    assert fuzzy.positive_region(matrix, labels, implicator).tolist() == own


def test_over_no_objects_everything_is_certain_and_nothing_possible():
    nothing = np.empty((2, 0))
    assert fuzzy.lower_approximation(nothing, []).tolist() == [1, 1]
    assert fuzzy.upper_approximation(nothing, []).tolist() == [0, 0]


@pytest.mark.parametrize("name", ["lukasiewicz", "kleene_dienes", "reichenbach"])
def test_the_confidences_of_the_papers_example(name):
    X, classes = worked_example.X, worked_example.Y
    matrix = fuzzy.relation(Scaling.fit(X).transform(X))
    own = [fuzzy.lower_approximation(matrix, classes == c, IMPLICATORS[name]) for c in classes]
    assert np.diagonal(own) == pytest.approx(worked_example.CONFIDENCES, abs=5e-7)


@pytest.mark.parametrize(
    "approximate", [fuzzy.lower_approximation, fuzzy.upper_approximation, fuzzy.positive_region]
)
def test_approximations_refuse_what_does_not_fit(approximate):
    with pytest.raises(ValueError, match=r"relation has the shape \(2,\)"):
        approximate([0.5, 0.5], [1, 0])
    with pytest.raises(ValueError, match=r"have the shape \(3,\) but the relation has 2 columns"):
        approximate(np.eye(2), [1, 0, 1])


# Scaling


@given(hnp.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 3)), elements=finite))
def test_scaling_keeps_order_and_reaches_both_ends_exactly(values):
    scaled = Scaling.fit(values).transform(values)
    assert ((scaled >= 0) & (scaled <= 1)).all()
    for column, result in zip(values.T, scaled.T, strict=True):
        assert (np.diff(result[np.argsort(column)]) >= 0).all()
        assert (result[column == column.min()] == 0).all()
        assert (result[column == column.max()] == (column.max() > column.min())).all()


@given(finite, finite, finite)
def test_scaling_is_the_documented_formula_bit_for_bit(x, low, high):
    assume(low < high)
    clipped = min(max(x, low), high)
    if np.isinf(float(high) - float(low)):
        expected = (clipped / 2 - low / 2) / (high / 2 - low / 2)
    else:
        expected = (clipped - low) / (high - low)
    assert Scaling.fit([[low], [high]]).transform([[x]])[0, 0] == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([-1.7e308, 0.0, 1.7e308], [0, 0.5, 1]),
        ([0.0, 5e-324, 1e-323], [0, 0.5, 1]),
        ([1.0, np.nextafter(1, 2), np.nextafter(1, 2)], [0, 1, 1]),
        ([3.0, 3.0, 3.0], [0, 0, 0]),
        ([1e308, 1e308, 1e308], [0, 0, 0]),
    ],
)
def test_scaling_at_the_limits_of_the_numbers(values, expected):
    column = np.array(values)[:, None]
    assert Scaling.fit(column).transform(column)[:, 0].tolist() == expected


def test_new_values_are_clipped_to_the_range_and_missing_ones_stay_missing():
    scaling = Scaling.fit([[1, 5], [3, 5]])
    new = [[-np.inf, 4], [0, 9], [4, 5], [np.inf, 5]]
    assert scaling.transform(new).tolist() == [[0, 0], [0, 0], [1, 0], [1, 0]]
    assert np.isnan(scaling.transform([[np.nan, 5]])[0, 0])
    assert scaling.low.tolist() == [1, 5]
    assert scaling.high.tolist() == [3, 5]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, 2.0], "values has the shape"),
        (np.empty((0, 2)), "no objects to learn a range from"),
        ([[1.0, 2.0], [1.0, np.nan]], "attribute 1 is nan in row 1"),
        ([[np.inf, 2.0]], "attribute 0 is inf in row 0"),
    ],
)
def test_scaling_refuses_what_has_no_range(values, message):
    with pytest.raises(ValueError, match=message):
        Scaling.fit(values)


def test_scaling_refuses_other_attributes():
    with pytest.raises(ValueError, match="3 attributes but the scaling was learnt on 2"):
        Scaling.fit([[1.0, 2.0]]).transform([[1.0, 2.0, 3.0]])

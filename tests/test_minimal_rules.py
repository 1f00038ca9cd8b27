"""Minimal and shortest rules, compared with their definitions."""

from itertools import product

import numpy as np
import pytest

import naive
import naive_orders
from frri.cover import minimum_cover
from frri.induction import ConditionType, minimal_rules
from frri.induction.minimal_rules import (
    all_minimal,
    cheapest_choice,
    minimal_choices,
    shortest,
)
from induction_steps import confidences, covers, shorten
from test_induction import KINDS, random_mixed_table


def random_tables(seed, n_tables):
    rng = np.random.default_rng(seed)
    for i in range(n_tables):
        n, m = rng.integers(1, 11), rng.integers(1, 5)
        kind = KINDS[i % len(KINDS)]
        values, classes, initial, nominal = random_mixed_table(rng, n, m, rng.integers(1, 5), kind)
        kinds = {"initial": initial, "rigid": np.isin(np.arange(m), nominal)}
        confidence = confidences(values, classes, initial=initial)
        start = None if initial is None else [ConditionType(code).name for code in initial]
        yield rng, values, classes, confidence, kinds, (start, nominal)


def named(types):
    return tuple(ConditionType(code).name for code in types)


@pytest.mark.parametrize("quick", [True, False])
def test_shortest_rules_by_definition(monkeypatch, quick):
    if not quick:  # as if the search for the minimum cost took too long
        monkeypatch.setattr(minimal_rules, "cheapest_choice", lambda _: None)
    for _, values, classes, confidence, kinds, declared in random_tables(2, 60 if quick else 10):
        for u, types in enumerate(shortest(values, classes, confidence, **kinds)):
            rules = naive_orders.rules(values, classes, u, confidence[u], *declared)
            assert named(types) in rules
            lengths = [naive_orders.length(kinds, declared[1]) for kinds in rules]
            assert naive_orders.length(named(types), declared[1]) == min(lengths)


def test_a_long_search_for_the_shortest_is_given_up():
    clauses = np.random.default_rng(0).random((12, 10)) < 0.3
    clauses[:, 0] |= ~clauses.any(axis=1)
    chosen = cheapest_choice(clauses)
    assert clauses[:, chosen].any(axis=1).all()
    assert cheapest_choice(clauses, most=3) is None


def test_all_minimal_rules_by_definition():
    for rng, values, classes, confidence, kinds, declared in random_tables(3, 200):
        types = shorten(values, classes, confidence, rng.permutation(values.shape[1]), **kinds)
        found = all_minimal(values, classes, confidence, types, limit=1000, **kinds)
        table = found.covers.to_dense()
        positions = covers(values, classes, confidence, types)[1]
        assert not len(found.incomplete)
        assert table.sum() == table[:, positions].sum()
        pool = {}
        for u in range(len(values)):
            own = naive_orders.minimal_rules(values, classes, u, confidence[u], *declared)
            assert named(types[u]) in own
            for rule in own:
                covered = [
                    naive.covers(rule, values[u], confidence[u], v, declared[1]) for v in values
                ]
                if any(covered):
                    length = naive_orders.length(rule)[0]
                    pool.setdefault(tuple(covered), {}).setdefault(length, set()).add((u, rule))
        assert len(table) == len(pool)
        for u, rule, covered in zip(found.anchors, found.types, table[:, positions], strict=True):
            same = pool[tuple(covered.tolist())]
            assert (u, named(rule)) in same[min(same)]


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_limit_keeps_the_given_rule_and_is_reported(limit):
    for rng, values, classes, confidence, kinds, declared in random_tables(4, 60):
        types = shorten(values, classes, confidence, rng.permutation(values.shape[1]), **kinds)
        found = all_minimal(values, classes, confidence, types, limit=limit, **kinds)
        n_rules = [
            len(naive_orders.minimal_rules(values, classes, u, confidence[u], *declared))
            for u in range(len(values))
        ]
        more = [u for u, n in enumerate(n_rules) if n > limit and confidence[u] > 1e-6]
        assert found.incomplete.tolist() == more
        assert (np.bincount(found.anchors, minlength=1) <= limit).all()
        # Minimal rules cover the same objects with at most as many rules and conditions.
        given, _ = covers(values, classes, confidence, types)
        few = minimum_cover(found.covers, (found.types > 0).sum(axis=1))
        many = minimum_cover(given, (types > 0).sum(axis=1))
        assert (len(few), few.cost) <= (len(many), many.cost)


def test_minimal_choices_are_all_minimal_hitting_sets():
    rng = np.random.default_rng(5)
    for n_clauses, n_sides in ((0, 3), (1, 1), (6, 8), (9, 10)):
        clauses = rng.random((n_clauses, n_sides)) < 0.3
        clauses[~clauses.any(axis=1), 0] = True
        sets = np.array(list(product([False, True], repeat=n_sides)))
        sets = sets[(sets @ clauses.T.astype(int) > 0).all(axis=1)]
        expected = {
            tuple(np.flatnonzero(one))
            for one in sets
            if ((sets & one) == sets).all(axis=1).sum() == 1
        }
        found = [
            tuple(sorted(choice)) for choice in minimal_choices(clauses, rng.permutation(n_sides))
        ]
        assert len(found) == len(expected)
        assert set(found) == expected

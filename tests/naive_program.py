"""Evaluate a scoring program for a row, step by step in plain Python."""

import operator
from functools import reduce
from math import exp, isnan

from frri.export.program import Assignment
from frri.table import to_matrix


def evaluate(program, row):
    """Return prediction, score, rule (number from 1, 0 without one), scores, degrees and probabilities."""
    ruleset = program.ruleset
    matrix = to_matrix([dict(row)], ruleset.attributes, ruleset.used_attributes)
    columns = [_column(x, a) for x, a in zip(matrix[0].tolist(), ruleset.attributes, strict=True)]
    scope = {}
    _run(program.steps, columns, scope)
    _run(program.probability_steps, columns, scope)

    found = {
        name: _value(getattr(program, name), columns, scope)
        for name in ("prediction", "score", "rule")
    }
    for name in ("scores", "degrees", "probabilities"):
        found[name] = [_value(node, columns, scope) for node in getattr(program, name)]
    return found


def _column(x, attribute):
    """Return a value as programs receive it: NaN or None if it is missing."""
    if attribute.kind != "nominal":
        return x
    if isnan(x):
        return None
    return (attribute.categories or ())[int(x)] if x >= 0.0 else object()


def _run(steps, columns, scope):
    """Add the names that steps assign to a scope."""
    for step in steps:
        if isinstance(step, Assignment):
            scope[step.name] = _value(step.value, columns, scope)
            continue
        holds = _value(step.test, columns, scope)
        inner = dict(scope)
        _run(step.holds if holds else step.fails, columns, inner)
        for name, yes, no in step.results:
            scope[name] = _value(yes if holds else no, columns, inner)


_OPERATIONS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "add": lambda *terms: reduce(operator.add, terms),
    "sub": operator.sub,
    "mul": lambda *factors: reduce(operator.mul, factors),
    "div": operator.truediv,
    "min": min,
    "max": max,
    "all": lambda *tests: all(tests),
    "any": lambda *tests: any(tests),
    "exp": exp,
    "first": lambda *tests: (*tests, True).index(True),
    "index": lambda value, *values: values.index(value),
    "missing": lambda x: x is None or x != x,  # noqa: PLR0124 - NaN differs from itself
}


def _value(node, columns, scope):
    """Return the value of an expression."""

    def of(arg):
        return _value(arg, columns, scope)

    op, args, value, _ = node
    if op == "if":
        return of(args[1] if of(args[0]) else args[2])
    if op == "pick":
        return of(args[1 + of(args[0])])
    if op == "among":
        return of(args[0]) in value
    if args:
        return _OPERATIONS[value if op == "compare" else op](*map(of, args))
    return columns[value] if op == "column" else scope[value] if op == "name" else value

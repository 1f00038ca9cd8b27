"""The rules of a rule set as arrays: how well samples match all conditions at once.

The arithmetic is fixed, because exports must reproduce it: a value left of the core counts `(x -
support_low) / (core_low - support_low)`, one right of it `(support_high - x) / (support_high -
core_high)`, one inside 1. Degrees cut this at 0; *uncut* values continue below 0 and measure how
far outside a sample lies.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property, reduce

import numpy as np

from frri import fuzzy
from frri._util import Flags, Floats, Ints, Positions
from frri.rules.condition import NominalCondition, NumericCondition
from frri.rules.rule import Label, Rule
from frri.rules.semantics import Semantics
from frri.table import Attribute

# A rule covers a sample when weight x degree exceeds this: the paper's "> 0" in floating point.
COVERS = 1e-6

# Elements of a block of memberships: about what the second-level cache holds. Where degrees are
# computed condition by condition, only a few columns of a block are used at a time.
BLOCK = 1 << 16
LONG_BLOCK = 1 << 20
# Samples from which degrees are computed condition by condition.
LONG = 512


class RuleArrays:
    """Conditions and consequents of rules, ready to be matched with samples.

    Parameters
    ----------
    rules : sequence of Rule
    attributes : sequence of Attribute
    semantics : Semantics
    labels : sequence of labels
        The classes; none in regression, nor where only conditions are matched.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        attributes: Sequence[Attribute],
        semantics: Semantics,
        labels: Sequence[Label] = (),
    ) -> None:
        self.rules, self.labels, self.semantics = rules, labels, semantics
        self.missing_holds = semantics.missing == "similar"
        imputes, clips = semantics.missing == "typical", semantics.clip
        self.typical = np.array([a.typical_code if imputes else np.nan for a in attributes])
        self.lows = np.array([a.low if clips else -np.inf for a in attributes], np.float64)
        self.highs = np.array([a.high if clips else np.inf for a in attributes], np.float64)
        self.weights = np.array([rule.weight for rule in rules], dtype=np.float64)
        column_of = {attribute.name: j for j, attribute in enumerate(attributes)}

        # A rule without conditions gets one that always holds, so that no rule is empty. Where
        # there are no features, it uses a column that `uncut` makes up.
        always = NumericCondition(attributes[0].name if attributes else "")
        column_of.setdefault(always.attribute, 0)
        conditions = [c for rule in rules for c in (rule.conditions or (always,))]
        lengths = [max(len(rule.conditions), 1) for rule in rules]
        self.always = np.repeat([not rule.conditions for rule in rules], lengths).astype(np.bool_)
        self.indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        self.rule_of = np.repeat(np.arange(len(rules)), lengths)
        # Uncut value where there is no way to be near: it makes the weighted value weight - 1.
        weights = np.where(self.weights > 0.0, self.weights, 1.0)[self.rule_of]
        self.outside = np.minimum(1.0 - 1.0 / weights, 0.0)
        self.columns = np.array([column_of[c.attribute] for c in conditions], dtype=np.int64)
        numeric = [c if isinstance(c, NumericCondition) else always for c in conditions]
        trapezoids = np.array([c.trapezoid for c in numeric], dtype=np.float64).reshape(-1, 4)
        self.support_low, self.core_low, self.core_high, self.support_high = trapezoids.T.copy()
        widths = np.array([a.width for a in attributes] or [1.0], dtype=np.float64)[self.columns]
        self.slope_low = _slopes(self.core_low, self.support_low, widths)
        self.slope_high = _slopes(self.core_high, self.support_high, widths)
        # Nominal conditions: which codes they allow, one table after another, from the
        # code of a category never seen, -1, on; the place of code 0, -1 for other conditions.
        nominal = [(k, c) for k, c in enumerate(conditions) if isinstance(c, NominalCondition)]
        self.nominal_at = np.array([k for k, _ in nominal], dtype=np.int64)
        self.code_0 = np.full(len(conditions), -1, dtype=np.int64)
        self.n_codes = np.zeros(len(conditions), dtype=np.int64)
        allowed: list[bool] = []
        for k, c in nominal:
            categories = attributes[self.columns[k]].categories or ()
            self.code_0[k], self.n_codes[k] = len(allowed) + 1, len(categories)
            allowed += map(c.allows, (None, *categories))
        self.allowed = np.array(allowed, dtype=np.bool_)

    # ---------------------------------------------------------------- conditions
    def blocks(self, n_samples: int) -> Iterator[slice]:
        """Yield slices of samples, at least one, whose memberships stay in the cache."""
        elements = LONG_BLOCK if self.semantics.t_norm == "product" else BLOCK
        size = max(1, elements // max(1, len(self.columns)))
        for start in range(0, max(n_samples, 1), size):
            yield slice(start, min(start + size, n_samples))

    def filled(self, matrix: Floats) -> Floats:
        """Return the values with imputed ones in the place of missing ones, if the rules do so."""
        unknown = np.isnan(matrix)
        return np.where(unknown, self.typical, matrix) if unknown.any() else matrix

    def clipped(self, matrix: Floats) -> Floats:
        """Return the values filled, and clipped to the training range if the rules do so."""
        filled, clips = self.filled(matrix), self.semantics.clip
        return np.minimum(np.maximum(filled, self.lows), self.highs) if clips else filled

    def uncut(self, block: Floats, which: slice = slice(None)) -> Floats:
        """Return samples x conditions: 1 inside the core, falling, below 0 outside the support.

        `which` are the conditions, by default all.
        """
        columns = self.columns[which]
        x = block[:, columns] if block.shape[1] else np.zeros((len(block), len(columns)))
        with np.errstate(over="ignore", invalid="ignore"):  # infinitely far away is far away
            result, right = x - self.support_low[which], self.support_high[which] - x
            result /= self.slope_low[which]
            right /= self.slope_high[which]
        np.copyto(result, 1.0, where=x >= self.core_low[which])
        np.copyto(right, 1.0, where=x <= self.core_high[which])
        np.minimum(result, right, out=result)
        outside, missing = self.outside[which], np.isnan(x)
        if len(self.allowed):
            at = np.flatnonzero(self.code_0[which] >= 0)
            codes = np.where(missing[:, at], -1.0, x[:, at]).astype(np.intp)
            holds = self.allowed[self.code_0[which][at] + codes]
            result[:, at] = np.where(holds, 1.0, outside[at])
        if missing.any():
            result = np.where(missing, 1.0 if self.missing_holds else outside, result)
            result[:, self.always[which]] = 1.0
        return np.asarray(result)

    def matching(self, block: Floats) -> Floats:
        """Return samples x rules: the degree to which the conditions hold together."""
        if len(block) < LONG or self.semantics.t_norm != "product":
            return self.join(np.maximum(self.uncut(block), 0.0))
        # Condition by condition: operations on columns take a third of the time.
        block, degrees = np.asfortranarray(block), np.ones((len(self.rules), len(block)))
        unknown: Flags = np.asarray(np.isnan(block).any(axis=0))
        for k, (rule, column) in enumerate(zip(self.rule_of, self.columns, strict=True)):
            if self.code_0[k] >= 0 or not len(unknown) or unknown[column]:
                degrees[rule] *= np.maximum(self.uncut(block, slice(k, k + 1))[:, 0], 0.0)
            else:
                self._multiply(degrees[rule], k, block[:, column])
        return degrees.T

    def _multiply(self, degrees: Floats, k: int, x: Floats) -> None:
        """Multiply degrees by those to which a numeric condition holds for known values.

        Where one side of a trapezoid is less than 1, the other is 1.
        """
        for sign, support, core, slope in (
            (1.0, self.support_low[k], self.core_low[k], self.slope_low[k]),
            (-1.0, self.support_high[k], self.core_high[k], self.slope_high[k]),
        ):
            if np.isinf(support):
                continue
            if slope == abs(core - support):
                with np.errstate(over="ignore"):
                    side = x - support
                    side /= sign * slope
                degrees *= np.clip(side, 0.0, 1.0, out=side)
            else:
                degrees *= x >= core if sign > 0.0 else x <= core

    def covers(self, block: Floats) -> Flags:
        """Return samples x rules: which rules cover which samples."""
        return np.asarray(self.matching(block) * self.weights > COVERS)

    def join(self, memberships: Floats) -> Floats:
        """Join samples x conditions to samples x rules, by the t-norm."""
        starts, lengths, t_norm = self.indptr[:-1], np.diff(self.indptr), self.semantics.t_norm
        if not len(starts):
            return np.empty((len(memberships), 0))
        if t_norm == "minimum":
            return np.minimum.reduceat(memberships, starts, axis=1)
        if t_norm == "product":
            return np.multiply.reduceat(memberships, starts, axis=1)
        # All rules at once, condition by condition; 1, in the last column, changes nothing.
        padded = np.column_stack([memberships, np.ones(len(memberships))])
        steps = (np.where(k < lengths, starts + k, -1) for k in range(lengths.max()))
        return np.asarray(
            reduce(fuzzy.T_NORMS[self.semantics.t_norm], (padded[:, at] for at in steps))
        )

    def join_one(self, memberships: Floats) -> Floats:
        """Join the conditions of one rule, one after another."""
        return np.asarray(reduce(fuzzy.T_NORMS[self.semantics.t_norm], memberships.T))

    def nearness(self, block: Floats) -> Floats:
        """Return samples x rules: weight times the least uncut value; -inf without weight."""
        return self.join_nearness(self.uncut(block))

    def join_nearness(self, uncut: Floats) -> Floats:
        """Join uncut values of samples x conditions to the nearness of samples x rules."""
        if not len(self.rules):
            return np.empty((len(uncut), 0))
        values = np.minimum.reduceat(uncut, self.indptr[:-1], axis=1) * self.weights
        return np.where(self.weights > 0.0, values, -np.inf)

    # ---------------------------------------------------------------- consequents
    @cached_property
    def classes(self) -> Positions:
        """The position of each rule's class."""
        position = {label: c for c, label in enumerate(self.labels)}
        return np.array([position[rule.consequent] for rule in self.rules], dtype=np.intp)

    @cached_property
    def of_classes(self) -> list[tuple[int, Positions]]:
        """The positions of the rules of each class that has any."""
        return [(c, np.flatnonzero(self.classes == c)) for c in np.unique(self.classes).tolist()]

    @cached_property
    def rising(self) -> Flags:
        """Which rules are for higher classes: those that say "at least", or add something."""
        if self.semantics.meaning.says == "number":
            return np.asarray(self.says[:, 0] > 0.0)
        return np.array([rule.relation == "at least" for rule in self.rules], dtype=np.bool_)

    @cached_property
    def holds_for(self) -> Flags:
        """Rules x classes: whether the consequent of a rule is true of a sample of the class."""
        classes, own = np.arange(len(self.labels)), self.classes[:, None]
        falling = np.array([rule.relation == "at most" for rule in self.rules], dtype=np.bool_)
        beyond = (self.rising[:, None] & (classes > own)) | (falling[:, None] & (classes < own))
        return np.asarray((classes == own) | beyond)

    @cached_property
    def says(self) -> Floats:
        """Rules x classes: votes or proportions, by default 1 for the class; else one number."""
        kind = self.semantics.meaning.says
        if kind == "number":
            numbers = [float(rule.consequent) for rule in self.rules]
            return np.array(numbers, dtype=np.float64).reshape(-1, 1)
        says = np.zeros((len(self.rules), len(self.labels)))
        says[np.arange(len(says)), self.classes] = 1.0
        for r, rule in enumerate(self.rules):
            given = rule.votes if kind == "votes" else rule.distribution
            says[r] = says[r] if given is None else given
        return says

    @cached_property
    def partial_weights(self) -> list[Floats]:
        """The weights of the parts of each rule; none of one that has no conditions."""
        parts = (rule.partial_weights if rule.conditions else () for rule in self.rules)
        return [np.array(weights, dtype=np.float64) for weights in parts]

    def weights_of_parts(self, index: Ints) -> Floats:
        """Return samples x rules: the weight of each rule's part of an index; 0 without parts."""
        lengths = np.array([len(part) for part in self.partial_weights], dtype=np.int64)
        starts = np.where(lengths > 0, 1 + np.cumsum(lengths) - lengths, 0)
        flat = np.concatenate(([0.0], *self.partial_weights))
        return np.asarray(flat[starts + (lengths > 0) * index])


def _slopes(cores: Floats, supports: Floats, widths: Floats) -> Floats:
    """Return what to divide by: the width of a slope; without one, the range of the feature."""
    sloped = (cores != supports) & (np.nextafter(cores, supports) != supports)
    return np.abs(np.subtract(cores, supports, out=widths.copy(), where=sloped))

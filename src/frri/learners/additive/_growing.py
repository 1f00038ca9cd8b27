"""Growing one rule by its gain, then polishing it condition by condition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frri.learners.additive._columns import ONE_OF, SoftTest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from frri.learners.additive._columns import SoftColumns

    Floats = NDArray[np.float64]

# Gains nearer than this, as a share, are equal: of equal ones the first counts, however sums are rounded.
EQUAL = 1e-9
# What a condition must multiply the gain by, and how much membership a rule must keep.
WORTH = 1.15
LEAST_MEMBERSHIP = 2.0
POLISHES = 2
# Curvatures below this tell categories apart no more.
FLAT = 1e-12


class Pull(NamedTuple):
    """What one more rule is to do: follow a gradient.

    Attributes
    ----------
    gradient, curvature : ndarray of float, shape (n_objects,)
        Of the loss, with the sign turned, by the score to which the rule adds.
    signed : bool
        Whether it may add with either sign; else only upwards.
    allowed : ndarray of bool, shape (n_attributes, 2), optional
        Which sides of an attribute it may use; all by default.
    """

    gradient: Floats
    curvature: Floats
    signed: bool = False
    allowed: NDArray[np.bool_] | None = None


class SoftRule(NamedTuple):
    """Conditions, the degree to which each object satisfies them all, and the gain they promise."""

    tests: tuple[SoftTest, ...]
    degree: Floats
    gain: float


@dataclass(frozen=True, eq=False)
class Search:
    """The search for the rule that lowers a loss most.

    Parameters
    ----------
    columns : SoftColumns
    weights : ndarray of float, shape (n_objects,)
        What objects count for in the membership of a rule.
    penalty : float
        Of a squared weight of a rule: lambda.
    centred : bool
        Whether a constant is fitted together with the rules, so that only what a rule does beyond
        its mean counts.
    max_conditions : int
    """

    columns: SoftColumns
    weights: Floats
    penalty: float
    centred: bool
    max_conditions: int

    def best_rule(self, pull: Pull) -> SoftRule:
        """Grow a rule from nothing and polish it."""
        return self.polished(self._grown(pull), pull)

    def _grown(self, pull: Pull) -> SoftRule:
        """Add the condition of greatest gain while it is worth it."""
        rule = self._rule((), pull)
        while len(rule.tests) < self.max_conditions:
            longer = self._longer(rule, pull)
            if longer is None:
                break
            rule = longer
        return rule

    def polished(self, rule: SoftRule, pull: Pull) -> SoftRule:
        """Take out each condition in turn for the best one in its place, or for none.

        Parameters
        ----------
        rule : SoftRule
            Freshly grown: its last condition is known to be the best after the others.
        pull : Pull

        Returns
        -------
        SoftRule
        """
        settled = len(rule.tests) - 1
        for _ in range(POLISHES):
            before = rule.tests
            for place, test in enumerate(before):
                if rule.tests == before and place == settled:
                    continue
                rest = tuple(other for other in rule.tests if other != test)
                shorter = self._rule(rest, pull)
                longer = self._longer(shorter, pull)
                rule = shorter if longer is None else self._in_place(longer, rule, test)
            settled = -1
            if rule.tests == before:
                break
        return rule

    @staticmethod
    def _in_place(longer: SoftRule, rule: SoftRule, test: SoftTest) -> SoftRule:
        """The rule with its last test moved to where another one stood."""
        new = longer.tests[-1]
        tests = tuple(new if other == test else other for other in rule.tests)
        return longer._replace(tests=tests)

    def _rule(self, tests: Sequence[SoftTest], pull: Pull) -> SoftRule:
        """Some tests as a rule."""
        degree = np.ones(self.columns.n_objects)
        for test in tests:
            degree = degree * self.columns.membership(test)
        total = float(pull.gradient @ degree)
        curvature = float(pull.curvature @ (degree * degree))
        if self.centred:
            curvature -= float(self.weights @ degree) ** 2 / float(self.weights.sum())
        gain = self._gains(total, curvature, np.inf, pull.signed)
        return SoftRule(tuple(tests), degree, float(gain))

    def _longer(self, rule: SoftRule, pull: Pull) -> SoftRule | None:
        """The rule with the best condition added; None if no condition is worth it."""
        found = self._best_test(rule, pull)
        if found is None or found[1] < WORTH * rule.gain:
            return None
        test, gain = found
        degree = rule.degree * self.columns.membership(test)
        return SoftRule((*rule.tests, test), degree, gain)

    def _best_test(self, rule: SoftRule, pull: Pull) -> tuple[SoftTest, float] | None:
        """The condition of greatest gain; of equal ones the first attribute, value, side."""
        gradient = pull.gradient * rule.degree
        curvature = pull.curvature * (rule.degree * rule.degree)
        membership = self.weights * rule.degree
        found = [
            *self._best_ordered(rule, pull, gradient, curvature, membership),
            *self._best_nominal(rule, pull, gradient, curvature, membership),
        ]
        if not found:
            return None
        best = max(gain for _, gain in found) * (1.0 - EQUAL)
        return min(
            (candidate for candidate in found if candidate[1] >= best),
            key=lambda candidate: candidate[0].attribute,
        )

    def _best_ordered(
        self, rule: SoftRule, pull: Pull, gradient: Floats, curvature: Floats, membership: Floats
    ) -> Iterator[tuple[SoftTest, float]]:
        columns = self.columns
        if not len(columns.ordered):
            return
        G, H, M = columns.scan(gradient, curvature, membership)
        if self.centred:
            H = H - M * M / float(self.weights.sum())
        gains = self._gains(G, H, M, pull.signed)
        for test in rule.tests:
            if test.side != ONE_OF:
                gains[columns.ordered.searchsorted(test.attribute), :, test.side] = 0.0
        if pull.allowed is not None:
            gains *= pull.allowed[columns.ordered][:, None, :]
        best = float(gains.max())
        if best > 0.0:
            first = int((gains >= best * (1.0 - EQUAL)).argmax())
            k, which, side = np.unravel_index(first, gains.shape)
            test = SoftTest(int(columns.ordered[k]), int(side), int(which))
            yield test, float(gains[k, which, side])

    def _best_nominal(
        self, rule: SoftRule, pull: Pull, gradient: Floats, curvature: Floats, membership: Floats
    ) -> Iterator[tuple[SoftTest, float]]:
        """The best set of categories of each nominal attribute that the rule does not use yet.

        Among categories in the order of gradient by curvature the best set is a beginning (or, where
        the rule may pull down, an end) of this order.
        """
        used = {test.attribute for test in rule.tests}
        columns, weight = self.columns, float(self.weights.sum())
        for k, attribute in enumerate(columns.nominal.tolist()):
            if attribute in used:
                continue
            count = int(columns.n_categories[k])
            sums = np.array(
                [
                    np.bincount(columns.codes[k], terms, count + 1)[:count]
                    for terms in (gradient, curvature, membership)
                ]
            )
            seen = np.flatnonzero(sums[2])
            ratios = sums[0, seen] / np.maximum(sums[1, seen], FLAT)
            order = seen[np.argsort(-ratios, kind="stable")]
            for direction in (order, order[::-1]) if pull.signed else (order,):
                G, H, M = sums[:, direction[:-1]].cumsum(axis=1)
                gains = self._gains(G, H - M * M / weight if self.centred else H, M, pull.signed)
                best = float(gains.max(initial=0.0))
                if best > 0.0:
                    last = int((gains >= best * (1.0 - EQUAL)).argmax())
                    chosen = tuple(sorted(direction[: last + 1].tolist()))
                    yield SoftTest(attribute, ONE_OF, categories=chosen), float(gains[last])

    def _gains(self, G: Any, H: Any, M: Any, signed: bool) -> Any:
        """What rules promise to lower the loss by; 0 where they may not be."""
        fits = (M >= LEAST_MEMBERSHIP * (1.0 - EQUAL)) & (signed | (G > 0.0))
        return np.where(fits, G * G / (2.0 * (H + self.penalty)), 0.0)

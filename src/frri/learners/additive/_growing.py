"""Growing one rule by its gain, then polishing it condition by condition."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from frri._reproducible import total
from frri.learners.additive._columns import ONE_OF, SoftTest
from frri.rules.matching import COVERS

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from frri._util import Flags, Floats, Positions
    from frri.learners.additive._columns import SoftColumns

    Found = tuple[SoftTest, float] | None
    Steps = Generator["SoftRule", Found, "SoftRule"]

# Gains nearer than this, as a share, are equal: of equal ones the first counts, however sums are rounded.
EQUAL = 1e-9
# What a condition must multiply the gain by, and how much membership a rule must keep.
WORTH = 1.15
LEAST_MEMBERSHIP = 2.0
POLISHES = 2
# Curvatures below this tell categories apart no more.
FLAT = 1e-12


class Aim(Protocol):
    """What one more rule is to do, as far as the search needs to know.

    Attributes
    ----------
    signed : bool
        Whether it may add with either sign; else only upwards.
    allowed : ndarray of bool, shape (n_attributes, 2), optional
        Which sides of an attribute it may use; all by default.
    """

    @property
    def signed(self) -> bool: ...
    @property
    def allowed(self) -> Flags | None: ...


class Pull(NamedTuple):
    """An aim: to follow a gradient.

    Attributes
    ----------
    gradient, curvature : ndarray of float, shape (n_objects,)
        Of the loss, with the sign turned, by the score to which the rule adds.
    signed, allowed
        As of every aim.
    """

    gradient: Floats
    curvature: Floats
    signed: bool = False
    allowed: Flags | None = None


class SoftRule(NamedTuple):
    """Conditions, the degree to which each object satisfies them all, and the gain they promise.

    Where blocks know the degrees there are none here.
    """

    tests: tuple[SoftTest, ...]
    degree: Any
    gain: float


class Sums(Protocol):
    """What every further condition would make of some rules."""

    def scan(self) -> Floats:
        """G, H and M for every threshold and side: see `SoftColumns.scan`."""

    def categories(self, k: int) -> Floats:
        """G, H and M for every category of a nominal column, shape (3, n_rules, n_categories)."""


class WholeSums(NamedTuple):
    """The same, from all objects at once: terms as of `SoftColumns.scan`."""

    columns: SoftColumns
    terms: Floats

    def scan(self) -> Floats:
        """G, H and M for every threshold and side."""
        return self.columns.scan(self.terms)

    def categories(self, k: int) -> Floats:
        """G, H and M for every category of a nominal column."""
        codes, count = self.columns.codes[k], int(self.columns.n_categories[k])
        rows = self.terms.reshape(-1, self.columns.n_objects)
        found = np.array([np.bincount(codes, row, count + 1)[:count] for row in rows])
        return found.reshape(3, -1, count)


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
    classes : ndarray of int, shape (n_objects,), optional
        Which objects the rules of each voice are to cover; all by default.
    curved : bool
        Whether a side of an attribute may be bounded again, by another threshold: the product of two
        ramps is a curve.
    """

    columns: SoftColumns
    weights: Floats
    penalty: float
    centred: bool
    max_conditions: int
    classes: Positions | None = None
    curved: bool = False

    @cached_property
    def weight(self) -> float:
        """What all objects count for."""
        return float(total(self.weights))

    def stacked(self, rules: Sequence[SoftRule]) -> Any:
        """The degrees of rules as the losses want them, rules x objects."""
        shape = (len(rules), self.columns.n_objects)
        return np.array([rule.degree for rule in rules]).reshape(shape)

    def covered(self, rule: SoftRule, voice: int) -> float:
        """What the objects that a rule with this voice is to cover weigh, times their degrees."""
        own = slice(None) if self.classes is None else self.classes == voice
        return float(total(self.weights[own] * rule.degree[own]))

    def counted(self, rules: Sequence[SoftRule], votes: Floats, n: int) -> tuple[Floats, Floats]:
        """What the objects of each of n classes that a rule covers weigh; and those of it alone."""
        assert self.classes is not None  # noqa: S101 - only asked for classes
        covers = np.zeros((len(votes), len(self.weights)), dtype=np.bool_)
        for r, (rule, vote) in enumerate(zip(rules, votes, strict=True)):
            covers[r] = rule.degree * vote > COVERS
        support = np.array([np.bincount(self.classes, self.weights * c, n) for c in covers])
        alone = covers & (covers.sum(axis=0) == 1)
        return support.reshape(len(covers), n), total(alone * self.weights)

    def best_rules(self, pulls: Sequence[Aim]) -> list[SoftRule]:
        """For each aim a rule grown from nothing and polished; all of them one step at a time."""
        found: dict[int, SoftRule] = {}
        searches = [self._search(pull) for pull in pulls]
        asked = {k: next(search) for k, search in enumerate(searches)}
        while asked:
            for k, answer in self._answers(asked, pulls).items():
                try:
                    asked[k] = searches[k].send(answer)
                except StopIteration as end:
                    found[k] = end.value
                    del asked[k]
        return [found[k] for k in range(len(pulls))]

    def _answers(self, asked: Mapping[int, SoftRule], pulls: Sequence[Aim]) -> Mapping[int, Found]:
        """To searches that ask about a rule, some or all of them, by the place of their aim."""
        found = self._best_tests(list(asked.values()), [pulls[k] for k in asked])
        return dict(zip(asked, found, strict=True))

    def _search(self, pull: Aim) -> Steps:
        """The search for one rule: asks for the best condition of rules, each once, and is told it."""
        known: dict[frozenset[SoftTest], Found] = {}
        rule = yield from self._weighed((), pull)
        while len(rule.tests) < self.max_conditions:
            found = known[frozenset(rule.tests)] = yield rule
            longer = self._longer(rule, found)
            if longer is None:
                break
            rule = longer
        return (yield from self._polished(rule, pull, known))

    def _polished(
        self, rule: SoftRule, pull: Aim, known: dict[frozenset[SoftTest], Found]
    ) -> Steps:
        """Take out each condition in turn for the best one in its place, or for none."""
        for _ in range(POLISHES):
            before = rule.tests
            for test in before:
                others = [other for other in rule.tests if other != test]
                shorter = yield from self._weighed(others, pull)
                rest = frozenset(shorter.tests)
                if rest not in known:
                    known[rest] = yield shorter
                longer = self._longer(shorter, known[rest])
                rule = shorter if longer is None else self._in_place(longer, rule, test)
            if rule.tests == before:
                break
        return rule

    @staticmethod
    def _in_place(longer: SoftRule, rule: SoftRule, test: SoftTest) -> SoftRule:
        """The rule with its last test moved to where another one stood."""
        new = longer.tests[-1]
        tests = tuple(new if other == test else other for other in rule.tests)
        return longer._replace(tests=tests)

    def _weighed(self, tests: Sequence[SoftTest], pull: Aim) -> Steps:
        """Some tests as a rule, of which nothing has to be asked here."""
        yield from ()
        return self._rule(tests, pull)

    def _rule(self, tests: Sequence[SoftTest], pull: Any) -> SoftRule:
        """Some tests as a rule."""
        degree = np.ones(self.columns.n_objects)
        for test in tests:
            degree = degree * self.columns.membership(test)
        G, H = total(
            np.stack((pull.gradient * degree, pull.curvature * (degree * degree)))
        ).tolist()
        M = float(total(self.weights * degree)) if self.centred else 0.0
        return SoftRule(tuple(tests), degree, self._gain(G, H, M, pull))

    def _gain(self, G: float, H: float, M: float, pull: Aim) -> float:
        """What a rule of any membership promises."""
        if self.centred:
            H -= M**2 / self.weight
        return float(self._gains(G, H, np.inf, pull.signed))

    def _longer(self, rule: SoftRule, found: Found) -> SoftRule | None:
        """The rule with the best condition added; None if no condition is worth it."""
        if found is None or found[1] < WORTH * rule.gain:
            return None
        test, gain = found
        return SoftRule((*rule.tests, test), self._narrowed(rule, test), gain)

    def _narrowed(self, rule: SoftRule, test: SoftTest) -> Any:
        """The degrees of a rule with one more condition."""
        return rule.degree * self.columns.membership(test)

    def _sums(self, rules: Sequence[SoftRule], pulls: Sequence[Any]) -> Sums:
        terms = np.empty((3, len(rules), self.columns.n_objects))
        for k, (rule, pull) in enumerate(zip(rules, pulls, strict=True)):
            np.multiply(pull.gradient, rule.degree, out=terms[0, k])
            np.multiply(self.weights, rule.degree, out=terms[2, k])
            np.multiply(rule.degree, rule.degree, out=terms[1, k])
            terms[1, k] *= pull.curvature
        return WholeSums(self.columns, terms)

    def _best_tests(self, rules: Sequence[SoftRule], pulls: Sequence[Aim]) -> list[Found]:
        """For each rule the condition of greatest gain; of equal ones the first attribute, value, side."""
        sums = self._sums(rules, pulls)
        found: list[list[tuple[SoftTest, float]]] = [[] for _ in rules]
        if len(self.columns.ordered):
            self._find_ordered(rules, pulls, sums.scan(), found)
        for k, attribute in enumerate(self.columns.nominal.tolist()):
            for candidates, rule, pull, three in zip(
                found, rules, pulls, sums.categories(k).swapaxes(0, 1), strict=True
            ):
                if all(test.attribute != attribute for test in rule.tests):
                    candidates.extend(self._best_categories(attribute, pull, three))
        return [_first_best(candidates) for candidates in found]

    def _find_ordered(
        self,
        rules: Sequence[SoftRule],
        pulls: Sequence[Aim],
        scanned: Floats,
        found: list[list[tuple[SoftTest, float]]],
    ) -> None:
        """Add the best threshold of all ordered attributes to what was found for each rule."""
        ordered = self.columns.ordered
        G, H, M = scanned
        if self.centred:
            H = H - M * M / self.weight
        gains = self._gains(G, H, M, pulls[0].signed)
        for rule, pull, own in zip(rules, pulls, gains, strict=True):
            for test in rule.tests:
                if test.side != ONE_OF:
                    used = test.which if self.curved else slice(None)
                    own[ordered.searchsorted(test.attribute), used, test.side] = 0.0
            if pull.allowed is not None:
                np.multiply(own, pull.allowed[ordered][:, None, :], out=own)
        flat = gains.reshape(len(rules), -1)
        best = flat.max(axis=1)
        first = (flat >= (best * (1.0 - EQUAL))[:, None]).argmax(axis=1).tolist()
        for candidates, most, place, row in zip(found, best.tolist(), first, flat, strict=True):
            if most > 0.0:
                k, rest = divmod(place, 2 * self.columns.thresholds.shape[1])
                test = SoftTest(int(ordered[k]), rest % 2, rest // 2)
                candidates.append((test, float(row[place])))

    def _best_categories(
        self, attribute: int, pull: Aim, three: Floats
    ) -> Iterator[tuple[SoftTest, float]]:
        """The best set of categories of a nominal attribute, from their G, H and M.

        Among categories in the order of gradient by curvature the best set is a beginning (or, where
        the rule may pull down, an end) of this order.
        """
        seen = np.flatnonzero(three[2])
        ratios = three[0, seen] / np.maximum(three[1, seen], FLAT)
        order = seen[np.argsort(-ratios, kind="stable")]
        for direction in (order, order[::-1]) if pull.signed else (order,):
            G, H, M = three[:, direction[:-1]].cumsum(axis=1)
            H = H - M * M / self.weight if self.centred else H
            gains = self._gains(G, H, M, pull.signed)
            best = float(gains.max(initial=0.0))
            if best > 0.0:
                last = int((gains >= best * (1.0 - EQUAL)).argmax())
                chosen = tuple(sorted(direction[: last + 1].tolist()))
                yield SoftTest(attribute, ONE_OF, categories=chosen), float(gains[last])

    def _gains(self, G: Any, H: Any, M: Any, signed: bool) -> Any:
        """What rules promise to lower the loss by; 0 where they may not be."""
        fits = (M >= LEAST_MEMBERSHIP * (1.0 - EQUAL)) & (signed | (G > 0.0))
        return np.where(fits, G * G / (2.0 * (H + self.penalty)), 0.0)


def _first_best(found: Sequence[tuple[SoftTest, float]]) -> Found:
    """The test of greatest gain, of equal ones that of the first attribute."""
    if not found:
        return None
    best = max(gain for _, gain in found) * (1.0 - EQUAL)
    return min(
        (candidate for candidate in found if candidate[1] >= best),
        key=lambda candidate: candidate[0].attribute,
    )

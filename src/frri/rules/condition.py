"""One condition of a rule: a fuzzy set over the values of one feature."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, nextafter
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from frri._util import Floats
from frri.table.columns import plain_column
from frri.table.encode import category_codes


class Side(NamedTuple):
    """A bound of a numeric condition.

    Parameters
    ----------
    end : {"low", "high"}
    core, support : float
        Where the condition begins to hold fully, and to hold at all.
    is_strict : bool
        Whether core and support are neighboring numbers, as in `< b` and `> b`.
    """

    end: str
    core: float
    support: float
    is_strict: bool

    @classmethod
    def of(cls, end: str, core: float, support: float) -> "tuple[Side, ...]":
        """Return one side, or none if it is open."""
        is_strict = core != support and nextafter(core, support) == support
        return (cls(end, core, support, is_strict),) if abs(core) < inf else ()

    @property
    def is_crisp(self) -> bool:
        """Whether there is no slope: the condition holds fully or not at all."""
        return self.core == self.support or self.is_strict

    @property
    def sign(self) -> str:
        """The comparison of values with `bound` by which a crisp side holds."""
        return (">" if self.end == "low" else "<") + "=" * (not self.is_strict)

    @property
    def bound(self) -> float:
        """The bound of a crisp side; the core of any other."""
        return self.support if self.is_strict else self.core


@dataclass(frozen=True)
class Condition(ABC):
    """A fuzzy set over the values of one attribute.

    Parameters
    ----------
    attribute : str
        The attribute's name.

    Examples
    --------
    >>> NumericCondition("age", core_low=40, support_low=30).membership([20, 35, 50]).tolist()
    [0.0, 0.5, 1.0]
    """

    attribute: str

    @property
    def sides(self) -> tuple[Side, ...]:
        """The bounds of a numeric condition, the lower one first; none where a side is open."""
        return ()

    @abstractmethod
    def membership(self, values: ArrayLike) -> Floats:
        """Return the degree, from 0 to 1, to which values satisfy the condition."""


@dataclass(frozen=True)
class NumericCondition(Condition):
    """A trapezoid in the attribute's own units.

    It holds fully from `core_low` to `core_high`, fades linearly, and is over at `support_low` and
    `support_high`. A side is open where it is infinite, and crisp where core and support are equal
    (then the bound itself still belongs to it). A strict bound `< b` has its core end at the
    largest number below `b`: nothing lies between the two, so the slope is invisible.

    Parameters
    ----------
    attribute : str
    support_low, core_low, core_high, support_high : float
        In ascending order; infinite where open.

    Examples
    --------
    >>> condition = NumericCondition("glucose", core_high=105, support_high=191)
    >>> condition.membership([90, 105, 148, 191, 200])
    array([1. , 1. , 0.5, 0. , 0. ])
    >>> NumericCondition.below("age", 30).membership([29, 30])
    array([1., 0.])
    """

    support_low: float = -inf
    core_low: float = -inf
    core_high: float = inf
    support_high: float = inf

    def __post_init__(self) -> None:
        low, core_low, core_high, high = self.trapezoid
        if not low <= core_low <= core_high <= high:  # nor NaN
            order = "(support_low <= core_low <= core_high <= support_high)"
            raise ValueError(
                f"The bounds of the condition on {self.attribute!r} must ascend {order}, "
                f"got {self.trapezoid}."
            )
        if core_low == inf or core_high == -inf:
            raise ValueError(f"The condition on {self.attribute!r} holds for no finite value.")
        if low == -inf != core_low or high == inf != core_high:
            remedy = "give the side a finite support or open its core as well"
            raise ValueError(
                f"The condition on {self.attribute!r} cannot fade towards infinity: {remedy}."
            )

    @classmethod
    def below(cls, attribute: str, bound: float) -> "NumericCondition":
        """Return the crisp condition `attribute < bound`."""
        return cls(attribute, core_high=nextafter(bound, -inf), support_high=bound)

    @property
    def trapezoid(self) -> tuple[float, float, float, float]:
        """The four bounds in ascending order."""
        return self.support_low, self.core_low, self.core_high, self.support_high

    @property
    def sides(self) -> tuple[Side, ...]:
        """The bounds, the lower one first; none where a side is open."""
        low = Side.of("low", self.core_low, self.support_low)
        return low + Side.of("high", self.core_high, self.support_high)

    def membership(self, values: ArrayLike) -> Floats:
        """Return the degree to which values satisfy the condition; 0 for a missing one (NaN)."""
        x = np.asarray(values, dtype=np.float64)
        result = ((x >= self.core_low) & (x <= self.core_high)).astype(np.float64)
        rising = (x > self.support_low) & (x < self.core_low)
        result[rising] = (x[rising] - self.support_low) / (self.core_low - self.support_low)
        falling = (x > self.core_high) & (x < self.support_high)
        result[falling] = (self.support_high - x[falling]) / (self.support_high - self.core_high)
        return result


@dataclass(frozen=True)
class NominalCondition(Condition):
    """A set of allowed values, or of excluded ones.

    Parameters
    ----------
    attribute : str
    values : frozenset of str
    excludes : bool, default=False
        If True, the condition holds for every known value except `values`, categories that training
        did not have included.

    Examples
    --------
    >>> NominalCondition("colour", frozenset({"red", "blue"})).membership(["red", "green", None])
    array([1., 0., 0.])
    >>> NominalCondition("doors", frozenset({"3"})).membership([3, "3", 3.0, 5])
    array([1., 1., 1., 0.])
    >>> condition = NominalCondition("colour", frozenset({"red"}), excludes=True)
    >>> condition.membership(["red", "green", "never seen", None])
    array([0., 1., 1., 0.])
    """

    values: frozenset[str] = frozenset()
    excludes: bool = False

    def __post_init__(self) -> None:
        given: object = self.values
        if isinstance(given, str):  # a set of its letters
            raise TypeError(
                f"The condition on {self.attribute!r} takes a set of values, got the string "
                f"{given!r}; put it into braces."
            )
        object.__setattr__(self, "values", frozenset(self.values))
        if not self.values:
            verb = "excludes" if self.excludes else "allows"
            raise ValueError(f"The condition on {self.attribute!r} {verb} no value at all.")

    def allows(self, category: str | None) -> bool:
        """Return whether the condition holds for a category; None is one that is never seen."""
        return (category in self.values) != self.excludes

    def membership(self, values: ArrayLike) -> Floats:
        """Return 1 for an allowed value, 0 for any other and for a missing one.

        A value is recognized in whatever form it comes (see `frri.table.encode`), taking the
        values of the condition for all there are; a `RuleSet` knows the attribute's other
        categories as well.
        """
        codes = category_codes(plain_column(values, self.attribute), sorted(self.values))
        holds = ((codes >= 0.0) != self.excludes) & ~np.isnan(codes)
        return np.asarray(holds, dtype=np.float64)


def join_ranges(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Join lower and upper bounds of the same feature to ranges, where their cores do not cross.

    A range holds to the degree to which both bounds hold: no value lies on two slopes.

    Examples
    --------
    >>> at_least = NumericCondition("age", support_low=10, core_low=20)
    >>> at_most = NumericCondition("age", core_high=30, support_high=40)
    >>> [condition.trapezoid for condition in join_ranges([at_most, at_least])]
    [(10, 20, 30, 40)]
    """
    found: list[Condition] = []
    places = defaultdict[str, list[int]](list)
    for condition in conditions:
        for place in places[condition.attribute]:
            sides = sides_of(found[place], condition)
            if sides and sides[0].core <= sides[1].core:
                low, high = sides
                ends = low.support, low.core, high.core, high.support
                found[place] = NumericCondition(condition.attribute, *ends)
                break
        else:
            places[condition.attribute].append(len(found))
            found.append(condition)
    return tuple(found)


def sides_of(one: Condition, other: Condition) -> tuple[Side, ...]:
    """Return a lower and an upper bound of the same feature in this order; none of other pairs."""
    first, second = one.sides, other.sides
    if one.attribute != other.attribute or len(first) != 1 or len(second) != 1:
        return ()
    low, high = (first[0], second[0]) if first[0].end == "low" else (second[0], first[0])
    return (low, high) if low.end != high.end else ()

"""The rules of a ruleset as arrays: what every engine computes with."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from frri._util import Flags, Floats, Ints, Positions
from frri.rules.matching import Matcher
from frri.rules.rule import Label, Rule
from frri.rules.semantics import Semantics
from frri.table import Attribute


class RuleArrays:
    """What rules ask of objects and what they say about them; each part is made when it is first asked for.

    Parameters
    ----------
    rules : sequence of Rule
    attributes : sequence of Attribute
    labels : sequence of labels
        All classes, in order; none in regression.
    semantics : Semantics
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        attributes: Sequence[Attribute],
        labels: Sequence[Label],
        semantics: Semantics,
    ) -> None:
        self._rules, self._attributes = rules, attributes
        self._labels, self._semantics = labels, semantics

    @cached_property
    def matcher(self) -> Matcher:
        """The conditions, ready to be matched with objects."""
        return Matcher(self._rules, self._attributes, self._semantics)

    @property
    def weights(self) -> Floats:
        """The weight of each rule."""
        return self.matcher.weights

    @cached_property
    def classes(self) -> Positions:
        """The position of each rule's class."""
        position = {label: c for c, label in enumerate(self._labels)}
        return np.array([position[rule.consequent] for rule in self._rules], dtype=np.intp)

    @cached_property
    def of_classes(self) -> list[tuple[int, Positions]]:
        """The positions of the rules of each class that has any."""
        return [(c, np.flatnonzero(self.classes == c)) for c in np.unique(self.classes).tolist()]

    @cached_property
    def rising(self) -> Flags:
        """Which rules speak for higher classes: they say "at least", or add something."""
        if self._semantics.meaning.says == "number":
            return np.asarray(self.says[:, 0] > 0.0)
        return np.array([rule.relation == "at least" for rule in self._rules], dtype=np.bool_)

    @cached_property
    def holds_for(self) -> Flags:
        """Rules x classes: whether what a rule says is true of an object of the class."""
        classes, own = np.arange(len(self._labels)), self.classes[:, None]
        falling = np.array([rule.relation == "at most" for rule in self._rules], dtype=np.bool_)
        beyond = (self.rising[:, None] & (classes > own)) | (falling[:, None] & (classes < own))
        return np.asarray((classes == own) | beyond)

    @cached_property
    def says(self) -> Floats:
        """Rules x classes: shares or votes, all for its own class by default; a column of numbers."""
        kind = self._semantics.meaning.says
        if kind == "number":
            numbers = [float(rule.consequent) for rule in self._rules]
            return np.array(numbers, dtype=np.float64).reshape(-1, 1)
        says = np.zeros((len(self._rules), len(self._labels)))
        for r, (rule, own) in enumerate(zip(self._rules, self.classes, strict=True)):
            given = rule.votes if kind == "votes" else rule.distribution
            if given is None:
                says[r, own] = 1.0
            else:
                says[r] = given
        return says

    @cached_property
    def partial_weights(self) -> list[Floats]:
        """The weights of the parts of each rule; none of one that has no conditions."""
        parts = (rule.partial_weights if rule.conditions else () for rule in self._rules)
        return [np.array(weights, dtype=np.float64) for weights in parts]

    @cached_property
    def parts(self) -> "PartialWeights":
        """The same, ready to be looked up for many objects."""
        return PartialWeights(self.partial_weights)


class PartialWeights:
    """The weights of parts of rules, in one row after another.

    Parameters
    ----------
    parts : sequence of ndarray of float64
        For each rule the weights of its parts, or nothing; such a rule does not count.
    """

    def __init__(self, parts: Sequence[Floats]) -> None:
        lengths = np.array([len(part) for part in parts], dtype=np.int64)
        self._flat = np.concatenate(([0.0], *parts))
        self._counts = lengths > 0
        self._starts = np.where(self._counts, 1 + np.cumsum(lengths) - lengths, 0)

    def take(self, index: Ints) -> Floats:
        """Objects x rules: the weight of each rule's part of that index."""
        return self._flat[self._starts + self._counts * index]

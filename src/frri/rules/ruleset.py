"""Rules, the way they are combined, and the table they are about: a classifier that can be read."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from frri.fuzzy import T_NORMS
from frri.rules import _prediction as bulk
from frri.rules import editing, measures, persistence, text
from frri.rules._combination import (
    Combination,
    Fallback,
    PartialWeights,
    class_scores,
    fallback_shares,
    fallback_values,
)
from frri.rules.about import About, plain_scalar
from frri.rules.condition import Condition, NumericCondition
from frri.rules.matching import Matcher
from frri.rules.rule import Label, Rule, RuleStatistics, label_array
from frri.table import FARTHEST_DATE, LARGEST, Attribute, to_matrix

if TYPE_CHECKING:
    import pandas as pd

    from frri.explain import Explanation

# A rule covers an object when weight x degree exceeds this: the paper's "> 0" in floating point.
COVERS = 1e-6
# Sums of weights must stay finite, and so must what they divide.
HEAVIEST = 1e9
LIGHTEST = 1e-300


@dataclass(frozen=True)
class RuleSet:
    """Rules and all it takes to apply them; immutable, independent of learner and training data.

    Parameters
    ----------
    rules : tuple of Rule
    attributes : tuple of Attribute
        The columns of the training table, in order.
    classes : tuple of labels
        All classes, in the order in which ties are decided.
    target : str
        Name of what is predicted.
    t_norm : str
        How the conditions of a rule are joined; a name of `frri.fuzzy.T_NORMS`.
    combination : {"best", "sum", "first"}
        How rules are combined: see `frri.rules._combination`.
    fallback : {"nearest", "stretched", "partial", "priors"}
        What decides where no rule fires.
    clip : bool
        Whether values outside the training range count as its nearest end.
    missing : {"fails", "holds"}
        What a condition says about a missing value.
    class_counts : tuple of float
        Size of each class in training.
    about : mapping
        Where the rules come from (learner, settings, proof); plain JSON values, not interpreted. The
        ruleset keeps a frozen copy. Equal rulesets decide and read alike, wherever they come from.

    Examples
    --------
    >>> from frri.rules import NumericCondition
    >>> rules = RuleSet(
    ...     rules=(
    ...         Rule((NumericCondition("glucose", core_high=105, support_high=191),), "no", 0.9),
    ...         Rule((NumericCondition("glucose", 100, 180),), "yes", 0.8),
    ...     ),
    ...     attributes=(Attribute("glucose", 44, 199),),
    ...     classes=("no", "yes"),
    ...     target="diabetes",
    ... )
    >>> print(rules)
    IF glucose <= 105 (fades, ends at 191) THEN diabetes = no   [confidence 0.90]
    IF glucose >= 180 (fades, ends at 100) THEN diabetes = yes   [confidence 0.80]
    >>> rules.predict([[90], [170]]).tolist()
    ['no', 'yes']
    >>> RuleSet.from_json(rules.to_json()) == rules
    True
    """

    rules: tuple[Rule, ...]
    attributes: tuple[Attribute, ...]
    classes: tuple[Label, ...]
    target: str = "class"
    t_norm: str = "minimum"
    combination: Combination = "best"
    fallback: Fallback = "nearest"
    clip: bool = False
    missing: Literal["fails", "holds"] = "fails"
    class_counts: tuple[float, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for name in ("rules", "attributes", "classes", "class_counts"):
            object.__setattr__(self, name, tuple(map(plain_scalar, getattr(self, name))))
        object.__setattr__(self, "about", About(self.about))
        if not self.class_counts:
            object.__setattr__(self, "class_counts", (1.0,) * len(self.classes))
        self._check()

    # ------------------------------------------------------------------ as a collection

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __getitem__(self, index: int) -> Rule:
        return self.rules[index]

    # ------------------------------------------------------------------ prediction

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row of a table (a data frame is read by its column names)."""
        return label_array(self.classes)[self.predict_index(to_matrix(X, self.attributes))]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Rows x classes: scores divided by their sum; where no rule fires, the fallback's shares."""
        return self.probabilities(to_matrix(X, self.attributes))

    def scores(self, X: Any) -> NDArray[np.float64]:
        """Rows x classes: what the rules that fire say; a row of zeros where none does."""
        return self._scores(to_matrix(X, self.attributes))

    def degrees(self, X: Any) -> NDArray[np.float64]:
        """Rows x rules: to which degree each rule's conditions hold (without its weight)."""
        matrix = self._matcher.clipped(to_matrix(X, self.attributes))
        degrees = np.empty((len(matrix), len(self.rules)))
        for block in self._matcher.blocks(len(matrix)):
            degrees[block] = self._matcher.matching(matrix[block])
        return degrees

    def covers(self, X: Any) -> NDArray[np.bool_]:
        """Rows x rules: which rules cover which rows."""
        return np.asarray(self.degrees(X) * self._matcher.weights > COVERS)

    def predict_index(self, matrix: NDArray[np.float64]) -> NDArray[np.intp]:
        """Positions in `classes`, for values already encoded by `frri.table.to_matrix`."""
        if bulk.pays(self._matcher, self.combination, self.fallback, matrix):
            return self._in_bulk(matrix, with_scores=False)[0]
        scores = self._scores(matrix)
        decided: NDArray[np.intp] = scores.argmax(axis=1)
        silent = np.flatnonzero(~(scores.max(axis=1, initial=0.0) > 0.0))
        decided[silent] = self._fallback(matrix[silent]).argmax(axis=1)
        return decided

    def probabilities(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same as `predict_proba`, for encoded values."""
        scores = self._scores(matrix)
        total = scores.sum(axis=1, keepdims=True)
        silent = np.flatnonzero(~(total[:, 0] > 0.0))
        total[silent] = 1.0
        scores /= total
        scores[silent] = fallback_shares(self._last_word, self._fallback(matrix[silent]))
        return scores

    # ------------------------------------------------------------------ statistics

    def statistics(self, X: Any, y: Any) -> tuple[RuleStatistics, ...]:
        """What each rule covers in a labelled table.

        Examples
        --------
        >>> from frri.rules import NumericCondition
        >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a"),), (0, 1))
        >>> rules.statistics([[1], [2], [3], [2]], [0, 0, 1, 1])
        (RuleStatistics(support=(2, 1), precision=0.666..., lift=1.333..., alone=3),)
        """
        matrix = self._matcher.clipped(to_matrix(X, self.attributes))
        return measures.rule_statistics(self, matrix, y)

    def with_statistics(self, X: Any, y: Any) -> "RuleSet":
        """The same rules with their statistics on a labelled table written into them."""
        found = self.statistics(X, y)
        rules = (replace(rule, statistics=s) for rule, s in zip(self.rules, found, strict=True))
        return replace(self, rules=tuple(rules))

    # ------------------------------------------------------------------ questions and edits

    def explain(
        self, row: Any, *, unchangeable: Collection[str] = (), effort: int = 10_000
    ) -> "Explanation":
        """Why a row is decided as it is, and what would change that: see `frri.explain`."""
        from frri.explain import explain  # noqa: PLC0415 - not needed for prediction

        return explain(self, row, unchangeable=unchangeable, effort=effort)

    def without_rule(self, index: int) -> "RuleSet":
        """All rules but one."""
        return editing.without_rule(self, index)

    def with_rule(self, rule: Rule, position: int | None = None) -> "RuleSet":
        """One more rule, at the end or before another one; its origin becomes "written"."""
        return editing.with_rule(self, rule, position)

    def with_changed_rule(
        self,
        index: int,
        *,
        conditions: tuple[Condition, ...] | None = None,
        consequent: Label | None = None,
        weight: float | None = None,
    ) -> "RuleSet":
        """One rule changed; its origin becomes "edited" and its statistics go: see `frri.rules.editing`.

        Examples
        --------
        >>> from frri.rules import NumericCondition
        >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a"),), (0, 1))
        >>> print(rules.with_changed_rule(0, weight=0.5).with_rule(Rule((), 1, 0.1)))
        IF a < 3 THEN class = 0   [confidence 0.50]
        ALWAYS class = 1   [confidence 0.10]
        """
        return editing.with_changed_rule(
            self, index, conditions=conditions, consequent=consequent, weight=weight
        )

    def with_condition(
        self, index: int, condition: Condition, replacing: int | None = None
    ) -> "RuleSet":
        """One more condition for a rule, or another one in the place of number `replacing`."""
        return editing.with_condition(self, index, condition, replacing)

    def without_condition(self, index: int, position: int) -> "RuleSet":
        """A rule without its condition number `position`."""
        return editing.without_condition(self, index, position)

    # ------------------------------------------------------------------ display

    def __str__(self) -> str:
        return text.ruleset_text(self)

    def __repr__(self) -> str:
        n, m = len(self.rules), sum(len(rule.conditions) for rule in self.rules)
        return f"<RuleSet: {n} rules with {m} conditions for {self.target!r}>"

    def _repr_html_(self) -> str:
        try:
            import jinja2  # noqa: F401, PLC0415 - optional; without it there is the plain table

            from frri.report.notebook import notebook_html  # noqa: PLC0415 - knows this module
        except ImportError:
            return text.ruleset_html(self)
        return notebook_html(self)

    def to_frame(self) -> "pd.DataFrame":
        """One row per rule: conditions, class, weight and training statistics (needs pandas)."""
        return text.ruleset_frame(self)

    # ------------------------------------------------------------------ persistence

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; `from_dict` reads them back."""
        return persistence.to_dict(self)

    @staticmethod
    def from_dict(content: Mapping[str, Any]) -> "RuleSet":
        """The ruleset that `to_dict` described; a ValueError names what does not fit."""
        return persistence.from_dict(content)

    def to_json(self) -> str:
        """A versioned JSON text, all numbers in full precision."""
        return persistence.to_json(self)

    @staticmethod
    def from_json(content: str) -> "RuleSet":
        """The ruleset of a JSON text."""
        return persistence.from_json(content)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the JSON text to a file, whole or not at all."""
        persistence.save(self, path)

    @staticmethod
    def load(path: str | PathLike[str]) -> "RuleSet":
        """Read a file written by `save`."""
        return persistence.load(path)

    # ------------------------------------------------------------------ inside

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def _scores(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        matcher = self._matcher
        if bulk.pays(matcher, self.combination, self.fallback, matrix):
            return self._in_bulk(matrix, with_scores=True)[1]
        matrix = matcher.clipped(matrix)
        scores = np.empty((len(matrix), len(self.classes)))
        for block in matcher.blocks(len(matrix)):
            scores[block] = class_scores(
                self.combination,
                matcher.matching(matrix[block]),
                matcher.weights,
                self._rule_classes,
                self._distributions,
            )
        return scores

    def _in_bulk(
        self, matrix: NDArray[np.float64], *, with_scores: bool
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        classes, n_classes = self._rule_classes, len(self.classes)
        return bulk.decide(self._matcher, matrix, classes, n_classes, with_scores=with_scores)

    def _fallback(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        """What decides for objects that no rule covers: objects x classes, the largest wins."""
        matcher = self._matcher
        matrix = matcher.clipped(matrix)
        counts = np.array(self.class_counts)
        priors = counts / counts.sum()
        result = np.empty((len(matrix), len(self.classes)))
        for block in matcher.blocks(len(matrix)):
            result[block] = fallback_values(
                self._last_word,
                matcher,
                matrix[block],
                rule_classes=self._rule_classes,
                partial_weights=self._parts,
                priors=priors,
            )
        return result

    @property
    def _last_word(self) -> Fallback:
        """The fallback; the priors if it has no rule to go by."""
        if self.fallback == "nearest":
            return "nearest" if (self._matcher.weights > 0.0).any() else "priors"
        return self.fallback if self.rules else "priors"

    @cached_property
    def _matcher(self) -> Matcher:
        return Matcher(self.rules, self.attributes, self.t_norm, self.clip, self.missing)

    @cached_property
    def _rule_classes(self) -> NDArray[np.intp]:
        position = {label: c for c, label in enumerate(self.classes)}
        return np.array([position[rule.consequent] for rule in self.rules], dtype=np.intp)

    @cached_property
    def _distributions(self) -> NDArray[np.float64]:
        """Rules x classes: how a rule of a list shares out its vote; all to its own class by default."""
        shares = np.zeros((len(self.rules), len(self.classes)))
        for r, rule in enumerate(self.rules):
            shares[r] = 0.0 if rule.distribution is None else rule.distribution
            if rule.distribution is None:
                shares[r, self._rule_classes[r]] = 1.0
        return shares

    @cached_property
    def _parts(self) -> PartialWeights:
        return PartialWeights(self._partial_weights)

    @cached_property
    def _partial_weights(self) -> list[NDArray[np.float64]]:
        parts = (rule.partial_weights if rule.conditions else () for rule in self.rules)
        return [np.array(weights, dtype=np.float64) for weights in parts]

    def _check(self) -> None:
        """One sentence about the first thing that does not fit together."""
        kinds = {attribute.name: attribute.kind for attribute in self.attributes}
        if len(kinds) < len(self.attributes):
            raise ValueError("Two attributes have the same name; rename one of them.")
        if not self.classes or len(set(self.classes)) < len(self.classes):
            raise ValueError(
                f"The classes must be distinct and at least one, got {self.classes!r}."
            )
        counts = self.class_counts
        if len(counts) != len(self.classes) or min(counts) < 0 or not 0 < sum(counts) < np.inf:
            raise ValueError("There must be one count of 0 or more per class, not all 0.")
        for name, value, allowed in (
            ("t_norm", self.t_norm, tuple(T_NORMS)),
            ("combination", self.combination, get_args(Combination)),
            ("fallback", self.fallback, get_args(Fallback)),
            ("missing", self.missing, ("fails", "holds")),
        ):
            if value not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}.")
        labels = set(self.classes)
        for r, rule in enumerate(self.rules):
            self._check_rule(f"Rule {r + 1}", rule, kinds, labels)

    def _check_rule(
        self, name: str, rule: Rule, kinds: Mapping[str, str], labels: set[Label]
    ) -> None:
        if rule.consequent not in labels:
            raise ValueError(f"{name} concludes {rule.consequent!r}, which is not a class.")
        if rule.weight != 0.0 and not LIGHTEST <= rule.weight <= HEAVIEST:
            raise ValueError(
                f"{name} has weight {rule.weight}; it must be 0, or from {LIGHTEST:g} to {HEAVIEST:g}."
            )
        if rule.origin not in {"learned", "edited", "written"}:
            raise ValueError(f"{name} has the unknown origin {rule.origin!r}.")
        shares = rule.distribution
        if shares is not None and len(shares) != len(self.classes):
            raise ValueError(f"{name} must have one share per class in its distribution.")
        for what, amounts in (
            ("shares of 0 or more in its distribution", shares),
            ("partial weights of 0 or more", rule.partial_weights),
        ):
            if amounts and not (min(amounts) >= 0.0 and sum(amounts) <= LARGEST):
                raise ValueError(f"{name} must have {what}, {LARGEST:g} at most in all.")
        for condition in rule.conditions:
            _check_condition(name, condition, kinds)


def _check_condition(name: str, condition: Condition, kinds: Mapping[str, str]) -> None:
    if condition.attribute not in kinds:
        raise ValueError(f"{name} uses {condition.attribute!r}, which is not an attribute.")
    kind = kinds[condition.attribute]
    ends = condition.trapezoid if isinstance(condition, NumericCondition) else ()
    if bool(ends) == (kind == "nominal"):
        raise ValueError(
            f"{name} has a condition on {condition.attribute!r} that does not fit a {kind} attribute."
        )
    farthest = max((abs(end) for end in ends if np.isfinite(end)), default=0.0)
    if kind == "date" and farthest > FARTHEST_DATE:
        raise ValueError(
            f"{name} has a condition on {condition.attribute!r} beyond all dates, {farthest:g} days "
            f"from 1970; they may be {FARTHEST_DATE:g} days away."
        )

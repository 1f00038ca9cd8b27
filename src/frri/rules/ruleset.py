"""The rule set: rules, their semantics, and the features they use; a predictor that can be read."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import pairwise
from math import fsum, inf
from numbers import Real
from operator import mul
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frri._reproducible import log, snap
from frri._util import Flags, Floats, Positions, import_optional, short_repr, write_atomically
from frri.rules import json_format, text
from frri.rules.condition import Condition
from frri.rules.conformal import half_width
from frri.rules.inference import Decision
from frri.rules.json_format import About
from frri.rules.matching import COVERS, RuleArrays
from frri.rules.measures import measure_regression
from frri.rules.rule import (
    LARGEST_SAID,
    SAID,
    Label,
    Rule,
    RuleStatistics,
    as_labels,
    attach_units,
    find_problems,
    plain_scalar,
)
from frri.rules.rule_statistics import rule_statistics
from frri.rules.semantics import SHORTHANDS, Semantics
from frri.table import Attribute, to_matrix
from frri.table.columns import Frame
from frri.table.encode import check_order
from frri.table.targets import check_quantities

if TYPE_CHECKING:
    from frri.explain import Explanation
    from frri.rules.hierarchy import Hierarchy


@dataclass(frozen=True, init=False)
class RuleSet:
    """Rules and all that is needed to apply them; immutable, independent of estimator and data.

    Parameters
    ----------
    rules : tuple of Rule
    attributes : tuple of Attribute
        The features, in the order of the training table.
    classes : tuple of labels
        All classes, in the order in which ties are decided, lowest first if they are ordered; none
        in regression.
    target : str
        Name of what is predicted.
    t_norm, fallback, clip, missing : optional
        Settings of the semantics, given one by one: see `frri.rules.semantics`.
    combination : {"best", "sum", "first"}, optional
        Short for the semantics "best-rule", "added-votes" and "first-match".
    class_counts : tuple of float
        Size of each class in training.
    about : mapping
        Provenance of the rules (estimator, parameters, proof): plain JSON values, not interpreted.
        The rule set keeps a frozen copy, which equality ignores.
    semantics : Semantics or str
        How the rules are combined, or its name.
    base : tuple of float
        Scores before any rule counts, where the semantics has them: a number per class, one number
        in regression, one for each class but the first in "cumulative-logits".
    trust : float, default=1.0
        Fraction of the probabilities that comes from the rules; the rest are the class priors.
    costs : tuple of float, optional
        Costs of misclassifying a sample of each class, if they are not all equal: see
        `with_decision`. The base of "softmax-votes" contains their logarithms.

    Attributes
    ----------
    task : {"classification", "ordinal", "regression"}
        What is predicted, by the semantics.

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
    IF glucose <= 105 (partly to 191) THEN diabetes = no   [weight 0.90]
    IF glucose >= 180 (partly from 100) THEN diabetes = yes   [weight 0.80]
    >>> rules.predict([[90], [170]]).tolist()
    ['no', 'yes']
    >>> RuleSet.from_json(rules.to_json()) == rules
    True
    """

    rules: tuple[Rule, ...]
    attributes: tuple[Attribute, ...]
    classes: tuple[Label, ...]
    target: str
    semantics: Semantics
    base: tuple[float, ...]
    class_counts: tuple[float, ...]
    about: Mapping[str, Any] = field(compare=False)
    trust: float
    costs: tuple[float, ...]

    def __init__(
        self,
        rules: tuple[Rule, ...],
        attributes: tuple[Attribute, ...],
        classes: tuple[Label, ...] = (),
        target: str = "class",
        t_norm: str | None = None,
        combination: str | None = None,
        fallback: str | None = None,
        clip: bool | None = None,
        missing: str | None = None,
        class_counts: tuple[float, ...] = (),
        about: Mapping[str, Any] | None = None,
        *,
        semantics: Semantics | str = "best-rule",
        base: tuple[float, ...] = (),
        trust: float = 1.0,
        costs: tuple[float, ...] = (),
    ) -> None:
        settings = {"t_norm": t_norm, "fallback": fallback, "clip": clip, "missing": missing}
        chosen = _semantics(semantics, combination, settings)
        labels, described = _tuple(classes), _tuple(attributes)
        # Rules show dates and ordered categories as such, also by themselves.
        units = {a.name: a for a in described if a.kind in {"date", "ordinal"}}
        for name, value in {
            "rules": tuple(attach_units(rule, units) for rule in rules),
            "attributes": described,
            "classes": labels,
            "target": target,
            "semantics": chosen,
            "base": _tuple(base) or (0.0,) * chosen.meaning.base_length(len(labels)),
            "class_counts": _tuple(class_counts) or (1.0,) * len(labels),
            "about": About({} if about is None else about),
            "trust": trust,
            "costs": _tuple(costs),
        }.items():
            object.__setattr__(self, name, value)
        for problem in _find_problems(self):
            raise ValueError(problem)

    @property
    def task(self) -> str:
        """The task: "classification", "ordinal" or "regression"."""
        return self.semantics.meaning.task

    @property
    def combination(self) -> str:
        """The combination of the rules: see `frri.rules.semantics`."""
        return self.semantics.meaning.combination

    @property
    def t_norm(self) -> str:
        """The t-norm that joins the conditions of a rule."""
        return self.semantics.t_norm

    @property
    def fallback(self) -> str:
        """The fallback where no rule fires."""
        return self.semantics.fallback

    @property
    def clip(self) -> bool:
        """Whether values outside the training range count as its nearest end."""
        return self.semantics.clip

    @property
    def missing(self) -> str:
        """The treatment of missing values."""
        return self.semantics.missing

    @cached_property
    def arrays(self) -> RuleArrays:
        """The rules as arrays, for engines; may change with any version."""
        return RuleArrays(self.rules, self.attributes, self.semantics, self.classes)

    @cached_property
    def priors(self) -> Floats:
        """The size of each class in training, times its cost."""
        return np.array(self.class_counts) * (self.costs or 1.0)

    @cached_property
    def score_factors(self) -> Floats:
        """The cost of each class where it multiplies the score, otherwise 1."""
        costs = self.costs if self.semantics.meaning.link == "shares" else ()
        return np.array(costs or (1.0,) * len(self.classes))

    @cached_property
    def used_attributes(self) -> tuple[str, ...]:
        """Names of the features that conditions use: a table needs no other columns."""
        used = {name for rule in self.rules for name in rule.attributes}
        return tuple(a.name for a in self.attributes if a.name in used)

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __getitem__(self, index: int) -> Rule:
        return self.rules[index]

    # ---------------------------------------------------------------- prediction
    def predict(self, X: Any, *, n_jobs: int | None = None) -> NDArray[Any]:
        """Predict the class of each sample, or its number.

        The columns of a data frame are found by name; those that no condition uses may be absent.
        Many samples are divided among `n_jobs` threads, by default all cores: see
        `frri._util.n_threads`.

        Examples
        --------
        >>> from frri.rules import NumericCondition
        >>> low = Rule((NumericCondition.below("a", 3),), "low", 0.9)
        >>> rules = RuleSet((low, Rule((), "any", 0.5)), (Attribute("a", 0, 9),), ("any", "low"))
        >>> rules.predict([[1], [5]]).tolist()
        ['low', 'any']
        """
        return self.decide(X, n_jobs=n_jobs).answers

    def predict_proba(self, X: Any, *, n_jobs: int | None = None) -> Floats:
        """Predict the probability of each class, shrunk towards the class priors by `trust`.

        Examples
        --------
        >>> from frri.rules import NumericCondition
        >>> low = Rule((NumericCondition.below("a", 3),), "low", 0.9)
        >>> rules = RuleSet((low, Rule((), "any", 0.5)), (Attribute("a", 0, 9),), ("any", "low"))
        >>> rules.predict_proba([[1], [5]]).round(2).tolist()
        [[0.36, 0.64], [1.0, 0.0]]
        """
        return self.decide(X, n_jobs=n_jobs).probabilities

    def predict_interval(self, X: Any, level: float = 0.9) -> Floats:
        """Predict the lower and upper end of a conformal interval for each sample.

        The rules must have been learned with `calibration_fraction`: see `frri.rules.conformal`.
        """
        reach = half_width(self, level)
        answers = self.predict(X)
        return np.column_stack([answers - reach, answers + reach])

    def scores(self, X: Any, *, n_jobs: int | None = None) -> Floats:
        """Compute samples x classes: the scores of the rules; a row of zeros where none fires.

        Examples
        --------
        >>> from frri.rules import NumericCondition
        >>> low = Rule((NumericCondition.below("a", 3),), "low", 0.9)
        >>> rules = RuleSet((low, Rule((), "any", 0.5)), (Attribute("a", 0, 9),), ("any", "low"))
        >>> rules.scores([[1], [5]]).tolist()
        [[0.5, 0.9], [0.5, 0.0]]
        """
        return self.decide(X, n_jobs=n_jobs).scores

    def degrees(self, X: Any) -> Floats:
        """Compute samples x rules: the degree to which each rule's conditions hold, unweighted.

        Examples
        --------
        >>> from frri.rules import NumericCondition
        >>> gradual = Rule((NumericCondition("a", core_high=2, support_high=4),), "low")
        >>> RuleSet((gradual,), (Attribute("a"),), ("low",)).degrees([[1], [3], [5]]).tolist()
        [[1.0], [0.5], [0.0]]
        """
        return self.decide(X).degrees

    def covers(self, X: Any) -> Flags:
        """Compute samples x rules: which rules cover which samples.

        Examples
        --------
        >>> from frri.rules import NumericCondition
        >>> low = Rule((NumericCondition.below("a", 3),), "low", 0.9)
        >>> rules = RuleSet((low, Rule((), "any", 0.5)), (Attribute("a", 0, 9),), ("any", "low"))
        >>> rules.covers([[1], [5]]).tolist()
        [[True, True], [False, True]]
        """
        return np.asarray(self.degrees(X) * self.arrays.weights > COVERS)

    def decide(self, X: Any, *, n_jobs: int | None = None) -> Decision:
        """Return predictions, scores, probabilities and deciding rules; X is encoded only once."""
        matrix = to_matrix(X, self.attributes, self.used_attributes)
        check_order(X, self.attributes, matrix, self.used_attributes)
        return Decision(self, matrix, n_jobs)

    def predict_index(self, matrix: Floats, *, n_jobs: int | None = None) -> Positions:
        """Predict positions in `classes`, for values encoded by `frri.table.to_matrix`."""
        return Decision(self, matrix, n_jobs).index

    def probabilities(self, matrix: Floats, *, n_jobs: int | None = None) -> Floats:
        """Predict the same as `predict_proba`, for encoded values."""
        return Decision(self, matrix, n_jobs).probabilities

    # ---------------------------------------------------------------- statistics
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on a labelled table, in regression R².

        Examples
        --------
        >>> from frri.rules import NumericCondition
        >>> low = Rule((NumericCondition.below("a", 3),), 0)
        >>> RuleSet((low,), (Attribute("a"),), (0, 1)).score([[1], [2], [2], [2]], [0, 0, 0, 1])
        0.75
        """
        answers = self.predict(X)
        truth = as_labels(y, len(answers))
        if self.task == "regression":
            numbers = check_quantities(truth, self.target)
            return float(measure_regression(numbers, answers, sample_weight)["r2"])
        return float(np.average(truth == answers, weights=sample_weight))

    def statistics(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[RuleStatistics, ...]:
        """Compute what each rule covers in a labelled table, in samples or their weight.

        In regression, `y` holds numbers, and the statistics their mean and standard deviation.

        Examples
        --------
        >>> from frri.rules import NumericCondition
        >>> low = Rule((NumericCondition.below("a", 3),), 0)
        >>> rules = RuleSet((low,), (Attribute("a"),), (0, 1))
        >>> rules.statistics([[1], [2], [3], [2]], [0, 0, 1, 1])
        (RuleStatistics(support=(2, 1), precision=0.666..., lift=1.333..., alone=3, ...),)
        """
        matrix = self.arrays.clipped(to_matrix(X, self.attributes, self.used_attributes))
        return rule_statistics(self, matrix, y, sample_weight)

    def with_statistics(self, X: Any, y: Any, sample_weight: Any = None) -> "RuleSet":
        """Return the same rules with their statistics on a labelled table."""
        found = self.statistics(X, y, sample_weight)
        rules = (replace(rule, statistics=s) for rule, s in zip(self.rules, found, strict=True))
        return replace(self, rules=tuple(rules))

    def hierarchy(self, X: Any, y: Any, sample_weight: Any = None) -> "Hierarchy":
        """Merge similar rules of a class into more general ones, by a labelled table.

        Returns a tree that can be cut at any size or precision: see `frri.rules.hierarchy`.
        """
        from frri.rules.hierarchy import hierarchy  # noqa: PLC0415 - not needed for prediction

        return hierarchy(self, X, y, sample_weight)

    def explain(
        self, row: Any, *, unchangeable: Collection[str] = (), effort: int = 10_000, **goal: Any
    ) -> "Explanation":
        """Explain a prediction, and what would change it: see `frri.explain.explain`.

        In ordinal models and regression a `goal` can be set, `at_least` or `at_most`.

        Examples
        --------
        >>> from frri.rules import NumericCondition
        >>> low = Rule((NumericCondition.below("a", 3),), "low", 0.9)
        >>> rules = RuleSet((low, Rule((), "any", 0.5)), (Attribute("a", 0, 9),), ("any", "low"))
        >>> explanation = rules.explain([1])
        >>> explanation.decision, explanation.deciding.weight
        ('low', 0.9)
        """
        from frri.explain import explain  # noqa: PLC0415 - not needed for prediction

        return explain(self, row, unchangeable=unchangeable, effort=effort, **goal)

    # ---------------------------------------------------------------- editing
    def with_decision(self, decision: "str | Mapping[Any, float]") -> "RuleSet":
        """Return the same rules with other costs of misclassification; nothing is fitted again.

        The effect on scores and probabilities is described in `frri.rules.semantics`. In
        "best-rule" and "added-votes", a sample for which only rules of one class hold keeps its
        class. The base of "softmax-votes" is rounded to multiples of 2**-40, as all estimators
        give it, when it gets costs, so that "accuracy" restores it exactly.

        Parameters
        ----------
        decision : {"accuracy", "balanced"} or mapping
            "accuracy": equal costs, whatever they are. "balanced": costs inversely proportional to
            the sizes of the classes in training. A mapping has the cost of misclassifying a sample
            of each class, 1 for classes that it lacks; a class may be given by its text.

        Examples
        --------
        >>> rules = RuleSet((Rule((), "no", 0.6), Rule((), "yes", 0.4)), (), ("no", "yes"))
        >>> careful = rules.with_decision({"yes": 2})
        >>> careful.predict([[]]).tolist(), careful.predict_proba([[]]).round(2).tolist()
        (['yes'], [[0.43, 0.57]])
        >>> careful.with_decision("accuracy") == rules
        True
        """
        if self.task != "classification":
            raise ValueError(f"Only classes without an order have costs; this is {self.task}.")
        costs = decision_costs(decision, self.classes, self.class_counts)
        if costs == self.costs:
            return self
        if self.semantics.meaning.link != "softmax":
            return replace(self, costs=costs)
        old, new = (snap(log(given or 1.0)) for given in (self.costs, costs))
        return replace(self, base=tuple((snap(self.base) - old + new).tolist()), costs=costs)

    def without_rule(self, index: int) -> "RuleSet":
        """Return all rules but one.

        Examples
        --------
        >>> from frri.rules import NumericCondition
        >>> low = Rule((NumericCondition.below("a", 3),), "low", 0.9)
        >>> rules = RuleSet((low, Rule((), "any", 0.5)), (Attribute("a", 0, 9),), ("any", "low"))
        >>> print(rules.without_rule(1))
        IF a < 3 THEN class = low   [weight 0.90]
        """
        self._rule(index)
        return self._edited(self.rules[:index] + self.rules[index + 1 :])

    def with_rule(self, rule: Rule, position: int | None = None) -> "RuleSet":
        """Add a rule at the end or before another one; its origin becomes "written".

        Examples
        --------
        >>> from frri.rules import NumericCondition
        >>> low = Rule((NumericCondition.below("a", 3),), "low", 0.9)
        >>> rules = RuleSet((low, Rule((), "any", 0.5)), (Attribute("a", 0, 9),), ("any", "low"))
        >>> high = Rule((NumericCondition("a", 7, 7),), "any")
        >>> [rule.origin for rule in rules.with_rule(high, position=0)]
        ['written', 'learned', 'learned']
        """
        n = len(self.rules)
        position = n if position is None else position
        if not 0 <= position <= n:
            raise IndexError(f"A new rule goes to a position from 0 to {n}, got {position}.")
        written = replace(rule, origin="written")
        return self._edited((*self.rules[:position], written, *self.rules[position:]))

    def with_changed_rule(
        self,
        index: int,
        *,
        conditions: tuple[Condition, ...] | None = None,
        consequent: Label | None = None,
        weight: float | None = None,
    ) -> "RuleSet":
        """Change the conditions, consequent or weight of a rule; its origin becomes "edited".

        The rule loses what was measured for its old form: its statistics, and with other conditions
        or another class also its distribution, votes and partial weights. Other rules keep their
        statistics; `with_statistics` renews them all. `about` counts edits and loses the proof.

        Examples
        --------
        >>> from frri.rules import NumericCondition
        >>> low = Rule((NumericCondition.below("a", 3),), "low", 0.9)
        >>> rules = RuleSet((low, Rule((), "any", 0.5)), (Attribute("a", 0, 9),), ("any", "low"))
        >>> changed = rules.with_changed_rule(0, weight=0.8)
        >>> changed[0].weight, changed[0].origin
        (0.8, 'edited')
        """
        old = self._rule(index)
        given: dict[str, Any] = {"conditions": conditions, "consequent": consequent}
        given["weight"] = None if weight is None else float(weight)
        new = replace(old, **{name: value for name, value in given.items() if value is not None})
        if new == old:
            return self
        if (new.conditions, new.consequent) != (old.conditions, old.consequent):
            new = replace(new, distribution=None, partial_weights=(), votes=None)
        origin = "edited" if old.origin == "learned" else old.origin
        new = replace(new, statistics=None, origin=origin)
        return self._edited((*self.rules[:index], new, *self.rules[index + 1 :]))

    def with_condition(
        self, index: int, condition: Condition, replacing: int | None = None
    ) -> "RuleSet":
        """Add a condition to a rule, or put it in the place of condition number `replacing`.

        Examples
        --------
        >>> from frri.rules import NumericCondition
        >>> low = Rule((NumericCondition.below("a", 3),), "low", 0.9)
        >>> rules = RuleSet((low, Rule((), "any", 0.5)), (Attribute("a", 0, 9),), ("any", "low"))
        >>> [len(rule.conditions) for rule in rules.with_condition(0, NumericCondition("a", 1, 1))]
        [2, 0]
        """
        conditions = self._rule(index).conditions
        at = len(conditions) if replacing is None else self._check_condition(index, replacing)
        changed = (*conditions[:at], condition, *conditions[at + 1 :])
        return self.with_changed_rule(index, conditions=changed)

    def without_condition(self, index: int, position: int) -> "RuleSet":
        """Remove condition number `position` from a rule.

        Examples
        --------
        >>> from frri.rules import NumericCondition
        >>> low = Rule((NumericCondition.below("a", 3),), "low", 0.9)
        >>> rules = RuleSet((low, Rule((), "any", 0.5)), (Attribute("a", 0, 9),), ("any", "low"))
        >>> rules.without_condition(0, 0)[0].conditions
        ()
        """
        conditions, at = self._rule(index).conditions, self._check_condition(index, position)
        return self.with_changed_rule(index, conditions=conditions[:at] + conditions[at + 1 :])

    def _edited(self, rules: tuple[Rule, ...]) -> "RuleSet":
        return replace(self, rules=rules, about=About(self.about).edited())

    def _rule(self, index: int) -> Rule:
        if not 0 <= index < len(self):
            raise IndexError(f"There is no rule {index}; the rule set has {len(self)}, from 0.")
        return self.rules[index]

    def _check_condition(self, index: int, position: int) -> int:
        n = len(self._rule(index).conditions)
        if not 0 <= position < n:
            raise IndexError(f"Rule {index} has no condition {position}; it has {n}, from 0.")
        return position

    # ---------------------------------------------------------------- display
    def __str__(self) -> str:
        return "\n".join(text.ruleset_lines(self))

    def __repr__(self) -> str:
        n, m = len(self.rules), sum(len(rule.conditions) for rule in self.rules)
        return f"<RuleSet: {n} rules with {m} conditions for {self.target!r}>"

    def _repr_html_(self) -> str:
        try:
            import jinja2  # noqa: F401, PLC0415 - optional; without it there is the plain table

            from frri.report.page import notebook_html  # noqa: PLC0415 - knows this module
        except ImportError:
            return text.ruleset_html(self)
        return notebook_html(self)

    def to_frame(self) -> Frame:
        """Return one row per rule: conditions, class, weight and statistics (needs pandas).

        Examples
        --------
        >>> from frri.rules import NumericCondition
        >>> low = Rule((NumericCondition.below("a", 3),), "low", 0.9)
        >>> rules = RuleSet((low, Rule((), "any", 0.5)), (Attribute("a", 0, 9),), ("any", "low"))
        >>> rules.to_frame()[["if", "weight"]].values.tolist()
        [['a < 3', 0.9], ['', 0.5]]
        """
        pd = import_optional("pandas", "A table of rules", "tables")
        columns = text.rule_columns(self).items()
        return pd.DataFrame([{title: of(rule) for title, of in columns} for rule in self])

    # ---------------------------------------------------------------- model files
    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; `from_dict` reads them."""
        return json_format.to_dict(self)

    @staticmethod
    def from_dict(content: Mapping[str, Any]) -> "RuleSet":
        """Return the rule set that `to_dict` wrote; a ValueError names what does not fit."""
        return json_format.from_dict(content)

    def to_json(self) -> str:
        """Return a versioned JSON string, all numbers in full precision."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)

    @staticmethod
    def from_json(content: str) -> "RuleSet":
        """Return the rule set of a JSON string."""
        return json_format.from_json(content)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the JSON string to a file, whole or not at all.

        Examples
        --------
        >>> import tempfile
        >>> rules = RuleSet((Rule((), "no"),), (), ("no", "yes"))
        >>> path = Path(tempfile.mkdtemp()) / "model.json"
        >>> rules.save(path)
        >>> RuleSet.load(path) == rules
        True
        """
        write_atomically(path, self.to_json() + "\n")

    @staticmethod
    def load(path: str | PathLike[str]) -> "RuleSet":
        """Read a file written by `save`."""
        with Path(path).open("rb") as file:
            return json_format.read(file, str(path))

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}


# Smallest and largest cost of misclassification.
COSTS = (1.0 / LARGEST_SAID, LARGEST_SAID)

# Costs whose relative difference is smaller are equal, as those of classes of equal weight are.
EQUAL = 1e-9


def decision_costs(
    decision: Any, classes: Sequence[Label], sizes: Sequence[float]
) -> tuple[float, ...]:
    """Return the cost of each class by the argument of `RuleSet.with_decision`; none if equal.

    Examples
    --------
    >>> decision_costs("balanced", ("no", "yes"), (30, 10)), decision_costs({}, ("no", "yes"), ())
    ((0.666..., 2.0), ())
    """
    costs = [1.0] * len(classes)
    if isinstance(decision, Mapping):
        places: dict[Any, int] = {str(label): c for c, label in enumerate(classes)}
        places |= {label: c for c, label in enumerate(classes)}
        for label, cost in decision.items():
            place = places.get(label, places.get(str(label)))
            if place is None:
                known = f"which does not exist; the classes are {', '.join(map(repr, classes[:8]))}"
                raise ValueError(f"decision names the class {label!r}, {known}.")
            is_number = isinstance(cost, Real) and not isinstance(cost, bool)
            costs[place] = 0.0
            with suppress(OverflowError):
                costs[place] = float(cost) if is_number else 0.0
            if not COSTS[0] <= costs[place] <= COSTS[1]:
                expected = f"a number from {COSTS[0]:g} to {COSTS[1]:g}, got {short_repr(cost)}"
                raise ValueError(f"The cost of misclassifying {label!r} must be {expected}.")
    elif isinstance(decision, str) and decision == "balanced":
        costs = [fsum(sizes) / (len(sizes) * size) if size > 0 else 1.0 for size in sizes]
    elif not isinstance(decision, str) or decision != "accuracy":
        known = "accuracy, balanced or a mapping from classes to costs"
        raise ValueError(f"decision must be {known}, got {short_repr(decision)}.")
    return tuple(costs) if max(costs) > min(costs) * (1.0 + EQUAL) else ()


def _tuple(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(map(plain_scalar, values))


def _semantics(
    given: Semantics | str, combination: str | None, settings: Mapping[str, Any]
) -> Semantics:
    """Return a semantics with the settings that were given one by one."""
    changes = {name: value for name, value in settings.items() if value is not None}
    if combination is not None:
        if combination not in SHORTHANDS:
            known = ", ".join(SHORTHANDS)
            raise ValueError(f"combination must be one of {known}, got {combination!r}.")
        changes["name"] = SHORTHANDS[combination]
    if isinstance(given, Semantics):
        return replace(given, **changes)
    return Semantics(**{"name": given} | changes)


def _find_problems(ruleset: RuleSet) -> Iterator[str]:
    """Yield what is wrong with a rule set, its rules last."""
    semantics, classes, counts = ruleset.semantics, ruleset.classes, ruleset.class_counts
    kinds = {attribute.name: attribute.kind for attribute in ruleset.attributes}
    if len(kinds) < len(ruleset.attributes):
        yield "Two attributes have the same name; rename one of them."
    if ruleset.task == "regression":
        if classes or counts:
            yield f"A rule set for regression must have no classes, got {classes or counts}."
    elif not classes or len(set(classes)) < len(classes):
        yield f"The classes must be distinct and at least one, got {classes!r}."
    elif len(counts) != len(classes) or min(counts) < 0 or not 0 < sum(counts) < inf:
        yield "There must be one count of 0 or more per class, not all 0."
    yield from _find_score_problems(ruleset)
    for r, rule in enumerate(ruleset.rules, 1):
        yield from (f"Rule {r} {text}" for text in find_problems(rule, semantics, classes, kinds))


def _find_score_problems(ruleset: RuleSet) -> Iterator[str]:
    """Yield what is wrong with the base, the trust and the costs."""
    name, meaning, base = ruleset.semantics.name, ruleset.semantics.meaning, ruleset.base
    n_base = meaning.base_length(len(ruleset.classes))
    if len(base) != n_base or not all(abs(value) <= LARGEST_SAID for value in base):
        yield f"The base of {name} must be {n_base} numbers {SAID}, got {base}."
    if ruleset.task == "ordinal" and any(a < b for a, b in pairwise(base)):
        yield f"The base of {name} must not rise, got {base}."
    shrinks = meaning.link in {"shares", "softmax"}
    if not 0.0 <= ruleset.trust <= 1.0 or (ruleset.trust < 1.0 and not shrinks):
        most = "from 0 to 1" if shrinks else f"1 in {name}"
        yield f"The trust in the rules must be {most}, got {ruleset.trust}."
    costs, counts = ruleset.costs, ruleset.class_counts
    if costs and (ruleset.task != "classification" or len(costs) != len(ruleset.classes)):
        yield f"There must be one cost per class without an order, or none, got {costs}."
    elif not all(COSTS[0] <= cost <= COSTS[1] for cost in costs):
        yield f"The costs must be numbers from {COSTS[0]:g} to {COSTS[1]:g}, got {costs}."
    elif costs and not 0 < sum(map(mul, counts, costs)) < inf:
        yield f"The costs {costs} are too far from 1 for the class counts {counts}."

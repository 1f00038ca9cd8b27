"""Rules, what they mean together, and the table they are about: a predictor that can be read."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Flags, Floats, Positions
from frri.rules import json_format, measures, text
from frri.rules.checks import base_length, check_ruleset
from frri.rules.conformal import half_width
from frri.rules.editing import EditableRules
from frri.rules.inference import Decision
from frri.rules.matching import COVERS, RuleArrays
from frri.rules.provenance import About, plain_scalar
from frri.rules.rule import Label, Rule, RuleStatistics, attach_units
from frri.rules.rule_statistics import rule_statistics
from frri.rules.semantics import CLASSIFICATION, SHORTHANDS, Semantics, Support
from frri.table import Attribute, to_matrix
from frri.table.encode import check_order

if TYPE_CHECKING:
    import pandas as pd

    from frri.explain import Explanation
    from frri.rules.hierarchy import Hierarchy

STATISTICS = Support(
    "The table of what rules cover, class by class,",
    "look at RuleSet.covers instead",
    CLASSIFICATION | {"at-least-class"},
)


@dataclass(frozen=True, init=False)
class RuleSet(EditableRules):
    """Rules and all it takes to apply them; immutable, independent of learner and training data.

    Parameters
    ----------
    rules : tuple of Rule
    attributes : tuple of Attribute
        The columns of the training table, in order.
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
        Where the rules come from (learner, settings, proof); plain JSON values, not interpreted.
        The ruleset keeps a frozen copy. Equal rulesets decide and read alike, wherever they come
        from.
    semantics : Semantics or str
        What the rules mean together, or its name.
    base : tuple of float
        What is there before any rule counts, where the semantics wants it: a number per class, one
        number in regression, one for each class but the first in "cumulative-logits".
    trust : float, default=1.0
        The share of probabilities that comes from the rules; the rest are the sizes of the classes.

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
    target: str
    semantics: Semantics
    base: tuple[float, ...]
    class_counts: tuple[float, ...]
    about: Mapping[str, Any] = field(compare=False)
    trust: float

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
    ) -> None:
        settings = {"t_norm": t_norm, "fallback": fallback, "clip": clip, "missing": missing}
        chosen = _semantics(semantics, combination, settings)
        labels, described = _tuple(classes), _tuple(attributes)
        for name, value in {
            "rules": _in_units(_tuple(rules), described),
            "attributes": described,
            "classes": labels,
            "target": target,
            "semantics": chosen,
            "base": _tuple(base) or (0.0,) * base_length(chosen, len(labels)),
            "class_counts": _tuple(class_counts) or (1.0,) * len(labels),
            "about": About({} if about is None else about),
            "trust": trust,
        }.items():
            object.__setattr__(self, name, value)
        check_ruleset(self)

    @property
    def task(self) -> str:
        """Return what is predicted: "classification", "ordinal" or "regression"."""
        return self.semantics.meaning.task

    @property
    def combination(self) -> str:
        """Return how what rules count comes together: see `frri.rules.semantics`."""
        return self.semantics.meaning.combination

    @property
    def t_norm(self) -> str:
        """Return how the conditions of a rule are joined."""
        return self.semantics.t_norm

    @property
    def fallback(self) -> str:
        """Return what decides where no rule fires."""
        return self.semantics.fallback

    @property
    def clip(self) -> bool:
        """Return whether values outside the training range count as its nearest end."""
        return self.semantics.clip

    @property
    def missing(self) -> str:
        """Return what a missing value counts as."""
        return self.semantics.missing

    @cached_property
    def arrays(self) -> RuleArrays:
        """Return the rules as arrays, for engines: what is in it may change with any version."""
        return RuleArrays(self.rules, self.attributes, self.classes, self.semantics)

    @cached_property
    def used_attributes(self) -> tuple[str, ...]:
        """Return the names of the attributes that conditions look at: a table needs no other columns."""
        used = {name for rule in self.rules for name in rule.attributes}
        return tuple(a.name for a in self.attributes if a.name in used)

    # ------------------------------------------------------------------ as a collection

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __getitem__(self, index: int) -> Rule:
        return self.rules[index]

    # ------------------------------------------------------------------ prediction

    def predict(self, X: Any, *, n_jobs: int | None = None) -> NDArray[Any]:
        """Return the class of each row of a table, or its number (a data frame is read by its column names).

        Columns that no condition looks at need not be there.
        Many rows are divided among `n_jobs` threads, by default all cores: see
        `frri._util.n_threads`.
        """
        return self.decide(X, n_jobs=n_jobs).answers

    def predict_proba(self, X: Any, *, n_jobs: int | None = None) -> Floats:
        """Return rows x classes: shares of the scores, or of the fallback, and of the classes in training."""
        return self.decide(X, n_jobs=n_jobs).probabilities

    def predict_interval(self, X: Any, level: float = 0.9) -> Floats:
        """Return rows x 2: from where to where the number of each row lies, at a level that new rows hold.

        For rules that were learned with `calibration_fraction`: see `frri.rules.conformal`.
        """
        reach = half_width(self, level)
        answers = self.predict(X)
        return np.column_stack([answers - reach, answers + reach])

    def scores(self, X: Any, *, n_jobs: int | None = None) -> Floats:
        """Return rows x classes: what the rules that fire say; a row of zeros where none does."""
        return self.decide(X, n_jobs=n_jobs).scores

    def degrees(self, X: Any) -> Floats:
        """Return rows x rules: to which degree each rule's conditions hold (without its weight)."""
        return self.decide(X).degrees

    def covers(self, X: Any) -> Flags:
        """Return rows x rules: which rules cover which rows."""
        return np.asarray(self.degrees(X) * self.arrays.weights > COVERS)

    def decide(self, X: Any, *, n_jobs: int | None = None) -> Decision:
        """Return answers, scores, probabilities and deciding rules of all rows, the table read only once."""
        matrix = to_matrix(X, self.attributes, self.used_attributes)
        check_order(X, self.attributes, matrix, self.used_attributes)
        return Decision(self, matrix, n_jobs)

    def predict_index(self, matrix: Floats, *, n_jobs: int | None = None) -> Positions:
        """Return positions in `classes`, for values already encoded by `frri.table.to_matrix`."""
        return Decision(self, matrix, n_jobs).index

    def probabilities(self, matrix: Floats, *, n_jobs: int | None = None) -> Floats:
        """Return the same as `predict_proba`, for encoded values."""
        return Decision(self, matrix, n_jobs).probabilities

    # ------------------------------------------------------------------ statistics

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of the rows that are predicted as labelled; of numbers, R squared.

        Parameters
        ----------
        X, y : table and labels, or numbers
        sample_weight : array-like of shape (n_rows,), optional
            How much every row counts.

        Examples
        --------
        >>> from frri.rules import NumericCondition
        >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a"),), (0, 1))
        >>> rules.score([[1], [2], [2], [2]], [0, 0, 0, 1])
        0.75
        """
        return measures.score(self, X, y, sample_weight)

    def statistics(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[RuleStatistics, ...]:
        """Return what each rule covers in a labelled table, in rows or in what they weigh.

        Examples
        --------
        >>> from frri.rules import NumericCondition
        >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a"),), (0, 1))
        >>> rules.statistics([[1], [2], [3], [2]], [0, 0, 1, 1])
        (RuleStatistics(support=(2, 1), precision=0.666..., lift=1.333..., alone=3),)
        """
        STATISTICS.require(self.semantics)
        table = to_matrix(X, self.attributes, self.used_attributes)
        matrix = self.arrays.matcher.clipped(table)
        return rule_statistics(self, matrix, y, sample_weight)

    def with_statistics(self, X: Any, y: Any, sample_weight: Any = None) -> "RuleSet":
        """Return the same rules with their statistics on a labelled table written into them."""
        found = self.statistics(X, y, sample_weight)
        rules = (replace(rule, statistics=s) for rule, s in zip(self.rules, found, strict=True))
        return replace(self, rules=tuple(rules))

    def hierarchy(self, X: Any, y: Any, sample_weight: Any = None) -> "Hierarchy":
        """Return similar rules of a class merged into more general ones, by a labelled table.

        A tree to read from the top, and to cut at any size or precision: see
        `frri.rules.hierarchy`.
        """
        from frri.rules.hierarchy import hierarchy  # noqa: PLC0415 - not needed for prediction

        return hierarchy(self, X, y, sample_weight)

    # ------------------------------------------------------------------ questions and edits

    def explain(
        self, row: Any, *, unchangeable: Collection[str] = (), effort: int = 10_000, **goal: Any
    ) -> "Explanation":
        """Why a row is decided as it is, and what would change that: see `frri.explain.explain`.

        Of ordered classes and of numbers a `goal` can be set, `at_least` or `at_most`.
        """
        from frri.explain import explain  # noqa: PLC0415 - not needed for prediction

        return explain(self, row, unchangeable=unchangeable, effort=effort, **goal)

    # ------------------------------------------------------------------ display

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

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per rule: conditions, class, weight and training statistics (needs pandas)."""
        return text.ruleset_frame(self)

    # ------------------------------------------------------------------ persistence

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; `from_dict` reads them back."""
        return json_format.to_dict(self)

    @staticmethod
    def from_dict(content: Mapping[str, Any]) -> "RuleSet":
        """Return the ruleset that `to_dict` described; a ValueError names what does not fit."""
        return json_format.from_dict(content)

    def to_json(self) -> str:
        """Return a versioned JSON text, all numbers in full precision."""
        return json_format.to_json(self)

    @staticmethod
    def from_json(content: str) -> "RuleSet":
        """Return the ruleset of a JSON text."""
        return json_format.from_json(content)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the JSON text to a file, whole or not at all."""
        json_format.save(self, path)

    @staticmethod
    def load(path: str | PathLike[str]) -> "RuleSet":
        """Read a file written by `save`."""
        return json_format.load(path)

    # ------------------------------------------------------------------ inside

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}


def _tuple(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(map(plain_scalar, values))


def _in_units(rules: Iterable[Rule], attributes: Iterable[Attribute]) -> tuple[Rule, ...]:
    """Return rules that show dates and ordered categories as such, also by themselves."""
    units = {a.name: a for a in attributes if a.kind in {"date", "ordinal"}}
    return tuple(attach_units(rule, units) for rule in rules)


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
        return replace(given, **changes) if changes else given
    return Semantics(**{"name": given} | changes)

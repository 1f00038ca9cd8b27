"""Additive rules for numbers: a dozen soft rules whose contributions are summed on a base value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from frri._reproducible import snap, total
from frri.learners.additive.blocks import SampleBlocks, SummingBlock
from frri.learners.additive.classifier import check_size, upward_sides
from frri.learners.additive.columns import SoftColumns
from frri.learners.additive.losses import SquaredLoss
from frri.learners.additive.search import RuleSearch, StagewiseInduction, run_all
from frri.learners.base import RuleRegressor, standardised
from frri.learners.size_cv import number_path
from frri.learners.validation import check_count, check_share
from frri.rules import Rule, RuleSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from frri.learners.training_table import NumberTable

# Half-width of a ramp, in standard deviations of its attribute.
WIDTH = 1.0
# Penalty of a squared contribution, in standard deviations of the target.
PENALTY = 4.0
# The usual number of rules, and the gain in half the squared error that each must promise, in
# variances of the residuals.
RULES = 14
LEAST_GAIN = 0.5
# Additions per rule allowed: a steep function takes a few steep rules, which are found again until
# the penalty no longer holds them back.
ADDITIONS = 8
# The fewest and the most rules of a path.
PATH = (2, 42)


class AdditiveRulesRegressor(RuleRegressor):
    """Additive rules for numbers: a base value plus what a dozen soft rules contribute.

    A rule is a box with most sides open and soft edges: "at most t" holds fully up to one standard
    deviation of the attribute below t and fades out linearly until one above it. The degree of a
    rule is the product of its conditions, two of which may bound the same side of an attribute:
    then the rule fades along a curve. It adds its number times its degree to the base value.

    Rules are added one at a time, as in `AdditiveRulesClassifier`, by the gain on the squared error
    G^2 / (2 (H + lambda)), H about its mean because the base is fitted along; then all numbers and
    the base are fitted anew by ridge regression (lambda = 4, target in standard deviations). There
    is no randomness.

    Parameters
    ----------
    max_rules : int, "auto" or "1se", default="auto"
        The most rules; 14 by default. A rule must promise to lower the squared error by the
        variance of what is left over; by less in proportion where more rules than by default are
        allowed. "1se" takes the fewest whose R2 in five-fold cross-validation is within one
        standard error of the best.
    max_conditions : int, default=4
        The most conditions of a rule.
    min_support : float, default=0.0
        The share of all objects that a rule must cover, degrees added up, to be added.
    monotonic_cst : mapping of str to {1, -1}, optional
        Attributes with which predictions must not fall (1) or not rise (-1). Rules that add then
        use only "at least" of the attribute, rules that subtract only "at most" (or the other way
        round), so that no object can be an exception.
    refine : int, default=0
        How often the rules are gone through again, each kept, dropped or replaced.
    calibration_fraction : float, default=0.0
        The share of the rows, drawn once and for all, that no rules are learned from: errors there
        make `predict_interval` hold its level.
    {missing}
    n_jobs : int, optional
        Threads for large tables and for prediction; all cores by default.
    {verbose}

    Attributes
    ----------
    ruleset_ : RuleSet
        The rules in the order in which they were added, with the semantics "added-contributions". A
        rule's consequent is the number that it adds, in the target's own units.
    path_ : SizePath or None
        With ``max_rules="1se"``: `sizes` from few rules to many, their `scores` and standard
        `errors`, and the size `chosen`; `to_frame` makes a table of it.
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    frri.AdditiveRulesClassifier : The same for classes.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> additive = AdditiveRulesRegressor(max_rules=4).fit(X, y)
    >>> len(additive.ruleset_)
    4
    >>> additive.score(X, y) > 0.4
    True
    """

    def __init__(
        self,
        *,
        max_rules: int | Literal["auto", "1se"] = "auto",
        max_conditions: int = 4,
        min_support: float = 0.0,
        monotonic_cst: Mapping[str, int] | None = None,
        refine: int = 0,
        calibration_fraction: float = 0.0,
        missing: str = "typical",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.min_support = min_support
        self.monotonic_cst = monotonic_cst
        self.refine = refine
        self.calibration_fraction = calibration_fraction
        self.missing = missing
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_size(self.max_rules, self.max_conditions, ["auto", "1se"])
        check_count("refine", self.refine, 0)
        check_share("min_support", self.min_support)

    def _learn_numbers(self, table: NumberTable) -> None:
        self.path_ = number_path(self, table, *PATH) if self.max_rules == "1se" else None
        with self._step("rules one after another"):
            (self.ruleset_,) = self._rulesets(table, [self._most_rules()])

    def _most_rules(self) -> int:
        if isinstance(self.max_rules, str):
            return RULES if self.path_ is None else self.path_.chosen
        return int(self.max_rules)

    def _rulesets(self, table: NumberTable, sizes: Sequence[int]) -> Iterator[RuleSet]:
        """Yield a rule set for each of the ascending maximum sizes; each extends the one before."""
        weights = table.all_weights
        middle, unit, scaled = standardised(table.numbers, weights)
        columns = SoftColumns.of(table.values, table.attributes, weights, WIDTH)
        blocks = SampleBlocks.of(SummingBlock, columns, self.n_jobs, weights=weights, target=scaled)
        weight = float(total(weights))
        inductions = (self._induction(table, columns, blocks, weight, k) for k in sizes)
        for model in run_all(inductions):
            contributions = unit * snap(model.fitted.weights)
            yield RuleSet(
                rules=tuple(
                    Rule(columns.conditions(added.rule.tests, table.attributes), float(number))
                    for added, number in zip(model.rules, contributions, strict=True)
                ),
                attributes=table.attributes,
                target=table.target,
                semantics="added-contributions",
                t_norm="product",
                clip=True,
                missing=self._missing_in_rules,
                base=(float(middle + unit * snap(model.fitted.base[0])),),
                about=self._about(table),
            )

    def _induction(
        self,
        table: NumberTable,
        columns: SoftColumns,
        blocks: SampleBlocks,
        weight: float,
        max_rules: int,
    ) -> StagewiseInduction:
        upward = upward_sides(self.monotonic_cst, table.attributes)
        loss = SquaredLoss(
            blocks=blocks,
            voices=(0,) if upward is None else (1, -1),
            penalty=PENALTY,
            least=LEAST_GAIN * min(1.0, RULES / max_rules),
            allowed=None if upward is None else {1: upward, -1: upward[:, ::-1]},
            weight=weight,
        )
        limits = columns, blocks, weight, PENALTY, self.max_conditions
        search = RuleSearch(*limits, centered=True, curved=True)
        least = self.min_support * weight
        return StagewiseInduction(search, loss, max_rules, self.refine, lambda _: least, ADDITIONS)

    def _name(self) -> str:
        return "Additive rules"

"""Estimators that choose the best readable model for a table by cross-validation."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf, sqrt
from time import perf_counter
from typing import Any, ClassVar, Self

from sklearn.base import clone

from frri._util import find_name, short_repr
from frri.learners.base import RuleLearner
from frri.learners.classification import AnyRuleClassifier, OrderedRuleClassifier
from frri.learners.registry import TASKS, rule_learners
from frri.learners.regression import RuleRegressor
from frri.learners.training_table import TrainingTable, with_weights
from frri.learners.validation import check_boolean, check_count, check_range, check_share
from frri.rules import RuleSet
from frri.rules.conformal import half_widths
from frri.selection.holdout import BALANCED, LOWER_IS_BETTER, Holdout, HoldoutResult
from frri.table import EncodedTable, encode_frame
from frri.table.columns import column_names

# Expected CPU seconds of evaluating and fitting all candidates.
BUDGET = 20.0

# Candidates for every table, and those that compete where there is time.
CANDIDATES = {
    "classification": (("ripper", "additive"), ("furia", "compact", "frri")),
    "ordinal": (("additive",), ("frri",)),
    "regression": (("additive",), ("frri",)),
}

# Models that are not readable, to compare with.
REFERENCES = {"random forest": "RandomForest", "gradient boosting": "HistGradientBoosting"}
# Categories of a column that gradient boosting takes as such.
MOST_CATEGORIES = 255

# Candidate that leads unless another is clearly better, and the loss of score that fewer conditions
# are worth, at most.
FAVORITE, CLOSE, NEGLIGIBLE = "additive", 0.002, 0.005

# Rules that a person reads, at most; of many classes, twice their number.
MOST_RULES = 40

# Without splits: up to this number of samples, strict FRRI.
SMALL = 100

# Fraction of a time limit that is spent on held-out samples.
EVALUATION = 0.6
# Smallest fraction of the samples that may be a test set.
TINY = 1e-9


@dataclass(kw_only=True, eq=False, repr=False)
class AutoRules(RuleLearner):
    """Base of the estimators that choose one of several."""

    estimators: Any = "auto"
    max_rules: int | None = None
    max_conditions: int | None = None
    min_support: float | None = None
    cv: Any = None
    test_size: float | None = None
    references: bool = True
    time_limit: float | None = None
    random_state: int = 0

    _task = "classification"
    # Of the base class of the task: checks the training data.
    _training_table: ClassVar[Any]

    best_estimator_: Any = field(init=False)
    best_name_: str = field(init=False)
    leaderboard_: list[dict[str, Any]] = field(init=False)
    holdout_result_: HoldoutResult | None = field(init=False)
    reason_: str = field(init=False)

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **fit_params: Any
    ) -> Self:
        """Compare estimators on held-out samples, and fit the best one to all samples.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            The name of a series becomes the name of the target.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples; a sample of weight 0 is left out.
        groups : array-like of shape (n_samples,), optional
            Samples of the same group (a patient, a company) are held out together.
        **fit_params
            Further arguments of the `fit` of the chosen estimator.

        Returns
        -------
        self
        """
        self._check_parameters()
        start = perf_counter()
        n_classes = len(self._training_table(X, y, sample_weight).labels)
        costs = getattr(self, "costs", None)
        holdout = Holdout(
            X,
            y,
            task=self._task,
            class_order=self.classes_.tolist() if self._task == "ordinal" else None,
            sample_weight=sample_weight,
            groups=groups,
            cv=self.cv,
            test_size=self.test_size,
            metric=getattr(self, "metric", None) if costs is None else "cost",
            costs=costs,
            random_state=self.random_state,
        )
        size = len(holdout.y), self.n_features_in_, n_classes
        estimators, references = self._candidates(holdout, size)
        if sample_weight is not None:
            fit_params["sample_weight"] = sample_weight
        results: dict[str, HoldoutResult] = {}
        self.reason_ = holdout.reason
        limit = inf if self.time_limit is None else self.time_limit
        compare = partial(self._compare, holdout, estimators, references, results)
        self.best_name_ = next(iter(estimators))
        is_choice = len(estimators) > 1 and bool(holdout.splits)
        if is_choice:
            compare(start + EVALUATION * limit)
            self.best_name_ = self._choose(results, estimators, _most_rules(holdout))
            if not results:
                self.reason_ = "the time limit was reached"
        best = clone(estimators[self.best_name_])
        if self.time_limit is not None and best.get_params().get("time_limit", 0.0) is None:
            best.time_limit = max(0.0, start + limit - perf_counter())
        with self._step(f"fit of {self.best_name_}"):
            self.best_estimator_ = best.fit(X, y, **fit_params)
        if not is_choice:
            # The model is complete: the evaluation can be interrupted.
            try:
                compare(start + limit)
            except KeyboardInterrupt:
                results.clear()
                self.reason_ = "it was interrupted; the model is complete"
        self.holdout_result_ = results.get(self.best_name_)
        self.leaderboard_ = _leaderboard(results, holdout)
        self.ruleset_, self.path_ = self._with_evaluation(best.ruleset_), best.path_
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_boolean("references", self.references)
        check_count("random_state", self.random_state)
        if self.time_limit is not None:
            check_range("time_limit", self.time_limit, 0, inf, "None or a number from 0 on")
        self._check_limits()
        given: Any = self.estimators
        if isinstance(given, str) and given == "auto":
            return
        if isinstance(given, str) or not isinstance(given, Sequence | Mapping) or not given:
            raise ValueError(
                'estimators must be "auto", a list of names or a mapping of names to estimators, '
                f"got {short_repr(given)}."
            )
        if isinstance(given, Mapping):
            return
        for name in given:
            find_name(str(name), rule_learners(self._task), f"frri for {self._task}", "estimator")

    def _check_limits(self) -> None:
        """Check limits of the candidates, and of what is held out."""
        for name in ("max_rules", "max_conditions"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name), 1)
        if self.min_support is not None:
            check_share("min_support", self.min_support)
        if self.test_size is not None:
            valid = "a fraction above 0 and below 1"
            check_range("test_size", self.test_size, TINY, 1.0 - TINY, valid)
        if isinstance(self.cv, int):
            check_count("cv", self.cv)

    def _candidates(
        self, holdout: Holdout, size: tuple[int, int, int]
    ) -> tuple[dict[str, Any], list[str]]:
        """Return the candidates, and the names of the references to evaluate."""
        given: Any = self.estimators
        further: tuple[str, ...] = ()
        if isinstance(given, str):
            given, further = CANDIDATES[self._task]
            if not holdout.splits:
                is_small = self._task == "classification" and size[0] <= SMALL
                given, further = ("frri" if is_small else "additive",), ()
            further = tuple(sorted(further, key=lambda name: expected_seconds(name, *size)))
        wanted = tuple(REFERENCES) if self.references else ()
        names, n_splits = plan((*given,), wanted + further, len(holdout.splits), size)
        references = [name for name in REFERENCES if name in names]
        if self.cv is None:
            holdout.splits = holdout.splits[:n_splits]
        if isinstance(given, Mapping):
            return dict(given), references
        shared = ("max_rules", "max_conditions", "min_support", "missing", "n_jobs", "random_state")
        parameters = {name: getattr(self, name) for name in shared}
        parameters |= {"class_order": holdout.class_order, "task": self._task}
        costs = getattr(self, "costs", None)
        if costs is not None:
            labels = {str(label): label for label in self.classes_.tolist()}
            costs = {labels.get(str(label), label): cost for label, cost in costs.items()}
        return {
            name: make_estimator(
                name, **parameters, **decision_parameters(name, holdout.metric, costs)
            )
            for name in names
            if name not in REFERENCES
        }, references

    def _compare(
        self,
        holdout: Holdout,
        estimators: Mapping[str, Any],
        references: Sequence[str],
        results: dict[str, HoldoutResult],
        deadline: float,
    ) -> None:
        """Evaluate candidates, then references; those that cannot be fitted are left out."""
        leader: HoldoutResult | None = None
        with self._step("comparison on held-out samples"):
            for name in [*estimators, *references] if holdout.splits else ():
                result = None
                with suppress(ValueError):
                    if name in estimators:
                        result = holdout.evaluate(
                            estimators[name], leader=leader, deadline=deadline
                        )
                    elif perf_counter() < deadline:
                        result = evaluate_reference(name, holdout, self.random_state)
                if result is None:
                    continue
                results[name] = result
                is_candidate = name in estimators and result.n_rules <= _most_rules(holdout)
                if is_candidate and (leader is None or result.loss(leader) < 0.0):
                    leader = result

    def _choose(
        self, results: Mapping[str, HoldoutResult], estimators: Mapping[str, Any], most_rules: int
    ) -> str:
        """Return the candidate with the fewest conditions of those that are as good as the best."""
        found = {name: one for name, one in results.items() if name in estimators}
        if not found and self.time_limit is not None:
            return next(iter(estimators))
        if not found:
            raise ValueError(
                f"None of the estimators {', '.join(estimators)} can be fitted to parts of this "
                "table; name one."
            )
        most = max(len(one.truth) for one in found.values())
        found = {name: one for name, one in found.items() if len(one.truth) == most}
        found = {name: one for name, one in found.items() if one.n_rules <= most_rules} or found
        return choose_result(found)

    def _with_evaluation(self, ruleset: RuleSet) -> RuleSet:
        """Return a rule set that states its score on held-out samples, and those of others."""
        if self.holdout_result_ is None:
            return ruleset
        known = self.holdout_result_.plain() | {"leaderboard": self.leaderboard_}
        if [*map(str, self.holdout_result_.classes)] != [*map(str, ruleset.classes)]:
            known.pop("confusion", None)  # a class is not among the held-out samples
        return replace(ruleset, about={**ruleset.about, "evaluation": known})


def _most_rules(holdout: Holdout) -> int:
    """Return how many rules a person reads, at most."""
    return max(MOST_RULES, 2 * len(holdout.classes))


def choose_result(results: Mapping[str, HoldoutResult]) -> str:
    """Return the result with the fewest conditions of those that are about as good as the leader.

    The best of several scores is too high by chance. Therefore additive rules, the best candidate
    on most tables, lead unless another score is better by more than one standard error of the
    difference. About as good are those whose score is lower than the leader's by at most one
    standard error of the difference, and by at most 0.002; if the leader is no better than a
    constant prediction, all that differ by at most 0.005.
    """
    leader = next(iter(results))
    for name, one in results.items():
        leader = name if one.loss(results[leader]) < 0.0 else leader
    if FAVORITE in results and results[FAVORITE].is_close(results[leader], inf):
        leader = FAVORITE
    close = [
        name
        for name, one in results.items()
        if one.is_close(results[leader], CLOSE)
        or (not results[leader].beats_baseline and one.loss(results[leader]) <= NEGLIGIBLE)
    ]
    return min(close, key=lambda name: (results[name].n_conditions, results[name].n_rules))


def _leaderboard(results: Mapping[str, HoldoutResult], holdout: Holdout) -> list[dict[str, Any]]:
    """Return names, scores and mean sizes of candidates, the best first, then of references."""
    sign = 1.0 if holdout.metric in LOWER_IS_BETTER else -1.0
    ranked = sorted(results.items(), key=lambda one: (one[0] in REFERENCES, sign * one[1].score))
    return [
        {"name": name, "score": one.score, "folds": int(one.fold.max()) + 1}
        | ({} if name in REFERENCES else {"rules": one.n_rules, "conditions": one.n_conditions})
        for name, one in ranked
    ]


@dataclass(kw_only=True, eq=False, repr=False)
class AutoRulesClassifier(AutoRules, AnyRuleClassifier):
    """The best readable classifier for a table, chosen by cross-validation; as `frri fit` does it.

    RIPPER and additive rules compete on every table; FURIA, Compact FRRI and strict FRRI where
    there is time. Additive rules lead unless another score on held-out samples is better by more
    than one standard error of the paired difference: the best of several scores is too high by
    chance. Of those whose score is lower than the leader's by at most one standard error, and by at
    most 0.002, the one with the fewest conditions is chosen. Estimators of more than 40 rules (with
    more than 20 classes, twice their number) are chosen only if all have more. A random forest and
    gradient boosting are evaluated on the same folds: they show what readable rules cost.

    Each candidate is fitted once per fold, and the chosen one to all samples; with ``cv=0`` there
    is only that fit. A model of the work, which depends on the table alone, chooses candidates and
    the number of folds, from one to five, for about 20 CPU seconds. A candidate is given up after a
    fold if it cannot win any more. Candidates are compared on at most 20,000 samples, so that only
    the last fit takes longer with more: see the chosen estimator for its time and references.
    `random_state` seeds folds and candidates; without `time_limit` all machines agree.

    Parameters
    ----------
    {estimators}
    metric : str, default="accuracy"
        Metric by which a candidate is chosen, and reported: "accuracy", "balanced_accuracy" (mean
        recall), "log_loss", "roc_auc" (mean of all classes), "f1" (mean of all classes) or "cost".
        The predictions follow it: see `decision` of the other classifiers.
    costs : mapping of labels to float, optional
        Cost of misclassifying a sample of each class (1 for one that is not listed); the metric is
        then "cost".
    max_rules, max_conditions : int, optional
        Maximum numbers of rules, and of conditions of a rule, for candidates that have this limit.
    min_support : float, optional
        Fraction of its class that a rule must cover, for candidates that have this limit.
    {cv, test_size, references, time_limit, random_state, missing}
    n_jobs : int, optional
        Threads for large tables and for prediction; all cores by default.
    {verbose}

    Attributes
    ----------
    {best_estimator_, leaderboard_, ruleset_, holdout_result_, classes_, n_features_in_}
    {feature_names_in_}

    See Also
    --------
    frri.selection.Holdout : The splits and metrics.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = AutoRulesClassifier(estimators=["ripper", "additive"], references=False).fit(X, y)
    >>> [(one["name"], round(one["score"], 1)) for one in model.leaderboard_]
    [('additive', 1.0), ('ripper', 0.9)]
    >>> model.predict(X[:2])
    array([0, 0])
    """

    metric: str = "accuracy"
    costs: Mapping[Any, float] | None = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.costs is None and self.metric == "cost":
            raise ValueError('metric="cost" must come with costs, such as costs={"yes": 5}.')
        if self.costs is not None and self.metric not in {"accuracy", "cost"}:
            raise ValueError(f'costs must come with metric="cost", got {self.metric!r}.')
        costs: Any = self.costs
        is_valid = costs is None or isinstance(costs, Mapping)
        if not is_valid:
            expected = "None or a mapping from classes to costs"
            raise ValueError(f"costs must be {expected}, got {short_repr(costs)}.")


@dataclass(kw_only=True, eq=False, repr=False)
class AutoRulesOrdinalClassifier(AutoRules, OrderedRuleClassifier):
    """The best readable model for ordinal classification, chosen by cross-validation.

    Additive rules compete with strict FRRI where there is time, by quadratic kappa. Time,
    randomness, refits (one fit with ``cv=0``) and references: see `AutoRulesClassifier`.

    Parameters
    ----------
    {estimators, class_order}
    max_rules, max_conditions, min_support, n_jobs
        See `AutoRulesClassifier`.
    {cv, test_size, references, time_limit, random_state, missing, verbose}

    Attributes
    ----------
    {best_estimator_, leaderboard_, ruleset_, holdout_result_, classes_, n_features_in_}
    {feature_names_in_}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = AutoRulesOrdinalClassifier(estimators=["additive"], max_rules=4, references=False)
    >>> model.fit(X, y).best_name_
    'additive'
    """

    class_order: Sequence[Any] | None = None

    _task = "ordinal"


@dataclass(kw_only=True, eq=False, repr=False)
class AutoRulesRegressor(AutoRules, RuleRegressor):
    """The best readable regression model for a table, chosen by cross-validation.

    Additive rules compete with FRRI where there is time, by R². The errors on held-out samples give
    the intervals of `predict_interval`. Time, randomness, refits (one fit with ``cv=0``) and
    references: see `AutoRulesClassifier`.

    Parameters
    ----------
    {estimators}
    max_rules, max_conditions, min_support, n_jobs
        See `AutoRulesClassifier`; `min_support` is a fraction of all samples.
    {cv, test_size, references, time_limit, random_state, missing, verbose}

    Attributes
    ----------
    {best_estimator_, leaderboard_, ruleset_, holdout_result_, n_features_in_, feature_names_in_}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = AutoRulesRegressor(estimators=["additive"], max_rules=4, references=False)
    >>> model.fit(X, y).best_name_
    'additive'
    """

    _task = "regression"

    def _training_table(self, X: Any, y: Any, sample_weight: Any) -> TrainingTable:
        return with_weights(self._number_table, X, y, sample_weight)[0]

    def _with_evaluation(self, ruleset: RuleSet) -> RuleSet:
        ruleset, result = super()._with_evaluation(ruleset), self.holdout_result_
        if result is None or "intervals" in ruleset.about:
            return ruleset
        intervals = half_widths(result.truth - result.predictions)
        return replace(ruleset, about={**ruleset.about, "intervals": intervals})


# ------------------------------------------------------------------ candidates
# The work is estimated from the table alone, so that the same candidates are compared, on the same
# folds, on every machine.
def make_estimator(name: str, *, task: str = "classification", **parameters: Any) -> Any:
    """Return a registered estimator with the parameters that it has; others, and None, are dropped.

    Examples
    --------
    >>> make_estimator("ripper", random_state=1), make_estimator("compact", random_state=1)
    (RIPPERClassifier(random_state=1), CompactFRRIClassifier())
    """
    estimator = TASKS[task][name].make()
    known = estimator.get_params()
    wanted = {key: v for key, v in parameters.items() if key in known and v is not None}
    return estimator.set_params(**wanted)


def decision_parameters(
    name: str, metric: str, costs: Mapping[Any, float] | None
) -> dict[str, Any]:
    """Return the parameters by which the predictions of an estimator follow a metric.

    RIPPER and FURIA need weights of classes in training, because the first rule that covers a
    sample decides, or a rule that was pruned for one class. These weights include the costs. Other
    estimators apply costs at prediction.

    Examples
    --------
    >>> decision_parameters("additive", "balanced_accuracy", None)
    {'decision': 'balanced'}
    >>> decision_parameters("ripper", "cost", {"yes": 5})
    {'class_weight': {'yes': 5}}
    """
    wanted = "balanced" if metric in BALANCED else costs
    parameter = "class_weight" if name in {"ripper", "furia"} else "decision"
    return {} if wanted is None else {parameter: wanted}


def expected_seconds(name: str, n_samples: int, n_features: int, n_classes: int) -> float:
    """Return the CPU seconds that a fit takes, roughly, on a machine of 2024.

    Examples
    --------
    >>> round(expected_seconds("ripper", 100_000, 10, 2), 1)
    1.1
    """
    n, values, scores = n_samples, n_samples * n_features, max(n_classes, 2) - (n_classes <= 2)
    # Additive rules: one path of rules for each of its folds, and one of all samples.
    n_paths = 1.0 + 5.0 * min(1.0, 2_000 / n, 6.0 / max(n_classes, 1))
    few, deep = min(1.0, n / 1_000), values * max(1.0, values / 200_000)
    known = {
        "ripper": 0.06 + 1e-6 * values + 0.015 * scores,
        "furia": 0.08 + 5e-6 * values + 0.02 * scores,
        "additive": n_paths * (few * (0.1 + 0.08 * scores) + 3e-6 * deep * (1.0 + scores / 4.0)),
        "compact": 0.2 + 2.5e-4 * n + 3e-9 * n * values,
        "random forest": 0.12 + 4.5e-5 * n * sqrt(n_features),
        "gradient boosting": 0.15 * scores + 3e-6 * values,
    }
    return known.get(name, 0.3 + 1e-5 * n * n + 1e-8 * n * values)


def plan(
    names: Sequence[str], further: Sequence[str], n_splits: int, size: tuple[int, int, int]
) -> tuple[dict[str, float], int]:
    """Return the estimators to evaluate with their seconds per fit, and the number of splits.

    Those of `names` are evaluated on as many splits as the budget allows, at least one and at most
    `n_splits`; those of `further` on the same splits, in their order, as long as the budget lasts.
    The size consists of the numbers of samples, features and classes.

    Examples
    --------
    >>> [*plan(["ripper", "additive"], ["furia", "frri"], 5, (200, 5, 2))[0]]
    ['ripper', 'additive', 'furia', 'frri']
    >>> names, n_splits = plan(["ripper", "additive"], ["furia", "frri"], 5, (20_000, 90, 8))
    >>> [*names], n_splits
    (['ripper', 'additive'], 1)
    """
    kept = {name: expected_seconds(name, *size) for name in names}
    each = sum(kept.values())
    left = BUDGET - max(kept.values())  # of the fit to all samples
    n_splits = max(1, min(n_splits, int(left / each)))
    left -= n_splits * each
    for name in further:
        seconds = expected_seconds(name, *size)
        if n_splits * seconds <= left:
            kept[name] = seconds
            left -= n_splits * seconds
    return kept, n_splits


def evaluate_reference(name: str, holdout: Holdout, random_state: int) -> HoldoutResult | None:
    """Evaluate a random forest or gradient boosting of scikit-learn on the splits of a table.

    Categories are encoded as integers and declared as `categorical_features` of gradient boosting.
    Classes have balanced weights if the metric gives every class the same importance.
    """
    from sklearn import ensemble  # noqa: PLC0415 - slow to import
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    one = copy(holdout)
    kind = "Regressor" if one.task == "regression" else "Classifier"
    options: dict[str, Any] = {"random_state": random_state}
    if one.metric in BALANCED:
        options["class_weight"] = "balanced"
    if isinstance(one.X, EncodedTable) or column_names(one.X) is not None:
        table = one.X if isinstance(one.X, EncodedTable) else encode_frame(one.X)
        one.X = table.matrix
        if name == "gradient boosting":
            sizes = [len(a.categories or ()) * (a.kind == "nominal") for a in table.attributes]
            options["categorical_features"] = [0 < size <= MOST_CATEGORIES for size in sizes]
    with threadpool_limits(1):  # threads that wait for each other would take most of the time
        return one.evaluate(getattr(ensemble, REFERENCES[name] + kind)(**options))

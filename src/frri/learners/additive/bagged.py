"""Bagged additive rules: the mean of additive models, which is one more additive model."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np

from frri._util import Flags, Floats, map_threads
from frri.learners.additive.classifier import VOTES, AdditiveRulesClassifier, check_size, softmax
from frri.learners.calibration import MIN_SAMPLES, SCALES, Calibration, least_loss, scale_votes
from frri.learners.classification import RuleClassifier, scaled_rule
from frri.learners.training_table import TrainingTable, check_class_weight
from frri.learners.validation import check_count, check_part, random_numbers, random_seeds
from frri.rules import RuleSet
from frri.rules.inference import shrink_to_priors

# The rules of a model, the scores of all samples, and which samples it has not seen.
Bag = tuple[RuleSet, Floats, Flags]


@dataclass(kw_only=True, eq=False, repr=False)
class AdditiveRulesBaggingClassifier(RuleClassifier):
    """Bagged additive rules: the mean of many small additive models, as one model.

    Each model learns additive rules from a bootstrap sample and a random part of the features
    (`random_state`). The scores of a class are averaged over the models and multiplied by the
    factor that makes out-of-bag samples most probable (temperature scaling). The whole is one rule
    set of the same kind as that of each model, so that every view and export works.

    Time is that of `n_estimators` fits of `AdditiveRulesClassifier` with a number as `max_rules`:
    about linear in samples and features. `fit` does not refit: out-of-bag samples calibrate.

    Parameters
    ----------
    n_estimators : int, default=20
        Number of models.
    max_features : float, default=0.7
        Fraction of the features that each model may use.
    max_rules : int or "auto", default="auto"
        Maximum number of rules of each model; "auto" is 2 * n_classes + 6.
    max_conditions : int, default=4
        Maximum number of conditions of a rule.
    class_weight : "sqrt", "balanced", None or mapping, default="sqrt"
        Weights of classes: "balanced" for the same total weight of every class, "sqrt" for the
        square root of these factors, None for no weights, or a factor for each class.
    {missing}
    random_state : int, RandomState or None, default=None
        Seed of the bootstrap samples and of the features.
    {decision}
    n_jobs : int, optional
        Number of models fitted at a time, and threads for prediction; all cores by default.
    {verbose}

    Attributes
    ----------
    {classes_}
    ruleset_ : RuleSet
        The rules of all models, one model after the other, with the semantics "softmax-votes".
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Probabilities of the training samples by the models that have not seen them; NaN where all
        have.
    oob_score_ : float
        Accuracy of these probabilities; NaN without any.
    {n_features_in_, feature_names_in_}

    See Also
    --------
    frri.AdditiveRulesClassifier : A single model, of a dozen rules.

    References
    ----------
    L. Breiman, "Bagging predictors", Machine Learning 24, 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bagged = AdditiveRulesBaggingClassifier(n_estimators=5, random_state=0).fit(X, y)
    >>> bagged.oob_score_ > 0.9, bagged.predict(X[:2])
    (True, array([0, 0]))
    """

    _algorithm = "Bagged rules"

    oob_score_: float = field(init=False)
    oob_decision_function_: Floats = field(init=False)

    n_estimators: int = 20
    max_features: float = 0.7
    max_rules: int | Literal["auto"] = "auto"
    max_conditions: int = 4
    class_weight: Literal["sqrt", "balanced"] | Mapping[Any, float] | None = "sqrt"
    random_state: Any = None

    def fit(self, X: Any, y: Any, **refused: Any) -> Self:  # type: ignore[override] # no weights
        """Learn the rules; sample weights are not supported, because samples are drawn at random.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        **refused
            None: sample weights, for example, are an error.

        Returns
        -------
        self
        """
        if "sample_weight" in refused:
            raise TypeError(
                "Bagged additive rules do not support sample_weight: samples are drawn at random, "
                "each as likely as any other; MODLEMClassifier takes weights."
            )
        if refused:
            raise TypeError(f"fit() got an unexpected keyword argument {next(iter(refused))!r}.")
        self._check_parameters()
        table = self._training_table(X, y)
        size: Any = {"max_rules": self.max_rules, "max_conditions": self.max_conditions}
        model = AdditiveRulesClassifier(**size, class_weight=self._class_weight(table), n_jobs=1)
        seeds = random_seeds(self.random_state, self.n_estimators)
        with self._step(f"{len(seeds)} bags"):
            bags = map_threads(
                lambda seed, _: self._bag(table, model, seed),
                [(seed, 0) for seed in seeds],
                self.n_jobs,
            )
        rules = tuple(scaled_rule(rule, 1.0 / len(bags)) for rules, *_ in bags for rule in rules)
        base = np.mean([rules.base for rules, *_ in bags], axis=0)
        whole = self._build_ruleset(table, rules, base=tuple(base.tolist()), **VOTES)
        self.ruleset_ = whole.with_statistics(table.encoded, self.classes_[table.classes])
        return self._calibrate(table, self._estimate(table, bags))

    def _bag(self, table: TrainingTable, model: AdditiveRulesClassifier, seed: int) -> Bag:
        """Fit an additive model to some samples and features."""
        random = np.random.default_rng(seed)
        n, m = table.values.shape
        drawn = np.bincount(random.integers(n, size=n), minlength=n)
        # No class may be without a sample: its first one is drawn then.
        lacking = np.bincount(table.classes, drawn, len(table.labels)) == 0
        drawn[np.unique(table.classes, return_index=True)[1][lacking]] = 1
        used = random.permutation(m)[: max(1, round(self.max_features * m))]
        seen = np.flatnonzero(drawn)
        # A feature left out is one without values.
        values = np.full((len(seen), m), np.nan)
        values[:, used] = table.values[np.ix_(seen, used)]
        part = replace(table, values=values, classes=table.classes[seen])
        size = 2 * len(table.labels) + 6 if self.max_rules == "auto" else int(self.max_rules)
        rules, base = model.induce(part, drawn[seen].astype(np.float64), size)
        ruleset = self._build_ruleset(table, rules, base=tuple(base.tolist()), about={}, **VOTES)
        return ruleset, ruleset.scores(table.encoded, n_jobs=1), drawn == 0

    def _estimate(self, table: TrainingTable, bags: list[Bag]) -> Calibration:
        """Set the out-of-bag estimates and return the calibration they give."""
        total = np.zeros((len(table.classes), len(table.labels)))
        times = np.zeros(len(table.classes))
        for _, scores, unseen in bags:
            total[unseen] += scores[unseen]
            times += unseen
        known = times > 0
        shares = softmax((total[known] / times[known, None]).T).T
        decided, classes = shares.argmax(axis=1), table.classes[known]
        sizes, weights = np.array(table.class_counts), np.ones(len(classes))
        found = Calibration(len(total) / (len(total) + len(sizes)))
        if len(classes) >= MIN_SAMPLES:
            found = least_loss(shares, decided, classes, sizes, weights, scales=SCALES)
        self.oob_decision_function_ = np.full(total.shape, np.nan)
        scaled = scale_votes(shares, found.scale)
        self.oob_decision_function_[known] = shrink_to_priors(scaled, decided, found.trust, sizes)
        self.oob_score_ = float((decided == classes).mean()) if known.any() else np.nan
        return found

    def _class_weight(self, table: TrainingTable) -> Any:
        if not isinstance(self.class_weight, str) or self.class_weight == "balanced":
            return self.class_weight
        sizes = np.array(table.class_counts)
        return dict(zip(table.labels, np.sqrt(sizes.sum() / sizes).tolist(), strict=True))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_estimators", self.n_estimators, 1)
        check_size(self.max_rules, self.max_conditions)
        check_part("max_features", self.max_features)
        random_numbers(self.random_state)
        check_class_weight(self.class_weight, ("sqrt", "balanced"))

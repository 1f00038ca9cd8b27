"""Compact FRRI: a few fuzzy boxes around samples that tolerate some samples of other classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import Bunch

from frri.induction import TOLERANCE
from frri.learners.base import RuleClassifier
from frri.learners.box_rules import scaled_values
from frri.learners.compact.adjust import Boxes
from frri.learners.compact.candidates import CandidatePool
from frri.learners.compact.grow import box_radii, grow_boxes
from frri.learners.compact.select import RuleSelection, error_fraction, objective_fraction
from frri.learners.size_cv import class_path
from frri.learners.training_table import check_class_weight, class_factors
from frri.learners.validation import (
    check_amount,
    check_count,
    check_part,
    check_share,
)
from frri.rules import Label, Rule, RuleSet

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from frri._util import Floats, Positions
    from frri.learners.training_table import TrainingTable

# Sum of all weights: sums of weights times `STEPS` are integers that a float represents exactly.
TOTAL_WEIGHT = 2.0**30
# Maximum number of samples that candidate rules are built around, the same number from each class.
MAX_ANCHORS = 2_000
# Approximate maximum number of samples by which boxes and selections are evaluated. A class has at
# least the given fraction of an equal part of them, or all its samples.
MAX_EVALUATION_SAMPLES = 10_000
MIN_CLASS_FRACTION = 0.25


class CompactFRRIClassifier(RuleClassifier):
    """Compact FRRI, a dozen rules for noisy data.

    As in FRRI, every sample has a box around itself, sides of the box are opened, and a new sample
    gets the class of the one rule that covers it best. Three strict requirements are relaxed. A box
    extends half-way to the fifth nearest sample of another class instead of to the first. It gets
    only the sides that exclude samples of other classes, best first, until few are left inside.
    Rules are selected one at a time by how much they improve the prediction, instead of by a cover
    of all samples. At the end the bounds of the selected boxes are fine-tuned by gradient descent
    on the training loss.

    With more than 2,000 samples, boxes are built around evenly spaced samples. With more than
    10,000, about 10,000 evenly spaced samples, in proportion to the class sizes (a small class with
    all its samples or a quarter of an equal part), determine the radii and the selection; coverage
    and precision of the selected rules are computed on all samples.

    `fit` is deterministic. Calibration of the probabilities fits two more models, each on one half
    of the samples.

    Parameters
    ----------
    max_rules : int, "auto" or "1se", default="auto"
        Maximum number of rules; "auto" is 2 * n_classes + 6, "1se" the smallest number whose
        balanced accuracy in five-fold cross-validation is within one standard error of the best.
    max_conditions : int, optional
        Maximum number of sides of a box.
    min_support : float, default=0.03
        Minimum fraction of its class that a rule must cover. With more than 10,000 samples, the
        fraction refers to the samples used for the selection.
    kth_neighbor : int, default=5
        Rank of the nearest sample of another class that determines the radius of a box; 1 as in
        FRRI.
    max_impurity : float, default=0.3
        A box gets no further sides when the weight of samples of other classes inside is at most
        this multiple of the weight of its own class inside.
    radius_factor : float, default=0.5
        Radius of a box as a fraction (above 0, at most 1) of the distance to that sample.
    class_weight : "balanced", None or dict, default="balanced"
        "balanced" gives every class the same total weight, None every sample the same weight, a
        dict a factor for each class (1 for a missing one). Boxes, selection and rule weights use
        it; imputed values, radii and statistics use sample weights only, so {c: 3} differs from a
        sample weight of 3.
    certificate_time_limit : float, optional
        Seconds for a proven lower bound of the training error of any selection of as many boxes:
        see `selection_`. With more than four rules a tight bound takes hours.
    {missing}
    calibrate : bool, default=True
        If True, `fit` fits twice more, on two halves of at most 1,000 distinct samples, and
        calibrates the probabilities on the half that was not used. If False, it fits once and the
        probabilities are shrunk towards class frequencies by a fixed amount. Predicted classes
        are the same.
    n_jobs : int, optional
        Number of threads for prediction; `fit` uses one.
    {verbose}

    Attributes
    ----------
    {classes_}
    ruleset_ : RuleSet
        Rules; the weight of a rule is its precision in training.
    selection_ : Bunch
        `candidates` (number of candidate boxes), `n_rules`, `n_conditions`, and `objective`: the
        weighted training accuracy plus half the mean margin on the samples used for the selection.
        With `certificate_time_limit` also `error`, the weighted training error of the rules on
        these samples; `min_error_found`, that of the best selection of as many boxes found by a
        search, and `min_error_bound`, a proven lower bound for any such selection. Bounds are
        fine-tuned after the selection, so `error` can be below both.
    path_ : SizePath or None
        With ``max_rules="1se"``: `sizes` in ascending order, their `scores` and standard `errors`,
        and the `chosen` size; `to_frame` returns a data frame.
    {n_features_in_}
    {feature_names_in_}

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> clf = CompactFRRIClassifier(max_rules=4).fit(X, y)
    >>> len(clf.ruleset_), clf.score(X, y) > 0.9
    (4, True)
    """

    _class_weight_of_objects = False

    selection_: Bunch

    def __init__(
        self,
        *,
        max_rules: int | str = "auto",
        max_conditions: int | None = None,
        min_support: float = 0.03,
        kth_neighbor: int = 5,
        max_impurity: float = 0.3,
        radius_factor: float = 0.5,
        class_weight: Any = "balanced",
        certificate_time_limit: float | None = None,
        missing: str = "typical",
        calibrate: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.min_support = min_support
        self.kth_neighbor = kth_neighbor
        self.max_impurity = max_impurity
        self.radius_factor = radius_factor
        self.class_weight = class_weight
        self.certificate_time_limit = certificate_time_limit
        self.missing = missing
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, table: TrainingTable) -> None:
        self.path_ = class_path(self, table) if self.max_rules == "1se" else None
        (self.ruleset_,) = self._rulesets(table, [self._most_rules(len(table.labels))])

    def _rulesets(self, table: TrainingTable, sizes: Sequence[int]) -> Iterator[RuleSet]:
        """Yield a rule set for each maximum size, selected from the same candidates."""
        evaluated = _evaluation_samples(table.classes, len(table.labels))
        part = table if evaluated is None else table.take(evaluated)
        with self._step("candidate rules"):
            pool, n_candidates = self._pool(part, table)
        for most in sizes:
            choice = RuleSelection(pool, PRICE)
            with self._step("selection"):
                choice.search(most)
            order = sorted(choice.rules, key=lambda r: (pool.classes[r], -pool.balance[r], r))
            boxes = Boxes.of(pool, order)
            with self._step("fine-tuning of bounds"):
                boxes.fine_tune(pool, self.min_support)
            judged = (pool, boxes.classes, boxes.scores(*boxes.signed_values(pool.values))[0])
            self.selection_ = Bunch(
                candidates=n_candidates,
                n_rules=len(order),
                n_conditions=boxes.n_conditions,
                objective=objective_fraction(*judged),
            )
            if self.certificate_time_limit is not None:
                with self._step("certificate"):
                    best = choice.find_fewest_errors(
                        n_candidates, len(order), self.certificate_time_limit
                    )
                self.selection_.update(
                    error=error_fraction(*judged),
                    min_error_found=best.errors / pool.total,
                    min_error_bound=best.bound / pool.total,
                )
            anchors = pool.anchors[order]
            if evaluated is not None:
                anchors, objects = evaluated[anchors], self._empty_pool(table, table)
            yield self._package(table, boxes, anchors, pool if evaluated is None else objects)
            pool.keep_only(n_candidates, None)

    def _for_part(self, rows: Positions, labels: Collection[Label]) -> Self:
        """Return a copy without a certificate, which calibration does not need."""
        one: Self = super()._for_part(rows, labels).set_params(certificate_time_limit=None)
        return one

    def _pool(self, part: TrainingTable, table: TrainingTable) -> tuple[CandidatePool, int]:
        """Return boxes around samples of a part of the table, and their number."""
        anchors = _anchors(part.classes, len(part.labels))
        pool = self._empty_pool(part, table)
        values, classes, rigid = pool.values, pool.objects, pool.rigid
        nearest = box_radii(values, classes, rigid, anchors, self.kth_neighbor, part.weights)
        reach = self.radius_factor * nearest
        apart = reach > TOLERANCE
        anchors, reach = anchors[apart], reach[apart]
        most = 2 * values.shape[1] if self.max_conditions is None else self.max_conditions
        sides = (anchors, reach, self.max_impurity, most)
        types = grow_boxes(values, classes, pool.weights, rigid, *sides)
        pool.add(anchors, reach, types, min_support=self.min_support)
        return pool, len(pool)

    def _empty_pool(self, part: TrainingTable, table: TrainingTable) -> CandidatePool:
        """Return a pool with the samples of a part of the table and no rules."""
        values, nominal = scaled_values(part)
        rigid = np.zeros(values.shape[1], dtype=np.bool_) if nominal is None else nominal
        counts = np.ones(len(part.classes)) if part.weights is None else part.weights
        weights = self._weights(part, counts, np.array(table.class_counts))
        shared = (len(part.labels), weights, rigid, float(counts.sum()))
        return CandidatePool(values, part.classes, *shared)

    def _weights(self, part: TrainingTable, counts: Floats, sizes: Floats) -> Floats:
        """Return integer weights of samples, proportional to the sample weights within a class.

        A class has the same total weight in a part as in the whole table, whose class sizes are
        given.
        """
        own = np.array(part.class_counts)
        factors = class_factors(self.class_weight, part.labels, sizes, part.target) * (sizes / own)
        factors = factors * (TOTAL_WEIGHT / (factors * own).sum())
        if (counts == np.floor(counts)).all():
            return np.asarray(counts * np.maximum(np.rint(factors), 1.0)[part.classes])
        return np.asarray(np.maximum(np.rint(counts * factors[part.classes]), 1.0))

    def _most_rules(self, n_classes: int) -> int:
        if self.path_ is not None:
            return self.path_.chosen
        most = 2 * n_classes + 6 if self.max_rules == "auto" else int(self.max_rules)
        return max(most, n_classes)

    def _package(
        self, table: TrainingTable, boxes: Boxes, anchors: Positions, objects: CandidatePool
    ) -> RuleSet:
        """Return the selected rules in the table's names and units, with coverage statistics."""
        boxes.set_weights(objects)
        rules = (
            Rule(
                conditions=boxes.conditions(r, table.attributes),
                consequent=table.labels[boxes.classes[r]],
                weight=float(boxes.weights[r]),
                source=u,
            )
            for r, u in enumerate(anchors.tolist())
        )
        about = self._about(table) | {"selection": dict(self.selection_)}
        return self._with_statistics(self._made(table, rules, clip=True, about=about), table)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("max_rules", self.max_rules, 1, words=["auto", "1se"])
        if self.max_conditions is not None:
            check_count("max_conditions", self.max_conditions, 1)
        check_count("kth_neighbor", self.kth_neighbor, 1)
        if self.certificate_time_limit is not None:
            check_amount("certificate_time_limit", self.certificate_time_limit)
        check_share("min_support", self.min_support)
        check_amount("max_impurity", self.max_impurity)
        check_part("radius_factor", self.radius_factor)
        check_class_weight(self.class_weight)


# Cost of a feature used by a rule, as a fraction of the sum of weights.
PRICE = 0.002


def _evaluation_samples(classes: Positions, n_classes: int) -> Positions | None:
    """Return evenly spaced samples of each class for evaluation, None for all samples."""
    if len(classes) <= MAX_EVALUATION_SAMPLES:
        return None
    least, share = (
        MIN_CLASS_FRACTION * MAX_EVALUATION_SAMPLES / n_classes,
        MAX_EVALUATION_SAMPLES / len(classes),
    )
    found = []
    for c in range(n_classes):
        mine = np.flatnonzero(classes == c)
        count = min(len(mine), max(int(np.ceil(least)), int(np.ceil(share * len(mine)))))
        found.append(_evenly_spaced(mine, count))
    return np.sort(np.concatenate(found))


def _evenly_spaced(rows: Positions, count: int) -> Positions:
    """Return `count` evenly spaced rows."""
    return rows[np.linspace(0, len(rows) - 1, count).round().astype(np.intp)]


def _anchors(classes: Positions, n_classes: int) -> Positions:
    """Return the samples to build rules around: all, or evenly spaced ones of each class."""
    if len(classes) <= MAX_ANCHORS:
        return np.arange(len(classes))
    each = MAX_ANCHORS // n_classes
    found = []
    for c in range(n_classes):
        mine = np.flatnonzero(classes == c)
        if len(mine) > each:
            mine = _evenly_spaced(mine, each)
        found.append(mine)
    return np.sort(np.concatenate(found))

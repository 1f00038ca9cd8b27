"""Compact FRRI: a few fuzzy boxes around samples that tolerate some samples of other classes."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Bunch

from frri._util import Floats, Positions
from frri.induction import TOLERANCE
from frri.learners import training_table as tables
from frri.learners.classification import RuleClassifier
from frri.learners.compact.candidates import (
    BoxSamples,
    CandidateBoxes,
    RuleSelection,
    box_radii,
    build_candidates,
    error_fraction,
    find_fewest_errors,
    grow_boxes,
    objective_fraction,
)
from frri.learners.compact.tune_bounds import Boxes
from frri.learners.training_table import TrainingTable
from frri.learners.validation import check_amount, check_count, check_part, check_share
from frri.rules import Rule, RuleSet

# Sum of all weights: sums of weights times `STEPS` are integers that a float represents exactly.
TOTAL_WEIGHT = 2.0**30
# Maximum number of samples that candidate rules are built around, the same number from each class.
MAX_ANCHORS = 2_000
# Approximate maximum number of samples by which boxes and selections are evaluated. A class has at
# least the given fraction of an equal part of them, or all its samples.
MAX_EVALUATION_SAMPLES = 10_000
MIN_CLASS_FRACTION = 0.25
# Cost of a feature used by a rule, as a fraction of the sum of weights.
PRICE = 0.0005


@dataclass(kw_only=True, eq=False, repr=False)
class CompactFRRIClassifier(RuleClassifier):
    """Compact FRRI, a dozen rules for noisy data.

    As in FRRI, every sample has a box around itself, sides of the box are opened, and a new sample
    gets the class of the one rule that covers it best. Three requirements are relaxed. A box
    extends half-way to the fifth nearest sample of another class. It gets only the sides that
    exclude samples of other classes, best first, until few are left inside. Rules are selected one
    at a time by how much they improve the prediction. Rules compete by their precision as if all
    classes had the same size, so that a narrow rule of a small class wins against a broad rule of a
    large one. At the end the bounds of the boxes are fine-tuned by gradient descent on the training
    loss and rounded, in a column of integers to integers, in one of 0 and 1 to the value itself.
    Rules that then improve the prediction by too little for their features are dropped.

    Every box is compared with every sample, so that time grows quadratically up to 2,000 samples.
    With more, boxes are built around 2,000 evenly spaced samples. With more than 10,000, about
    10,000 evenly spaced samples, in proportion to the class sizes (a small class with all its
    samples or a quarter of an equal part), determine the radii and the selection, so that time
    hardly grows; coverage and precision of the rules are computed on all samples. Time grows at
    least linearly with the features. There is no randomness. `fit` fits twice more, for
    probabilities, unless ``calibrate=False``. References: see `FRRIClassifier`.

    Parameters
    ----------
    max_rules : int or "auto", default="auto"
        Maximum number of rules; "auto" is 2 * n_classes + 6.
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
    class_weight : "balanced", None or dict, default=None
        Weights of classes in the objective of the selection and of the fine-tuning: the same total
        weight for every class, the same weight for every sample, or a factor for each class (1 for
        a missing one). "balanced" gives the rules with the best balanced accuracy.
    certificate_time_limit : float, optional
        Seconds for a proven lower bound of the training error of any selection of as many boxes:
        see `selection_`. With more than four rules a tight bound takes hours.
    {missing, calibrate, decision, n_jobs, verbose}

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
    {n_features_in_, feature_names_in_}

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> clf = CompactFRRIClassifier(max_rules=4).fit(X, y)
    >>> len(clf.ruleset_), clf.score(X, y) > 0.9
    (4, True)
    """

    _class_weight_of_objects = False
    _part_parameters: ClassVar[dict[str, Any]] = {"certificate_time_limit": None}

    selection_: Bunch = field(init=False)

    max_rules: int | str = "auto"
    max_conditions: int | None = None
    min_support: float = 0.03
    kth_neighbor: int = 5
    max_impurity: float = 0.3
    radius_factor: float = 0.5
    class_weight: Any = None
    certificate_time_limit: float | None = None
    calibrate: bool = True

    def _learn(self, table: TrainingTable) -> None:
        n_classes = len(table.labels)
        most = 2 * n_classes + 6 if self.max_rules == "auto" else int(self.max_rules)
        rows = _evaluation_samples(table.classes, n_classes)
        part = table if len(rows) == len(table.classes) else table.take(rows)
        samples = self._samples(part, table)
        with self._step("candidate rules"):
            candidates = self._candidates(samples, part.weights)
        choice = RuleSelection(samples, candidates, PRICE)
        with self._step("selection"):
            choice.search(max(most, n_classes))
        selected = choice.selected()
        boxes = Boxes.of(samples, selected)
        with self._step("fine-tuning of bounds"):
            boxes.fine_tune(samples, self.min_support)
            boxes.round_bounds(table.attributes, table.integer_columns)
            boxes.set_weights(samples)
            kept = boxes.worth_their_price(samples, PRICE)
            boxes = boxes.take(kept)
        scores = boxes.scores(*boxes.signed_values(samples.values))[0]
        self.selection_ = Bunch(
            candidates=len(candidates.classes),
            n_rules=len(boxes.classes),
            n_conditions=boxes.n_conditions,
            objective=objective_fraction(samples, boxes.classes, scores),
        )
        if self.certificate_time_limit is not None:
            with self._step("certificate"):
                limits = len(boxes.classes), self.certificate_time_limit
                best = find_fewest_errors(samples, candidates, *limits)
            self.selection_.update(
                error=error_fraction(samples, boxes.classes, scores),
                min_error_found=best.errors / samples.loss_total,
                min_error_bound=best.bound / samples.loss_total,
            )
        boxes.set_weights(samples if part is table else self._samples(table, table))
        self.ruleset_ = self._package(table, boxes, rows[selected.anchors[kept]])

    def _samples(self, part: TrainingTable, table: TrainingTable) -> BoxSamples:
        """Return a part of the table, scaled, with integer weights."""
        values, rigid = tables.scaled_values(part)
        weights, loss_weights = (
            self._integer_weights(part, table, given) for given in ("balanced", self.class_weight)
        )
        known = part.classes, len(part.labels), weights, loss_weights, rigid
        return BoxSamples(values, *known, float(part.all_weights.sum()))

    def _integer_weights(
        self, part: TrainingTable, table: TrainingTable, class_weight: Any
    ) -> Floats:
        """Return weights of samples that are proportional to the sample weights within a class.

        A class has the same total weight in a part as in the whole table.
        """
        counts, own, sizes = part.all_weights, np.array(part.class_counts), table.class_counts
        factors = tables.class_factors(class_weight, part.labels, np.array(sizes), part.target)
        factors = factors * (np.array(sizes) / own)
        factors = factors * (TOTAL_WEIGHT / (factors * own).sum())
        if (counts == np.floor(counts)).all():
            return np.asarray(counts * np.maximum(np.rint(factors), 1.0)[part.classes])
        return np.asarray(np.maximum(np.rint(counts * factors[part.classes]), 1.0))

    def _candidates(self, samples: BoxSamples, counts: Floats | None) -> CandidateBoxes:
        """Return boxes around samples."""
        anchors = _anchors(samples.classes, samples.n_classes)
        reach = self.radius_factor * box_radii(samples, anchors, self.kth_neighbor, counts)
        apart = reach > TOLERANCE
        anchors, reach = anchors[apart], reach[apart]
        most = self.max_conditions or 2 * len(samples.rigid)
        types = grow_boxes(samples, anchors, reach, self.max_impurity, most)
        return build_candidates(samples, anchors, reach, types, self.min_support)

    def _package(self, table: TrainingTable, boxes: Boxes, anchors: Positions) -> RuleSet:
        """Return the selected rules in the table's names and units, with coverage statistics."""
        rules = []
        for r, u in enumerate(anchors.tolist()):
            box = boxes.conditions(r, table.attributes), table.labels[boxes.classes[r]]
            rules.append(Rule(*box, float(boxes.weights[r]), source=u))
        about = self._about(table) | {"selection": dict(self.selection_)}
        return self._with_statistics(
            self._build_ruleset(table, rules, clip=True, about=about), table
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("max_rules", self.max_rules, 1, words=["auto"])
        if self.max_conditions is not None:
            check_count("max_conditions", self.max_conditions, 1)
        check_count("kth_neighbor", self.kth_neighbor, 1)
        if self.certificate_time_limit is not None:
            check_amount("certificate_time_limit", self.certificate_time_limit)
        check_share("min_support", self.min_support)
        check_amount("max_impurity", self.max_impurity)
        check_part("radius_factor", self.radius_factor)
        tables.check_class_weight(self.class_weight)


def _evaluation_samples(classes: Positions, n_classes: int) -> Positions:
    """Return all samples, or evenly spaced ones of each class for evaluation."""
    if len(classes) <= MAX_EVALUATION_SAMPLES:
        return np.arange(len(classes))
    least = MIN_CLASS_FRACTION * MAX_EVALUATION_SAMPLES / n_classes
    counts = MAX_EVALUATION_SAMPLES / len(classes) * np.bincount(classes, minlength=n_classes)
    return _evenly_spaced(classes, np.ceil(np.maximum(counts, least)))


def _anchors(classes: Positions, n_classes: int) -> Positions:
    """Return the samples to build rules around: all, or evenly spaced ones of each class."""
    if len(classes) <= MAX_ANCHORS:
        return np.arange(len(classes))
    return _evenly_spaced(classes, np.full(n_classes, MAX_ANCHORS // n_classes))


def _evenly_spaced(classes: Positions, counts: Floats) -> Positions:
    """Return at most the given number of samples of each class, evenly spaced, in order."""
    found = []
    for c, count in enumerate(counts.astype(int).tolist()):
        mine = np.flatnonzero(classes == c)
        places = np.linspace(0, len(mine) - 1, min(len(mine), count))
        found.append(mine[places.round().astype(np.intp)])
    return np.sort(np.concatenate(found))

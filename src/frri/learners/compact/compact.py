"""Compact FRRI: boxes around objects that tolerate some enemies, few enough to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import Bunch

from frri.induction import TOLERANCE
from frri.learners.base import RuleClassifier
from frri.learners.boxes import scaled_values
from frri.learners.compact._moving import Boxes
from frri.learners.compact._pool import Pool
from frri.learners.compact._sides import grown, radii
from frri.learners.compact._winner import Choice, share_worth, share_wrong
from frri.learners.size_cv import class_path
from frri.learners.training import check_class_weight, class_factors
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
    from frri.learners.training import TrainingTable

# All weights together: sums of weights times `STEPS` stay whole numbers that a float holds exactly.
TOTAL_WEIGHT = 2.0**30
# Objects that rules are made around; of more, evenly many of each class.
MOST_ANCHORS = 2_000
# Objects that boxes and choices are judged by; of more, about so many. A class has at least so many parts of
# its equal share of them, or all its objects.
MOST_JUDGES = 10_000
LEAST_PART = 0.25


class CompactFRRIClassifier(RuleClassifier):
    """Compact FRRI, a dozen rules for tables with noise.

    The picture is FRRI's: every object owns a box around itself, sides of the box are opened, and new
    objects go to the class of the one rule that covers them best. Three strict things become lenient. A
    box reaches half-way to the fifth nearest enemy (object of another class) instead of to the first. It
    gets only the sides that keep enemies out, best first, until few are left inside. And of all boxes
    those are chosen that the prediction gains most by, one at a time, instead of a cover of all objects.
    Last, the sides of the chosen boxes move a little, each by itself, to where the training objects are
    decided more clearly.

    Of more than 2,000 objects boxes are made around an even selection. Of more than 10,000, an even
    selection of about as many sets how far boxes reach and chooses among them, classes by their sizes
    (a small one with all its objects, or a quarter of an equal share); what the chosen rules cover and
    how precise they are is counted on all.

    Parameters
    ----------
    max_rules : int, "auto" or "1se", default="auto"
        The most rules there may be; "auto" is twice the number of classes and 6 more, "1se" the fewest
        whose balanced accuracy in five-fold cross-validation is within one standard error of the best.
    max_conditions : int, optional
        The most sides that a box may get.
    min_support : float, default=0.03
        The share of its class that a rule must cover. Beyond 10,000 objects, of those that rules are chosen by.
    noise_neighbours : int, default=5
        Which of the nearest enemies sets how far a box reaches; 1 as in FRRI.
    noise_share : float, default=0.3
        A box gets no further sides when the enemies inside weigh at most this share of the others.
    radius : float, default=0.5
        How far a box reaches, as a share above 0 of the distance to that enemy.
    class_weight : "balanced", None or dict, default="balanced"
        "balanced" lets every class count the same, None every object; or a number for each class
        (1 for a class that it lacks). Boxes, their choice and their weights go by it; typical values, which
        enemies are near and statistics go by sample weights alone, so {c: 3} is not a sample weight of 3.
    certify : float, optional
        Seconds for a proof of how few errors in training so many boxes could make: see `selection_`.
        Beyond three or four rules it takes hours, and the bound stays low.
    missing : {"typical", "fails", "error"}, default="typical"
        Whether a missing value counts as the typical one of its column (the median, or the commonest
        category), satisfies no condition, or is refused, in training and in prediction.
    n_jobs : int, optional
        Threads for prediction; the rules are learned in one.
    verbose : int, default=0
        Whether each step of learning is told on standard error, with the seconds it takes.

    Attributes
    ----------
    classes_ : ndarray
        The class labels, sorted.
    ruleset_ : RuleSet
        The rules; a rule's weight is its precision in training.
    selection_ : Bunch
        `candidates` (how many boxes there were to choose from), `n_rules`, `n_conditions`, and `worth`:
        the share of right training objects plus half their mean margin, by weight, of those that
        choices were judged by. With `certify` also `wrong`, the share of these, by weight, that the rules
        decide wrongly; `fewest_found`, that of the best choice of as many boxes that a search for it
        found, and `fewest_proved`, what no such choice can be below. Sides of chosen rules have moved or
        gone since, so `wrong` can be less.
    path_ : SizePath or None
        With ``max_rules="1se"``: `sizes` from few rules to many, their `scores` and standard `errors`,
        and the size `chosen`; `to_frame` makes a table of it.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table had column names.

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
        noise_neighbours: int = 5,
        noise_share: float = 0.3,
        radius: float = 0.5,
        class_weight: Any = "balanced",
        certify: float | None = None,
        missing: str = "typical",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.min_support = min_support
        self.noise_neighbours = noise_neighbours
        self.noise_share = noise_share
        self.radius = radius
        self.class_weight = class_weight
        self.certify = certify
        self.missing = missing
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, table: TrainingTable) -> None:
        self.path_ = class_path(self, table) if self.max_rules == "1se" else None
        (self.ruleset_,) = self._rulesets(table, [self._most_rules(len(table.labels))])

    def _rulesets(self, table: TrainingTable, sizes: Sequence[int]) -> Iterator[RuleSet]:
        """At most so many rules, for each size, chosen from the same boxes."""
        judges = _judges(table.classes, len(table.labels))
        part = table if judges is None else table.take(judges)
        with self._step("candidate rules"):
            pool, n_candidates = self._pool(part, table)
        for most in sizes:
            choice = Choice(pool, PRICE)
            with self._step("the best of them"):
                choice.search(most)
            order = sorted(choice.rules, key=lambda r: (pool.classes[r], -pool.balance[r], r))
            boxes = Boxes.of(pool, order)
            with self._step("the last adjustment of their sides"):
                boxes.move(pool, self.min_support)
            judged = (pool, boxes.classes, boxes.scores(*boxes.laid_out(pool.values))[0])
            self.selection_ = Bunch(
                candidates=n_candidates,
                n_rules=len(order),
                n_conditions=boxes.n_conditions,
                worth=share_worth(*judged),
            )
            if self.certify is not None:
                with self._step("how few errors there must be"):
                    best = choice.most_hits(n_candidates, len(order), self.certify)
                self.selection_.update(
                    wrong=share_wrong(*judged),
                    fewest_found=best.errors / pool.total,
                    fewest_proved=best.bound / pool.total,
                )
            anchors = pool.anchors[order]
            if judges is not None:
                anchors, objects = judges[anchors], self._empty_pool(table, table)
            yield self._package(table, boxes, anchors, pool if judges is None else objects)
            pool.keep_only(n_candidates, None)

    def _for_part(self, rows: Positions, labels: Collection[Label]) -> Self:
        """Without a proof, which says nothing about new objects."""
        one: Self = super()._for_part(rows, labels).set_params(certify=None)
        return one

    def _pool(self, part: TrainingTable, table: TrainingTable) -> tuple[Pool, int]:
        """Boxes around objects of a part of the table, with the sides that keep enemies out."""
        anchors = _anchors(part.classes, len(part.labels))
        pool = self._empty_pool(part, table)
        values, classes, rigid = pool.values, pool.objects, pool.rigid
        nearest = radii(values, classes, rigid, anchors, self.noise_neighbours, part.weights)
        reach = self.radius * nearest
        apart = reach > TOLERANCE
        anchors, reach = anchors[apart], reach[apart]
        most = 2 * values.shape[1] if self.max_conditions is None else self.max_conditions
        sides = (anchors, reach, self.noise_share, most)
        types = grown(values, classes, pool.weights, rigid, *sides)
        pool.add(anchors, reach, types, smallest=self.min_support)
        return pool, len(pool)

    def _empty_pool(self, part: TrainingTable, table: TrainingTable) -> Pool:
        """The objects of a part of the table, before there are rules."""
        values, nominal = scaled_values(part)
        rigid = np.zeros(values.shape[1], dtype=np.bool_) if nominal is None else nominal
        counts = np.ones(len(part.classes)) if part.weights is None else part.weights
        weights = self._weights(part, counts, np.array(table.class_counts))
        shared = (len(part.labels), weights, rigid, float(counts.sum()))
        return Pool(values, part.classes, *shared)

    def _weights(self, part: TrainingTable, counts: Floats, sizes: Floats) -> Floats:
        """What objects weigh, as whole numbers: one that counts twice weighs twice as much.

        A class weighs in a part what it does in the whole table, in which the classes have these sizes.
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
        self, table: TrainingTable, boxes: Boxes, anchors: Positions, objects: Pool
    ) -> RuleSet:
        """The chosen rules in the table's names and units, with what they cover of all objects."""
        boxes.weigh(objects)
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
        check_count("noise_neighbours", self.noise_neighbours, 1)
        if self.certify is not None:
            check_amount("certify", self.certify)
        check_share("min_support", self.min_support)
        check_amount("noise_share", self.noise_share)
        check_part("radius", self.radius)
        check_class_weight(self.class_weight)


# What an attribute used by a rule costs, as a share of all weights.
PRICE = 0.002


def _judges(classes: Positions, n_classes: int) -> Positions | None:
    """The objects to judge by: None for all, or evenly spaced ones of each class, by its size."""
    if len(classes) <= MOST_JUDGES:
        return None
    least, share = LEAST_PART * MOST_JUDGES / n_classes, MOST_JUDGES / len(classes)
    found = []
    for c in range(n_classes):
        mine = np.flatnonzero(classes == c)
        count = min(len(mine), max(int(np.ceil(least)), int(np.ceil(share * len(mine)))))
        found.append(_evenly(mine, count))
    return np.sort(np.concatenate(found))


def _evenly(rows: Positions, count: int) -> Positions:
    """So many of the rows, evenly spaced."""
    return rows[np.linspace(0, len(rows) - 1, count).round().astype(np.intp)]


def _anchors(classes: Positions, n_classes: int) -> Positions:
    """The objects to make rules around: all, or evenly spaced ones of each class."""
    if len(classes) <= MOST_ANCHORS:
        return np.arange(len(classes))
    each = MOST_ANCHORS // n_classes
    found = []
    for c in range(n_classes):
        mine = np.flatnonzero(classes == c)
        if len(mine) > each:
            mine = _evenly(mine, each)
        found.append(mine)
    return np.sort(np.concatenate(found))

"""Bagged FRRI: rules from bags of the table, pooled into one rule set."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from frri._reproducible import exp
from frri._util import Flags, Floats, Ints, Positions, Types, Words, map_threads
from frri.cover import CoverMatrix, minimum_cover
from frri.cover.matrix import packed
from frri.induction import TOLERANCE, induce
from frri.induction.numpy_backend import distances
from frri.learners.calibration import MIN_SAMPLES, Calibration, least_loss, mixed
from frri.learners.classification import RuleClassifier
from frri.learners.frri import pipeline
from frri.learners.frri.pipeline import Candidates, FRRILearner
from frri.learners.training_table import TrainingTable, scaled_values
from frri.learners.validation import check_choice, check_count, check_part, random_seeds
from frri.rules.measures import balanced_accuracy
from frri.rules.rule import label_array
from frri.table import to_matrix
from frri.table.checks import check_complete, check_resolution

# Pairs of rule and sample that are computed together, and samples at most.
MOST_PAIRS, MOST_SAMPLES = 1 << 22, 8192


@dataclass(kw_only=True, eq=False, repr=False)
class FRRIBaggingClassifier(FRRILearner, RuleClassifier):
    """FRRI on bags of the table: one rule set selected from the rules of all of them.

    Every bag draws a fraction of the samples, the same of each class, and a fraction of the
    features, and FRRI finds rules in it, by the first cover. The rules of all bags are checked
    against all samples. A rule that covers a sample of another class, which its bag does not
    contain, is narrowed: its confidence becomes the distance to that sample. A rule that then
    covers nothing is dropped. From the rest a minimum-size set is selected that covers every sample
    that any of them covers, proven optimal. No rule covers a sample of another class, as in FRRI. A
    sample that no rule of any bag covers gets no rule of its own: `uncovered_` lists it, and the
    nearest rule predicts new samples like it.

    Bags are random (`random_state`). Equal samples are drawn together, by a hash of their values
    and class with the seed of the bag, so that neither the order of the rows nor a weight in the
    place of repetitions changes a rule. Each bag takes the time of `FRRIClassifier`, without proof;
    then time grows with rules of all bags times samples times features. Out-of-bag votes calibrate:
    `fit` fits twice more, on halves, only if fewer than 20 distinct samples are out of bag.

    Parameters
    ----------
    n_estimators : int, default=10
        Number of bags.
    max_samples : float or int, default=0.5
        Fraction of the distinct samples that each bag draws, or their number; the same fraction of
        each class, and one sample at least.
    max_features : float, default=0.7
        Fraction of the features that each bag may use.
    attribute_order : str, default="given"
        Order in which features are dropped from a rule: a name that `FRRIClassifier` accepts. With
        "random" each bag has its own.
    conditions, missing
        See `FRRIClassifier`.
    min_new_coverage, coverage, max_rules
        See `FRRIClassifier`, for the selected rules.
    max_conditions, min_support
        See `FRRIClassifier`, for the rules of each bag; `min_support` holds in the whole table too.
    work_limit, time_limit
        Limits of the selection from the pool: see `FRRIClassifier`. A `time_limit` is one for the
        whole of `fit`; the rules of all bags are found in any case.
    random_state : int, RandomState or None, default=None
        Random seed of the bags.
    {decision}
    n_jobs : int, optional
        Number of bags that are processed at a time, and of threads for what follows. None is one
        bag at a time, in threads of its own, unless `joblib.parallel_config` sets something else:
        any backend of joblib can be used. Results are the same in any case.
    {verbose}

    Attributes
    ----------
    {classes_}
    ruleset_ : RuleSet
        Selected rules in the names and units of the table, by class and coverage.
    bags_, selected_ : ndarray of int, shape (n_rules,)
        Bag that each rule comes from, and the sample whose rule it is.
    selection_ : Bunch
        Certificate, as in `FRRIClassifier`, for the rules in the pool; `n_pooled`, `n_narrowed` and
        `n_dropped`, the numbers of rules in the pool, narrowed and dropped; and `n_further`, the
        number of samples in `check_batches`.
    uncovered_ : ndarray of int
        Samples that no rule covers.
    oob_score_, oob_balanced_score_ : float
        Out-of-bag accuracy and balanced accuracy; NaN if every bag contains every sample. Each rule
        is narrowed by all samples but the one that it predicts.
    {n_features_in_, feature_names_in_}

    See Also
    --------
    frri.FRRIClassifier : The fewest rules of all that the whole table gives.

    References
    ----------
    L. Breiman, "Bagging predictors", Machine Learning 24, 1996; for FRRI see `FRRIClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> pooled = FRRIBaggingClassifier(random_state=0).fit(X, y)
    >>> pooled.selection_.status, pooled.selection_.claim
    ('optimal', 'the fewest of 67 rules of 10 bags')
    >>> pooled.oob_score_ > 0.9
    True
    >>> pooled.predict(X.head(3)).tolist()
    [0, 0, 0]
    """

    _algorithm = "FRRI on bags"
    # A proof does not change probabilities.
    _part_parameters: ClassVar[dict[str, Any]] = {"work_limit": 0}
    _warns_of_many_rules = True
    _check_batches: Any = field(init=False, default=())

    bags_: Ints = field(init=False)
    oob_score_: float = field(init=False)
    oob_balanced_score_: float = field(init=False)

    n_estimators: int = 10
    max_samples: Any = 0.5
    max_features: float = 0.7
    conditions: Any = None
    min_new_coverage: float = 0.0
    coverage: float = 1.0

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_batches: Any = None) -> Self:
        """Induce rules from bags of a table and its class labels.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels of any type; the name of a series becomes the name of the target.
        sample_weight : array-like of shape (n_samples,), optional
            As for `FRRIClassifier.fit`.
        check_batches : iterable of (table, labels), optional
            More samples in batches, which need not fit into memory together. No bag draws from
            them and they need not be covered, but no rule covers one of them of another class: this
            checks rules from a sample of the rows against all rows.

        Returns
        -------
        self
        """
        self._check_batches = check_batches or ()
        try:
            return super().fit(X, y, sample_weight)
        finally:
            del self._check_batches

    def _learn(self, table: TrainingTable) -> None:
        check_resolution(table.attributes)
        values, rigid = scaled_values(table)
        samples = Samples(values, table.classes, rigid)
        seeds = random_seeds(self.random_state, self.n_estimators)
        bags = draw_bags(table, self.max_samples, seeds)
        with self._step(f"{len(seeds)} bags"):
            pool = self._pool(table, bags, seeds)
        with self._step(f"{len(pool.radii)} rules against {len(values)} samples"):
            nearest = nearest_of_other_classes(pool, samples, self.n_jobs)
            least, n_checked = nearest_in_batches(
                pool, table, self._check_batches, self.missing, self.n_jobs
            )
        radii = np.minimum(pool.radii, np.minimum(nearest.least, least))
        found = pool._replace(radii=radii).candidates(samples, self.n_jobs)
        selected = self._select_pooled(found, pool, n_checked)
        self.bags_, self.selected_ = pool.bags[selected], pool.sources[selected]
        rules = found.rules(table, selected, (table.labels[c] for c in pool.classes[selected]))
        about = self._about(table) | {"selection": self._certificate()}
        self.ruleset_ = self._with_statistics(self._build_ruleset(table, rules, about=about), table)
        self._warn_about_results(table)
        with self._step("out-of-bag estimate"):
            self._estimate(table, samples, pool, bags, nearest)

    def _pool(self, table: TrainingTable, bags: "Bags", seeds: list[int]) -> "RulePool":
        """Return the rules of all bags."""
        initial = pipeline.initial_types(self.conditions, table.attributes)
        work: Callable[..., RulePool] = partial(
            rules_of_bag, order=self.attribute_order, initial=initial, limits=self._limits()
        )
        rows = [bags.rows(bag) for bag in range(len(seeds))]
        used = [draw_features(table.values.shape[1], self.max_features, seed) for seed in seeds]
        parts = (table.take(some) for some in rows)
        tasks = zip(parts, rows, used, range(len(seeds)), seeds, strict=True)
        found = Parallel(n_jobs=self.n_jobs, prefer="threads")(delayed(work)(*one) for one in tasks)
        return RulePool(*map(np.concatenate, zip(*found, strict=True)))

    def _select_pooled(self, found: Candidates, pool: "RulePool", n_checked: int) -> Ints:
        """Return the fewest narrowed rules that cover what any of them covers, in their order."""
        sizes = found.covers.sizes()
        n_pooled = len(pool.radii)
        selected, covers = self._select(
            found,
            claim=f"{self._limits().claim} of {n_pooled} rules of {self.n_estimators} bags",
            n_pooled=n_pooled,
            n_narrowed=int(((found.confidence < pool.radii) & (sizes > 0)).sum()),
            n_dropped=int((sizes == 0).sum()),
            n_further=n_checked,
        )
        order = np.lexsort((selected, -covers.sizes(), found.groups[selected]))
        return np.asarray(selected[order])

    def _estimate(
        self,
        table: TrainingTable,
        samples: "Samples",
        pool: "RulePool",
        bags: "Bags",
        nearest: "Nearest",
    ) -> None:
        """Set out-of-bag scores and the calibration of probabilities by out-of-bag votes."""
        uncut = out_of_bag_votes(pool, samples, bags.unseen, nearest, self.n_jobs)
        asked = np.flatnonzero((uncut > -np.inf).any(axis=1))
        uncut, classes = uncut[asked], table.classes[asked]
        silent = ~(uncut.max(axis=1, initial=0.0) > 0.0)
        votes = np.where(silent[:, None], uncut, np.maximum(uncut, 0.0))
        decided = votes.argmax(axis=1)
        weights = table.all_weights[asked]
        self.oob_score_ = self.oob_balanced_score_ = np.nan
        if len(asked):
            self.oob_score_ = float((weights * (decided == classes)).sum() / weights.sum())
            self.oob_balanced_score_ = balanced_accuracy(classes, decided, weights)
        n_distinct = len(np.unique(bags.copy_of[asked]))
        self._oob_calibration = None
        if n_distinct >= MIN_SAMPLES:
            votes[silent] = exp(uncut[silent] - uncut[silent].max(axis=1, keepdims=True))
            fractions = votes / votes.sum(axis=1, keepdims=True)
            class_sizes, surprise = np.array(table.class_counts), weights.sum() / n_distinct
            self._oob_calibration = least_loss(
                fractions, decided, classes, class_sizes, weights, surprise
            )

    def _calibrate(self, table: TrainingTable, known: Calibration | None = None) -> Self:
        """Calibrate the probabilities by out-of-bag votes, if there are enough."""
        return super()._calibrate(table, known or self._oob_calibration)

    def _reason_uncovered(self, table: TrainingTable) -> str:  # noqa: ARG002
        return "are covered by no rule of any bag (more or larger bags leave fewer)"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_estimators", self.n_estimators, 1)
        if isinstance(self.max_samples, Integral):
            check_count("max_samples", self.max_samples, 1)
        else:
            check_part("max_samples", self.max_samples, " or an integer")
        check_part("max_features", self.max_features)
        check_choice("attribute_order", self.attribute_order, pipeline.NAMED_ORDERS)


# --- Bags
class Bags(NamedTuple):
    """Samples of bags: first ones of equal samples, which of these each is, and who is in."""

    first: Positions
    copy_of: Positions
    drawn: Flags  # bags x distinct samples

    def rows(self, bag: int) -> Positions:
        """Return the distinct samples of a bag, in an order that does not depend on the table's."""
        return np.asarray(self.first[self.drawn[bag]])

    @property
    def unseen(self) -> Flags:
        """Bags x samples: which have no equal in a bag."""
        return ~self.drawn[:, self.copy_of]


def draw_bags(table: TrainingTable, fraction: Any, seeds: Sequence[int]) -> Bags:
    """Draw distinct samples for each seed, a fraction or number, one of each class at least.

    The draw depends on the values and the class of a sample and on the seed, so that equal samples
    are drawn together.
    """
    first, copy_of, keys = table.equal_rows
    own = table.classes[first]
    sizes = np.bincount(own, minlength=len(table.labels))
    most = fraction * sizes / (len(first) if isinstance(fraction, Integral) else 1)
    count = np.clip(np.rint(most), 1, sizes)
    starts = np.cumsum(sizes) - sizes
    drawn = np.zeros((len(seeds), len(first)), dtype=np.bool_)
    for bag, seed in enumerate(seeds):
        order = np.lexsort((mixed(keys, seed), own))
        rank = np.arange(len(first)) - np.repeat(starts, sizes)
        drawn[bag, order] = rank < count[own[order]]
    return Bags(first, copy_of, drawn)


def draw_features(n_features: int, fraction: float, seed: int) -> Positions:
    """Draw a fraction of the features, one at least, in their order."""
    count = max(1, round(fraction * n_features))
    return np.sort(np.random.default_rng(seed).permutation(n_features)[:count])


def rules_of_bag(
    table: TrainingTable,
    rows: Positions,
    used: Positions,
    bag: int,
    seed: int,
    *,
    order: str,
    initial: Types,
    limits: pipeline.Limits,
) -> "RulePool":
    """Return the rules that FRRI selects in a bag, by the first cover that it finds.

    The table has the samples of the bag, which are `rows` of the whole one, and all features, of
    which the bag may use some.
    """
    scaled, nominal = scaled_values(table)
    attributes = tuple(table.attributes[a] for a in used.tolist())
    part = replace(table, values=table.values[:, used], attributes=attributes)
    values = scaled[:, used]
    declared: dict[str, Any] = {"initial": initial[used], "rigid": nominal[used]}
    orders = pipeline.class_orders(order, part, values, seed, **declared)
    induced = induce(values, table.classes, orders, **declared)
    found = pipeline.class_candidates(induced, table.classes)
    chosen = minimum_cover(limits.allow(found), found.lengths, work_limit=0).selected
    types = np.zeros((len(chosen), scaled.shape[1]), dtype=np.int8)
    types[:, used] = found.types[chosen]
    known = found.confidence[chosen], table.classes[chosen], rows[chosen].astype(np.int64)
    return RulePool(scaled[chosen], types, *known, np.full(len(chosen), bag, dtype=np.int64))


# --- Rules of all bags
class Samples(NamedTuple):
    """Scaled samples: values, classes, and which features are nominal."""

    values: Floats
    classes: Positions
    rigid: Flags

    def take(self, start: int, end: int) -> "Samples":
        """Return the samples from `start` to `end`."""
        return Samples(self.values[start:end], self.classes[start:end], self.rigid)


class RulePool(NamedTuple):
    """Boxes around samples, from any number of bags."""

    points: Floats  # rules x features: scaled values of the sample of each rule
    types: Types  # rules x features: codes of `ConditionType`
    radii: Floats  # confidence of each rule: half the width of its box
    classes: Positions
    sources: Ints  # row of the sample
    bags: Ints

    def distances(self, samples: Samples) -> Floats:
        """Return rules x samples: by how much the worst condition fails."""
        return distances(self.points, self.types, samples.values.T, samples.rigid)

    def candidates(self, samples: Samples, n_jobs: int | None = None) -> Candidates:
        """Return the rules with the samples that they cover: those nearer than their radius."""
        limits = (self.radii - TOLERANCE)[:, None]

        def covered(start: int, end: int) -> Words:
            return packed(self.distances(samples.take(start, end)) < limits)

        n = len(samples.classes)
        words = np.concatenate(map_threads(covered, _blocks(self, n), n_jobs), axis=1)
        boxes = self.sources, self.types, self.radii, CoverMatrix.from_words(words, n)
        groups = self.classes, np.bincount(samples.classes)
        return Candidates(*boxes, np.arange(n)[None], *groups, {})


class Nearest(NamedTuple):
    """Nearest samples of another class: distance and row of the first, distance of the second."""

    least: Floats
    row: Ints
    second: Floats


def nearest_of_other_classes(
    pool: RulePool, samples: Samples, n_jobs: int | None = None
) -> Nearest:
    """Return the two nearest samples of other classes of every rule, infinitely far without any."""

    def two(start: int, end: int) -> Nearest:
        part = samples.take(start, end)
        distance = pool.distances(part)
        distance[pool.classes[:, None] == part.classes] = np.inf
        rules, row = np.arange(len(pool.radii)), distance.argmin(axis=1)
        least = distance[rules, row]
        distance[rules, row] = np.inf
        return Nearest(least, start + row, distance.min(axis=1))

    far = np.full(len(pool.radii), np.inf)
    blocks = map_threads(two, _blocks(pool, len(samples.classes)), n_jobs)
    found = zip(Nearest(far, np.full(len(far), -1), far), *blocks, strict=True)
    least, row, second = map(np.array, found)
    ascending = np.sort(np.concatenate((least, second)), axis=0)
    first = least.argmin(axis=0)
    return Nearest(ascending[0], row[first, np.arange(len(first))], ascending[1])


def nearest_in_batches(
    pool: RulePool,
    table: TrainingTable,
    batches: Iterable[tuple[Any, Any]],
    missing: str,
    n_jobs: int | None = None,
) -> tuple[Floats, int]:
    """Return the distance of every rule to other classes in some batches, and their sample count.

    The features, ranges and classes of the table that the rules come from hold for the batches.
    """
    least, count = np.full(len(pool.radii), np.inf), 0
    labels = label_array(table.labels)
    ordered = np.array([attribute.kind == "ordinal" for attribute in table.attributes])
    imputed = np.array([attribute.typical_code for attribute in table.attributes])
    for X, y in batches:
        matrix = to_matrix(X, table.attributes)
        if missing == "error":
            check_complete(matrix, table.attributes)
        # As rules read values: an unseen ordered category is missing.
        matrix = np.where(ordered & (matrix < 0.0), np.nan, matrix)
        if missing == "typical":
            matrix = np.where(np.isnan(matrix), imputed, matrix)
        place = np.minimum(np.searchsorted(labels, y), len(labels) - 1)
        # A class that the table does not have differs from that of every rule.
        classes = np.where(labels[place] == np.asarray(y), place, -1)
        values, rigid = scaled_values(replace(table, values=matrix))
        found = nearest_of_other_classes(pool, Samples(values, classes, rigid), n_jobs)
        least, count = np.minimum(least, found.least), count + len(classes)
    return least, count


def out_of_bag_votes(
    pool: RulePool, samples: Samples, unseen: Flags, nearest: Nearest, n_jobs: int | None = None
) -> Floats:
    """Return samples x classes: scores by the rules whose bags do not contain a sample.

    The score of a class is the largest radius less distance of its rules, each narrowed by all
    samples but the one that it predicts; -inf without a rule.
    """
    n, n_classes = len(samples.classes), int(samples.classes.max()) + 1
    uncut = np.full((n, n_classes), -np.inf)
    of_class = [np.flatnonzero(pool.classes == c) for c in range(n_classes)]

    def fill(start: int, end: int) -> None:
        is_nearest = nearest.row[:, None] == np.arange(start, end)
        others = np.where(is_nearest, nearest.second[:, None], nearest.least[:, None])
        radii = np.minimum(pool.radii[:, None], others)
        counts = radii - pool.distances(samples.take(start, end))
        counts[~unseen[pool.bags, start:end]] = -np.inf
        for c, own in enumerate(of_class):
            if len(own):
                uncut[start:end, c] = counts[own].max(axis=0)

    map_threads(fill, _blocks(pool, n), n_jobs)
    return uncut


def _blocks(pool: RulePool, n_samples: int) -> list[tuple[int, int]]:
    """Return ranges of samples that begin at whole words of 64."""
    size = min(max(MOST_PAIRS // max(len(pool.radii), 1), 64), MOST_SAMPLES) // 64 * 64
    return [(start, min(start + size, n_samples)) for start in range(0, n_samples, size)]

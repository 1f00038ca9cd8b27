"""Bagged FRRI: rules from bags of the table, pooled into one ruleset or voting together."""

from __future__ import annotations

import warnings
from functools import partial
from numbers import Integral
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from frri._util import join_names
from frri.cover import DEFAULT_EFFORT
from frri.learners.base import RuleClassifier
from frri.learners.boxes import box_rule, scaled_values
from frri.learners.calibration import FEWEST_OBJECTS, least_loss
from frri.learners.frri._messages import warn_if_many, warn_if_one_class
from frri.learners.frri.attribute_order import NAMED_ORDERS, initial_types
from frri.learners.frri.bags import Draws, drawn_attributes, drawn_objects, rules_of_bag
from frri.learners.frri.base import FRRILearner
from frri.learners.frri.check_batches import nearest_in_batches
from frri.learners.frri.rule_pool import (
    Nearest,
    Objects,
    RulePool,
    covered,
    nearest_enemies,
    unseen_votes,
)
from frri.learners.frri.selection import Limits
from frri.learners.validation import check_choice, check_count, check_part, random_seeds
from frri.rules.measures import balanced_accuracy
from frri.table.checks import check_resolution

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from frri._util import Floats, Ints, Positions
    from frri.learners.training import TrainingTable
    from frri.rules import Label

FORMS = ("pooled", "ensemble")


class FRRIBaggingClassifier(FRRILearner, RuleClassifier):
    """FRRI on bags of the table: one ruleset pooled from all of them, or all of them voting.

    Every bag draws some of the objects, the same share of each class, and some of the attributes, and
    FRRI makes rules of it, by the first cover it finds. Pooled, the rules of all bags are checked against
    all objects. One that covers an object of another class, which its bag has not seen, is narrowed until
    it does not: its confidence becomes the distance to that object. One that would be left with nothing
    is dropped. From the rest the fewest are chosen that cover every object that any of them covers, with
    a proof, as FRRI does it with rules of its own. So what is left keeps FRRI's promise, no rule covers an
    object of another class, and making the candidates took only the bags. An object that no rule of any
    bag covers gets no rule of its own: `uncovered_` lists it, a warning counts them, and the nearest rule
    decides about new objects like it.

    As an ensemble the rules stay as their bags made them, and the covering degrees of all rules of a
    class are added up.

    Who is drawn depends on values and class of an object alone, and on the seed of the bag: equal objects
    are drawn together, and neither their order nor a weight in the place of repetitions changes a rule.

    Parameters
    ----------
    n_estimators : int, default=10
        How many bags there are.
    max_samples : float or int, default=0.5
        The share of the objects that each bag draws, or how many; different objects count. Each class
        has its share, and one at least.
    max_features : float, default=0.7
        The share of the attributes that each bag may use.
    form : {"pooled", "ensemble"}, default="pooled"
        Whether one ruleset is chosen from the rules of all bags, or all of them vote.
    attribute_order : str, default="given"
        The order in which a rule's conditions are opened: one of the names that `FRRIClassifier` knows.
        With "random" each bag has its own.
    conditions, missing
        See `FRRIClassifier`.
    min_new_coverage, coverage, max_rules
        See `FRRIClassifier`, of the rules that are chosen; only pooled.
    max_conditions, min_support
        See `FRRIClassifier`, of the rules of each bag; pooled, they must cover so much of all objects too.
    effort, time_limit
        Limits of the choice from the pool: see `FRRIClassifier`. A `time_limit` is one for the whole of
        `fit`; bags are made in any case.
    random_state : int, RandomState or None, default=None
        Decides what each bag draws.
    class_weight : "balanced", None or mapping, default=None
        As in `FRRIClassifier`, without influence on the rules.
    n_jobs : int, optional
        How many bags are made at a time, and threads for what follows. None is one bag at a time, whose
        own work is spread over all cores, unless `joblib.parallel_config` says otherwise: any backend of
        joblib serves, processes and clusters too. Results are the same in any case.
    verbose : int, default=0
        Whether each step of learning is told on standard error, with the seconds it takes.

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    ruleset_ : RuleSet
        The rules in the table's own names and units: pooled by class and coverage, with the semantics
        "best-rule"; otherwise one bag after the other, with the semantics "added-votes".
    bags_ : ndarray of int, shape (n_rules,)
        The bag that each rule comes from.
    selected_ : ndarray of int, shape (n_rules,)
        The objects whose rules they are.
    selection_ : Bunch
        Only pooled: the certificate, as in `FRRIClassifier`, of the fewest in the pool; `n_pooled`,
        `n_narrowed` and `n_dropped`, how many rules there were, were narrowed and were dropped; and
        `n_further`, how many further objects they were checked against.
    uncovered_ : ndarray of int
        Only pooled: objects that no rule covers.
    oob_score_, oob_balanced_score_ : float
        The share of the objects that rules from bags which have not seen them get right, and the mean of
        these shares over the classes; NaN if every bag has seen every object. Pooled, such a rule is
        narrowed by all objects but the one it is asked about.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table had column names.

    See Also
    --------
    frri.FRRIClassifier : The fewest rules of all that the whole table gives.
    frri.BaggedRulesClassifier : Additive rules from bags.

    References
    ----------
    "FRRI: a novel algorithm for fuzzy-rough rule induction", section 6, which leaves bags to the future.

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

    bags_: Ints
    selected_: Ints
    uncovered_: Ints
    oob_score_: float
    oob_balanced_score_: float

    def __init__(
        self,
        *,
        n_estimators: int = 10,
        max_samples: Any = 0.5,
        max_features: float = 0.7,
        form: str = "pooled",
        attribute_order: str = "given",
        conditions: Any = None,
        missing: str = "typical",
        min_new_coverage: float = 0.0,
        coverage: float = 1.0,
        max_rules: int | None = None,
        max_conditions: int | None = None,
        min_support: float = 0.0,
        effort: int = DEFAULT_EFFORT,
        time_limit: float | None = None,
        random_state: Any = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.form = form
        self.attribute_order = attribute_order
        self.conditions = conditions
        self.missing = missing
        self.min_new_coverage = min_new_coverage
        self.coverage = coverage
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.min_support = min_support
        self.effort = effort
        self.time_limit = time_limit
        self.random_state = random_state
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_batches: Any = None) -> Self:
        """Induce rules from bags of a table and its class labels.

        Parameters
        ----------
        X : array-like or data frame of shape (n_objects, n_attributes)
        y : array-like of shape (n_objects,)
            Class labels of any type; the name of a series becomes the name of the target.
        sample_weight : array-like of shape (n_objects,), optional
            How much each object counts in probabilities and in what is known about rules, which are the
            same with any weights above 0; an object of weight 0 is not there.
        check_batches : iterable of (table, labels), optional
            Further objects in parts, which need not fit into memory together; only pooled. No bag draws
            from them and they need not be covered, but no rule covers one of them that is of another
            class: this is how rules from a sample are checked against all there is.

        Returns
        -------
        self
        """
        start = perf_counter()
        self._check_parameters()
        table = self._training_table(X, y, sample_weight, self.class_weight)
        check_resolution(table.attributes)
        warn_if_one_class(table)
        if check_batches is not None and self.form == "ensemble":
            raise ValueError(
                'check_batches narrow pooled rules, but an ensemble keeps its rules: set form="pooled".'
            )
        self._learn(table, start, check_batches or ())
        self._warn(table)
        return self._calibrate(table, self._oob_calibration)

    def _learn(
        self, table: TrainingTable, start: float | None = None, check_batches: Any = ()
    ) -> None:
        start = perf_counter() if start is None else start
        values, rigid = scaled_values(table)
        objects = Objects(values, table.classes, rigid)
        seeds = self._seeds()
        draws = self._draws(table, seeds)
        with self._step(f"{len(seeds)} bags"):
            pool = self._pool(table, draws, seeds)
        nearest = None
        if self.form == "pooled":
            with self._step(f"{len(pool)} rules against {len(values)} objects"):
                nearest = nearest_enemies(pool, objects, self.n_jobs)
                least, n_further = self._nearest_in_batches(pool, table, check_batches)
            narrow = pool.narrowed(np.minimum(nearest.least, least))
            self._choose(table, objects, pool, narrow, n_further, start)
        else:
            for name in ("selection_", "uncovered_"):  # of an earlier fit
                self.__dict__.pop(name, None)
            self._package(table, pool)
        with self._step("what bags say of objects they have not seen"):
            self._estimate(table, objects, pool, draws, nearest)

    def _seeds(self) -> list[int]:
        """One for each bag."""
        return random_seeds(self.random_state, self.n_estimators)

    def _draws(self, table: TrainingTable, seeds: list[int]) -> Draws:
        """Whom bags draw from a table."""
        return drawn_objects(table, self.max_samples, seeds)

    def _pool(self, table: TrainingTable, draws: Draws, seeds: list[int]) -> RulePool:
        """The rules of all bags."""
        initial = initial_types(self.conditions or {}, table.attributes)
        work: Callable[..., RulePool] = partial(
            rules_of_bag, order=self.attribute_order, initial=initial, limits=self._limits()
        )
        n_attributes = table.values.shape[1]
        bags = (
            (
                table.take(draws.rows(bag)),
                draws.rows(bag),
                drawn_attributes(n_attributes, self.max_features, seed),
                bag,
                seed,
            )
            for bag, seed in enumerate(seeds)
        )
        return RulePool.joined(self._each(work, bags))

    def _each(
        self, work: Callable[..., RulePool], bags: Iterable[tuple[Any, ...]]
    ) -> list[RulePool]:
        """The work on every bag, wherever joblib says."""
        made: list[RulePool] = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(work)(*bag) for bag in bags
        )
        return made

    def _nearest_in_batches(
        self, pool: RulePool, table: TrainingTable, check_batches: Any
    ) -> tuple[Floats, int]:
        """How far the nearest enemy of every rule is among further objects, and how many there are."""
        return nearest_in_batches(pool, table, check_batches, self.missing, self.n_jobs)

    def _choose(
        self,
        table: TrainingTable,
        objects: Objects,
        pool: RulePool,
        narrow: RulePool,
        n_further: int,
        start: float,
    ) -> None:
        """The fewest rules of the pool, narrowed, that cover what any of them covers."""
        limits, lengths, own = self._limits(), pool.lengths, pool.classes
        covers = covered(narrow, objects, self.n_jobs)
        sizes = np.bincount(table.classes)
        allowed = limits.allowed(covers, lengths, sizes[own])
        with self._step("the fewest of them"):
            cover = limits.select(
                allowed,
                lengths,
                own,
                sizes,
                coverable=np.bincount(table.classes[allowed.union()], minlength=len(sizes)),
                effort=self.effort,
                time_limit=self._time_left(perf_counter() - start),
            )
        counts = covers.sizes()
        self.selection_ = self._certified(
            cover,
            lengths,
            len(table.classes),
            claim=f"{limits.claim} of {len(pool)} rules of {self.n_estimators} bags",
            n_pooled=len(pool),
            n_narrowed=int(((narrow.radii < pool.radii) & (counts > 0)).sum()),
            n_dropped=int((counts == 0).sum()),
            n_further=n_further,
        )
        self.uncovered_ = np.flatnonzero(~covers.take(cover.selected).union())
        chosen = cover.selected
        order = np.lexsort((chosen, -counts[chosen], own[chosen]))
        self._package(table, narrow.take(chosen[order]))

    def _package(self, table: TrainingTable, pool: RulePool) -> None:
        """Rules in the table's names and units, with what they cover."""
        self.bags_, self.selected_ = pool.bags, pool.sources
        rules = (
            box_rule(table, u, types, radius, table.labels[c])
            for u, types, radius, c in zip(
                pool.sources, pool.types, pool.radii, pool.classes, strict=True
            )
        )
        pooled = self.form == "pooled"
        ruleset = self._made(
            table,
            rules,
            semantics="best-rule" if pooled else "added-votes",
            about=self._about(table) | ({"selection": dict(self.selection_)} if pooled else {}),
            **self._meaning(),
        )
        self.ruleset_ = self._with_statistics(ruleset, table)

    def _estimate(
        self,
        table: TrainingTable,
        objects: Objects,
        pool: RulePool,
        draws: Draws,
        nearest: Nearest | None,
    ) -> None:
        """How right rules are about objects that their bags have not seen, and how far to trust them."""
        n_classes = len(table.labels)
        scores, uncut = unseen_votes(pool, objects, draws.unseen, nearest, n_classes, self.n_jobs)
        asked = np.flatnonzero((uncut > -np.inf).any(axis=1))
        scores, uncut, classes = scores[asked], uncut[asked], table.classes[asked]
        silent = ~(scores.max(axis=1, initial=0.0) > 0.0)
        votes = np.where(silent[:, None], uncut, scores)
        decided = votes.argmax(axis=1)
        weights = table.all_weights[asked]
        self.oob_score_ = self.oob_balanced_score_ = np.nan
        if len(asked):
            self.oob_score_ = float((weights * (decided == classes)).sum() / weights.sum())
            self.oob_balanced_score_ = balanced_accuracy(classes, decided, weights)
        n_distinct = len(np.unique(draws.copy_of[asked]))
        self._oob_calibration = None
        if n_distinct >= FEWEST_OBJECTS:
            votes[silent] = np.exp(uncut[silent] - uncut[silent].max(axis=1, keepdims=True))
            shares = votes / votes.sum(axis=1, keepdims=True)
            class_sizes, surprise = np.array(table.class_counts), weights.sum() / n_distinct
            self._oob_calibration = least_loss(
                shares, decided, classes, class_sizes, weights, surprise
            )

    def _warn(self, table: TrainingTable) -> None:
        """Objects that no rule covers, limits that were reached."""
        if self.form != "pooled":
            return
        warn_if_many("FRRI on bags", self.selection_.n_rules, len(table.classes))
        complete = self._limits() == Limits()
        if len(self.uncovered_) and complete:
            warnings.warn(
                f"{len(self.uncovered_)} of {len(table.classes)} objects are covered by no rule of any bag: "
                f"rows {join_names(map(str, self.uncovered_ + 1), 10)}; more or larger bags leave fewer.",
                UserWarning,
                stacklevel=3,
            )
        self._warn_if_unproved()

    def _for_part(self, rows: Positions, labels: Collection[Label]) -> Self:
        """With the first cover that is found: fewer rules or a proof say nothing about new objects."""
        one: Self = super()._for_part(rows, labels).set_params(effort=0)
        return one

    def _name(self) -> str:
        return "FRRI on bags"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_estimators", self.n_estimators, 1)
        if isinstance(self.max_samples, Integral):
            check_count("max_samples", self.max_samples, 1)
        else:
            check_part("max_samples", self.max_samples, " or a whole number of objects")
        check_part("max_features", self.max_features)
        check_choice("form", self.form, FORMS)
        check_choice("attribute_order", self.attribute_order, NAMED_ORDERS)
        if self.form == "ensemble" and not self._limits().is_complete:
            raise ValueError(
                "max_rules, min_new_coverage and coverage choose from pooled rules, and the rules of an ensemble all "
                'vote: take form="pooled", or leave them out.'
            )

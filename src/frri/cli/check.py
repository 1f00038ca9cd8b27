"""How good rules are on rows that they were not learned from, and whether others would be better.

Only rows of the training table are used: some are held back, rules are learned from the others in the same
way, and asked about those. The model that is saved has been learned from all rows.
"""

import argparse
import warnings
from dataclasses import dataclass, replace
from math import sqrt
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Flags, Positions, Progress
from frri.cli.console import one_line, say, sentence
from frri.cli.measures import Measure, measure_of
from frri.cli.parser import Parser, at_least, positive_number
from frri.learners.registry import LEARNERS

FOLDS = 5

# Seconds of computing that are spent without being asked, and on each of the other learners.
PATIENCE = 8.0

# Of more rows than this a share is held back once, which tells enough.
MANY_ROWS, HELD_BACK = 5_000, 0.2

# In fewer rows a cross-validation tells next to nothing.
FEWEST_ROWS = 20

# The learners that FRRI is compared with: those that make few rules where classes overlap.
RIVALS = ("compact", "ripper", "additive")

# By how much, and by how many standard errors, a learner must be ahead to be clearly better.
MARGIN, ERRORS = 0.02, 2.5

Parts = list[tuple[Positions, Positions]]


def add_check_options(parser: Parser) -> None:
    """The options that say on which rows."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--test", type=_share, metavar="SHARE", help="check on a share of the rows, such as 0.3"
    )
    group.add_argument(
        "--cv",
        type=at_least(2),
        metavar="N",
        help=f"check by cross-validation with N folds; default: {FOLDS} where that takes seconds, or with "
        f"more than {MANY_ROWS:,} rows --test {HELD_BACK}",
    )
    group.add_argument("--no-check", action="store_true", help="no check on rows not learned from")


@dataclass(frozen=True, eq=False)
class Trial:
    """What a learner said about rows that it had not seen, what is true, and by how many rules."""

    truth: NDArray[Any]
    answers: NDArray[Any]
    fold: Positions
    n_rules: float

    @property
    def right(self) -> Flags:
        """Which rows it got right."""
        return np.asarray(self.truth == self.answers)

    def clearly_better(self, other: "Trial") -> bool:
        """Whether it was right more often, beyond chance (McNemar), and enough to care.

        Examples
        --------
        >>> truth, fold = np.ones(100), np.zeros(100, dtype=np.intp)
        >>> first = Trial(truth, np.arange(100) < 90, fold, 5.0)
        >>> first.clearly_better(Trial(truth, np.arange(100) < 70, fold, 50.0))
        True
        >>> first.clearly_better(Trial(truth, np.arange(100) < 87, fold, 50.0))
        False
        """
        ahead = int((self.right & ~other.right).sum())
        behind = int((other.right & ~self.right).sum())
        gain = ahead - behind
        return gain >= MARGIN * len(self.right) and gain >= ERRORS * sqrt(ahead + behind)


@dataclass(frozen=True, eq=False)
class Check:
    """A table in parts, of which rules are learned from some rows and asked about the others.

    Attributes
    ----------
    X, labels, weights : table, array, array or None
        The rows that weigh anything.
    parts : list of pairs of arrays
        Rows to learn from and rows to be asked about; empty where there is no check.
    reason : str
        Why there is none; empty too where none is wanted.
    test : float or None
        The share of rows that is asked about, None for a cross-validation.
    patience : float
        Seconds of computing for each learner.
    measure : Measure
        What is told of the answers.
    """

    X: Any
    labels: NDArray[Any]
    weights: Any
    parts: Parts
    reason: str
    test: float | None
    patience: float
    measure: Measure

    @classmethod
    def of(
        cls, arguments: argparse.Namespace, X: Any, y: Any, weights: Any, seconds: float = 0.0
    ) -> "Check":
        """The check that the options above ask for; it took so many seconds to learn from all rows."""
        if weights is not None:
            # Rows without weight do not count, and a fold of nothing else could not be judged.
            X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        labels, parts, reason, test = y.to_numpy(), [], "", arguments.test
        measure = measure_of(arguments.task, arguments.order)
        if not _asked(arguments) and len(labels) > MANY_ROWS:
            test = HELD_BACK
        if not arguments.no_check and len(np.unique(labels.astype(str))) > 1:
            reason = _obstacle(arguments, labels, seconds, measure)
            try:
                parts = [] if reason else _parts(labels, arguments, test, measure)
            except ValueError as error:
                reason = str(error)
        patience = float("inf") if _asked(arguments) else PATIENCE
        return cls(X, labels, weights, parts, reason, test, patience, measure)

    @property
    def tested(self) -> Positions:
        """The rows that are asked about, in the order of a trial."""
        return np.concatenate([test for _, test in self.parts])

    def trial(self, learner: Any) -> Trial | None:
        """What a learner says about rows that it has not seen; None if that takes too long."""
        from sklearn.base import clone  # noqa: PLC0415 - slow to import

        start, n_parts = process_time(), len(self.parts)
        answers, fold, sizes = [], [], []
        for k, (train, test) in enumerate(self.parts):
            one = clone(learner)
            extra = {} if self.weights is None else {"sample_weight": self.weights[train]}
            with warnings.catch_warnings():
                # What they say has been said about the whole table.
                warnings.simplefilter("ignore")
                one.fit(self.X.iloc[train], self.labels[train], **extra)
                answers.append(one.predict(self.X.iloc[test]))
            if getattr(one, "selection_", {}).get("stopped_by") == "interrupt":
                raise KeyboardInterrupt
            fold.append(np.full(len(test), k))
            sizes.append(len(one.ruleset_))
            if k + 1 < n_parts and (process_time() - start) / (k + 1) * n_parts > self.patience:
                return None
        truth, n_rules = self.labels[self.tested], float(np.mean(sizes))
        return Trial(truth, np.concatenate(answers), np.concatenate(fold), n_rules)

    def tried(self, learner: Any, doing: str) -> Trial | None:
        """The same for a learner that nobody has asked for; None also if it cannot take this table."""
        try:
            with Progress(doing, 5.0):
                return self.trial(learner)
        except ValueError:
            return None

    def score(self, trial: Trial) -> float:
        """How good its answers were, by weight: higher is better."""
        return self.measure.score(trial.truth, trial.answers, self._weights())

    def constant(self) -> tuple[str, float]:
        """The best answer for all rows alike, and its score."""
        always = self._always()
        reached = self.measure.score(self.labels[self.tested], always, self._weights())
        return self.measure.shown(always[0]), round(reached, 9) + 0.0  # no -0.00

    def line(self, trial: Trial) -> str:
        """The score with its spread, beside always giving the same answer."""
        measure, weights = self.measure, self._weights()
        always, baseline = self.constant()
        reached = self.score(trial)
        if self.test is None:
            folds = [trial.fold == k for k in range(trial.fold.max() + 1)]
            scores = [
                measure.score(
                    trial.truth[own], trial.answers[own], None if weights is None else weights[own]
                )
                for own in folds
            ]
            spread = f"{min(scores):.2f} to {max(scores):.2f} in {len(scores)} folds"
        else:
            low, high = measure.interval(trial.truth, trial.answers, weights)
            spread = f"{len(trial.truth)} rows, 95% interval {low:.2f} to {high:.2f}"
        verdict = "" if reached > baseline else ": no better than that"
        beside = measure.beside(trial.truth, trial.answers, weights)
        beside_always = measure.beside(trial.truth, self._always(), weights)
        return (
            f"On rows that it was not learned from: {measure.name} {reached:.2f} ({spread}){beside}; "
            f"always answering {always} has {baseline:.2f}{beside_always}{verdict}"
        )

    def _weights(self) -> Any:
        """What the rows that are asked about weigh, None if all weigh the same."""
        return None if self.weights is None else self.weights[self.tested]

    def _always(self) -> NDArray[Any]:
        """The best answer for all rows alike, for each row that is asked about."""
        truth = self.labels[self.tested]
        constant = self.measure.constant(truth, self._weights())
        return np.full(len(truth), constant, dtype=truth.dtype)


def check_fit(
    arguments: argparse.Namespace, learner: Any, X: Any, y: Any, weights: Any, seconds: float
) -> None:
    """Say in one line how good the learner is on rows not seen, and in another what may be better.

    Parameters
    ----------
    arguments : Namespace
        With the options above, and `learner` and `seed`.
    learner : estimator
        As it was fitted.
    X, y, weights : table, labels, weights of rows or None
    seconds : float
        Of computing, to learn from all rows.
    """
    from frri.learners.frri import too_many_rules  # noqa: PLC0415 - slow to import

    check = Check.of(arguments, X, y, weights, seconds)
    n_rules, need, own, reason = len(learner.ruleset_), "", None, check.reason
    strict = arguments.learner == "frri" and arguments.task == "classification"
    if strict and too_many_rules(n_rules, len(check.labels)):
        need = f"FRRI needs {n_rules} rules for {len(check.labels)} rows, because classes overlap"
    if check.parts:
        try:
            with Progress("checking on rows not learned from", 5.0):
                own = check.trial(learner)
            reason = _TOO_LONG
        except ValueError as error:
            reason = sentence(error)
    if own is None:
        if reason:
            not_checked(reason)
        advise(need, None, {})
        return
    say(check.line(own))
    if strict:
        advise(need, own, _rivals(replace(check, weights=None, patience=PATIENCE)))


def not_checked(reason: str) -> None:
    """Say why there is no check."""
    say(f"Not checked on rows that it was not learned from: {one_line(reason).rstrip('.')}.")


_TOO_LONG = "it would take a while (--cv 5 or --test 0.3 insists)"


def _asked(arguments: argparse.Namespace) -> bool:
    return arguments.cv is not None or arguments.test is not None


def _obstacle(
    arguments: argparse.Namespace, labels: NDArray[Any], seconds: float, measure: Measure
) -> str:
    """Why there is no check, empty if there is one."""
    folds = arguments.cv or FOLDS
    if (
        measure.stratified
        and arguments.test is None
        and np.unique(labels.astype(str), return_counts=True)[1].max() < folds
    ):
        return f"no class has {folds} rows"
    if len(labels) < folds and arguments.test is None:
        return f"there are fewer than {folds} rows"
    if len(labels) < FEWEST_ROWS and not _asked(arguments):
        return f"{len(labels)} rows are too few (--cv {folds} insists)"
    return _TOO_LONG if seconds > PATIENCE and not _asked(arguments) else ""


def _rivals(check: Check) -> dict[str, Trial]:
    """The other learners on the same rows, as far as there is time; the most accurate first."""
    found = {}
    for name in RIVALS:
        rival = LEARNERS[name].make()
        if "random_state" in rival.get_params():
            rival.set_params(random_state=0)
        trial = check.tried(rival, f"comparing with {name}")
        if trial is not None:
            found[name] = trial
    return dict(sorted(found.items(), key=lambda item: -item[1].right.mean()))


def advise(need: str, own: Trial | None, rivals: dict[str, Trial]) -> None:
    """Name the learner to take instead, if there is reason for it."""
    better = [name for name, trial in rivals.items() if own and trial.clearly_better(own)]
    if not better and not need:
        return
    name = next(iter(better or rivals or RIVALS))
    figures = ""
    if name in rivals:
        trial = rivals[name]
        figures = f" there (accuracy {trial.right.mean():.2f}, about {trial.n_rules:.0f} rules)"
    merit = f"{name} is clearly better" if better else f"{name} needs fewer"
    say(
        f"note: {need}{'; ' if need else ''}{merit}{figures}: "
        f"type the same with --learner {name} at the end."
    )


def _parts(
    labels: NDArray[Any], arguments: argparse.Namespace, test: float | None, measure: Measure
) -> Parts:
    """Rows to learn from and rows to be asked about, with about the same share of every class."""
    from sklearn.model_selection import (  # noqa: PLC0415 - slow to import
        KFold,
        StratifiedKFold,
        train_test_split,
    )

    rows, texts = np.arange(len(labels)), labels.astype(str)
    folds, seed = arguments.cv or FOLDS, arguments.seed or 0
    if test is None:
        kind = StratifiedKFold if measure.stratified else KFold
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of classes smaller than the folds
            return list(kind(folds, shuffle=True, random_state=seed).split(rows, texts))
    by_class = measure.stratified and np.unique(texts, return_counts=True)[1].min() > 1
    try:
        split = train_test_split(
            rows, test_size=test, random_state=seed, stratify=texts if by_class else None
        )
    except ValueError:
        raise ValueError(
            f"--test {test:g} of {len(rows)} rows leaves too few to learn from or to ask about; "
            "use --cv."
        ) from None
    return [tuple(split)]


def _share(text: str) -> float:
    value = positive_number(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"expected a share between 0 and 1, got {text!r}")
    return value

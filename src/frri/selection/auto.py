"""Choose the estimator that does best on held-out samples; prefer few readable rules."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from frri._util import Progress
from frri.learners.registry import TASKS, rule_learners
from frri.selection.holdout import Holdout, HoldoutResult

# Candidates for a classification, the fastest first.
CANDIDATES = ("ripper", "additive", "compact", "frri")

# Compact FRRI and FRRI compare pairs of samples: maximum of pairs times features. FRRI also
# searches a minimum-size rule set, up to this number of samples.
MOST_PAIRS, MOST_SAMPLES = 6e7, 2_000

# Loss of score that fewer rules are worth, at most.
CLOSE = 0.005


@dataclass(frozen=True)
class EstimatorChoice:
    """An estimator for a table, and why it was chosen.

    Attributes
    ----------
    name : str
        A name of `frri.learners.registry`.
    estimator : estimator
        With its parameters, not fitted.
    result : HoldoutResult or None
        Its predictions of held-out samples; None if the table was not split.
    reason : str
        One line with the scores and sizes of all candidates; empty if there are none.
    results : dict of HoldoutResult
        Predictions of all candidates, by name.
    """

    name: str
    estimator: Any
    result: HoldoutResult | None = None
    reason: str = ""
    results: dict[str, HoldoutResult] = field(default_factory=dict)

    @property
    def leaderboard(self) -> list[dict[str, Any]]:
        """Names, scores and mean numbers of rules of all candidates, the best first."""
        ranked = sorted(self.results.items(), key=lambda one: -one[1].score)
        return [{"name": n, "score": one.score, "rules": one.n_rules} for n, one in ranked]


def choose_estimator(
    holdout: Holdout,
    *,
    limits: Mapping[str, Any] | None = None,
    random_state: int = 0,
    verbose: bool = False,
) -> EstimatorChoice:
    """Choose the estimator that suits a table.

    Candidates of a classification are RIPPER, additive rules, Compact FRRI and FRRI (the last two
    for tables of moderate size); of other tasks all that are registered. The one with the best
    score is chosen. Of those that differ from it by at most one standard error of the difference,
    and by at most 0.005, the one with the fewest rules is chosen. The candidates depend on the
    table alone, not on the speed of the machine. Without splits the choice is additive rules, or
    FRRI for a small table with classes.

    Parameters
    ----------
    holdout : Holdout
        The table and its splits.
    limits : mapping, optional
        Values of `max_rules`, `max_conditions` and `min_support` for the estimators that have them.
    random_state : int, default=0
        Random seed of the estimators.
    verbose : bool, default=False
        If True, show progress on standard error.

    Returns
    -------
    EstimatorChoice

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> choice = choose_estimator(Holdout(*load_iris(return_X_y=True)))
    >>> choice.estimator
    AdditiveRulesClassifier()
    >>> print(choice.reason)
    Chosen: additive, accuracy 0.96 with 3 rules (ripper 0.9... with ... rules, ...)
    """
    given = {"random_state": random_state, "class_order": holdout.class_order, **(limits or {})}

    def make(name: str) -> Any:
        return make_estimator(name, task=holdout.task, **given)

    classify = holdout.task == "classification"
    n_samples, n_features = holdout.X.shape
    few = n_samples * min(n_samples, MOST_SAMPLES) * n_features <= MOST_PAIRS
    affordable = {"compact": few, "frri": few and n_samples <= MOST_SAMPLES}
    names = CANDIDATES if classify else rule_learners(holdout.task)
    estimators = {name: make(name) for name in names if affordable.get(name, True)}
    if not holdout.splits:
        name = "frri" if classify and "frri" in estimators else "additive"
        return EstimatorChoice(name, estimators[name])
    results = compare_estimators(holdout, estimators, verbose=verbose)
    if not results:
        raise ValueError(
            f"None of the estimators {', '.join(estimators)} can be fitted to parts of this table; "
            "name one."
        )
    name = _choose(results, len(holdout.y))
    reason = _reason(results, name)
    return EstimatorChoice(name, estimators[name], results[name], reason, results)


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


def compare_estimators(
    holdout: Holdout,
    estimators: Mapping[str, Any],
    *,
    time_limit: float = float("inf"),
    verbose: bool = False,
) -> dict[str, HoldoutResult]:
    """Evaluate estimators, given by name, on the same splits.

    Those that cannot take this table, or not within a time limit (see `Holdout.evaluate`), are left
    out. With `verbose`, progress is shown on standard error.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> both = {name: make_estimator(name, random_state=0) for name in ("ripper", "furia")}
    >>> results = compare_estimators(Holdout(*load_iris(return_X_y=True)), both)
    >>> {name: round(result.score, 2) for name, result in results.items()}
    {'ripper': 0.92, 'furia': 0.93}
    """
    found = {}
    for name, estimator in estimators.items():
        try:
            with Progress(f"trying {name}", 5.0) if verbose else nullcontext():
                result = holdout.evaluate(estimator, time_limit=time_limit)
        except ValueError:
            continue
        if result is not None:
            found[name] = result
    return found


def _choose(results: Mapping[str, HoldoutResult], n_samples: int) -> str:
    """Return the estimator with the fewest rules of those that are about as good as the best."""
    from frri.learners.frri import too_many_rules  # noqa: PLC0415 - slow to import

    # Nearly as many rules as samples: nobody reads them.
    readable = [
        name for name, one in results.items() if not too_many_rules(int(one.n_rules), n_samples)
    ]
    names = readable or [*results]
    best = max(names, key=lambda name: results[name].score)
    close = [name for name in names if results[name].is_close(results[best], CLOSE)]
    return min(close, key=lambda name: results[name].n_rules)


def _reason(results: Mapping[str, HoldoutResult], chosen: str) -> str:
    """Describe in one line which estimator it is, and what all reached."""
    own, measure = results[chosen], results[chosen].measure
    shown = {
        name: f"{result.score:.2f} with {result.n_rules:.0f} rules"
        for name, result in results.items()
    }
    others = ", ".join(f"{name} {shown[name]}" for name in results if name != chosen)
    common, baseline = own.baseline
    beaten = max(result.score for result in results.values()) <= baseline
    return (
        f"Chosen: {chosen}, {measure} {shown[chosen]}"
        + (f" ({others})" if others else "")
        + (f"; no better than always {common} ({baseline:.2f})" if beaten else "")
    )

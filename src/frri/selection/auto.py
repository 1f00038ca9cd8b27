"""Choose the estimator that does best on held-out samples; prefer few readable rules."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from frri._util import Progress
from frri.learners.registry import TASKS, rule_learners
from frri.selection.holdout import Holdout, HoldoutResult

# Candidates for a classification: they are fast and differ most.
CANDIDATES = ("compact", "additive", "frri")

# Compact FRRI and FRRI compare pairs of samples: maximum of pairs times features. FRRI also
# searches a minimum-size rule set, up to this number of samples.
MOST_PAIRS, MOST_SAMPLES = 6e7, 2_000

# An estimator that is evaluated for comparison only, up to this number of samples.
RIVAL, MOST_SAMPLES_OF_RIVAL = "ripper", 20_000

# Estimators with one deciding rule, which is easier to follow than a sum of votes.
ONE_DECIDES = ("compact", "frri", "ripper")

# Loss of score that simpler rules are worth.
CLOSE = 0.01


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
    rivals : dict of HoldoutResult
        Estimators evaluated for comparison only.
    """

    name: str
    estimator: Any
    result: HoldoutResult | None = None
    reason: str = ""
    rivals: dict[str, HoldoutResult] = field(default_factory=dict)


def choose_estimator(
    holdout: Holdout,
    *,
    limits: Mapping[str, Any] | None = None,
    random_state: int = 0,
    verbose: bool = False,
) -> EstimatorChoice:
    """Choose the estimator that suits a table.

    Candidates of a classification are Compact FRRI, additive rules and FRRI; of other tasks all
    that are registered. Of about equally good ones, few rules of which one decides are preferred.
    The candidates depend on the table alone, not on the speed of the machine. Without splits the
    choice is FRRI, or additive rules for a large table or another task.

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
    CompactFRRIClassifier()
    >>> print(choice.reason)
    Picked compact, ... on rows not learned from: 0.9... with about ... rules (additive 0.9..., frri
    0.9...)
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
    if classify and all(result.score <= result.baseline[1] for result in results.values()):
        # These give no weight to rare classes.
        more = {"additive with class_weight=none": make("additive").set_params(class_weight=None)}
        more["ripper"] = make("ripper")
        estimators |= more
        results |= compare_estimators(holdout, more, verbose=verbose)
    if not results:
        raise ValueError(
            f"None of the estimators {', '.join(estimators)} can be fitted to parts of this table; "
            "name one."
        )
    chosen, merit = _pick(results, len(holdout.y), classify=classify)
    rivals = {}
    if classify and len(holdout.y) <= MOST_SAMPLES_OF_RIVAL and RIVAL not in results:
        rivals = compare_estimators(holdout, {RIVAL: make(RIVAL)}, verbose=verbose)
    reason = _reason(results, chosen, merit)
    name = chosen.partition(" ")[0]
    return EstimatorChoice(name, estimators[chosen], results[chosen], reason, rivals)


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


def _pick(
    results: Mapping[str, HoldoutResult], n_samples: int, *, classify: bool
) -> tuple[str, str]:
    """Return the best estimator and its merit; of about equally good ones, that with fewest rules.

    Of classifiers with at most twice the fewest rules, one in which one rule decides comes first.
    """
    from frri.learners.frri import too_many_rules  # noqa: PLC0415 - slow to import

    score = {name: result.score for name, result in results.items()}
    one_decides = ONE_DECIDES if classify else ()
    # Nearly as many rules as samples: nobody reads them.
    sizes = {name: int(result.n_rules) for name, result in results.items()}
    terse = [n for n in sizes if not classify or not too_many_rules(sizes[n], n_samples)]
    best = max(terse or results, key=lambda name: score[name])
    least = score[best] - CLOSE
    if classify:
        least = max(least, results[best].baseline[1] + 1e-9)
    close = [name for name in terse if score[name] >= least] or [best]
    fewest = min(results[name].n_rules for name in close)
    close = [name for name in close if results[name].n_rules <= 2 * fewest]
    chosen = min(close, key=lambda name: (name not in one_decides, results[name].n_rules))
    merit = "the most accurate" if classify else "the best"
    if chosen != best:
        fewer = best in one_decides or chosen not in one_decides
        simpler = "fewer rules" if fewer else "rules of which one decides"
        merit = f"as good as {best} but with {simpler},"
    if max(score.values()) > score[best]:
        merit += " of those with few rules"
    return chosen, merit


def _reason(results: Mapping[str, HoldoutResult], chosen: str, merit: str) -> str:
    """Describe in one line which estimator it is, and what all reached."""
    common, baseline = results[chosen].baseline
    figures = {
        name: f"{result.score:.2f} with about {result.n_rules:.0f} rules"
        for name, result in results.items()
    }
    others = ", ".join(f"{name} {figures[name]}" for name in results if name != chosen)
    beaten = max(result.score for result in results.values()) <= baseline
    return (
        f"Picked {chosen}, {merit} on rows not learned from: {figures[chosen]}"
        + (f" ({others})" if others else "")
        + (f"; nothing beats always answering {common} ({baseline:.2f})" if beaten else "")
    )

"""The learner that suits a table: the one that is right most often about rows that it has not seen."""

import argparse
from dataclasses import replace
from typing import Any

from frri.cli.check import Check, Trial, advise
from frri.cli.console import say
from frri.cli.learners import limits_of, make_learner
from frri.learners.registry import LEARNERS, TASKS, rule_learners

# The learners that are tried: those that are quick and differ most.
CANDIDATES = ("compact", "additive", "frri")

# Compact FRRI and FRRI compare pairs of rows: so many times columns at most. FRRI then looks for the fewest
# rules as well, for so many rows at most.
MOST_PAIRS, MOST_ROWS = 6e7, 2_000

# Those that are tried where none of these beats the commonest class: every row counts the same for them,
# while the others care for rare classes.
PLAIN = {"additive": ("class_weight=none",), "ripper": ()}

# The learner that is named, not taken, where it is clearly better, of tables with so many rows at most.
RIVAL, MOST_TOLD = "ripper", 20_000

# Those whose predictions are easier to follow than a sum of votes.
ONE_DECIDES = ("compact", "frri", "ripper")

# The accuracy that simpler rules are worth.
CLOSE = 0.01


def pick(
    arguments: argparse.Namespace, X: Any, y: Any, weights: Any
) -> tuple[str, Any, Check, Trial | None]:
    """Name and learner for a table, the check, and what the learner did there if that decided.

    Without a check it is FRRI, or where that would take long the additive learner; of tasks other than
    classification it is the first learner listed. What is tried depends on the table alone, not on how
    fast the machine is.
    """
    check = replace(Check.of(arguments, X, y, weights), patience=float("inf"))
    listed, classes = TASKS[arguments.task], arguments.task == "classification"
    n_rows, n_columns = check.X.shape
    few = n_rows * min(n_rows, MOST_ROWS) * n_columns <= MOST_PAIRS
    tried = {"compact": few, "frri": few and n_rows <= MOST_ROWS}
    learners = {
        name: _made(arguments, name)
        for name in (CANDIDATES if classes else rule_learners(arguments.task))
        if (weights is None or listed[name].weights) and tried.get(name, True)
    }
    if not check.parts:
        name = "frri" if classes and "frri" in learners else "additive"
        return name, learners[name], check, None
    trials: dict[str, Trial] = {}
    for name, learner in learners.items():
        _try(name, learner, check, trials)
    if not classes:
        name = _best(check, trials)
        return name, learners[name], check, trials[name]
    if all(check.score(trial) <= check.constant()[1] for trial in trials.values()):
        for name, settings in PLAIN.items():
            if weights is None or LEARNERS[name].weights:
                label = " with ".join([name, *settings])
                learners[label] = _made(arguments, name, *settings)
                _try(label, learners[label], check, trials)
    chosen = _chosen(check, trials)
    if n_rows <= MOST_TOLD and all(name.partition(" ")[0] != RIVAL for name in trials):
        _name_rival(check, _made(arguments, RIVAL), trials[chosen])
    return chosen.partition(" ")[0], learners[chosen], check, trials[chosen]


def _made(arguments: argparse.Namespace, name: str, *settings: str) -> Any:
    known = TASKS[arguments.task][name].make().get_params()
    # Two runs of one command pick the same.
    seed = (arguments.seed or 0) if "random_state" in known else None
    limits = {name: value for name, value in limits_of(arguments).items() if name in known}
    return make_learner(
        name, settings, task=arguments.task, seed=seed, limits=limits, order=arguments.order
    )


def _try(name: str, learner: Any, check: Check, trials: dict[str, Trial]) -> None:
    trial = check.tried(learner, f"trying {name}")
    if trial is not None:
        trials[name] = trial


def _name_rival(check: Check, learner: Any, own: Trial) -> None:
    """Say if the algorithm that people know does clearly better."""
    found: dict[str, Trial] = {}
    _try(RIVAL, learner, check, found)
    advise("", own, found)


def _chosen(check: Check, trials: dict[str, Trial]) -> str:
    """The best one; said in one line, with what the others reached.

    Of about equally accurate ones, and among these of those with at most twice the fewest rules, one in
    which one rule decides comes first.
    """
    from frri.learners.frri import too_many_rules  # noqa: PLC0415 - slow to import

    reached = {name: check.score(trial) for name, trial in trials.items()}
    # Nearly as many rules as rows are remembered sooner than read.
    terse = [n for n in trials if not too_many_rules(int(trials[n].n_rules), len(check.labels))]
    best = max(terse or trials, key=lambda name: reached[name])
    _, baseline = check.constant()
    least = max(reached[best] - CLOSE, baseline + 1e-9)
    close = [name for name in terse if reached[name] >= least] or [best]
    fewest = min(trials[name].n_rules for name in close)
    close = [name for name in close if trials[name].n_rules <= 2 * fewest]
    chosen = min(close, key=lambda name: (name not in ONE_DECIDES, trials[name].n_rules))
    fewer = best in ONE_DECIDES or chosen not in ONE_DECIDES
    simpler = "fewer rules" if fewer else "rules of which one decides"
    merit = "the most accurate" if chosen == best else f"as good as {best} but with {simpler},"
    if max(reached.values()) > reached[best]:
        merit += " of those with few rules"
    _say_picked(check, trials, chosen, merit)
    return chosen


def _best(check: Check, trials: dict[str, Trial]) -> str:
    """The best one, of about equally good ones that with the fewest rules; said in one line."""
    reached = {name: check.score(trial) for name, trial in trials.items()}
    best = max(trials, key=lambda name: reached[name])
    close = [name for name in trials if reached[name] >= reached[best] - CLOSE]
    chosen = min(close, key=lambda name: trials[name].n_rules)
    merit = "the best" if chosen == best else f"as good as {best} but with fewer rules,"
    _say_picked(check, trials, chosen, merit)
    return chosen


def _say_picked(check: Check, trials: dict[str, Trial], chosen: str, merit: str) -> None:
    """In one line which learner it is, and what all reached."""
    reached = {name: check.score(trial) for name, trial in trials.items()}
    common, baseline = check.constant()
    figures = {
        name: f"{reached[name]:.2f} with about {trial.n_rules:.0f} rules"
        for name, trial in trials.items()
    }
    others = ", ".join(f"{name} {figures[name]}" for name in trials if name != chosen)
    beaten = f"; nothing beats always answering {common} ({baseline:.2f})"
    say(
        f"Picked {chosen}, {merit} on rows not learned from: {figures[chosen]}"
        + (f" ({others})" if others else "")
        + (beaten if max(reached.values()) <= baseline else "")
    )

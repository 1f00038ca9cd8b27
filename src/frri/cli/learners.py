"""Learners by name, with the parameters that a command line gives them."""

import argparse
import ast
from collections.abc import Mapping, Sequence
from typing import Any

from frri._util import find_name
from frri.learners.registry import TASKS, rule_learners

LIMITS = ("max_rules", "max_conditions", "min_support")
# Parameters of FRRI's search for the fewest rules that have options of their own.
SEARCH = ("effort", "gap", "time_limit", "memory_limit")

_WORDS = {"true": True, "false": False, "none": None}


def make_learner(
    name: str,
    settings: Sequence[str] = (),
    *,
    task: str = "classification",
    seed: int | None = None,
    search: Mapping[str, Any] | None = None,
    limits: Mapping[str, Any] | None = None,
    order: Sequence[Any] | None = None,
) -> Any:
    """A learner with its parameters.

    Parameters
    ----------
    name : str
        A name of `rule_learners(task)`.
    settings : sequence of str
        PARAMETER=VALUE, with numbers, true, false, none, lists, and otherwise texts as values.
    task : str
        What is predicted: a name of `frri.learners.registry.TASKS`.
    seed : int, optional
        A parameter that has an option of its own.
    search : mapping, optional
        The same for those of `SEARCH`, None where one is not given.
    limits : mapping, optional
        The same for `max_rules`, `max_conditions` and `min_support`, None where one is not given.
    order : sequence of labels, optional
        The same for `class_order`.

    Examples
    --------
    >>> make_learner("frri", ["attribute_order=random"], seed=1)
    FRRIClassifier(attribute_order='random', random_state=1)
    """
    whose = "frri" if task == "classification" else f"frri fit --task {task}"
    find_name(name, rule_learners(task), whose, "learner")
    learner = TASKS[task][name].make()
    known = learner.get_params()
    given = dict(_setting(text) for text in settings)
    for parameter in given:
        find_name(parameter, known, f"The learner {name}", "parameter")
    for option, parameter, value in (
        ("--seed", "random_state", seed),
        ("--order", "class_order", order),
        *(
            (_option(name), name, value)
            for name, value in {**(search or {}), **(limits or {})}.items()
        ),
    ):
        if value is None:
            continue
        if parameter not in known:
            remedy = _instead(parameter, task) if parameter in LIMITS else ""
            raise ValueError(f"The learner {name} takes no {option}{remedy}.")
        if parameter in given:
            raise ValueError(f"{parameter} is given both by {option} and by --set.")
        given[parameter] = value
    return learner.set_params(**given)


def limits_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The limits on rules that a command line gives."""
    return {name: getattr(arguments, name) for name in LIMITS}


def _option(parameter: str) -> str:
    return "--" + parameter.replace("_", "-")


def _instead(parameter: str, task: str) -> str:
    """The learners that have a parameter, as the end of a sentence."""
    having = [
        name for name in rule_learners(task) if parameter in TASKS[task][name].make().get_params()
    ]
    if not having:
        return ""
    others, last = ", ".join(having[:-1]), having[-1]
    return f"; {others} and {last} do" if others else f"; {last} does"


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ValueError(f"--set needs PARAMETER=VALUE, got {text!r}.")
    if value.lower() in _WORDS:
        return name, _WORDS[value.lower()]
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return name, value

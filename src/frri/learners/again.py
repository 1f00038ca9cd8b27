"""The learner that a model comes from, by what the model says about itself."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from frri.learners.registry import TASKS

if TYPE_CHECKING:
    from frri.rules import RuleSet


def learner_again(ruleset: "RuleSet") -> Any:
    """A new estimator with the parameters of the one that a ruleset was learned by.

    Parameters
    ----------
    ruleset : RuleSet
        With `learner` and `parameters` in its `about`, as all learners leave them there.

    Returns
    -------
    estimator

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from frri import RIPPERClassifier
    >>> rules = RIPPERClassifier(random_state=1).fit(*load_iris(return_X_y=True)).ruleset_
    >>> learner_again(rules)
    RIPPERClassifier(random_state=1)
    """
    name, parameters = ruleset.about.get("learner"), ruleset.about.get("parameters")
    known = [one for one in TASKS[ruleset.task].values() if one.rules and one.label == name]
    if not known or not isinstance(parameters, Mapping):
        told = "says no learner" if name is None else f"was learned by {name!r}"
        raise ValueError(
            f"The model for {ruleset.target!r} {told}, which cannot be run again by its name; "
            "fit the learner in Python and use frri.compare.stability."
        )
    estimator = known[0].make()
    kept = {key: value for key, value in parameters.items() if key in estimator.get_params()}
    return estimator.set_params(**{key: _plain(value) for key, value in kept.items()})


def _plain(value: Any) -> Any:
    """What a description has frozen, as parameters are given."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value

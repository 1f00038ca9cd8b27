"""Parameters of estimators: checks, and documentation that several estimators share.

An error names the parameter, the constraint and the value. A line `{max_rules, n_jobs}` in the
docstring of an estimator is replaced by the entries of these names, in `help()` and on the site.
"""

import re
from collections.abc import Mapping, Sequence
from inspect import cleandoc
from numbers import Integral, Real
from textwrap import indent
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from frri._util import find_name, short_repr
from frri.table import Attribute

# No count of anything is larger; sums and products of such numbers still fit in 64 bits.
LARGEST_COUNT = 2**31 - 1
# Nor is any quantity.
LARGEST_AMOUNT = 1e300


def check_choice(name: str, value: Any, allowed: Sequence[str], other: str = "") -> None:
    """Raise an error for a parameter that is none of the allowed names.

    The message ends in `other`, a further possibility that the caller has checked.

    Examples
    --------
    >>> check_choice("missing", [], ("similar", "error"))
    Traceback (most recent call last):
        ...
    ValueError: missing must be one of similar, error, got [].
    """
    valid = isinstance(value, str) and value in allowed
    _require(name, value, valid, f"one of {', '.join(allowed)}{other}")


def check_count(
    name: str, value: Any, least: int = 0, most: int = LARGEST_COUNT, words: Sequence[str] = ()
) -> None:
    """Raise an error for a parameter that is neither a word nor an integer in a range."""
    if isinstance(value, str) and value in words:
        return
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    also = "".join(f' or "{word}"' for word in words)
    valid = whole and int(value) >= least
    _require(name, value, valid, f"an integer from {least} on{also}")
    _require(name, value, int(value) <= most, f"{most} at most")


def check_amount(name: str, value: Any) -> None:
    """Raise an error for a parameter that is no moderate number of 0 or more."""
    check_range(name, value, 0, LARGEST_AMOUNT, "a number from 0 on")


def check_boolean(name: str, value: Any) -> None:
    """Raise an error for a parameter that is neither True nor False."""
    _require(name, value, isinstance(value, bool | np.bool_), "True or False")


def check_share(name: str, value: Any) -> None:
    """Raise an error for a parameter that is no number from 0 to 1."""
    check_range(name, value, 0, 1, "a fraction from 0 to 1")


def check_range(name: str, value: Any, low: float, high: float, constraint: str) -> None:
    """Raise an error, which states the constraint, for a parameter that is no number in a range."""
    _require(name, value, _is_number(value) and low <= value <= high, constraint)


def check_part(name: str, value: Any, other: str = "") -> None:
    """Raise an error for a parameter that is no fraction above 0.

    The message ends in `other`, a further possibility that the caller has checked.
    """
    valid = _is_number(value) and 0 < value <= 1
    _require(name, value, valid, f"a fraction above 0 up to 1{other}")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _require(name: str, value: Any, valid: bool, constraint: str) -> None:
    if not valid:
        raise ValueError(f"{name} must be {constraint}, got {short_repr(value)}.")


def random_numbers(random_state: Any) -> np.random.RandomState:
    """Return the random number generator of a `random_state`."""
    try:
        source: np.random.RandomState = check_random_state(random_state)
    except (ValueError, TypeError):
        raise ValueError(
            f"random_state must be an integer from 0 to {2**32 - 1}, a RandomState or None, "
            f"got {short_repr(random_state)}."
        ) from None
    return source


def random_seeds(random_state: Any, count: int) -> list[int]:
    """Return seeds drawn by a `random_state`."""
    return list(random_numbers(random_state).randint(2**31 - 1, size=int(count)).tolist())


def directions(monotonic_cst: Any, attributes: Sequence[Attribute]) -> NDArray[np.int8]:
    """Return for each feature 1 if predictions must not fall with it, -1 if not rise, otherwise 0.

    Examples
    --------
    >>> from frri.table import Attribute
    >>> directions({"age": 1}, [Attribute("age"), Attribute("dose")])
    array([1, 0], dtype=int8)
    """
    found = np.zeros(len(attributes), dtype=np.int8)
    if monotonic_cst is None:
        return found
    if not isinstance(monotonic_cst, Mapping):
        raise ValueError(  # noqa: TRY004 - scikit-learn's convention for parameters
            "monotonic_cst must map attributes to +1 or -1, such as {'age': 1}, "
            f"got {short_repr(monotonic_cst)}."
        )
    names = [attribute.name for attribute in attributes]
    for name, direction in monotonic_cst.items():
        place = names.index(find_name(str(name), names, "The table"))
        if attributes[place].kind == "nominal":
            raise ValueError(
                f"monotonic_cst names {name!r}, whose categories have no order; "
                "make it an ordered column or leave it out."
            )
        if isinstance(direction, bool | np.bool_) or direction not in (1, -1):
            raise ValueError(
                f"monotonic_cst of {name!r} must be +1 or -1, got {short_repr(direction)}."
            )
        found[place] = direction
    return found


def monotone_claim(declared: NDArray[np.int8], attributes: Sequence[Attribute]) -> str:
    """Return the claim that is proved about rules that obey the directions, empty without any."""
    ways = [
        f"{attribute.name} {'rises' if direction > 0 else 'falls'}"
        for attribute, direction in zip(attributes, declared.tolist(), strict=True)
        if direction
    ]
    if not ways:
        return ""
    return f"Proven: no prediction falls as {' or '.join(ways)}, other features unchanged."


class SharedDocumentation:
    """Parameters and attributes that several estimators describe in the same words.

    Parameters
    ----------
    max_rules : int, optional
        Maximum number of rules. Rules are removed one at a time, each time the one whose removal
        reduces training accuracy least.
    max_conditions : int, optional
        Maximum number of tests that are added to a rule; tests of one feature in one direction are
        one condition of it.
    min_support : float, default=0.0
        Fraction of its class that a rule must cover to be kept.
    class_weight : "balanced", None or mapping, default=None
        Weights of classes, times the sample weights: the same total weight for every class, the
        same weight for every sample, or as in the mapping (1 for a class that it lacks).
    decision : {"accuracy", "balanced"} or mapping, default="accuracy"
        Costs of misclassifying a sample of each class: all equal, inversely proportional to the
        sizes of the classes, or as in the mapping (1 for a class that it lacks). Decisions and
        probabilities of `ruleset_` depend on them, and `ruleset_.with_decision` changes them later.
    missing : {"typical", "fails", "error"}, default="typical"
        Treatment of missing values in training and prediction: imputed (median, or most frequent
        category), satisfying no condition, or refused.
    calibrate : bool, default=True
        If True, `fit` fits twice more, on two halves of at most 1,000 distinct samples, and
        calibrates the probabilities on the half that was not used. If False, it fits once and the
        probabilities are shrunk towards class frequencies by a fixed amount. Predicted classes are
        the same.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one, and so on. None is all cores, or
        one inside a job of joblib. FRRI and additive rules use them for large tables and for
        prediction, other estimators for prediction. Results are the same in any case.
    verbose : int, default=0
        If above 0, each step of `fit` is printed on standard error, with its seconds.
    folds : int, default=3
        One sample in `folds` is set apart for pruning.
    min_weight : float, default=2
        A test that samples of the class with a smaller total weight satisfy is not added to a rule.
    monotonic_cst : mapping of str to {1, -1}, optional
        Features with which predictions must not fall (1) or not rise (-1). Rules that add then use
        only "at least" of the feature, rules that subtract only "at most" (or the other way round),
        so that no sample can be an exception.
    class_order : sequence of labels, optional
        Classes from the lowest to the highest. By default the order of a column of ordered
        categories (pandas, polars), or of numbers; strings are sorted alphabetically, with a
        warning.
    max_categories : int, default=8
        Maximum number of categories that a condition lists, allowed ("in") or excluded ("not in").
    calibration_fraction : float, default=0.0
        Fraction of the samples, drawn with a fixed seed, that are held out from the rules: their
        errors give the intervals of `predict_interval`.
    optimizations : int, default=2
        Number of passes over the rules of each class to improve them.
    estimators : "auto", sequence of str or mapping, default="auto"
        Candidates: by default those that suit the table, or a list of names such as "additive", or
        a mapping of names to estimators of this package. A single one is fitted and evaluated.
    cv : int, splitter or iterable of (train, test), optional
        Number of folds of the cross-validation, or a splitter of scikit-learn or its splits, all of
        which are held out, however long that takes; with 0 nothing is held out. By default up to 5
        folds.
    test_size : float, optional
        Fraction of the samples in a single test set, instead of a cross-validation.
    references : bool, default=True
        If True, a random forest and gradient boosting are evaluated on the same folds where there
        is time.
    time_limit : float, optional
        Seconds after which `fit` begins no further evaluation; the result may then depend on the
        speed of the machine.
    random_state : int, default=0
        Random seed of the folds and of the candidates.

    Attributes
    ----------
    best_estimator_ : estimator
        The chosen one, fitted to all samples, and `best_name_`, its name.
    leaderboard_ : list of dict
        Name, score, number of folds and mean numbers of rules and conditions of every candidate,
        the best first, then of the references; ``pandas.DataFrame(leaderboard_)`` is a table.
    ruleset_ : RuleSet
        The rules; `about["evaluation"]` has the score on held-out samples, its interval, the
        baseline and the leaderboard.
    holdout_result_ : HoldoutResult or None
        Predictions of held-out samples. None, for the reason in `reason_`, if there are none.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    path_ : SizePath or None
        With ``max_rules="auto"``: `sizes` in ascending order, their cross-validated `scores` and
        standard `errors`, and the `chosen` size; `to_frame` returns a data frame. None if there are
        too few samples.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features; only if the table has names for its columns.
    """


SHARED = {
    entry[1]: entry[0]
    for entry in re.finditer(
        r"^(\w+) : .+(\n {4}.+)+", cleandoc(SharedDocumentation.__doc__ or ""), re.MULTILINE
    )
}


def expand_shared(docstring: str) -> str:
    """Replace lines such as `{max_rules}` or `{cv, test_size}` by the shared documentation.

    Examples
    --------
    >>> print(expand_shared("{n_features_in_}"))
    n_features_in_ : int
        Number of features.
    """

    def entries(match: re.Match[str]) -> str:
        names = match[2].split(", ")
        return "\n".join(indent(SHARED[name], match[1]) for name in names)

    return re.sub(r"^( *)\{(\w+(?:, \w+)*)\}$", entries, docstring, flags=re.MULTILINE)

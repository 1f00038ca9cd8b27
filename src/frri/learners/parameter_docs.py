"""Documentation of the parameters and attributes that several estimators share, written once.

A line `{max_rules}` in the docstring of an estimator stands for the entry of that name; the class
shows the full text, in `help()` as in the documentation.
"""

from __future__ import annotations

import re
from textwrap import dedent, indent

_ENTRIES = """
max_rules : int, optional
    Maximum number of rules. Rules are removed one at a time, each time the one whose removal
    reduces training accuracy least.
max_conditions : int, optional
    Maximum number of tests that are added to a rule; tests of one feature in one direction are
    one condition of it.
min_support : float, default=0.0
    Fraction of its class that a rule must cover to be kept.
class_weight : "balanced", None or mapping, default=None
    Weights of classes, times the sample weights: the same total weight for every class, the same
    weight for every sample, or as in the mapping (1 for a class that it lacks).
missing : {"typical", "fails", "error"}, default="typical"
    Treatment of missing values in training and prediction: imputed (median, or most frequent
    category), satisfying no condition, or refused.
calibrate : bool, default=True
    If True, `fit` fits twice more, on two halves of at most 1,000 distinct samples, and calibrates
    the probabilities on the half that was not used. If False, it fits once and the probabilities
    are shrunk towards class frequencies by a fixed amount. Predicted classes are the same.
n_jobs : int, optional
    Number of threads for prediction: -1 for all cores, -2 for all but one, and so on. None is
    all cores, or one inside a job of joblib. Results are the same in any case; `fit` uses one.
verbose : int, default=0
    If above 0, each step of `fit` is printed on standard error, with its seconds.
folds : int, default=3
    One sample in `folds` is set apart for pruning.
min_weight : float, default=2
    A test that samples of the class with a smaller total weight satisfy is not added to a rule.
optimizations : int, default=2
    Number of passes over the rules of each class to improve them.
classes_ : ndarray of shape (n_classes,)
    Class labels, sorted.
n_features_in_ : int
    Number of features.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Names of the features; only if the table has names for its columns.
"""

SHARED = {entry.split(" ")[0]: entry for entry in re.split(r"\n(?=\w)", _ENTRIES.strip())}


def expand_shared(docstring: str) -> str:
    """Replace lines such as `{max_rules}` by the shared documentation.

    Examples
    --------
    >>> print(expand_shared("{n_features_in_}"))
    n_features_in_ : int
        Number of features.
    """
    return re.sub(
        r"^( *)\{(\w+)\}$",
        lambda match: indent(dedent(SHARED[match[2]]), match[1]),
        docstring,
        flags=re.MULTILINE,
    )

"""Find features that alone predict the target nearly perfectly, which is a sign of leakage."""

from typing import Any

import numpy as np

from frri._util import Floats
from frri.selection.holdout import FOLDS, Holdout
from frri.table import Attribute, EncodedTable, encode_frame

# Accuracy, or R², from which a single feature is suspicious, and its least lead over the majority
# class.
SUSPICIOUS, LEAD = 0.98, 0.05

# Fewer samples prove nothing, more are not needed; nor are features of more categories.
FEWEST_SAMPLES, MOST_SAMPLES, MOST_CATEGORIES = 50, 5_000, 100

# Samples of a leaf, at least: a split must be more than a coincidence.
LEAF = 5


def find_leakage(
    X: Any, y: Any, *, task: str = "classification", groups: Any = None, random_state: int = 0
) -> dict[str, float]:
    """Return the features that alone predict the target nearly perfectly, and their scores.

    The score is that of a decision tree, in regression also of a line, that has one feature only,
    in a 5-fold cross-validation. A feature is suspicious if its accuracy is at least 0.98, and at
    least 0.05 above that of the majority class; in regression, if its R² is at least 0.98. Such a
    feature may be a consequence of the target, or another name for it, which is not known when a
    prediction is needed. A missing value counts as a value.

    Parameters
    ----------
    X : data frame or EncodedTable
    y : array-like of shape (n_samples,)
    task : {"classification", "regression", "ordinal"}, default="classification"
    groups : array-like of shape (n_samples,), optional
        Samples of the same group are in the same fold.
    random_state : int, default=0
        Random seed of the folds, and of the sample of 5,000 if there are more.

    Returns
    -------
    dict of float
        Scores by name, the highest first; empty for fewer than 50 samples.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [i * 7 % 60 for i in range(60)], "paid": [0, 0, 85] * 20})
    >>> find_leakage(table, ["no", "no", "yes"] * 20)
    {'paid': 1.0}
    """
    from sklearn.linear_model import LinearRegression  # noqa: PLC0415 - slow to import
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor  # noqa: PLC0415

    table = X if isinstance(X, EncodedTable) else encode_frame(X)
    numbers, target, rows = task == "regression", np.asarray(y), np.arange(len(table))
    if len(rows) > MOST_SAMPLES:
        rows = np.random.default_rng(random_state).permutation(len(rows))[:MOST_SAMPLES]
    holdout = Holdout(
        table.matrix[rows],
        target[rows] if numbers else target[rows].astype(str),
        task="regression" if numbers else "classification",
        groups=None if groups is None else np.asarray(groups)[rows],
        cv=FOLDS,
        random_state=random_state,
    )
    if len(rows) < FEWEST_SAMPLES or not holdout.splits:
        return {}
    leaves, least = {"min_samples_leaf": LEAF, "random_state": 0}, SUSPICIOUS
    models = [DecisionTreeRegressor(**leaves), LinearRegression()]
    if not numbers:
        models = [DecisionTreeClassifier(**leaves)]
        sizes = np.unique(holdout.y, return_counts=True)[1]
        least = max(least, sizes.max() / len(rows) + LEAD)
    found: dict[str, float] = {}
    for values, attribute in zip(holdout.X.T, table.attributes, strict=True):
        column = holdout.X = _as_columns(values, attribute)
        for model in models if column is not None else ():
            # Scores of training are higher, and a fifth of the work.
            if model.fit(column, holdout.y).score(column, holdout.y) < least:
                continue
            result = holdout.evaluate(model)
            if result is not None and result.score >= max(least, found.get(attribute.name, 0.0)):
                found[attribute.name] = result.score
    return dict(sorted(found.items(), key=lambda one: -one[1]))


def _as_columns(values: Floats, attribute: Attribute) -> Floats | None:
    """Return a feature for a tree: a column per category, or numbers below which missing ones are.

    None if there are too many categories, or one value only.
    """
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    if attribute.kind == "nominal":
        n_categories = len(attribute.categories or ())
        codes = np.arange(n_categories)
        return (values[:, None] == codes).astype(float) if n_categories <= MOST_CATEGORIES else None
    return np.where(np.isnan(values), known.min() - 1.0, values)[:, None]

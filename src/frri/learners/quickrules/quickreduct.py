"""QuickReduct: greedy fuzzy-rough feature selection (Jensen and Shen 2004)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from frri import fuzzy
from frri import table as data
from frri.learners.quickrules.positive_region import (
    TIES,
    PositiveRegion,
    greedy_reduct,
    total,
)
from frri.learners.training_table import plain_labels
from frri.learners.validation import check_choice
from frri.rules.rule import as_labels

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from frri._util import Flags, Positions


class QuickReduct(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Choose few features that tell the classes apart as well as all features do.

    The positive region says for every sample how certain its class is: one minus its similarity to
    the most similar sample of another class. QuickReduct starts without features and adds, one at
    a time, the one that enlarges the positive region most, until it is as large as that of all
    features. The result need not be the smallest such set. Similarity in an feature is
    `1 - |x - y| / range`; constant features are never chosen.

    Parameters
    ----------
    t_norm : str, default="lukasiewicz"
        T-norm that joins the similarities in several features: "minimum", "product", "lukasiewicz",
        "hamacher", "drastic" or "nilpotent_minimum".
    implicator : str, default="kleene_dienes"
        Implicator that turns similarity to samples of other classes into certainty: "lukasiewicz",
        "kleene_dienes", "reichenbach" (these three agree, since classes are crisp), "goedel" or
        "goguen" (a sample is certain only if it is not similar to a sample of another class at
        all).
    ties : {"first", "last"}, default="first"
        Choice among several equally good features.

    Attributes
    ----------
    reduct_ : ndarray of int
        The chosen features in the order in which they were added.
    dependency_ : float
        Mean certainty of the class over the chosen features.
    full_dependency_ : float
        The same over all features.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if the table has names for its columns.

    References
    ----------
    R. Jensen and Q. Shen, "Fuzzy-rough attribute reduction with application to web categorization",
    Fuzzy Sets and Systems 141, 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> reduct = QuickReduct().fit(X, y)
    >>> reduct.transform(X).shape
    (178, 12)
    >>> X.columns[reduct.reduct_[0]]
    'proline'
    """

    n_features_in_: int
    reduct_: Positions
    dependency_: float
    full_dependency_: float

    def __init__(
        self,
        *,
        t_norm: str = "lukasiewicz",
        implicator: str = "kleene_dienes",
        ties: Literal["first", "last"] = "first",
    ) -> None:
        self.t_norm = t_norm
        self.implicator = implicator
        self.ties = ties

    def fit(self, X: Any, y: Any) -> QuickReduct:
        """Choose the attributes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numbers only.
        y : array-like of shape (n_samples,)

        Returns
        -------
        QuickReduct
            Itself.
        """
        check_choice("t_norm", self.t_norm, tuple(fuzzy.T_NORMS))
        check_choice("implicator", self.implicator, tuple(fuzzy.IMPLICATORS))
        check_choice("ties", self.ties, TIES)
        data.check_numbers(X)
        y = y if y is None else as_labels(y)
        values, y = validate_data(self, X, y, dtype=np.float64)
        y = plain_labels(y)
        check_classification_targets(y)
        _, classes = np.unique(y, return_inverse=True)
        attributes = data.describe_columns(values, map(str, range(values.shape[1])))
        region = PositiveRegion(values, classes, attributes, self.t_norm, self.implicator)
        self.reduct_ = np.array(greedy_reduct(region, self.ties), dtype=np.intp)
        self.full_dependency_ = total(region.full) / len(values)
        self.dependency_ = self.full_dependency_
        if len(self.reduct_):
            reached = region.extended(self.reduct_[:-1].tolist(), self.reduct_[-1:].tolist())
            self.dependency_ = total(reached[0]) / len(values)
        return self

    def _get_support_mask(self) -> Flags:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.reduct_] = True
        return mask

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

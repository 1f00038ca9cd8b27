"""What learners on a cluster share: a client, tables of Dask, and the same model without a cluster."""

from __future__ import annotations

from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from frri.distributed.cluster import Cluster, connected
from frri.distributed.partitions import brought_here, is_collection, mapped

if TYPE_CHECKING:
    from collections.abc import Iterator

# What a fitted model needs to predict.
FITTED = ("ruleset_", "classes_", "path_", "n_features_in_", "feature_names_in_")


class OnCluster:
    """A classifier whose `fit` has a cluster, `_cluster`; before its local class among the bases."""

    # The same learner without a cluster.
    _local: ClassVar[type[Any]]
    _cluster: Cluster | None = None  # while it learns
    _began: float  # when `fit` was called

    classes_: Any

    def __init__(self, *, client: Any = None, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.client = client

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted([*cls._local._get_param_names(), "client"])  # noqa: SLF001 - its own

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn rules from a table and its class labels.

        Parameters
        ----------
        X : dask DataFrame or Array, array-like or data frame of shape (n_objects, n_attributes)
            Partitions may be empty or lack classes.
        y : dask Series or Array, or array-like of shape (n_objects,)
        sample_weight : dask Series or Array, or array-like of shape (n_objects,), optional

        Returns
        -------
        self
        """
        with self._on_cluster() as cluster:
            given = [X, y] if sample_weight is None else [X, y, sample_weight]
            here = cluster.attempt(lambda: brought_here(cluster, given))
            super().fit(*here)  # type: ignore[misc]
        return self

    @contextmanager
    def _on_cluster(self) -> Iterator[Cluster]:
        """While it learns."""
        self._began = perf_counter()
        with connected(self.client) as cluster, cluster.undisturbed():
            self._cluster = cluster
            try:
                yield cluster
            finally:
                self._cluster = None

    def predict(self, X: Any) -> Any:
        """Predict the class of each row.

        Parameters
        ----------
        X : dask DataFrame or Array, array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        dask Series or Array, ndarray of shape (n_samples,)
            Of a dask table, made when it is asked for.
        """
        if not is_collection(X):
            return super().predict(X)  # type: ignore[misc]
        return mapped(X, self.local().predict, self.classes_.dtype, None)

    def predict_proba(self, X: Any) -> Any:
        """Predict a share for every class, in the order of `classes_`; rows sum to 1.

        Parameters
        ----------
        X : dask DataFrame or Array, array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        dask Array, ndarray of shape (n_samples, n_classes)
            Of a dask table, made when it is asked for.
        """
        if not is_collection(X):
            return super().predict_proba(X)  # type: ignore[misc]
        return mapped(X, self.local().predict_proba, np.dtype(np.float64), len(self.classes_))

    def local(self) -> Any:
        """The same model without a cluster, light enough to be sent to every partition."""
        check_is_fitted(self)
        model = self._local(**self._settings())
        for name in FITTED:
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
        return model

    def _for_part(self, rows: Any, labels: Any) -> Any:
        """Halves of a thousand objects are learned from here."""
        return self.local()._for_part(rows, labels)  # noqa: SLF001 - the two are one thing

    def _name(self) -> str:
        """Return the name of the algorithm, which does not depend on where it runs."""
        name: str = super()._name()  # type: ignore[misc]
        return name.removeprefix("Dask")

    def _about(self, table: Any) -> dict[str, Any]:
        """What is known of the rules, wherever they were found."""
        about: dict[str, Any] = super()._about(table)  # type: ignore[misc]
        del about["parameters"]["client"]
        return about

    def __sklearn_clone__(self) -> Self:
        """A copy with the same client: connections cannot be copied."""
        known = {name: clone(value, safe=False) for name, value in self._settings().items()}
        return type(self)(client=self.client, **known)

    def _settings(self) -> dict[str, Any]:
        """All parameters but the client."""
        given = self.get_params()  # type: ignore[attr-defined]
        return {name: value for name, value in given.items() if name != "client"}

    def __getstate__(self) -> dict[str, Any]:
        """Without the client: whoever reads a saved model has another one, or needs none."""
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return state | {"client": self.client if isinstance(self.client, str) else None}

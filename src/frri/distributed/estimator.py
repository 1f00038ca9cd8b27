"""Base of the estimators on a cluster: a client, Dask tables, and the local model."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from frri.distributed.cluster import Cluster, connect
from frri.distributed.partitions import gather_tables, is_collection, map_partitions

if TYPE_CHECKING:
    from collections.abc import Iterator

# Attributes that a fitted model needs to predict.
FITTED = ("ruleset_", "classes_", "path_", "n_features_in_", "feature_names_in_")


class DaskEstimator:
    """A classifier whose `fit` uses a cluster; a base before its local class."""

    # The same estimator without a cluster.
    _local: ClassVar[type[Any]]
    _cluster: Cluster | None = None  # while it learns

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
        X : dask DataFrame or Array, array-like or data frame of shape (n_samples, n_features)
            Partitions may be empty or lack classes.
        y : dask Series or Array, or array-like of shape (n_samples,)
        sample_weight : dask Series or Array, or array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        with self._on_cluster() as cluster:
            given = [X, y] if sample_weight is None else [X, y, sample_weight]
            here = cluster.attempt(lambda: gather_tables(cluster, given))
            super().fit(*here)  # type: ignore[misc]
        return self

    @contextmanager
    def _on_cluster(self) -> Iterator[Cluster]:
        with connect(self.client) as cluster, cluster.ignoring_interrupts():
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
            Lazy for a Dask table.
        """
        if not is_collection(X):
            return super().predict(X)  # type: ignore[misc]
        return map_partitions(X, self.local().predict, self.classes_.dtype, None)

    def predict_proba(self, X: Any) -> Any:
        """Predict the probability of every class, in the order of `classes_`.

        Parameters
        ----------
        X : dask DataFrame or Array, array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        dask Array, ndarray of shape (n_samples, n_classes)
            Lazy for a Dask table.
        """
        if not is_collection(X):
            return super().predict_proba(X)  # type: ignore[misc]
        n_classes = len(self.classes_)
        return map_partitions(X, self.local().predict_proba, np.dtype(np.float64), n_classes)

    def local(self) -> Any:
        """Return the same model without a cluster, light enough to be sent to every partition."""
        check_is_fitted(self)
        model = self._local(**self._settings())
        for name in FITTED:
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
        return model

    def _for_part(self, rows: Any, labels: Any) -> Any:
        """Return a copy for the small tables of the calibration, which learns here."""
        return self.local()._for_part(rows, labels)  # noqa: SLF001 - of the same estimator

    def _name(self) -> str:
        """Return the name of the algorithm, which does not depend on where it runs."""
        name: str = super()._name()  # type: ignore[misc]
        return name.removeprefix("Dask")

    def _about(self, table: Any) -> dict[str, Any]:
        """Return the provenance without the client."""
        about: dict[str, Any] = super()._about(table)  # type: ignore[misc]
        del about["parameters"]["client"]
        return about

    def __sklearn_clone__(self) -> Self:
        """Return a copy with the same client: connections cannot be copied."""
        known = {name: clone(value, safe=False) for name, value in self._settings().items()}
        return type(self)(client=self.client, **known)

    def _settings(self) -> dict[str, Any]:
        """Return all parameters but the client."""
        given = self.get_params()  # type: ignore[attr-defined]
        return {name: value for name, value in given.items() if name != "client"}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without a client, which cannot be saved."""
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return state | {"client": self.client if isinstance(self.client, str) else None}

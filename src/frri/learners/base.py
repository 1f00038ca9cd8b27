"""Base of the estimators: from a table to training data, from a rule set to predictions."""

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, assert_all_finite
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from frri import __version__
from frri._util import Floats, Progress, check_n_jobs
from frri.learners import validation
from frri.learners.calibration import Calibration
from frri.learners.size_cv import SizePath
from frri.learners.training_table import TrainingTable
from frri.rules import Rule, RuleSet
from frri.rules.contributions import feature_importances
from frri.rules.inference import Decision
from frri.table import EncodedTable, column_names, to_matrix
from frri.table.checks import check_complete, check_numbers, check_whole_numbers
from frri.table.columns import check_no_records, is_missing, plain_table
from frri.table.encode import check_order, describe_columns, encode_columns, encode_frame
from frri.table.impute import impute_missing

# Arrays with more values than this (an order of features for every sample) are only described.
MOST_VALUES = 1_000


@dataclass(kw_only=True, eq=False, repr=False)
class RuleLearner(BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: `fit` ends in `ruleset_`, which predicts.

    Estimators are dataclasses, so that a parameter is declared once: constructors are made from the
    fields.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__doc__:  # none with python -OO
            cls.__doc__ = validation.expand_shared(cls.__doc__)

    # Parameters of all estimators.
    missing: str = "typical"
    n_jobs: int | None = None
    verbose: int = 0

    # Name of the algorithm, if it is not that of the class.
    _algorithm: ClassVar[str] = ""
    # Treatments of missing values to choose from.
    _missing_choices: ClassVar[tuple[str, ...]] = ("typical", "fails", "error")

    ruleset_: RuleSet = field(init=False)
    classes_: NDArray[Any] = field(init=False)
    # The numbers of rules that were cross-validated, if any.
    path_: SizePath | None = field(init=False, default=None)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class, or in regression the number, of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        matrix = self._new_values(X)
        found = Decision(self.ruleset_, matrix, self.n_jobs)
        return self.classes_[found.index] if self.ruleset_.classes else found.answers

    @property
    def feature_importances_(self) -> Floats:
        """Return the importance of each feature in the rules: see `frri.rules.contributions`."""
        check_is_fitted(self)
        return feature_importances(self.ruleset_)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Show the rules in a notebook, or scikit-learn's diagram before `fit`."""
        if hasattr(self, "ruleset_"):
            return {"text/plain": repr(self), "text/html": self.ruleset_._repr_html_()}
        return dict(super()._repr_mimebundle_(**options))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allows_missing()
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self) -> None:
        """Raise an error for the first parameter that is not valid."""
        check_n_jobs(self.n_jobs)
        validation.check_choice("missing", self.missing, self._missing_choices)

    def _step(self, what: str) -> AbstractContextManager[Any]:
        """Return a context that prints a step of `fit` and its seconds if `verbose` is set."""
        level = int(self.verbose) if self.verbose is True else self.verbose
        validation.check_count("verbose", level)
        if not self.verbose:
            return nullcontext()
        return Progress(f"{self._name()}: {what}", closing=True)

    def _name(self) -> str:
        own = type(self).__name__.removesuffix("Classifier").removesuffix("Regressor")
        return self._algorithm or own

    def _about(self, table: TrainingTable) -> dict[str, Any]:
        """Return the provenance of rules from a table, as JSON values."""
        # The digest changes with the name, the kind or the order of any column.
        columns = [[attribute.name, attribute.kind] for attribute in table.attributes]
        known = {
            "learner": self._name(),
            "frri": __version__,
            "parameters": {
                name: _plain(value)
                for name, value in self.get_params().items()
                if not (isinstance(value, str) and value == "deprecated")
            },
            "date": _now(),
            "rows": len(table.values),
            "columns": sha256(json.dumps(columns).encode()).hexdigest()[:16],
        }
        return known if self.path_ is None else known | {"path": asdict(self.path_)}

    def _encoded(self, X: Any, y: Any) -> tuple[EncodedTable, NDArray[Any]]:
        """Check and encode a training table of any form, and its labels."""
        check_no_records(X)
        X = plain_table(X)
        if column_names(X) is None and not isinstance(X, EncodedTable):
            X = self._plain_numbers(X)
            for j, column in enumerate(X.T if isinstance(X, np.ndarray) and X.ndim == 2 else ()):
                check_whole_numbers(column, f"Column {j}")
            values, y = validate_data(self, X, y, **self._number_options())
            made_up = [f"x{j}" for j in range(values.shape[1])]
            return EncodedTable(values, describe_columns(values, made_up)), y
        table = X if isinstance(X, EncodedTable) else encode_frame(X)
        validate_data(self, X, y, skip_check_array=True)
        if isinstance(X, EncodedTable):
            self.feature_names_in_ = np.array([a.name for a in X.attributes], dtype=object)
        if not len(table):
            raise ValueError("The table has 0 samples: give it at least one row.")
        if not self._allows_missing():
            check_complete(table.matrix, table.attributes)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        if len(y) != len(table):
            raise ValueError(
                f"The table has {len(table)} rows but there are {len(y)} labels: "
                "inconsistent numbers of samples."
            )
        return table, y

    def _weighed(self, table: TrainingTable, weights: Floats | None) -> TrainingTable:
        """Return a table with weights, its missing values imputed if they are to be."""
        if self.missing == "typical":
            filled = impute_missing(table.encoded, weights)
            table = replace(table, values=filled.matrix, attributes=filled.attributes)
        return replace(table, weights=weights)

    def _learn(self, table: TrainingTable) -> Calibration | None:
        """Find `ruleset_` from a checked table, and its calibration if that comes with it."""
        raise NotImplementedError

    def _build_ruleset(
        self, table: TrainingTable, rules: Iterable[Rule], **meaning: Any
    ) -> RuleSet:
        """Return a rule set for a training table; `meaning` has further fields of `RuleSet`."""
        known: dict[str, Any] = {
            "attributes": table.attributes,
            "classes": table.labels,
            "target": table.target,
            "missing": "fails" if self.missing == "error" else self.missing,
            "class_counts": table.class_counts,
            "about": self._about(table),
        }
        return RuleSet(rules=tuple(rules), **known | meaning)

    def _new_values(self, X: Any) -> Floats:
        """Check new data against the training columns and encode them."""
        check_is_fitted(self)
        attributes = self.ruleset_.attributes
        X = plain_table(X)
        names, encoded = column_names(X), isinstance(X, EncodedTable)
        numeric = all(attribute.kind == "numeric" for attribute in attributes)
        if names is None and numeric and not encoded:
            X, options = self._plain_numbers(X), self._number_options()
            if isinstance(X, np.ndarray) and X.dtype.kind in "fiub":
                options["ensure_all_finite"] = False  # it is checked already
            return np.asarray(validate_data(self, X, reset=False, **options))
        if encoded or {attribute.name for attribute in attributes} <= set(names or ()):
            # An error in a column is raised before one about its place.
            matrix = to_matrix(X, attributes)
            if not encoded and list(X.columns) != list(getattr(self, "feature_names_in_", ())):
                validate_data(self, X, skip_check_array=True, reset=False)
        else:
            validate_data(self, X, skip_check_array=True, reset=False)
            if names is None:
                matrix = to_matrix(X, attributes)
            else:
                matrix = encode_columns([X[name] for name in X.columns], attributes)
        used = self.ruleset_.used_attributes if self._allows_missing() else None
        check_order(X, attributes, matrix, used)
        if not self._allows_missing():
            check_complete(matrix, attributes)
        return matrix

    def _plain_numbers(self, X: Any) -> Any:
        """Check a table without names, and replace every kind of missing value in it by NaN.

        scikit-learn does not know all kinds of missing values; ragged lists are left to its checks.
        """
        if isinstance(X, np.ndarray | list | tuple):
            with suppress(ValueError):  # ragged
                array = np.asarray(X)
                X = array if array.ndim == 2 else X
                if array.dtype.kind == "O" and array.ndim == 2:
                    marks = np.frompyfunc(is_missing, 1, 1)(array).astype(bool)
                    X = np.where(marks, np.nan, array)
        check_numbers(X, allow_missing=self._allows_missing())
        return X

    def _number_options(self) -> dict[str, Any]:
        finite = "allow-nan" if self._allows_missing() else True
        return {"dtype": np.float64, "ensure_all_finite": finite}

    def _allows_missing(self) -> bool:
        """Return whether missing values are allowed."""
        return self.missing != "error"


# --- Provenance
def _now() -> str:
    """Return the time in UTC, to the second; SOURCE_DATE_EPOCH sets it for reproducible files."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        moment = datetime.now(UTC) if given is None else datetime.fromtimestamp(int(given), UTC)
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"SOURCE_DATE_EPOCH must be a moderate number of seconds since 1970, got {given!r}."
        ) from None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _plain(value: Any) -> Any:
    """Return a parameter as JSON values; what has no such form is described."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist() if value.size <= MOST_VALUES else f"array of shape {value.shape}"
    if isinstance(value, Mapping):
        return {_plain(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_plain, value)] if len(value) <= MOST_VALUES else f"{len(value)} values"
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value if isfinite(value) else str(value)
    shown = value if isinstance(value, str) else type(value).__name__
    return shown.encode(errors="backslashreplace").decode()

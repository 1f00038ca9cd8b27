"""Cross-validation of the number of rules: the fewest that are as good as the best."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from frri._util import Positions, import_optional
from frri.learners.training_table import Table, TrainingTable
from frri.rules.measures import balanced_accuracy
from frri.table.encode import describe_columns

# Number of sizes that are tried, and of folds.
SIZES = 8
FOLDS = 5
SEED = 0


@dataclass(frozen=True)
class SizePath:
    """Cross-validated scores for several maximum numbers of rules.

    Attributes
    ----------
    sizes : tuple of int
        Maximum numbers of rules, ascending.
    scores, errors : tuple of float
        Mean score over the folds, and its standard error.
    chosen : int
        The smallest size whose score is within one standard error of the best.
    measure : str
        Name of the score.

    Examples
    --------
    >>> path = SizePath.of((2, 5, 12), [[0.7, 0.8, 0.9], [0.7, 0.9, 0.8]], "balanced accuracy")
    >>> path.chosen, [round(score, 3) for score in path.scores]
    (5, [0.7, 0.85, 0.85])
    >>> print(path)
    At most 5 rules: the fewest within one standard error of the best ... (0.85 with 5).
    """

    sizes: tuple[int, ...]
    scores: tuple[float, ...]
    errors: tuple[float, ...]
    chosen: int
    measure: str

    @classmethod
    def of(cls, sizes: Sequence[int], scores: Any, measure: str) -> "SizePath":
        """Choose a size by the scores of folds (rows) at each size (columns)."""
        scores = np.asarray(scores)
        means = scores.mean(axis=0)
        errors = scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
        best = int(means.argmax())
        near = int((means >= means[best] - errors[best]).argmax())
        known = tuple(means.tolist()), tuple(errors.tolist()), int(sizes[near])
        return cls(tuple(sizes), *known, measure)

    @property
    def best(self) -> int:
        """Return the size of the highest score, of equal ones the smallest."""
        return self.sizes[self.scores.index(max(self.scores))]

    def score_of(self, size: int) -> float:
        """Return the score of one of the sizes."""
        return self.scores[self.sizes.index(size)]

    def plain(self) -> dict[str, Any]:
        """Return the path as JSON values, for files."""
        lists = {name: list(getattr(self, name)) for name in ("sizes", "scores", "errors")}
        return lists | {"chosen": self.chosen, "measure": self.measure}

    def to_frame(self) -> Any:
        """Return a data frame of pandas with a row for each size."""
        pandas = import_optional("pandas", "A table of sizes", "tables")
        table = {"size": self.sizes, "score": self.scores, "error": self.errors}
        return pandas.DataFrame(table | {"chosen": [size == self.chosen for size in self.sizes]})

    def __str__(self) -> str:
        reached = f"{self.score_of(self.best):.2f} with {self.best}"
        if self.best != self.chosen:
            reached = f"{self.score_of(self.chosen):.2f}; {reached}"
        return (
            f"At most {self.chosen} rules: the fewest within one standard error of the best "
            f"{self.measure} ({reached})."
        )


def sizes_between(fewest: int, most: int) -> tuple[int, ...]:
    """Return sizes from few rules to many, in about equal ratios.

    Examples
    --------
    >>> sizes_between(2, 26)
    (2, 3, 4, 6, 9, 12, 18, 26)
    """
    sizes = np.rint(np.geomspace(fewest, most, SIZES)).astype(int)
    return tuple(np.unique(sizes).tolist())


def choose_size(learner: Any, table: Table, usual: int, fewest: int, most: int) -> int:
    """Return the maximum number of rules: as given, the usual ("auto") or cross-validated ("1se").

    Sets `path_` of the estimator.
    """
    is_path = learner.max_rules == "1se"
    path = cross_validate_sizes(learner, table, fewest, most) if is_path else None
    learner.path_ = path
    if path is not None:
        return path.chosen
    return usual if learner.max_rules == "auto" else int(learner.max_rules)


def cross_validate_sizes(learner: Any, table: Table, fewest: int, most: int) -> SizePath:
    """Measure the balanced accuracy of classes, or R2 of numbers, from few rules to many.

    The estimator has a method `_rulesets` and is not changed. Values imputed from the whole table
    are kept, and all else is fitted to the other folds.
    """
    from sklearn.metrics import r2_score  # noqa: PLC0415 - slow to import

    sizes, weights, scores = sizes_between(fewest, most), table.all_weights, []
    with learner._step("sizes"), warnings.catch_warnings():  # noqa: SLF001
        warnings.simplefilter("ignore")  # they have been given for the whole table
        for learned, asked in _folds(table):
            part, weight = _with_ranges(table.take(learned)), weights[asked]
            if isinstance(table, TrainingTable):
                present, true = np.unique(table.classes[learned]), table.classes[asked]
                one = learner._for_part(learned, [table.labels[c] for c in present])  # noqa: SLF001
                found = (
                    balanced_accuracy(
                        true, present[rules.predict_index(table.values[asked])], weight
                    )
                    for rules in one._rulesets(part, sizes)  # noqa: SLF001
                )
            else:
                one, rest = clone(learner).set_params(verbose=0), table.encoded.take(asked)
                found = (
                    r2_score(table.numbers[asked], rules.predict(rest), sample_weight=weight)
                    for rules in one._rulesets(part, sizes)  # noqa: SLF001
                )
            scores.append([float(score) for score in found])
    measure = "balanced accuracy" if isinstance(table, TrainingTable) else "R2"
    return SizePath.of(sizes, scores, measure)


def _folds(table: Table) -> Iterator[tuple[Positions, Positions]]:
    """Yield the rows to learn from and the rows to measure on; of classes, stratified."""
    from sklearn.model_selection import KFold, StratifiedKFold  # noqa: PLC0415 - slow to import

    if isinstance(table, TrainingTable):
        kind, classes, least = StratifiedKFold, table.classes, "a class with 2 samples"
        n_folds = min(FOLDS, int(np.bincount(table.classes).max()))
    else:
        kind, classes, least = KFold, None, "4 samples"
        n_folds = min(FOLDS, len(table.numbers) // 2)
    if n_folds < 2:
        raise ValueError(
            f'max_rules="1se" measures sizes on parts of the table and needs {least} at least; '
            "give max_rules a number."
        )
    yield from kind(n_folds, shuffle=True, random_state=SEED).split(table.values, classes)


def _with_ranges(part: Table) -> Table:
    """Return a part of a table with its own ranges; missing values have been imputed."""
    found = describe_columns(part.values, (attribute.name for attribute in part.attributes))
    attributes = tuple(
        replace(attribute, low=new.low, high=new.high, typical=None)
        if attribute.categories is None
        else attribute
        for attribute, new in zip(part.attributes, found, strict=True)
    )
    return replace(part, attributes=attributes)

"""Cross-validation of the number of rules: the fewest that are as good as the best."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.base import clone

from frri._util import import_optional
from frri.rules.measures import balanced_accuracy
from frri.table.encode import describe_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frri.learners.base import RuleClassifier, RuleLearner
    from frri.learners.training_table import NumberTable, TrainingTable

    Part = TypeVar("Part", TrainingTable, NumberTable)

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
    scores : tuple of float
        Mean score over the folds.
    errors : tuple of float
        Standard error of that mean.
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
    def of(cls, sizes: Sequence[int], scores: Any, measure: str) -> SizePath:
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
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }

    def to_frame(self) -> Any:
        """Return a data frame of pandas with a row for each size."""
        pandas = import_optional("pandas", "A table of sizes", "tables")
        return pandas.DataFrame(
            {
                "size": self.sizes,
                "score": self.scores,
                "error": self.errors,
                "chosen": [size == self.chosen for size in self.sizes],
            }
        )

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


def class_path(learner: RuleClassifier, table: TrainingTable) -> SizePath:
    """Cross-validate the balanced accuracy, from one rule for each class to eight and ten more.

    Parameters
    ----------
    learner : RuleClassifier
        One with `_rulesets`; not changed.
    table : TrainingTable
        Folds are stratified. Values imputed from the whole table are kept, and all else is fitted
        to the other folds.

    Returns
    -------
    SizePath
    """
    from sklearn.model_selection import StratifiedKFold  # noqa: PLC0415 - slow to import

    n_classes, n_folds = len(table.labels), min(FOLDS, int(np.bincount(table.classes).max()))
    _check_folds(n_folds, "a class with 2 samples")
    sizes = sizes_between(n_classes, 8 * n_classes + 10)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=SEED)
    weights = table.all_weights
    scores = []
    with learner._step("sizes"), warnings.catch_warnings():  # noqa: SLF001
        warnings.simplefilter("ignore")  # they have been given for the whole table
        for learned, asked in folds.split(table.values, table.classes):
            present, part = np.unique(table.classes[learned]), _with_ranges(table.take(learned))
            one = learner._for_part(learned, part.labels)  # noqa: SLF001 - the two are one thing
            answers = (
                present[rules.predict_index(table.values[asked])]
                for rules in one._rulesets(part, sizes)  # noqa: SLF001
            )
            true, weight = table.classes[asked], weights[asked]
            scores.append([balanced_accuracy(true, answer, weight) for answer in answers])
    return SizePath.of(sizes, scores, "balanced accuracy")


def number_path(learner: RuleLearner, table: NumberTable, fewest: int, most: int) -> SizePath:
    """Cross-validate R2 from few rules to many: see `class_path`."""
    from sklearn.metrics import r2_score  # noqa: PLC0415 - slow to import
    from sklearn.model_selection import KFold  # noqa: PLC0415

    n_folds = min(FOLDS, len(table.numbers) // 2)
    _check_folds(n_folds, "4 samples")
    sizes = sizes_between(fewest, most)
    weights = table.all_weights
    one = clone(learner).set_params(verbose=0)
    scores = []
    folds = KFold(n_folds, shuffle=True, random_state=SEED)
    with learner._step("sizes"):  # noqa: SLF001
        for learned, asked in folds.split(table.values):
            part = _with_ranges(table.take(learned))
            rest, true = table.encoded.take(asked), table.numbers[asked]
            scores.append(
                [
                    r2_score(true, rules.predict(rest), sample_weight=weights[asked])
                    for rules in one._rulesets(part, sizes)  # noqa: SLF001
                ]
            )
    return SizePath.of(sizes, scores, "R2")


def _check_folds(n_folds: int, least: str) -> None:
    if n_folds < 2:
        raise ValueError(
            f'max_rules="1se" measures sizes on parts of the table and needs {least} at least; '
            "give max_rules a number."
        )


def _with_ranges(part: Part) -> Part:
    """Return a part of a table with its own ranges; missing values have been imputed."""
    found = describe_columns(part.values, (attribute.name for attribute in part.attributes))
    attributes = tuple(
        replace(attribute, low=new.low, high=new.high, typical=None)
        if attribute.categories is None
        else attribute
        for attribute, new in zip(part.attributes, found, strict=True)
    )
    return replace(part, attributes=attributes)

"""What is told of answers to rows that were not learned from: one row for each task.

A measure has a name and a score (higher is better) that is shown beside the score of always giving the same
answer.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from frri._util import Floats, Positions
from frri.cli.console import one_line
from frri.rules.measures import (
    OrdinalQuality,
    majority,
    measure_ordinal,
    measure_regression,
    quadratic_kappa,
    wilson,
)

Weights = Floats | None


class Measure(Protocol):
    """How answers of a task are judged."""

    name: str
    stratified: bool  # whether the parts of a table are to have the same share of every answer

    def score(self, truth: NDArray[Any], answers: NDArray[Any], weights: Weights) -> float:
        """How good answers are, higher is better."""

    def constant(self, truth: NDArray[Any], weights: Weights) -> Any:
        """The best answer for all rows alike."""

    def shown(self, constant: Any) -> str:
        """That answer in words."""

    def interval(
        self, truth: NDArray[Any], answers: NDArray[Any], weights: Weights
    ) -> tuple[float, float]:
        """Where the score lies on other rows of the kind, at 95%."""

    def beside(self, truth: NDArray[Any], answers: NDArray[Any], weights: Weights) -> str:
        """What is said after the score."""


class _Accuracy:
    """Of classes: the share that is right."""

    name, stratified = "accuracy", True

    def score(self, truth: NDArray[Any], answers: NDArray[Any], weights: Weights) -> float:
        return float(np.average(truth == answers, weights=weights))

    def constant(self, truth: NDArray[Any], weights: Weights) -> Any:
        _, first, classes = np.unique(truth.astype(str), return_index=True, return_inverse=True)
        return truth[first[majority(classes, weights)[0]]]

    def shown(self, constant: Any) -> str:
        return one_line(str(constant))

    def interval(
        self, truth: NDArray[Any], answers: NDArray[Any], weights: Weights
    ) -> tuple[float, float]:
        return wilson(self.score(truth, answers, weights) * len(truth), len(truth))

    def beside(self, truth: NDArray[Any], answers: NDArray[Any], weights: Weights) -> str:
        del truth, answers, weights
        return ""


class _Explained:
    """Of numbers: R squared, and by how much answers are off."""

    name, stratified = "R2", False

    def score(self, truth: NDArray[Any], answers: NDArray[Any], weights: Weights) -> float:
        return measure_regression(truth, answers, weights).r2

    def constant(self, truth: NDArray[Any], weights: Weights) -> Any:
        return float(np.average(truth, weights=weights))

    def shown(self, constant: Any) -> str:
        return f"the mean ({constant:.6g})"

    def interval(
        self, truth: NDArray[Any], answers: NDArray[Any], weights: Weights
    ) -> tuple[float, float]:
        return measure_regression(truth, answers, weights).r2_interval

    def beside(self, truth: NDArray[Any], answers: NDArray[Any], weights: Weights) -> str:
        return f", off by {measure_regression(truth, answers, weights).mae:.4g} on average"


class _Ordered:
    """Of ordered classes: agreement beyond chance, and by how many classes answers are off."""

    name, stratified = "kappa", True

    def __init__(self, order: Sequence[Any]) -> None:
        self.place = {str(label): c for c, label in enumerate(order)}

    def score(self, truth: NDArray[Any], answers: NDArray[Any], weights: Weights) -> float:
        return quadratic_kappa(*self._places(truth, answers), len(self.place), weights)

    def constant(self, truth: NDArray[Any], weights: Weights) -> Any:
        places, _ = self._places(truth, truth)
        return truth[(places == self._quality(truth, truth, weights).median).argmax()]

    def shown(self, constant: Any) -> str:
        return one_line(str(constant))

    def interval(
        self, truth: NDArray[Any], answers: NDArray[Any], weights: Weights
    ) -> tuple[float, float]:
        return self._quality(truth, answers, weights).kappa_interval

    def beside(self, truth: NDArray[Any], answers: NDArray[Any], weights: Weights) -> str:
        off = self._quality(truth, answers, weights).mae
        return f", off by {off:.2f} classes on average"

    def _quality(
        self, truth: NDArray[Any], answers: NDArray[Any], weights: Weights
    ) -> OrdinalQuality:
        return measure_ordinal(*self._places(truth, answers), len(self.place), weights)

    def _places(self, truth: NDArray[Any], answers: NDArray[Any]) -> tuple[Positions, Positions]:
        of_truth, of_answers = (
            np.array([self.place[str(label)] for label in labels.tolist()], dtype=np.intp)
            for labels in (truth, answers)
        )
        return of_truth, of_answers


def measure_of(task: str, order: Sequence[Any] | None = None) -> Measure:
    """The measure of a task, of ordered classes by their order."""
    if task == "ordinal":
        return _Ordered(order or ())
    return _Explained() if task == "regression" else _Accuracy()

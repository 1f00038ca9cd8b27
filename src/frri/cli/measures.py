"""What is told of answers to rows that were not learned from: one row for each task.

A measure has a name and a score (higher is better) that is shown beside the score of always giving the same
answer.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from frri.cli.console import one_line
from frri.rules.class_measures import majority
from frri.rules.measures import wilson
from frri.rules.number_measures import number_quality

Weights = NDArray[np.float64] | None


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
        return number_quality(truth, answers, weights).r2

    def constant(self, truth: NDArray[Any], weights: Weights) -> Any:
        return float(np.average(truth, weights=weights))

    def shown(self, constant: Any) -> str:
        return f"the mean ({constant:.6g})"

    def interval(
        self, truth: NDArray[Any], answers: NDArray[Any], weights: Weights
    ) -> tuple[float, float]:
        return number_quality(truth, answers, weights).r2_interval

    def beside(self, truth: NDArray[Any], answers: NDArray[Any], weights: Weights) -> str:
        return f", off by {number_quality(truth, answers, weights).mae:.4g} on average"


MEASURES: dict[str, Measure] = {"classification": _Accuracy(), "regression": _Explained()}
"""The measure of each task."""

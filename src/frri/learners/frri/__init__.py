"""FRRI: a minimum-size set of rules that covers all samples and none of another class."""

from frri.learners.frri.bagging import FRRIBaggingClassifier
from frri.learners.frri.classifier import FRRIClassifier, NotEnoughMemoryError
from frri.learners.frri.ordinal import FRRIOrdinalClassifier
from frri.learners.frri.regressor import FRRIRegressor

__all__ = [
    "FRRIBaggingClassifier",
    "FRRIClassifier",
    "FRRIOrdinalClassifier",
    "FRRIRegressor",
    "NotEnoughMemoryError",
]

"""FRRI: the fewest boxes around objects that keep other classes out and cover everything."""

from frri.learners.frri._messages import ManyRulesWarning, too_many_rules
from frri.learners.frri.bagging import FRRIBaggingClassifier
from frri.learners.frri.classifier import FRRIClassifier
from frri.learners.frri.memory import NotEnoughMemoryError
from frri.learners.frri.ordinal import FRRIOrdinalClassifier
from frri.learners.frri.regressor import FRRIRegressor

__all__ = [
    "FRRIBaggingClassifier",
    "FRRIClassifier",
    "FRRIOrdinalClassifier",
    "FRRIRegressor",
    "ManyRulesWarning",
    "NotEnoughMemoryError",
    "too_many_rules",
]

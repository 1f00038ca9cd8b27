"""FRRI: the fewest boxes around objects that keep other classes out and cover everything."""

from frri.learners.frri.frri import FRRIClassifier, ManyRulesWarning, too_many_rules

__all__ = ["FRRIClassifier", "ManyRulesWarning", "too_many_rules"]

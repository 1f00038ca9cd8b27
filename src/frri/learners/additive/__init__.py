"""Additive rules: soft boxes that vote, added one at a time."""

from frri.learners.additive.classifier import AdditiveRulesClassifier

__all__ = ["AdditiveRulesClassifier"]

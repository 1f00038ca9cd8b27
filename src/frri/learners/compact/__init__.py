"""Compact FRRI: a dozen boxes around objects, of which the best one decides."""

from frri.learners.compact.classifier import CompactFRRIClassifier

__all__ = ["CompactFRRIClassifier"]

"""RIPPER, an ordered list of crisp rules, and FURIA, its fuzzy successor without an order."""

from frri.learners.ripper.furia import FURIAClassifier
from frri.learners.ripper.ripper import RIPPERClassifier

__all__ = ["FURIAClassifier", "RIPPERClassifier"]

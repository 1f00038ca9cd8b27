"""MODLEM: crisp rules from rough approximations of the classes."""

from frri.learners.modlem.modlem import MODLEMClassifier

__all__ = ["MODLEMClassifier"]

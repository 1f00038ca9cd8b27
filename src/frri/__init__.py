"""Fuzzy-rough rule induction: small, readable, provably minimal sets of IF-THEN rules."""

__version__ = "0.1.0"

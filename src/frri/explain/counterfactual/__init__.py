"""The smallest change of a row that alters a ruleset's decision, with a proof."""

from frri.explain.counterfactual.search import Found, smallest_change

__all__ = ["Found", "smallest_change"]

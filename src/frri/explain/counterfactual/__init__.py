"""Counterfactual explanations: the smallest change that alters a decision, with a proof."""

from frri.explain.counterfactual.bounds import Goal
from frri.explain.counterfactual.search import Counterfactual, find_counterfactual, round_change

__all__ = ["Counterfactual", "Goal", "find_counterfactual", "round_change"]

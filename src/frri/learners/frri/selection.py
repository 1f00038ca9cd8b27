"""How many rules there may be, how long and how broad, and what is proved about those chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frri.cover import Cover, minimum_cover, partial_cover
from frri.learners.rule_limits import check_limits
from frri.learners.validation import check_share

if TYPE_CHECKING:
    from collections.abc import Mapping

    from frri._util import Ints, Positions
    from frri.cover import CoverMatrix, PartialCover

# What a share of a class may be off by in floating point.
ROUNDING = 1e-9


_STOPPED = {
    "effort": "its limit of work; a larger `effort` may prove it",
    "time": "`time_limit`",
    "interrupt": "an interrupt",
    "gap": "`gap`",
    "memory": "the memory that candidates may take; a larger `memory_limit` may need fewer rules",
}


def unproved(selection: Mapping[str, Any]) -> str:
    """What is not proved about the rules chosen, as two sentences."""
    if "worth" in selection:
        proved = (
            f"best: they are worth {selection['worth']}, at most {selection['bound']} is possible."
        )
    else:
        proved = (
            f"fewest: at least {selection['lower_bound']} are needed (gap {selection['gap']:.1%})."
        )
    return (
        f"The {selection['n_rules']} rules are the best found, not proved {proved} "
        f"The search was stopped by {_STOPPED[selection['stopped_by']]}."
    )


class Limits(NamedTuple):
    """What FRRI is told about the size of its ruleset; without limits all is covered.

    The first five are parameters of the learners; `of` is what shares are taken of, in words.
    """

    min_new_coverage: float = 0.0
    coverage: float = 1.0
    max_rules: int | None = None
    max_conditions: int | None = None
    min_support: float = 0.0
    of: str = "class"

    @property
    def is_complete(self) -> bool:
        """Whether every object that can be covered must be."""
        return self.max_rules is None and self.min_new_coverage <= 0 and self.coverage >= 1

    @property
    def all_candidates(self) -> bool:
        """Whether all is to be covered by any candidates: then broad ones may be chosen first."""
        return self.is_complete and self.max_conditions is None and self.min_support <= 0

    @property
    def claim(self) -> str:
        """What the selection proves if it is optimal.

        Examples
        --------
        >>> Limits().claim, Limits(coverage=0.9).claim
        ('the fewest', 'the fewest that cover 90% of each class')
        """
        if self.is_complete:
            return "the fewest"
        if self.coverage < 1:
            return f"the fewest that cover {self.coverage:.0%} of each {self.of}"
        if self.min_new_coverage > 0:
            return (
                f"the best of which each newly covers {self.min_new_coverage:.0%} of its {self.of}"
            )
        return "those that cover most"

    def check(self) -> None:
        """Complain about what makes no sense, alone or together."""
        check_limits(self.max_rules, self.max_conditions, self.min_support)
        check_share("min_new_coverage", self.min_new_coverage)
        check_share("coverage", self.coverage)
        if self.coverage < 1 and (self.max_rules is not None or self.min_new_coverage > 0):
            other = "min_new_coverage" if self.max_rules is None else "max_rules"
            raise ValueError(f"coverage and {other} contradict each other: give one of them.")

    def allowed(self, covers: CoverMatrix, lengths: Ints, sizes: Ints) -> CoverMatrix:
        """What candidates cover that are short and broad enough; others cover nothing.

        The `sizes` are how many objects there are that each candidate may cover.
        """
        if self.max_conditions is None and self.min_support <= 0:
            return covers
        kept = covers.sizes() >= self.min_support * sizes - ROUNDING
        if self.max_conditions is not None:
            kept &= lengths <= self.max_conditions
        return covers.only(kept)

    def select(
        self,
        covers: CoverMatrix,
        lengths: Ints,
        groups: Positions,
        sizes: Ints,
        *,
        coverable: Ints | None = None,
        effort: int,
        time_limit: float | None,
        gap: float = 0.0,
    ) -> Cover | PartialCover:
        """The fewest rules that cover everything, or those that a limit makes the best.

        Parameters
        ----------
        covers : CoverMatrix
        lengths, groups : ndarray of int, shape (n_candidates,)
            How many conditions each candidate has, and the group of objects that it covers some of.
        sizes : ndarray of int, shape (n_groups,)
        coverable : ndarray of int, shape (n_groups,), optional
            How many objects of each group any candidate covers, where `coverage` is below 1.
        effort, time_limit, gap
            See `frri.cover.minimum_cover`.
        """
        if self.is_complete:
            return minimum_cover(covers, lengths, effort=effort, time_limit=time_limit, gap=gap)
        prices = np.ceil(self.min_new_coverage * sizes - ROUNDING)[groups]
        left_out = None
        if self.coverage < 1 and coverable is not None:
            left_out = np.maximum(coverable - np.ceil(self.coverage * sizes - ROUNDING), 0)
            prices = np.full(len(groups), sizes.sum() + 1)
        return partial_cover(
            covers,
            prices,
            groups,
            costs=lengths,
            at_most=self.max_rules,
            left_out=left_out,
            effort=effort,
            time_limit=time_limit,
        )

    def certificate(self, cover: Cover | PartialCover, n_objects: int) -> dict[str, Any]:
        """What is proved about the rules chosen."""
        known: dict[str, Any] = {"status": cover.status, "stopped_by": cover.stopped_by}
        if isinstance(cover, Cover):
            return known | {
                "lower_bound": cover.lower_bound,
                "gap": cover.gap,
                "conditions_status": cover.cost_status,
                "solver": cover.solver,
            }
        known |= {"n_covered": cover.n_covered, "solver": "highs"}
        if self.coverage >= 1:
            return known | {"worth": cover.worth, "bound": cover.bound}
        # Every rule cost one more than there are objects.
        n_rules = len(cover)
        bound = min(max(-(cover.bound // (n_objects + 1)), 0), n_rules)
        if bound == n_rules:
            known |= {"status": "optimal", "stopped_by": None}
        gap = (n_rules - bound) / n_rules if n_rules else 0.0
        return known | {"lower_bound": bound, "gap": gap}

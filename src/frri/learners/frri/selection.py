"""Selection of rules: limits on their number and size, memory, and the certificate."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frri._util import short_repr
from frri.cover import Cover, minimum_cover, multiple_cover, partial_cover
from frri.cover.memory_bounded import BYTES_PER_WORD
from frri.learners.rule_limits import check_limits
from frri.learners.validation import check_share

if TYPE_CHECKING:
    from collections.abc import Mapping

    from frri._util import Ints
    from frri.cover import CoverMatrix, PartialCover
    from frri.learners.frri.pipeline import Candidates

# Rounding error of a fraction of a class.
ROUNDING = 1e-9


class SearchLimits(NamedTuple):
    """Limits of the search: its work, its seconds, and the optimality gap at which it may stop."""

    work_limit: int
    time_limit: float | None = None
    optimality_gap: float = 0.0


class Limits(NamedTuple):
    """Limits on the selected rules; without any, the fewest rules that cover all samples.

    The first six are parameters of the estimators; `of` names the set that fractions refer to.
    """

    min_new_coverage: float = 0.0
    coverage: float = 1.0
    max_rules: int | None = None
    max_conditions: int | None = None
    min_support: float = 0.0
    times_covered: int = 1
    of: str = "class"

    @property
    def is_complete(self) -> bool:
        """Whether every sample that can be covered must be."""
        return self.max_rules is None and self.min_new_coverage <= 0 and self.coverage >= 1

    @property
    def all_candidates(self) -> bool:
        """Whether all samples are to be covered, by any candidates."""
        return self.is_complete and self.max_conditions is None and self.min_support <= 0

    @property
    def claim(self) -> str:
        """Statement that an optimal selection proves.

        Examples
        --------
        >>> Limits().claim, Limits(coverage=0.9).claim
        ('the fewest', 'the fewest that cover 90% of each class')
        """
        if self.times_covered > 1:
            return f"the fewest that cover every object {self.times_covered} times"
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
        """Raise an error for limits that are invalid, alone or together."""
        check_limits(self.max_rules, self.max_conditions, self.min_support)
        check_share("min_new_coverage", self.min_new_coverage)
        check_share("coverage", self.coverage)
        if self.coverage < 1 and (self.max_rules is not None or self.min_new_coverage > 0):
            other = "min_new_coverage" if self.max_rules is None else "max_rules"
            raise ValueError(f"coverage and {other} contradict each other: give one of them.")

    def allow(self, found: Candidates) -> CoverMatrix:
        """Return the covers of the candidates; those too long or too narrow cover nothing."""
        if self.max_conditions is None and self.min_support <= 0:
            return found.covers
        least = self.min_support * found.sizes[found.groups]
        kept = found.covers.sizes() >= least - ROUNDING
        if self.max_conditions is not None:
            kept &= found.lengths <= self.max_conditions
        return found.covers.only(kept)

    def select(
        self, covers: CoverMatrix, costs: Ints, groups: Ints, sizes: Ints, search: SearchLimits
    ) -> Cover | PartialCover:
        """Select the fewest rules that cover everything, or the best ones under the limits.

        Candidates have a cost, which decides among equally many, and cover samples of one group.
        """
        limited: dict[str, Any] = {"work_limit": search.work_limit, "time_limit": search.time_limit}
        if self.times_covered > 1:
            return multiple_cover(covers, self.times_covered, costs, **limited)
        if self.is_complete:
            return minimum_cover(covers, costs, optimality_gap=search.optimality_gap, **limited)
        prices = np.ceil(self.min_new_coverage * sizes - ROUNDING)[groups]
        left_out = None
        if self.coverage < 1:
            coverable = [covers.only(groups == g).union().sum() for g in range(len(sizes))]
            left_out = np.maximum(coverable - np.ceil(self.coverage * sizes - ROUNDING), 0)
            prices = np.full(len(groups), sizes.sum() + 1)
        return partial_cover(
            covers,
            prices,
            groups,
            costs=costs,
            at_most=self.max_rules,
            left_out=left_out,
            **limited,
        )

    def certificate(self, cover: Cover | PartialCover, n_samples: int) -> dict[str, Any]:
        """Return what is proved about the selected rules."""
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
        # The price of a rule is one more than the number of samples.
        n_rules = len(cover)
        bound = min(max(-(cover.bound // (n_samples + 1)), 0), n_rules)
        if bound == n_rules:
            known |= {"status": "optimal", "stopped_by": None}
        gap = (n_rules - bound) / n_rules if n_rules else 0.0
        return known | {"lower_bound": bound, "gap": gap}


STOPPED_BY = {
    "effort": "its limit of work; a larger `work_limit` may prove it",
    "time": "`time_limit`",
    "interrupt": "an interrupt",
    "gap": "`optimality_gap`",
    "memory": "the memory that candidates may take; a larger `memory_limit` may need fewer rules",
}


def describe_unproved(selection: Mapping[str, Any]) -> str:
    """Return two sentences about a selection that is not proven optimal."""
    known = "fewest: at least {lower_bound} are needed (gap {gap:.1%})."
    if "worth" in selection:
        known = "best: they are worth {worth}, at most {bound} is possible."
    return (
        f"The {selection['n_rules']} rules are the best found, not proved "
        f"{known.format(**selection)} "
        f"The search was stopped by {STOPPED_BY[selection['stopped_by']]}."
    )


# --- Memory

# Bytes that covers may take by default; larger problems are divided (see
# `frri.cover.memory_bounded`).
DEFAULT_BYTES = 1 << 29
# Bytes for each sample where a first cover is all that is wanted: half a percent more rules in half
# of the time at 100,000 samples.
QUICK_BYTES = 600
# Bytes below which hardly a problem can be divided.
LEAST_BYTES = 1 << 23
# Bytes per value and per sample that a table takes in other forms, and what the search takes
# besides.
PER_VALUE, PER_SAMPLE, BESIDES = 70, 250, 50_000_000
# Peak memory of covers while they are put in order, as a multiple of their size.
PEAK = 1.5

UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


class NotEnoughMemoryError(MemoryError, ValueError):
    """A fit would need more memory than is free or allowed."""


def memory_bytes(limit: Any) -> int:
    """Return a memory limit in bytes, from a number of bytes or a string with a unit.

    Examples
    --------
    >>> memory_bytes("2 GB"), memory_bytes(10_000)
    (2000000000, 10000)
    >>> memory_bytes("much")
    Traceback (most recent call last):
        ...
    ValueError: memory_limit must be a number of bytes or a text such as '2 GB', got 'much'.
    """
    if isinstance(limit, str):
        found = re.fullmatch(r"\s*(\d+\.?\d*)\s*([a-z]*)\s*", limit.lower())
        if found and found[2] in UNITS:
            return int(float(found[1]) * UNITS[found[2]])
    if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0:
        return limit
    raise ValueError(
        f"memory_limit must be a number of bytes or a text such as '2 GB', got {short_repr(limit)}."
    )


def plan_cover_bytes(
    n_samples: int, n_features: int, limit: Any = None, free: int | None = None
) -> int:
    """Return the number of bytes that covers may take.

    The memory of the whole fit is limited by what is free (here, unless given), of which covers
    take `DEFAULT_BYTES` at most, or by `limit`.

    Examples
    --------
    >>> plan_cover_bytes(1000, 10, "1 GB")
    204000
    >>> plan_cover_bytes(1_000_000, 10, "500 MB")
    Traceback (most recent call last):
        ...
    frri.learners.frri.selection.NotEnoughMemoryError: FRRI needs about 1.0 GB for 1,000,000 ...
    """
    # No rule covers more words than there are.
    most = n_samples * (n_samples // 64 + 2) * BYTES_PER_WORD
    base = n_samples * (PER_VALUE * n_features + PER_SAMPLE) + BESIDES
    least = base + int(PEAK * min(LEAST_BYTES, most))
    available = (_free_memory() if free is None else free) if limit is None else memory_bytes(limit)
    if available is None:
        return DEFAULT_BYTES
    if least > available:
        shown = _show_bytes(available)
        known = f"there are only {shown} free: free some"
        if limit is not None:
            known = f"memory_limit is {shown}: raise it"
        raise NotEnoughMemoryError(
            f"FRRI needs about {_show_bytes(least)} for {n_samples:,} objects and {n_features} "
            f"attributes, but {known}, fit a sample of the rows, or take AdditiveRulesClassifier "
            "or RIPPERClassifier."
        )
    room = min(most, int((available - base) / PEAK))
    return room if limit is not None else min(room, DEFAULT_BYTES)


def check_pairs(n_samples: int) -> None:
    """Raise an error if two bits for every pair of samples take more memory than is free.

    Examples
    --------
    >>> check_pairs(1000)
    >>> check_pairs(100_000_000)
    Traceback (most recent call last):
        ...
    frri.learners.frri.selection.NotEnoughMemoryError: FRRI for numbers looks at all pairs ...
    """
    needed, available = n_samples * n_samples // 4, _free_memory()
    if available is not None and needed > available:
        raise NotEnoughMemoryError(
            f"FRRI for numbers looks at all pairs of objects, which takes about "
            f"{_show_bytes(needed)} for {n_samples:,} of them, but there are only "
            f"{_show_bytes(available)} free: fit a sample of the rows, or take "
            "AdditiveRulesRegressor."
        )


def _free_memory() -> int | None:
    """Return the free memory of the machine in bytes; None where it is unknown."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


def _show_bytes(amount: int) -> str:
    return f"{amount / 1e9:.1f} GB" if amount >= 1e9 else f"{amount / 1e6:.0f} MB"

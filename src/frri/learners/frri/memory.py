"""How much memory a fit of FRRI takes, planned before it starts."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from frri._util import short_repr
from frri.cover.memory_bounded import BYTES_PER_WORD

# Bytes that covers may take where nothing is said; what takes more is divided, as `frri.cover.memory_bounded` says.
USUAL_ROOM = 1 << 29
# The same for each object where a first cover is all that is wanted: half a percent more rules in half of
# the time at 100,000 objects.
QUICK_ROOM = 600
# With less room than this hardly a problem can be divided.
LEAST_ROOM = 1 << 23
# Bytes per value and per object that a table takes in other forms, and what the search takes besides.
PER_VALUE, PER_OBJECT, BESIDES = 70, 250, 50_000_000
# How many times their room covers take for a moment, while they are put in order.
FOR_A_MOMENT = 1.5

UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


class NotEnoughMemoryError(MemoryError, ValueError):
    """A fit would need more memory than there is, or than it may have."""


def memory_bytes(limit: Any) -> int:
    """A limit of memory in bytes, from a number of bytes or a text with a unit.

    Examples
    --------
    >>> memory_bytes("2 GB"), memory_bytes(10_000)
    (2000000000, 10000)
    >>> memory_bytes("much")
    Traceback (most recent call last):
        ...
    ValueError: memory_limit must be a number of bytes or a text such as '2 GB', got 'much'.
    """
    found = (
        re.fullmatch(r"\s*(\d+\.?\d*)\s*([a-z]*)\s*", limit.lower())
        if isinstance(limit, str)
        else None
    )
    if found and found[2] in UNITS:
        return int(float(found[1]) * UNITS[found[2]])
    if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0:
        return limit
    raise ValueError(
        f"memory_limit must be a number of bytes or a text such as '2 GB', got {short_repr(limit)}."
    )


def planned_room(
    n_objects: int, n_attributes: int, limit: Any = None, free: int | None = None
) -> int:
    """The bytes that covers may take.

    Parameters
    ----------
    n_objects, n_attributes : int
        Size of the table.
    limit : int or str, optional
        What the whole fit may take; if left out, what is free, of which covers take no more than usual.
    free : int, optional
        What is free where the fit is; if left out, what this machine has free.

    Returns
    -------
    int

    Examples
    --------
    >>> planned_room(1000, 10, "1 GB")
    204000
    >>> planned_room(1_000_000, 10, "500 MB")
    Traceback (most recent call last):
        ...
    frri.learners.frri.memory.NotEnoughMemoryError: FRRI needs about 1.0 GB for 1,000,000 objects and 10 attributes, but memory_limit is 500 MB: raise it, fit a sample of the rows, or take AdditiveRulesClassifier or RIPPERClassifier.
    """
    # No rule covers more words than there are.
    most = n_objects * (n_objects // 64 + 2) * BYTES_PER_WORD
    base = n_objects * (PER_VALUE * n_attributes + PER_OBJECT) + BESIDES
    least = base + int(FOR_A_MOMENT * min(LEAST_ROOM, most))
    free = _free() if free is None else free
    there_is = free if limit is None else memory_bytes(limit)
    if there_is is None:
        return USUAL_ROOM
    if least > there_is:
        what = "memory_limit is" if limit is not None else "there are only"
        rest = "" if limit is not None else " free"
        raise NotEnoughMemoryError(
            f"FRRI needs about {_said(least)} for {n_objects:,} objects and {n_attributes} attributes, "
            f"but {what} {_said(there_is)}{rest}: {'raise it' if limit is not None else 'free some'}, "
            "fit a sample of the rows, or take AdditiveRulesClassifier or RIPPERClassifier."
        )
    room = min(most, int((there_is - base) / FOR_A_MOMENT))
    return room if limit is not None else min(room, USUAL_ROOM)


def check_pairs(n_objects: int) -> None:
    """Complain if a bit for every pair of objects, and once more while they are put in order, is too much.

    Examples
    --------
    >>> check_pairs(1000)
    >>> check_pairs(100_000_000)
    Traceback (most recent call last):
        ...
    frri.learners.frri.memory.NotEnoughMemoryError: FRRI for numbers looks at all pairs of objects, which takes about 2500000.0 GB for 100,000,000 of them, but there are only ... free: fit a sample of the rows, or take AdditiveRulesRegressor.
    """
    needed, there_is = n_objects * n_objects // 4, _free()
    if there_is is not None and needed > there_is:
        raise NotEnoughMemoryError(
            f"FRRI for numbers looks at all pairs of objects, which takes about {_said(needed)} for "
            f"{n_objects:,} of them, but there are only {_said(there_is)} free: fit a sample of the rows, "
            "or take AdditiveRulesRegressor."
        )


def _free() -> int | None:
    """What the machine has free, in bytes; None where it does not say."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


def _said(amount: int) -> str:
    return f"{amount / 1e9:.1f} GB" if amount >= 1e9 else f"{amount / 1e6:.0f} MB"

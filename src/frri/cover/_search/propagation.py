"""What follows from choosing or excluding candidates, without any arithmetic on costs.

An object with one coverer left forces it; a candidate that covers nothing still uncovered is of no use.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri._compile import either, inner_kernel
from frri._util import Flags, Ints

Bytes = NDArray[np.int8]

CHOSEN, FREE, EXCLUDED = 1, 0, -1


def _lessen_interpreted(counts: Ints, members: Ints) -> None:
    counts[members] -= 1


def _lessen_loops(counts: Ints, members: Ints) -> None:
    for k in members:
        counts[k] -= 1


_lessen = either(interpreted=_lessen_interpreted, loops=_lessen_loops, inner=True)


def _useless_interpreted(members: Ints, gain: Ints, state: Bytes) -> Ints:
    useless: Ints = members[(gain[members] == 0) & (state[members] == FREE)]
    return useless


def _useless_loops(members: Ints, gain: Ints, state: Bytes) -> Ints:
    found = np.empty(len(members), dtype=np.int64)
    n = 0
    for k in members:
        if gain[k] == 0 and state[k] == FREE:
            found[n] = k
            n += 1
    return found[:n]


_useless = either(interpreted=_useless_interpreted, loops=_useless_loops, inner=True)


@inner_kernel
def propagate(  # noqa: C901, PLR0912 - one loop, all in one kernel
    objects_from: Ints,
    objects: Ints,
    coverers_from: Ints,
    coverers: Ints,
    state: Bytes,
    uncovered: Flags,
    degree: Ints,
    gain: Ints,
    chosen: Ints,
    excluded: Ints,
) -> bool:
    """Choose and exclude candidates and all that follows; whether it is possible at all.

    Parameters
    ----------
    state : ndarray of int8
        Per candidate; changed, as are the next three.
    uncovered : ndarray of bool
        Per object: whether no chosen candidate covers it.
    degree : ndarray of int64
        Per uncovered object: its coverers that are not excluded.
    gain : ndarray of int64
        Per candidate: the uncovered objects it covers.
    """
    queue = np.empty(len(gain) + len(chosen), dtype=np.int64)
    np.positive(chosen, queue[: len(chosen)])
    end = len(chosen)
    for j in chosen:
        state[j] = CHOSEN
    for j in excluded:
        state[j] = EXCLUDED
        members = objects[objects_from[j] : objects_from[j + 1]]
        _lessen(degree, members)
    for j in excluded:
        for i in objects[objects_from[j] : objects_from[j + 1]]:
            if uncovered[i] and degree[i] <= 1:
                for k in coverers[coverers_from[i] : coverers_from[i + 1]]:
                    if state[k] == FREE:
                        queue[end] = k
                        end += 1
                        state[k] = CHOSEN
                    if state[k] == CHOSEN:
                        break
                else:
                    return False
    start = 0
    while start < end:
        j = queue[start]
        start += 1
        for i in objects[objects_from[j] : objects_from[j + 1]]:
            if uncovered[i]:
                uncovered[i] = False
                members = coverers[coverers_from[i] : coverers_from[i + 1]]
                _lessen(gain, members)
                for k in _useless(members, gain, state):
                    state[k] = EXCLUDED
    return True


class Domains:
    """The state of all candidates and objects in one node of a search."""

    __slots__ = ("degree", "gain", "state", "uncovered")

    def __init__(self, state: Bytes, uncovered: Flags, degree: Ints, gain: Ints) -> None:
        self.state = state
        self.uncovered = uncovered
        self.degree = degree
        self.gain = gain

    def copy(self) -> "Domains":
        """An independent copy."""
        return Domains(
            self.state.copy(), self.uncovered.copy(), self.degree.copy(), self.gain.copy()
        )

    def arrays(self) -> tuple[Any, ...]:
        """The arguments of `propagate`, in its order."""
        return self.state, self.uncovered, self.degree, self.gain

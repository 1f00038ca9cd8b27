"""Branch and bound: the cheapest cover, proven optimal.

The search is depth first on the simplex tableau of `frri.cover.simplex`. A subtree is pruned only
by an exact bound of `frri.cover.bounds`, or because an object has no candidate left that covers it.
"""

import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from frri._compile import inner_kernel, kernel
from frri._util import Flags, Floats, Ints
from frri.cover.bounds import exact_bound
from frri.cover.budget import Work
from frri.cover.matrix import Bytes, CoverLists, shift
from frri.cover.simplex import (
    AT_ONE,
    AT_ZERO,
    IDLE,
    INFEASIBLE,
    INTEGRAL,
    OPTIMAL,
    PAUSED,
    Relaxation,
    child,
    extend,
    penalties,
    reoptimize,
    violated,
)

# Cells of a tableau rewritten between two checks of the limits, and the cost of a node besides.
SLICE, OVERHEAD = 20_000_000, 30_000
# Number of tied covers after which the candidates in any of them are no longer collected.
MOST_TIES = 1000
# Outcomes of `solve_node` besides PAUSED; doubtful if the tableau suggests more than it proves.
OPEN, CLOSED, DOUBTFUL = 0, 1, 2
CHOSEN, FREE, EXCLUDED = 1, 0, -1
# Candidates probed by strong branching, the pivots that each side of one may take, and minus one:
# not literals, which would compile kernels once more.
NUMBERS: Any = np.array([8, 30, -1], dtype=np.int64)
PROBED, PROBE_PIVOTS, MINUS = NUMBERS
NONE = np.zeros(0, dtype=np.int64)
HERE = sys.modules[__name__]


class CoverGoal(NamedTuple):
    """Covers of a number of candidates (-1: any) that cost less than a limit."""

    costs: Floats
    size: int
    upper: int


class Domains(NamedTuple):
    """The state of all candidates and objects in one node of a search."""

    state: Bytes  # per candidate: CHOSEN, FREE or EXCLUDED
    uncovered: Flags  # per object: whether no chosen candidate covers it
    degree: Ints  # per uncovered object: its coverers that are not excluded
    gain: Ints  # per candidate: the uncovered objects that it covers

    def copy(self) -> "Domains":
        """Return an independent copy."""
        arrays: Any = (array.copy() for array in self)
        return Domains(*arrays)


class Pseudocosts(NamedTuple):
    """Gains of the objective per unit, from pushing candidates down (0) or up (1), and counts."""

    gains: Floats
    tries: Floats


@dataclass(slots=True)
class Node:
    """A node of the search tree: some candidates chosen or excluded, and a linear program.

    `domains` may be ahead of what is fixed in `lp`. `branch` is the candidate to branch on, with
    its `value` in the solution.
    """

    domains: Domains
    lp: Relaxation
    bound: float
    fresh: bool
    closed: bool = False
    branch: int = -1
    value: float = 0.0


class BranchAndBound:
    """Search for the cheapest cover below a known one.

    Parameters
    ----------
    lists : CoverLists
        Every object is covered by some candidate.
    costs : ndarray of int64
    upper : int
        Only covers that cost less are searched for.
    work : Work
        Raises `Exhausted` when no more may be spent; `best` and the bound hold then.
    size : int, optional
        Number of candidates of the covers searched for. It must be the minimum, so that excluding
        redundant candidates loses nothing.
    ties : ndarray of bool, optional
        The candidates of a cover of cost `upper`, for a search that also collects the candidates
        that occur in any cheapest cover.

    Attributes
    ----------
    best : ndarray of int64 or None
        The cheapest cover found below `upper`.
    support : ndarray of bool or None
        With `ties`, after the search: all candidates of all cheapest covers; None if there were
        more than `MOST_TIES`.
    """

    def __init__(
        self,
        lists: CoverLists,
        costs: Ints,
        upper: int,
        work: Work,
        size: int | None = None,
        ties: Flags | None = None,
    ) -> None:
        self.lists, self.costs, self.work = lists, costs.astype(np.float64), work
        self.upper = upper if ties is None else upper + 1
        self.support = ties
        self.size = -1 if size is None else size
        self.n, self.m = len(costs), len(lists.coverers_from) - 1
        self.best: Ints | None = None
        self.open: list[tuple[Node, int, int]] = []
        self.current: Node | None = None
        self.finished = self._first = False
        self._tied, self._extra = 0, 0 if size is None else 2
        self._pseudocosts = Pseudocosts(np.zeros((2, self.n)), np.zeros((2, self.n)))

    def start(self) -> Node:
        """Solve the program of the root; its bound may suggest a better `upper` to go on with."""
        self.current = root = self.root()
        self._solve(root)
        return root

    def finish(self, root: Node) -> None:
        """Search to the end; afterwards `best` is proved, or there is nothing below `upper`."""
        self._solve(root)
        self._branch(root)
        self._explore()

    def offer(self, cover: Ints) -> None:
        """Use a cover found by another search."""
        cost = int(self.costs[cover].sum())
        if cost < self.upper - (self.support is not None) and self._is_cover(cover):
            self._keep(cover, cost)

    def lower_bound(self) -> float:
        """Return the proved lower bound on the cost of covers below `upper`."""
        if self.finished:
            return np.inf
        proved = [node.bound for node, _, _ in self.open]
        if self.current is not None and not self.current.closed:
            proved.append(self.current.bound)
        return min(proved, default=0.0)

    def first_in_order(self, cover: Ints) -> Ints:
        """Return the first in order of the covers that cost less than `upper`; `cover` is one."""
        self._first = True
        inside = np.zeros(self.n, dtype=bool)
        inside[cover] = True
        node = self.root()
        self._solve(node)
        for j in range(self.n):
            if not node.domains.uncovered.any():
                break
            if node.domains.state[j]:
                continue
            if not inside[j]:
                self._solve(node)
                if node.domains.state[j]:
                    continue
                found = self._find_cover_with(node, j)
                if found is not None:
                    inside[:] = False
                    inside[found] = True
            self._fix(node, j, chosen=bool(inside[j]))
        return np.flatnonzero(inside)

    def root(self) -> Node:
        """Return the node in which everything is free."""
        n, m, lists = self.n, self.m, self.lists
        height = m + self._extra
        table = np.zeros((height + 1, n + 1))
        degree, gain = np.diff(lists.coverers_from), np.diff(lists.objects_from)
        table[np.repeat(np.arange(m), degree), lists.coverers] = -1.0
        table[:m, n] = -1.0
        if self._extra:
            table[m, :n] = 1.0
            table[m, n] = self.size
            table[m + 1] = -table[m]
        table[height, :n] = self.costs
        state = np.zeros(n, dtype=np.int8)
        basic, flipped = np.arange(n, n + height), np.zeros(n, dtype=bool)
        lp = Relaxation(table, basic, np.arange(n), np.ones(height), state.copy(), flipped)
        return Node(Domains(state, np.ones(m, dtype=bool), degree, gain), lp, bound=0.0, fresh=True)

    def _find_cover_with(self, node: Node, j: int) -> Ints | None:
        self.best, self.open = None, [(node, j, 1)]
        self._explore()
        return self.best

    def _explore(self) -> None:
        while self.open:
            parent, j, value = self.open[-1]
            if parent.bound > self.upper - 1:
                self.open.pop()
                continue
            lp = parent.lp._replace(flipped=parent.lp.flipped.copy())
            node = Node(parent.domains.copy(), lp, parent.bound, fresh=False)
            self._fix(node, j, chosen=bool(value))
            self.current = node  # before it leaves the list: its bound must count at any moment
            self.open.pop()
            self._solve(node)
            self._learn(parent, j, value, node)
            if self._first and self.best is not None:
                self.open = []
                break
            self._branch(node)
        self.finished = True

    def _fix(self, node: Node, j: int, *, chosen: bool) -> None:
        """Fix a candidate and all that follows; the node is closed if that is impossible."""
        only = np.array([j])
        fixed = (only, NONE) if chosen else (NONE, only)
        fix = self.work.kernels(HERE).fix
        node.closed |= not fix(self.lists, self.size, node.domains, *fixed)

    def _solve(self, node: Node) -> None:
        """Solve the node's program, fix what follows, and close the node if nothing is left."""
        self.work.nodes += 1
        while not node.closed:
            goal = CoverGoal(self.costs, self.size, self.upper)
            outcome, node.bound, node.lp, pivots, cells = self.work.kernels(HERE).solve_node(
                self.lists, goal, node.domains, node.lp, node.bound, node.fresh, SLICE
            )
            self.work.pivots += pivots
            self.work.spend(cells + OVERHEAD)
            if outcome == DOUBTFUL:  # rounding errors: a tableau made from the data replaces it
                node.lp, node.fresh = self.root().lp, True
            elif outcome != PAUSED:
                node.closed = outcome == CLOSED
                break
        if not node.closed and self.support is not None:
            node.closed = not (node.domains.state >= 0)[~self.support].any()
        if not node.closed:
            self._divide(node)

    def _divide(self, node: Node) -> None:
        """Choose the candidate to branch on; where none is fractional, keep the cover."""
        state = node.domains.state
        node.branch, node.value, pivots, cells = self.work.kernels(HERE).choose_branch(
            node.lp, state, self._pseudocosts, node.bound, self.upper
        )
        self.work.pivots += pivots
        self.work.spend(cells)
        if node.branch >= 0:
            return
        rows = np.flatnonzero(node.lp.basic < self.n)
        whole = node.lp.table[rows, -1] > 0.5
        inside = node.lp.flipped.copy()
        inside[node.lp.basic[rows[whole]]] ^= True
        inside[state != 0] = state[state != 0] == 1
        cover = np.flatnonzero(inside)
        cost = int(self.costs[cover].sum())
        if cost < self.upper and self._is_cover(cover):
            self._keep(cover, cost)
            node.closed = node.bound > self.upper - 1
        free = state == 0
        if self.support is not None and (free & ~self.support).any():
            free &= ~self.support
        if not node.closed and free.any():  # tied covers, or a tableau beyond repair
            node.branch, node.value = int(np.argmax(free)), 0.0

    def _keep(self, cover: Ints, cost: int) -> None:
        if self._first:
            self.best = cover
        elif self.support is None:
            self.best, self.upper = cover, cost
        elif cost < self.upper - 1:
            self.best, self.upper, self._tied = cover, cost + 1, 0
            self.support[:] = False
            self.support[cover] = True
        else:
            self.support[cover] = True
            self._tied += 1
            if self._tied > MOST_TIES:
                self.support = None
                self.upper -= 1

    def _is_cover(self, cover: Ints) -> bool:
        if self._extra and len(cover) != self.size:
            return False
        lists, covered = self.lists, np.zeros(self.m, dtype=bool)
        for j in cover:
            covered[lists.objects[lists.objects_from[j] : lists.objects_from[j + 1]]] = True
        return bool(covered.all())

    def _learn(self, parent: Node, j: int, value: int, node: Node) -> None:
        """Record how much the objective gained per unit of the candidate's change."""
        distance = 1.0 - parent.value if value else parent.value
        if parent.branch == j and 0.0 < distance < 1.0:
            gain = min(-node.lp.table[-1, -1], self.upper) + parent.lp.table[-1, -1]
            self._pseudocosts.gains[value, j] += max(gain, 0.0) / distance
            self._pseudocosts.tries[value, j] += 1

    def _branch(self, node: Node) -> None:
        if not node.closed and node.branch >= 0:
            self.open += [(node, node.branch, 0), (node, node.branch, 1)]


# ------------------------------------------------------------------ kernels
@inner_kernel
def _propagate(  # noqa: C901, PLR0912 - one loop, all in one kernel
    lists: CoverLists, domains: Domains, chosen: Ints, excluded: Ints
) -> bool:
    """Choose and exclude candidates and all that follows; return whether that is possible.

    An object with one coverer left forces it; a candidate that covers nothing uncovered is
    excluded.
    """
    state, uncovered, degree, gain = domains
    queue = np.empty(len(gain) + len(chosen), dtype=np.int64)
    np.positive(chosen, queue[: len(chosen)])
    end = len(chosen)
    for j in chosen:
        state[j] = CHOSEN
    for j in excluded:
        state[j] = EXCLUDED
        shift(degree, lists.objects[lists.objects_from[j] : lists.objects_from[j + 1]], MINUS)
    for j in excluded:
        for i in lists.objects[lists.objects_from[j] : lists.objects_from[j + 1]]:
            if uncovered[i] and degree[i] <= 1:
                for k in lists.coverers[lists.coverers_from[i] : lists.coverers_from[i + 1]]:
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
        for i in lists.objects[lists.objects_from[j] : lists.objects_from[j + 1]]:
            if uncovered[i]:
                uncovered[i] = False
                members = lists.coverers[lists.coverers_from[i] : lists.coverers_from[i + 1]]
                shift(gain, members, MINUS)
                for k in members[(gain[members] == 0) & (state[members] == FREE)]:
                    state[k] = EXCLUDED
    return True


@kernel
def fix(lists: CoverLists, size: int, domains: Domains, chosen: Ints, excluded: Ints) -> bool:
    """Fix candidates and all that follows; return whether that is possible within the size."""
    if not _propagate(lists, domains, chosen, excluded):
        return False
    if size < 0:
        return True
    taken = np.count_nonzero(domains.state == CHOSEN)
    return bool(taken < size or (taken == size and not domains.uncovered.any()))


@inner_kernel
def _actions(domains: Domains, lp: Relaxation, extra: int) -> Bytes:
    """Return the action for every variable when a tableau adopts the fixed candidates."""
    state, n, m = domains.state, len(domains.state), len(domains.uncovered)
    action = np.zeros(n + m + extra, dtype=np.int8)
    for j in np.flatnonzero(state != lp.fixed):
        action[j] = AT_ONE if (state[j] == CHOSEN) != lp.flipped[j] else AT_ZERO
    action[n + np.flatnonzero(~domains.uncovered)] = IDLE
    return action


@inner_kernel
def _multipliers(lp: Relaxation, n_rows: int, infeasible: int, upper: float) -> Floats:
    """Return the multipliers of all rows, as the tableau has them."""
    n = len(lp.fixed)
    surplus = np.flatnonzero(lp.nonbasic >= n)
    where = lp.nonbasic[surplus] - n
    y: Any = np.bincount(where, lp.table[-1][surplus], n_rows)
    if infeasible >= 0:
        # The row that cannot be repaired proves any bound, given enough of it.
        line = lp.table[infeasible]
        enough = (upper + lp.table[-1, -1] + 1.0) / -line[-1]
        y += np.bincount(where, enough * line[surplus], n_rows)
        if lp.basic[infeasible] >= n:
            y[lp.basic[infeasible] - n] += enough
    return y  # type: ignore[no-any-return]


@kernel
def solve_node(  # noqa: C901 - one loop, all in one kernel
    lists: CoverLists,
    goal: CoverGoal,
    domains: Domains,
    lp: Relaxation,
    bound: float,
    fresh: bool,
    cells: int,
) -> tuple[int, float, Relaxation, int, int]:
    """Solve the node's program and fix by reduced cost until nothing changes.

    `domains` are changed in place and may be ahead of `lp`. The node is closed once covers that
    cost less than the goal's limit are excluded. A `fresh` tableau, made from the data for this
    node, counts as optimal, though never as a proof. There is a pause after about `cells` cells of
    tableaus. Return the outcome, bound and tableau, and the pivots and cells spent.
    """
    state, n, m = domains.state, len(domains.state), len(domains.uncovered)
    upper, extra = goal.upper, 0 if goal.size < 0 else 2
    droppable = np.array([n, n + m])
    stop_above = upper - 1 + 1e-7
    pivots, spent, outcome = 0, 0, OPEN
    while True:
        if (state != lp.fixed).any():
            spent += lp.table.size
            lp = child(lp, _actions(domains, lp, extra), state.copy(), droppable)
        limit = max(1, (cells - spent) // lp.table.size)
        status, steps, row = reoptimize(lp, stop_above, limit)
        pivots += steps
        spent += steps * lp.table.size
        if status == PAUSED:
            outcome = PAUSED
            break
        infeasible = row if status == INFEASIBLE else -1
        y = _multipliers(lp, m + extra, infeasible, upper)
        proved, reduced = exact_bound(lists, y, goal.costs, state, goal.size)
        bound = max(bound, proved)
        if bound > upper - 1:
            outcome = CLOSED
            break
        room = upper - 1 - proved
        free = state == FREE
        excluded = np.flatnonzero(free & (reduced > room))
        chosen = np.flatnonzero(free & (-reduced > room))
        if len(excluded) + len(chosen) > 0:
            if not fix(lists, goal.size, domains, chosen, excluded):
                outcome = CLOSED
                break
            ahead = state != lp.fixed
            structural = lp.basic[lp.basic < n]
            if ahead[structural].any() or (ahead & (lp.flipped | (state == CHOSEN))).any():
                continue
        if status == OPTIMAL:
            rows = violated(lp, lists, domains.uncovered)
            if len(rows) == 0:
                break
            lp = extend(lp, lists, rows)
            spent += lp.table.size
        elif not fresh:
            outcome = DOUBTFUL
            break
        elif status == INFEASIBLE or stop_above == np.inf:
            break
        else:
            stop_above = np.inf
    return outcome, bound, lp, pivots, spent


@kernel
def choose_branch(
    lp: Relaxation, state: Bytes, costs: Pseudocosts, bound: float, upper: int
) -> tuple[int, float, int, int]:
    """Choose the candidate to branch on: the one expected to raise the bound most on both sides.

    The expected gain is that of the next pivot or, if larger, the mean gain of earlier branches on
    it. The best candidates that were never branched on are probed first (strong branching). Return
    the candidate (-1 if none is fractional), its value, and the pivots and cells spent.
    """
    rows = np.flatnonzero(lp.basic < len(state))
    rows = rows[state[lp.basic[rows]] == FREE]
    values = lp.table[:, -1][rows]
    between = (values > INTEGRAL) & (values < 1.0 - INTEGRAL)
    rows, values = rows[between], values[between]
    pivots, spent = 0, 0
    if len(rows) == 0:
        return -1, 0.0, pivots, spent
    ids = lp.basic[rows]
    down, up = penalties(lp.table, rows)
    for k in np.flatnonzero(lp.flipped[ids]):
        values[k] = 1.0 - values[k]
        down[k], up[k] = up[k], down[k]
    merit = _merit(down, up, ids, values, costs, upper - bound)
    for _ in range(min(PROBED, len(merit))):
        k = np.argmax(merit)
        merit[k] = -np.inf
        for side in range(2):
            if costs.tries[side, ids[k]] == 0.0:
                gain, steps, size = _probe(lp, ids[k], side, upper)
                distance = 1.0 - values[k] if side else values[k]
                costs.gains[side, ids[k]] = gain / distance
                costs.tries[side, ids[k]] = 1.0
                pivots += steps
                spent += (steps + 1) * size
    best = np.argmax(_merit(down, up, ids, values, costs, upper - bound))
    return ids[best], values[best], pivots, spent


@inner_kernel
def _merit(
    down: Floats, up: Floats, ids: Ints, values: Floats, costs: Pseudocosts, room: float
) -> Floats:
    """Return the product of the gains expected of candidates on both sides."""
    gains, tries = costs.gains, costs.tries
    fall = np.maximum(down, gains[0][ids] / np.maximum(tries[0][ids], 1.0)) * values
    rise = np.maximum(up, gains[1][ids] / np.maximum(tries[1][ids], 1.0)) * (1.0 - values)
    product: Floats = np.maximum(np.minimum(fall, room), 1e-3)
    product *= np.maximum(np.minimum(rise, room), 1e-3)
    return product


@inner_kernel
def _probe(lp: Relaxation, candidate: int, side: int, upper: int) -> tuple[float, int, int]:
    """Return the gain of the objective from fixing a candidate, after a few pivots."""
    variables = np.concatenate((lp.basic, lp.nonbasic))
    action = np.zeros(variables.max() + 1, dtype=np.int8)
    action[candidate] = AT_ONE if (side == 1) != lp.flipped[candidate] else AT_ZERO
    fixed = lp.fixed.copy()
    fixed[candidate] = CHOSEN if side else EXCLUDED
    table, basic, nonbasic, weights, _, flipped = child(
        lp, action, fixed, np.zeros(2, dtype=np.int64)
    )
    trial = Relaxation(table, basic, nonbasic, weights, fixed, flipped.copy())
    status, pivots, _ = reoptimize(trial, upper - 1 + 1e-7, PROBE_PIVOTS)
    reached = upper if status == INFEASIBLE else min(-trial.table[-1, -1], upper)
    return max(reached + lp.table[-1, -1], 0.0), pivots, trial.table.size

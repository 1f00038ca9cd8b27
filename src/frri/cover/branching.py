"""Branch and bound: the cheapest cover, with a proof.

Depth first on the tableau of `tableau`; a part of the tree is only given up on a bound of `bounds`, which
holds exactly, or because an object has no coverer left.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from frri.cover import tableau
from frri.cover.bounds import exact_bound
from frri.cover.effort import Work

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SLICE = 20_000_000
"""Cells of a tableau to be rewritten before the clock is looked at again."""

OVERHEAD = 30_000
"""What a node costs besides pivots, in cells."""


@dataclass(slots=True)
class Node:
    """A part of the search tree: some candidates chosen (1) or excluded (-1), and its tableau."""

    state: NDArray[np.int8]
    uncovered: NDArray[np.bool_]
    bound: float
    table: Floats
    basic: Ints
    nonbasic: Ints
    weights: Floats
    pending: NDArray[np.int8]
    turned: NDArray[np.bool_]
    closed: bool = False
    fresh: bool = field(default=False)


class Search:
    """Search for the cheapest cover below a known one.

    Parameters
    ----------
    matrix : ndarray of bool, shape (n_candidates, n_objects)
    costs : ndarray of int64
    upper : int
        Only covers that cost less are looked for.
    work : Work
        Raises `Exhausted` when no more may be spent; the search can be read off then.
    size : int, optional
        Only covers of exactly this many candidates are looked for. It must be the smallest number
        possible, so that leaving out redundant candidates loses nothing.

    Attributes
    ----------
    best : ndarray of int64 or None
        The cheapest cover found below `upper`.
    nodes : int
    """

    def __init__(
        self,
        matrix: NDArray[np.bool_],
        costs: Ints,
        upper: int,
        work: Work,
        size: int | None = None,
    ) -> None:
        self.rows = np.ascontiguousarray(matrix.T, dtype=np.float64)
        self.costs = costs.astype(np.float64)
        self.upper = upper
        self.work = work
        self.size = size
        self.best: Ints | None = None
        self.nodes = 0
        self.open: list[tuple[Node, int, int]] = []
        self.current: Node | None = None
        self._first = False
        self._extra = 0 if size is None else 2
        n = len(costs)
        self._gains = np.zeros((2, n))
        self._tries = np.zeros((2, n))

    def start(self) -> Node:
        """Solve the programme of the root; its bound may suggest a better `upper` to go on with."""
        root = self.root()
        self.current = root
        self._settle(root)
        return root

    def finish(self, root: Node) -> None:
        """Search to the end; afterwards `best` is proved, or there is nothing below `upper`."""
        self._settle(root)
        self._branch(root)
        self._explore()

    def lower_bound(self) -> float:
        """What every cover below `upper` costs at least, as proved so far."""
        bounds = [node.bound for node, _, _ in self.open]
        if self.current is not None and not self.current.closed:
            bounds.append(self.current.bound)
        return min(bounds, default=np.inf)

    def first_in_order(self, cover: Ints) -> Ints:
        """Of all covers that cost less than `upper`, the one whose ascending list comes first.

        Parameters
        ----------
        cover : ndarray of int64
            One of them.
        """
        self._first = True
        inside = np.zeros(len(self.costs), dtype=bool)
        inside[cover] = True
        node = self.root()
        self._settle(node)
        for j in range(len(self.costs)):
            if not node.uncovered.any():
                break
            if node.state[j]:
                continue
            if inside[j]:
                self._fix(node, [j], [])
                continue
            self._settle(node)
            if node.state[j]:
                continue
            found = self._cover_with(node, j)
            if found is None:
                self._fix(node, [], [j])
            else:
                inside[:] = False
                inside[found] = True
                self._fix(node, [j], [])
        return np.flatnonzero(inside)

    def _cover_with(self, node: Node, j: int) -> Ints | None:
        self.best = None
        self.open = [(node, j, 1)]
        self._explore()
        return self.best

    def _explore(self) -> None:
        while self.open:
            parent, j, value = self.open.pop()
            if parent.bound > self.upper - 1:
                continue
            node = self._child(parent, j, value)
            self.current = node
            before = -parent.table[-1, -1]
            fraction = self._value_of(parent, j)
            self._settle(node)
            self._learn(j, value, fraction, node, before)
            if self._first and self.best is not None:
                self.open = []
                return
            self._branch(node)
        self.current = None

    def root(self) -> Node:
        """The node in which everything is free."""
        m, n = self.rows.shape
        height = m + self._extra
        table = np.zeros((height + 1, n + 1))
        table[:m, :n] = -self.rows
        table[:m, n] = -1.0
        if self.size is not None:
            table[m, :n] = 1.0
            table[m, n] = self.size
            table[m + 1] = -table[m]
        table[height, :n] = self.costs
        return Node(
            state=np.zeros(n + height, dtype=np.int8),
            uncovered=np.ones(m, dtype=bool),
            bound=0.0,
            table=table,
            basic=np.arange(n, n + height),
            nonbasic=np.arange(n),
            weights=np.ones(height),
            pending=np.zeros(n + height, dtype=np.int8),
            turned=np.zeros(n, dtype=bool),
            fresh=True,
        )

    def _settle(self, node: Node) -> None:
        """Solve the node's programme, fix what it settles, and close the node if nothing is left."""
        self.nodes += 1
        self.work.nodes += 1
        stop_above = self.upper - 1 + 1e-7
        while not node.closed:
            self._apply(node)
            status, row = self._reoptimise(node, stop_above)
            bound, reduced = self._bound(node, status, row)
            if bound > node.bound:
                node.bound = bound
            if node.bound > self.upper - 1:
                node.closed = True
                return
            if self._fix_by_reduced_cost(node, bound, reduced):
                continue
            if status != tableau.OPTIMAL:
                if not node.fresh:
                    self._rebuild(node)
                    continue
                if status == tableau.ABOVE:
                    stop_above = np.inf
                    continue
            break
        if not node.closed:
            self._note(node)

    def _reoptimise(self, node: Node, stop_above: float) -> tuple[int, int]:
        cells = node.table.size
        limit = max(8, SLICE // cells)
        while True:
            kernels = self.work.kernels(tableau)
            status, pivots, row = kernels.reoptimise(
                node.table,
                node.basic,
                node.nonbasic,
                node.weights,
                node.state,
                node.turned,
                len(self.costs),
                stop_above,
                limit,
            )
            self.work.pivots += pivots
            self.work.spend(pivots * cells + OVERHEAD)
            if status != tableau.PAUSED:
                return status, row

    def _bound(self, node: Node, status: int, row: int) -> tuple[float, Floats]:
        n = len(self.costs)
        multipliers = np.zeros(len(self.rows) + self._extra)
        surplus = np.flatnonzero(node.nonbasic >= n)
        where = node.nonbasic[surplus] - n
        multipliers[where] = node.table[-1, surplus]
        if status == tableau.INFEASIBLE:
            # The row that cannot be repaired proves any bound, given enough of it.
            enough = (self.upper + node.table[-1, -1] + 1.0) / -node.table[row, -1]
            multipliers[where] += enough * node.table[row, surplus]
            if node.basic[row] >= n:
                multipliers[node.basic[row] - n] += enough
        return exact_bound(self.rows, multipliers, self.costs, node.state[:n], self.size)

    def _fix_by_reduced_cost(self, node: Node, bound: float, reduced: Floats) -> bool:
        """Exclude and choose what the bound implies; whether the programme must be solved again."""
        n = len(self.costs)
        room = self.upper - 1 - bound
        free = node.state[:n] == 0
        out = np.flatnonzero(free & (reduced > room))
        chosen = np.flatnonzero(free & (-reduced > room))
        if len(out) == 0 and len(chosen) == 0:
            return False
        return self._fix(node, chosen, out)

    def _fix(self, node: Node, chosen: Ints | list[int], out: Ints | list[int]) -> bool:
        """Fix candidates and all that follows; whether the tableau's solution is affected."""
        n = len(self.costs)
        state, rows = node.state[:n], self.rows
        state[out] = -1
        node.pending[out] = tableau.AT_ZERO
        affected = len(chosen) > 0 or bool(node.turned[out].any())
        while True:
            if len(chosen):
                state[chosen] = 1
                node.pending[chosen] = tableau.AT_ONE
                done = node.uncovered & rows[:, chosen].any(axis=1)
                node.uncovered &= ~done
                node.pending[n : n + len(rows)][done] = tableau.IDLE
            free = np.flatnonzero(state == 0)
            left = np.flatnonzero(node.uncovered)
            block = rows[left][:, free]
            coverers = block.sum(axis=1)
            if len(left) and coverers.min() == 0.0:
                node.closed = True
                return True
            idle = free[~block.any(axis=0)]
            state[idle] = -1
            node.pending[idle] = tableau.AT_ZERO
            single = coverers == 1.0
            chosen = free[block[single].any(axis=0)]
            if len(chosen) == 0:
                break
            affected = True
        if (
            self.size is not None
            and np.count_nonzero(state == 1) + (len(left) > 0) > self.size
        ):
            node.closed = True
            return True
        if affected:
            return True
        basic = node.basic[node.basic < n]
        return bool((node.pending[basic] == tableau.AT_ZERO).any())

    def _apply(self, node: Node) -> None:
        if not node.pending.any():
            return
        n = len(self.costs)
        fixed = (node.pending[:n] == tableau.AT_ZERO) | (node.pending[:n] == tableau.AT_ONE)
        back = np.flatnonzero(fixed & node.turned)
        node.pending[back] = tableau.AT_ZERO + tableau.AT_ONE - node.pending[back]
        self._move(node, node, node.pending)
        node.pending = np.zeros_like(node.pending)

    def _move(self, source: Node, target: Node, action: NDArray[np.int8]) -> None:
        kernels = self.work.kernels(tableau)
        target.table, target.basic, target.nonbasic, target.weights = kernels.child(
            source.table, source.basic, source.nonbasic, source.weights, action
        )
        target.fresh = False
        self.work.spend(source.table.size)

    def _child(self, parent: Node, j: int, value: int) -> Node:
        node = Node(
            state=parent.state.copy(),
            uncovered=parent.uncovered.copy(),
            bound=parent.bound,
            table=parent.table,
            basic=parent.basic,
            nonbasic=parent.nonbasic,
            weights=parent.weights,
            pending=parent.pending.copy(),
            turned=parent.turned.copy(),
        )
        if value:
            self._fix(node, [j], [])
        else:
            self._fix(node, [], [j])
        return node

    def _rebuild(self, node: Node) -> None:
        """Replace a tableau that has gathered rounding errors by one made from the data."""
        n = len(self.costs)
        fresh = self.root()
        action = np.zeros(len(node.state), dtype=np.int8)
        action[:n][node.state[:n] == 1] = tableau.AT_ONE
        action[:n][node.state[:n] == -1] = tableau.AT_ZERO
        action[n : n + len(self.rows)][~node.uncovered] = tableau.IDLE
        self._move(fresh, node, action)
        node.turned[:] = False
        node.pending = np.zeros_like(node.pending)
        node.fresh = True

    def _note(self, node: Node) -> None:
        """Keep the solution of a node if it is a cover."""
        n = len(self.costs)
        rows = np.flatnonzero(node.basic < n)
        values = node.table[rows, -1]
        free = node.state[node.basic[rows]] == 0
        if (free & (values > tableau.INTEGRAL) & (values < 1.0 - tableau.INTEGRAL)).any():
            return
        inside = node.turned & (node.state[:n] == 0)
        inside[node.basic[rows[free & (values > 0.5)]]] ^= True
        inside |= node.state[:n] == 1
        cover = np.flatnonzero(inside)
        cost = int(self.costs[cover].sum())
        if (
            cost < self.upper
            and (self.size is None or len(cover) == self.size)
            and self.rows[:, cover].any(axis=1).all()
        ):
            self.best = cover
            if not self._first:
                self.upper = cost
                node.closed = node.bound > cost - 1

    def _value_of(self, node: Node, j: int) -> float:
        row = np.flatnonzero(node.basic == j)
        value = float(node.table[row[0], -1]) if len(row) else 0.0
        return 1.0 - value if node.turned[j] else value

    def _learn(self, j: int, value: int, fraction: float, node: Node, before: float) -> None:
        distance = 1.0 - fraction if value else fraction
        if distance > tableau.INTEGRAL:
            gain = max(min(-node.table[-1, -1], self.upper) - before, 0.0)
            self._gains[value, j] += gain / distance
            self._tries[value, j] += 1

    def _branch(self, node: Node) -> None:
        if node.closed:
            return
        n = len(self.costs)
        rows = np.flatnonzero(node.basic < n)
        values = node.table[rows, -1]
        able = (
            (node.state[node.basic[rows]] == 0)
            & (values > tableau.INTEGRAL)
            & (values < 1.0 - tableau.INTEGRAL)
        )
        rows, values = rows[able], values[able]
        if len(rows) == 0:  # a tableau beyond repair: any free candidate divides the node
            free = np.flatnonzero(node.state[:n] == 0)
            if len(free):
                self.open += [(node, int(free[0]), 0), (node, int(free[0]), 1)]
            return
        ids = node.basic[rows]
        down, up = self.work.kernels(tableau).penalties(node.table, rows)
        turned = node.turned[ids]
        down, up = np.where(turned, up, down), np.where(turned, down, up)
        values = np.where(turned, 1.0 - values, values)
        room = self.upper - node.bound
        mean = self._gains[:, ids] / np.maximum(self._tries[:, ids], 1.0)
        down = np.minimum(np.maximum(down, mean[0]) * values, room)
        up = np.minimum(np.maximum(up, mean[1]) * (1.0 - values), room)
        best = int(np.argmax(np.maximum(down, 1e-3) * np.maximum(up, 1e-3)))
        j = int(ids[best])
        self.open += [(node, j, 0), (node, j, 1)]

"""Branch and bound: the cheapest cover, proven optimal.

The search is depth first on the simplex tableau of `frri.cover.simplex`. A subtree is pruned only
by an exact bound of `frri.cover.bounds`, or because an object has no candidate left that covers it.
"""

from dataclasses import dataclass

import numpy as np

from frri._util import Flags, Ints
from frri.cover import nodes
from frri.cover.budget import Work
from frri.cover.matrix import CoverLists
from frri.cover.nodes import CoverGoal, Domains, Pseudocosts
from frri.cover.simplex import Relaxation

SLICE = 20_000_000
"""Cells of a tableau to be rewritten before the clock is looked at again."""

OVERHEAD = 30_000
"""What a node costs besides pivots, in cells."""

MOST_TIES = 1000
"""Tied covers after which a search no longer asks for the candidates in any of them."""

NONE = np.zeros(0, dtype=np.int64)


@dataclass(slots=True)
class Node:
    """A part of the search tree: some candidates chosen or excluded, and a linear program.

    `domains` may be ahead of what is fixed in `lp`. `branch` is the candidate to divide it by, with
    its `value` in the solution.
    """

    domains: Domains
    lp: Relaxation
    bound: float
    fresh: bool
    closed: bool = False
    branch: int = -1
    value: float = 0.0


class Search:
    """Search for the cheapest cover below a known one.

    Parameters
    ----------
    lists : CoverLists
        Who covers whom; every object is covered by somebody.
    costs : ndarray of int64
    upper : int
        Only covers that cost less are looked for.
    work : Work
        Raises `Exhausted` when no more may be spent; the search can be read off then.
    size : int, optional
        Only covers of exactly this many candidates are looked for. It must be the smallest number
        possible, so that leaving out redundant candidates loses nothing.

    ties : ndarray of bool, optional
        The candidates of a cover of cost `upper`, for a search that is to find out, too, which
        candidates occur in any cheapest cover.

    Attributes
    ----------
    best : ndarray of int64 or None
        The cheapest cover found below `upper`.
    support : ndarray of bool or None
        With `ties`, after the search: all candidates of all cheapest covers; None if those were so
        many that the search went on without them.
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
        self.lists = lists
        self.costs = costs.astype(np.float64)
        self.upper = upper if ties is None else upper + 1
        self.support = ties
        self.work = work
        self.size = -1 if size is None else size
        self.n, self.m = len(costs), len(lists.coverers_from) - 1
        self.best: Ints | None = None
        self.open: list[tuple[Node, int, int]] = []
        self.current: Node | None = None
        self.finished = False
        self._first = False
        self._tied = 0
        self._extra = 0 if size is None else 2
        self._pseudocosts = Pseudocosts(np.zeros((2, self.n)), np.zeros((2, self.n)))

    def start(self) -> Node:
        """Solve the program of the root; its bound may suggest a better `upper` to go on with."""
        root = self.root()
        self.current = root
        self._settle(root)
        return root

    def finish(self, root: Node) -> None:
        """Search to the end; afterwards `best` is proved, or there is nothing below `upper`."""
        self._settle(root)
        self._branch(root)
        self._explore()

    def offer(self, cover: Ints) -> None:
        """Make use of a cover found elsewhere."""
        cost = int(self.costs[cover].sum())
        if cost < self.upper - (self.support is not None) and self._is_cover(cover):
            self._note(cover, cost)

    def lower_bound(self) -> float:
        """Return the proved lower bound on the cost of covers below `upper`."""
        if self.finished:
            return np.inf
        proved = [node.bound for node, _, _ in self.open]
        if self.current is not None and not self.current.closed:
            proved.append(self.current.bound)
        return min(proved, default=0.0)

    def first_in_order(self, cover: Ints) -> Ints:
        """Of all covers that cost less than `upper`, the one whose ascending list comes first.

        Parameters
        ----------
        cover : ndarray of int64
            One of them.
        """
        self._first = True
        inside = np.zeros(self.n, dtype=bool)
        inside[cover] = True
        node = self.root()
        self._settle(node)
        for j in range(self.n):
            if not node.domains.uncovered.any():
                break
            if node.domains.state[j]:
                continue
            if inside[j]:
                self._fix(node, np.array([j]), NONE)
                continue
            self._settle(node)
            if node.domains.state[j]:
                continue
            found = self._cover_with(node, j)
            if found is None:
                self._fix(node, NONE, np.array([j]))
            else:
                inside[:] = False
                inside[found] = True
                self._fix(node, np.array([j]), NONE)
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

    def _cover_with(self, node: Node, j: int) -> Ints | None:
        self.best = None
        self.open = [(node, j, 1)]
        self._explore()
        return self.best

    def _explore(self) -> None:
        while self.open:
            parent, j, value = self.open[-1]
            if parent.bound > self.upper - 1:
                self.open.pop()
                continue
            node = self._child(parent, j, value)
            self.current = node  # before it leaves the list: its bound must count at any moment
            self.open.pop()
            self._settle(node)
            self._learn(parent, j, value, node)
            if self._first and self.best is not None:
                self.open = []
                break
            self._branch(node)
        self.finished = True

    def _child(self, parent: Node, j: int, value: int) -> Node:
        domains = parent.domains.copy()
        lp = parent.lp._replace(flipped=parent.lp.flipped.copy())
        node = Node(domains, lp, parent.bound, fresh=False)
        only = np.array([j])
        self._fix(node, only if value else NONE, NONE if value else only)
        return node

    def _fix(self, node: Node, chosen: Ints, excluded: Ints) -> None:
        """Fix candidates and all that follows; the node is closed if that is impossible."""
        possible = self.work.kernels(nodes).fix(
            self.lists, self.size, node.domains, chosen, excluded
        )
        if not possible:
            node.closed = True

    def _settle(self, node: Node) -> None:
        """Solve the node's program, fix what follows, and close the node if nothing is left."""
        self.work.nodes += 1
        while not node.closed:
            goal = CoverGoal(self.costs, self.size, self.upper)
            outcome, node.bound, node.lp, pivots, cells = self.work.kernels(nodes).settle(
                self.lists, goal, node.domains, node.lp, node.bound, node.fresh, SLICE
            )
            self.work.pivots += pivots
            self.work.spend(cells + OVERHEAD)
            if outcome == nodes.DOUBTFUL:
                self._rebuild(node)
            elif outcome != nodes.PAUSED:
                node.closed = outcome == nodes.CLOSED
                break
        if not node.closed and self.support is not None:
            node.closed = not (node.domains.state >= 0)[~self.support].any()
        if not node.closed:
            self._divide(node)

    def _rebuild(self, node: Node) -> None:
        """Replace a tableau that has gathered rounding errors by one made from the data."""
        node.lp, node.fresh = self.root().lp, True

    def _divide(self, node: Node) -> None:
        """Find out how to branch; where there is no need to, keep the cover."""
        state = node.domains.state
        node.branch, node.value, pivots, cells = self.work.kernels(nodes).choose_branch(
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
            self._note(cover, cost)
            node.closed = node.bound > self.upper - 1
        free = state == 0
        if self.support is not None and (free & ~self.support).any():
            free &= ~self.support
        if not node.closed and free.any():  # tied covers, or a tableau beyond repair
            node.branch, node.value = int(np.argmax(free)), 0.0

    def _note(self, cover: Ints, cost: int) -> None:
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
        lists = self.lists
        covered = np.zeros(self.m, dtype=bool)
        for j in cover:
            covered[lists.objects[lists.objects_from[j] : lists.objects_from[j + 1]]] = True
        return bool(covered.all())

    def _learn(self, parent: Node, j: int, value: int, node: Node) -> None:
        """Remember how much the objective gained per unit of the candidate's change."""
        distance = 1.0 - parent.value if value else parent.value
        if parent.branch == j and 0.0 < distance < 1.0:
            gain = min(-node.lp.table[-1, -1], self.upper) + parent.lp.table[-1, -1]
            self._pseudocosts.gains[value, j] += max(gain, 0.0) / distance
            self._pseudocosts.tries[value, j] += 1

    def _branch(self, node: Node) -> None:
        if not node.closed and node.branch >= 0:
            self.open += [(node, node.branch, 0), (node, node.branch, 1)]

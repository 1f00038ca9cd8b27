"""Solve one connected component of a cover problem for the three objectives in turn.

1. The fewest candidates: all reductions, a greedy cover, local search, branch and bound.
2. Among those the smallest total cost: the same with the number of candidates limited.
3. Among those the first in order: a dive along the candidates that tests, one by one, whether an
   optimal cover contains it.

Only undominated candidates take part from the second objective on, so that the answer is a property
of the problem and not of the way it was found.
"""

import math

import numpy as np
from scipy import sparse

from frri._util import Floats, Ints
from frri.cover import local_search
from frri.cover.bounds import subgradient_bound
from frri.cover.branch_and_bound import Search
from frri.cover.budget import Exhausted, Work
from frri.cover.matrix import CoverLists, greedy_cover
from frri.cover.reduce import Core, Matrix, reduce, undominated

LARGEST_TABLEAU = 1_200_000
"""Cells up to which a part is left to branch and bound."""

STEP_SECONDS = 1e-4
"""What a step of local search takes interpreted."""


class Component:
    """A connected part: candidates, the objects still to cover, and the best cover known.

    Parameters
    ----------
    ids : ndarray of int64
        The candidates, ascending, as the caller numbers them.
    whole : matrix, candidates x all objects they cover
        What dominance is judged by.
    left : ndarray of int64
        The columns of `whole` that are to be covered.
    costs : ndarray of int64
    work : Work
    tie_break : bool
        Whether the second and third objective will be asked for.
    judged : bool
        Whether dominated candidates are gone already.

    Attributes
    ----------
    cover : ndarray of int64
        The best complete cover known (the caller's numbers).
    lower_bound : int
        Proved bound on its size.
    count_proved, cost_proved, settled : bool
        Which of the three objectives are proved.
    """

    def __init__(
        self,
        ids: Ints,
        whole: Matrix,
        left: Ints,
        costs: Ints,
        work: Work,
        *,
        tie_break: bool = True,
        judged: bool = False,
    ) -> None:
        keep = np.arange(len(ids))
        if tie_break and not judged:
            keep = np.flatnonzero(undominated(whole, costs, work))
        matrix = whole[keep][:, left]
        # All optimal covers are wanted for breaking ties, any one of them otherwise.
        taken, candidates, objects = reduce(
            matrix, None if tie_break else np.zeros_like(costs), work
        )
        self.tie_break = tie_break
        self.taken = ids[keep[taken]]
        self.ids = ids[keep[candidates]]
        self.matrix: Matrix = matrix[candidates][:, objects]
        self.costs = costs[keep[candidates]]
        self.uniform = len(self.costs) == 0 or bool((self.costs == self.costs[0]).all())
        self.inside = np.zeros(0, dtype=np.int64)
        self.lower_bound = min(1, len(self.ids))
        solved = len(self.ids) == 0
        self.count_proved = self.cost_proved = self.settled = solved
        if not solved:
            self.lists = CoverLists.of(self.matrix)
            self.inside = greedy_cover(self.lists, self.costs)

    @property
    def cover(self) -> Ints:
        """The best complete cover known, ascending."""
        return np.sort(np.concatenate((self.taken, self.ids[self.inside])))

    def minimise_count(self, work: Work) -> None:
        """First objective; on `Exhausted`, `cover` and `lower_bound` are as good as they got."""
        if self.count_proved:
            return
        matrix, lists, start = self.matrix, self.lists, self.inside
        taken, candidates = np.zeros(0, dtype=np.int64), np.arange(len(self.ids))
        if self.tie_break:
            taken, candidates, objects = reduce(self.matrix, np.zeros_like(self.costs), work)
            if len(candidates) == 0:
                self._prove_count(taken)
                return
            matrix = self.matrix[candidates][:, objects]
            lists = CoverLists.of(matrix)
            start = greedy_cover(lists, self.costs[candidates])
            self._improve(np.concatenate((taken, candidates[start])))
        if matrix.shape[0] * matrix.shape[1] > LARGEST_TABLEAU:
            matrix, candidates, taken = self._bound_large(matrix, candidates, taken, lists, work)
            if self.count_proved or matrix.shape[0] * matrix.shape[1] > LARGEST_TABLEAU:
                return
            lists = CoverLists.of(matrix)
            start = greedy_cover(lists, self.costs[candidates])
        costs = self.costs[candidates]
        ones = np.ones(len(candidates), dtype=np.int64)
        search = Search(lists, ones, len(self.inside) - len(taken), work)
        try:
            root = search.start()
            if not root.closed:
                enough = math.ceil(root.bound)
                found = self._local_search(lists, costs, start, enough, work)
                self._improve(np.concatenate((taken, candidates[found])))
                search.upper = len(self.inside) - len(taken)
            proved = 0 if root.closed else len(taken) + math.ceil(root.bound)
            if not work.near_enough(len(self.inside), proved):
                search.finish(root)
        finally:
            if search.best is not None:
                self._improve(np.concatenate((taken, candidates[search.best])))
            bound = min(search.lower_bound(), search.upper)
            self.lower_bound = max(self.lower_bound, len(taken) + math.ceil(bound))
            self.count_proved = len(self.inside) <= self.lower_bound

    def minimise_cost(self, work: Work) -> None:
        """Second objective, among covers of the proved size."""
        if self.cost_proved or not self.count_proved or self._too_large():
            return
        if self.uniform:
            self.cost_proved = True
            return
        size = len(self.inside)
        upper = int(self.costs[self.inside].sum())
        ties = np.zeros(len(self.ids), dtype=bool)
        ties[self.inside] = True
        search = Search(self.lists, self.costs, upper, work, size, ties)
        try:
            root = search.start()
            if not root.closed:
                enough = math.ceil(root.bound)
                found = self._local_search(
                    self.lists, self.costs, self.inside, enough, work, hold=True
                )
                search.offer(found)
            search.finish(root)
            self.cost_proved = True
        finally:
            if search.best is not None:
                self._improve(search.best)
        if search.support is not None:
            self._restrict(np.flatnonzero(search.support), work)

    def settle(self, work: Work) -> None:
        """Third objective, among covers of the proved size and cost."""
        if self.settled or not self.cost_proved or self._too_large():
            return
        size = len(self.inside)
        costs = np.ones_like(self.costs) if self.uniform else self.costs
        upper = int(costs[self.inside].sum()) + 1
        search = Search(self.lists, costs, upper, work, None if self.uniform else size)
        self.inside = search.first_in_order(self.inside)
        self.settled = True

    def _restrict(self, candidates: Ints, work: Work) -> None:
        """Forget all candidates but those that occur in optimal covers."""
        cover = self.ids[self.inside]
        taken, left, objects = reduce(self.matrix[candidates], None, work)
        left = candidates[left]
        matrix, ids = self.matrix[left][:, objects], self.ids[left]
        inside = np.flatnonzero(np.isin(ids, cover))
        # All at once: an interrupt must find either the one or the other.
        self.__dict__.update(
            taken=np.concatenate((self.taken, self.ids[candidates[taken]])),
            ids=ids,
            matrix=matrix,
            costs=self.costs[left],
            lists=CoverLists.of(matrix),
            inside=inside,
            lower_bound=len(inside),
            settled=len(left) == 0,
        )

    def _too_large(self) -> bool:
        return bool(self.matrix.shape[0] * self.matrix.shape[1] > LARGEST_TABLEAU)

    def _improve(self, cover: Ints) -> None:
        cover = np.sort(cover)
        ours = len(self.inside), int(self.costs[self.inside].sum())
        if (len(cover), int(self.costs[cover].sum())) < ours:
            self.inside = cover

    def _prove_count(self, cover: Ints) -> None:
        self.inside = np.sort(cover)
        self.lower_bound = len(cover)
        self.count_proved = True

    def _local_search(
        self,
        lists: CoverLists,
        costs: Ints,
        cover: Ints,
        enough: int,
        work: Work,
        *,
        hold: bool = False,
        steps: int | None = None,
    ) -> Ints:
        """Return a better cover; stop when its size (held: its cost) is `enough`."""
        state = local_search.LocalSearch(lists, costs, cover, hold=hold)
        if state.reached <= enough:
            return cover
        n, m = len(costs), len(lists.coverers_from) - 1
        total = steps if steps is not None else 200 + (5 if hold else 10) * (n + m)
        pairs = len(lists.objects)
        price = 1000 + min(len(cover), 300) + 2 * (pairs // n) * (pairs // m)
        run_local_search(state, enough, work, total, price, max(10, 4_000_000 // price))
        return state.cover()

    def _bound_large(
        self, matrix: Matrix, candidates: Ints, taken: Ints, lists: CoverLists, work: Work
    ) -> tuple[Matrix, Ints, Ints]:
        """Local search and a bound without tableau; what neither excludes is left."""
        costs = self.costs[candidates]
        start = greedy_cover(lists, costs)
        relaxed = subgradient_bound(sparse.csr_array(matrix), len(start), work)
        proved = math.ceil(min(relaxed.bound, len(start)))
        self.lower_bound = max(self.lower_bound, len(taken) + proved)
        steps = min(2_000_000, 100 * sum(matrix.shape))
        found = self._local_search(lists, costs, start, proved, work, steps=steps)
        self._improve(np.concatenate((taken, candidates[found])))
        upper = len(self.inside) - len(taken)
        self.count_proved = len(self.inside) <= self.lower_bound
        if self.count_proved:
            return matrix, candidates, taken
        keep = np.flatnonzero(relaxed.reduced <= upper - 1 - relaxed.bound)
        matrix, candidates = matrix[keep], candidates[keep]
        if np.asarray(matrix.sum(axis=0)).min(initial=1) == 0:  # nothing smaller covers everything
            self._prove_count(self.inside)
            return matrix, candidates, taken
        more, left, objects = reduce(matrix, np.zeros(len(candidates), dtype=np.int64), work)
        taken = np.concatenate((taken, candidates[more]))
        if len(left) == 0:
            self._improve(taken)
            self._prove_count(self.inside)
        return matrix[left][:, objects], candidates[left], taken


PROMISING = 0.3
"""Reduced cost below which local search may choose a candidate."""

FIRST_PROVED, JOINING = 0.4, 10
"""Fraction of the objects that branch and bound begins with, and how many join at least."""

STEPS, ITERATIONS = 4, 200
"""Steps of local search per candidate and object, and iterations of the bound, in a round."""


class CoreComponent:
    """Candidates and objects that hang together, the best cover and the bound proved.

    Parameters
    ----------
    matrix : sparse matrix, candidates x objects
    ids, names : ndarray of int64
        The candidates and objects as the large problem numbers them.
    costs, sizes : ndarray of int64
        Of the candidates, in the large problem.
    cover : ndarray of int64
        A complete cover.
    """

    def __init__(
        self,
        matrix: sparse.csr_array,
        ids: Ints,
        names: Ints,
        costs: Ints,
        sizes: Ints,
        cover: Ints,
    ) -> None:
        self.matrix, self.ids, self.names, self.costs, self.sizes = matrix, ids, names, costs, sizes
        greedy = greedy_cover(CoverLists.of(matrix), costs)
        self.cover = greedy if len(greedy) < len(cover) else cover
        self.lower_bound = 1

    def search(self, multipliers: Floats, work: Work) -> None:
        """Run local search among promising candidates and bound; update the multipliers."""
        warm = multipliers[self.names]
        relaxed = subgradient_bound(
            self.matrix,
            len(self.cover),
            work,
            ITERATIONS,
            np.maximum(warm, 0.0) if (warm > 0.0).any() else None,
        )
        multipliers[self.names] = relaxed.multipliers
        self.lower_bound = max(1, math.ceil(min(relaxed.bound, len(self.cover))))
        promising = relaxed.reduced < PROMISING
        promising[self.cover] = True
        keep = np.flatnonzero(promising)
        lists, start = CoverLists.of(self.matrix[keep]), np.searchsorted(keep, self.cover)
        state = local_search.LocalSearch(lists, self.costs[keep], start)
        steps = STEPS * sum(self.matrix.shape)
        search_on(state, start, self.lower_bound, work, steps)
        self.cover = keep[state.cover()]

    def prove(self, multipliers: Floats, work: Work, cells: int) -> None:
        """Branch and bound on the objects that matter most; those its cover leaves out join them.

        Parameters
        ----------
        multipliers : ndarray of float64
            Of all objects of the large problem.
        work : Work
        cells : int
            How much may be spent.
        """
        limit = work.limit
        work.limit = min(limit, work.spent + cells)
        degree = np.bincount(self.matrix.indices, minlength=self.matrix.shape[1])
        weights = multipliers[self.names]
        ranks = np.empty(len(degree), dtype=np.int64)
        ranks[np.lexsort((degree, -weights))] = np.arange(len(degree))
        objects = np.flatnonzero(
            ranks < max(1, int(FIRST_PROVED * np.count_nonzero(weights > 0.0)))
        )
        try:
            while len(self.cover) > self.lower_bound and len(objects):
                objects = self._solve(objects, ranks, work)
        except Exhausted:
            if work.stopped_by != "effort":
                raise
            work.stopped_by = None
        work.limit = max(limit, work.spent)

    def _solve(self, objects: Ints, ranks: Ints, work: Work) -> Ints:
        """Solve for some objects; return those to take next time, none to stop."""
        small = Core(self.matrix[:, objects], self.sizes, work)
        n, m = small.matrix.shape
        if n * m > LARGEST_TABLEAU:
            return objects[:0]
        zeros = np.zeros(n, dtype=np.int64)
        dense = small.matrix.toarray() > 0
        part = Component(np.arange(n), dense, np.arange(m), zeros, work, tie_break=False)
        try:
            part.minimise_count(work)
        finally:
            proved = len(part.taken) + part.lower_bound
            self.lower_bound = max(self.lower_bound, min(proved, len(self.cover)))
        cover = small.candidates[part.cover]
        missing = np.bincount(self.matrix[cover].indices, minlength=self.matrix.shape[1]) == 0
        if not missing.any():
            self.cover = min(np.sort(cover), self.cover, key=len)
            return objects[:0]
        if not part.count_proved:
            return objects[:0]
        missed = np.flatnonzero(missing)
        missed = missed[np.argsort(ranks[missed])]
        return np.union1d(objects, missed[: max(JOINING, len(objects) // 10)])


def search_on(
    state: local_search.LocalSearch, cover: Ints, enough: int, work: Work, steps: int
) -> None:
    """Continue a local search until the size is `enough` or N steps are done."""
    lists = state.arrays.lists
    sizes, degree = np.diff(lists.objects_from), np.diff(lists.coverers_from)
    price = 3000 + 20 * int(sizes[cover].mean()) + 60 * int(degree.mean())
    run_local_search(state, enough, work, steps, price, max(10, 400_000_000 // price))


def run_local_search(
    state: local_search.LocalSearch, enough: int, work: Work, steps: int, price: int, stride: int
) -> None:
    """Take steps of a price each, booked by strides, until what is reached is `enough`."""
    try:
        while steps > 0 and state.reached > enough:
            kernels = work.kernels(local_search, ahead=steps * STEP_SECONDS)
            now = min(stride, steps)
            for part in work.slices(now, STEP_SECONDS):
                if state.reached > enough:
                    kernels.search(state.arrays, part, enough)
            steps -= now
            work.steps += now
            work.spend(now * price)
    except Exhausted:  # the cover holds; the next to ask for work will stop
        pass

"""Lists of rules for one class: what they cover, how many bits they take, objects to learn them from.

`frri.learners.ripper.description_length` says what the bits are for. Interpreted, counting is array operations;
compiled, it is loops. Lengths are compared with a tolerance, so the last bit of a logarithm decides nothing.
"""

from math import inf, log2, nan

import numpy as np

from frri._compile import either, inner_kernel, kernel

# Differences of lengths below this count as none.
TOLERANCE = 1e-6

# --- tally: objects and positives by the first rule that covers them


def _tally_interpreted(first, rows, positive, n_rules):
    """Count the objects, and the positives among them, that each rule is the first to cover.

    Parameters
    ----------
    first : ndarray of int, shape (n_objects,)
        The first rule that covers each object, `n_rules` if none does.
    rows, positive : ndarray of bool, shape (n_objects,)
        The objects to count, and which objects are positive.
    n_rules : int

    Returns
    -------
    ndarray of int, shape (n_rules + 1, 2)
        The last row is for the objects that no rule covers.
    """
    codes = 2 * first[rows].astype(np.intp) + positive[rows]
    counts = np.bincount(codes, minlength=2 * n_rules + 2).reshape(-1, 2)
    counts[:, 0] += counts[:, 1]
    return counts


def _tally_loops(first, rows, positive, n_rules):
    counts = np.zeros((n_rules + 1, 2), dtype=np.int64)
    for i in range(len(first)):
        counts[first[i], 0] += rows[i]
        counts[first[i], 1] += rows[i] & positive[i]
    return counts


tally = either(interpreted=_tally_interpreted, loops=_tally_loops)


# --- bits: the length of a description


@inner_kernel
def subset_length(n: float, k: float, share: float) -> float:
    """Bits to single out k of n things when each is expected to be chosen with a probability.

    A probability above 1, which comes from an expectation that the counts contradict, has no length:
    the result is NaN and no comparison with it holds.

    Examples
    --------
    >>> subset_length(8, 4, 0.5)
    8.0
    >>> subset_length(8, 0, 0.0)
    0.0
    """
    if share > 1.0:
        return nan
    chosen = -k * log2(share) if share > 0.0 else 0.0
    if n == k:
        return chosen
    return chosen - (n - k) * log2(1.0 - share) if share < 1.0 else inf


@inner_kernel
def errors_length(problem: tuple[float, float, float], covered: float, positives: float) -> float:
    """Bits for the exceptions to rules that cover so many objects and positives in all.

    Parameters
    ----------
    problem : tuple
        Number of objects, number of positives, and which share of all errors is expected to be covered
        negatives.
    covered, positives : int
    """
    n_objects, n_positives, false_share = problem
    uncovered = n_objects - covered
    false, missed = covered - positives, n_positives - positives
    length = log2(n_objects + 1)
    if covered > uncovered:
        length += subset_length(covered, false, false_share * (false + missed) / covered)
        if uncovered:
            length += subset_length(uncovered, missed, missed / uncovered)
        return length
    if covered:
        length += subset_length(covered, false, false / covered)
    if uncovered:
        expected = (1.0 - false_share) * (false + missed) / uncovered
        length += subset_length(uncovered, missed, expected)
    return length


@inner_kernel
def needless(saving: float, covered: float, positives: float) -> bool:
    """Whether a rule can go: nothing is lost by it, or it is wrong at least every other time."""
    return saving > -TOLERANCE or (covered > 0 and 2 * positives <= covered)


def _settled_interpreted(problem, covered, positives, counts, bits):
    """Bits for the exceptions to a list once needless later rules are gone.

    Going through the later rules in order, each one that is `needless` is taken out of the total and
    the bits this saves are taken off.

    Parameters
    ----------
    problem : tuple
        As for `errors_length`.
    covered, positives : int
        What the list covers in all.
    counts : ndarray of int, shape (n_later, 2)
        Objects and positives that each later rule covers.
    bits : ndarray of float, shape (n_later,)
        Length of each later rule.
    """
    return _settled_loops(problem, covered, positives, counts.tolist(), bits.tolist())


def _settled_loops(problem, covered, positives, counts, bits):
    errors, saved = errors_length(problem, covered, positives), 0.0
    for k in range(len(counts)):
        t, p = counts[k][0], counts[k][1]
        without = errors_length(problem, covered - t, positives - p)
        saving = errors + bits[k] - without
        if needless(saving, t, p):
            covered, positives, errors = covered - t, positives - p, without
            saved += saving
    return errors - saved


settled = either(interpreted=_settled_interpreted, loops=_settled_loops)


@kernel
def list_length(problem, covers, rows, positive, later, bits, position):
    """Bits for the exceptions to a list in which a rule takes a place: see `settled`.

    Parameters
    ----------
    problem : tuple
        As for `errors_length`.
    covers : ndarray of bool, shape (n_objects,)
        What the rule covers.
    rows, positive : ndarray of bool, shape (n_objects,)
        The objects that the rules before it leave over, and which objects are positive.
    later : ndarray of int, shape (n_objects,)
        The first rule after it that covers each object, the number of rules if none does.
    bits : ndarray of float, shape (n_rules,)
        Length of each rule of the list.
    position : int
        Its place.
    """
    counts = tally(later, rows & ~covers, positive, len(bits))
    uncovered, missed = int(counts[-1, 0]), int(counts[-1, 1])
    return settled(
        problem,
        problem[0] - uncovered,
        problem[1] - missed,
        counts[position + 1 : -1],
        bits[position + 1 :],
    )


# --- deal: objects into a part for growing and a part for pruning


def _deal_interpreted(shuffled, classes, folds):
    """Deal objects, class by class, onto heaps; put these in a row, of which the end is for pruning.

    Parameters
    ----------
    shuffled : ndarray of int
        The objects to deal.
    classes : ndarray of int, shape (n_objects,)
    folds : int
        The number of heaps; one object in so many is for pruning.

    Returns
    -------
    grow, prune : ndarray of bool, shape (n_objects,)
    """
    bags = shuffled[classes[shuffled].argsort(kind="stable")]
    dealt = np.concatenate([bags[heap::folds] for heap in range(folds)])
    n_grow = len(dealt) * (folds - 1) // folds
    grow, prune = np.zeros((2, len(classes)), dtype=np.bool_)
    grow[dealt[:n_grow]] = True
    prune[dealt[n_grow:]] = True
    return grow, prune


def _deal_loops(shuffled, classes, folds):
    n, n_classes = len(shuffled), 0
    for k in range(n):
        n_classes = max(n_classes, classes[shuffled[k]] + 1)
    sizes = np.zeros(n_classes, dtype=np.int64)
    for k in range(n):
        sizes[classes[shuffled[k]]] += 1
    # On which heap, and where on it, the next object of each class comes to lie.
    heap, place = np.zeros(n_classes, dtype=np.int64), np.zeros(n_classes, dtype=np.int64)
    before = 0
    for c in range(n_classes):
        heap[c], place[c] = before % folds, before // folds
        before += sizes[c]
    # How much of each heap is for growing.
    n_grow = np.zeros(folds, dtype=np.int64)
    left = n * (folds - 1) // folds
    for h in range(folds):
        n_grow[h] = min(left, (n - h + folds - 1) // folds)
        left -= n_grow[h]
    grow = np.zeros(len(classes), dtype=np.bool_)
    prune = np.zeros(len(classes), dtype=np.bool_)
    for k in range(n):
        i = shuffled[k]
        c = classes[i]
        grow[i] = place[c] < n_grow[heap[c]]
        prune[i] = not grow[i]
        heap[c] += 1
        if heap[c] == folds:
            heap[c] = 0
            place[c] += 1
    return grow, prune


deal = either(interpreted=_deal_interpreted, loops=_deal_loops)

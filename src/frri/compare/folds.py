"""Folds: which object is tested when."""

import warnings

import numpy as np
from sklearn.model_selection import StratifiedKFold

from frri._util import Positions
from frri.compare.datasets import Dataset


def assign_folds(data: Dataset, n_folds: int, seed: int) -> Positions:
    """The fold in which each object is tested.

    Folds that come with the data are kept. Otherwise each fold gets about the same share of every
    class, at random by the seed; a class with fewer members than folds is absent from some.

    Parameters
    ----------
    data : Dataset
    n_folds : int
    seed : int

    Returns
    -------
    array of int

    Examples
    --------
    >>> from frri.compare import load
    >>> np.bincount(assign_folds(load("wine"), 10, seed=0)).tolist()
    [18, 18, 18, 18, 18, 18, 18, 18, 17, 17]
    """
    if data.folds is not None:
        found = int(data.folds.max()) + 1
        if found != n_folds:
            raise ValueError(f"{data.name} comes with {found} folds of its own, not {n_folds}")
        return data.folds
    counts = np.unique(data.y, return_counts=True)[1]
    if len(counts) < 2:
        raise ValueError(f"{data.name}: all objects have the same class, there is nothing to learn")
    if counts.max() < n_folds:
        raise ValueError(
            f"{data.name}: no class has {n_folds} members, so it cannot be divided into "
            f"{n_folds} folds; ask for {counts.max()} or fewer"
        )
    folds = np.empty(len(data.y), dtype=np.intp)
    with warnings.catch_warnings():
        # What it warns of, small classes, is said by `small_classes` in the words of this experiment.
        warnings.simplefilter("ignore", UserWarning)
        split = StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(data.X, data.y)
        for fold, (_, test) in enumerate(split):
            folds[test] = fold
    return folds


def small_classes(data: Dataset, n_folds: int) -> str | None:
    """One sentence if a class has fewer members than there are folds.

    Examples
    --------
    >>> from frri.compare import load
    >>> print(small_classes(load("ecoli"), 10))
    ecoli: class 'imL' has 2 members, class 'imS' has 2, class 'omL' has 5, fewer than the 10 folds;
    recalls are averaged over the classes present in a fold.
    """
    classes, counts = np.unique(data.y, return_counts=True)
    small = [(c, n) for c, n in zip(classes, counts, strict=True) if n < n_folds]
    if not small:
        return None
    (first, n), *rest = small
    listing = [f"class {str(first)!r} has {n} member{'s' if n > 1 else ''}"]
    listing += [f"class {str(c)!r} has {m}" for c, m in rest]
    return (
        f"{data.name}: {', '.join(listing)}, fewer than the {n_folds} folds; "
        "recalls are averaged over the classes present in a fold."
    )

"""A random sample of rows that come part by part, in which no class is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frri._util import find_name

if TYPE_CHECKING:
    import pandas as pd

    from frri._util import Flags, Floats, Ints

# Rows of every class that a sample has, if there are so many.
LEAST = 5
# A column of more values than these has no classes.
MOST_CLASSES = 1_000


class Sample:
    """So many of all rows, each as likely as any other, but some of every class in any case.

    Every row draws a lot; the smallest win. Lots depend on the seed and on the number of the row alone, so
    that a sample is the same whatever parts a table comes in.

    Parameters
    ----------
    size : int
    seed : int
    target : str, optional
        The column of the classes, if there are any.

    Examples
    --------
    >>> import pandas as pd
    >>> sample = Sample(5, seed=0, target="y")
    >>> for start in (0, 40):
    ...     numbers = range(start, start + 40)
    ...     sample.offer(f"from {start} on", pd.DataFrame({"x": numbers, "y": 1}))
    >>> sample.n_rows, sum(len(frame) for frame in sample.frames().values())
    (80, 5)
    """

    def __init__(self, size: int, seed: int, target: str | None = None) -> None:
        self.size, self.target, self.n_rows = size, target, 0
        self._random = np.random.default_rng(seed)
        self._parts: dict[str, tuple[pd.DataFrame, Floats, Ints]] = {}
        self._bound = np.inf
        # The number of each class, its smallest lots, and the largest of these.
        self._codes: dict[str, int] = {}
        self._least: list[Floats] = []
        self._worst = np.zeros(1)

    def offer(self, name: str, frame: pd.DataFrame) -> None:
        """Take from a part of the table, under a name for messages, what may be in the sample."""
        lots = self._random.random(len(frame))
        classes = np.full(len(frame), -1)
        if self.target is not None:
            find_name(self.target, frame.columns, name)
            classes = self._classes(frame[self.target], lots)
        self.n_rows += len(frame)
        self._keep(name, frame, lots, classes)
        if sum(len(lots) for _, lots, _ in self._parts.values()) > 2 * self.size + self._n_needed:
            self._throw_out()

    def frames(self) -> dict[str, pd.DataFrame]:
        """The sample, in the order of the rows, by the names of the parts."""
        if min(self.n_rows, self._n_needed) > self.size:
            raise ValueError(
                f"A sample of {self.size} rows is too small for the {len(self._codes)} classes of "
                f"{self.target!r}; take {self._n_needed} rows or more."
            )
        self._throw_out()
        lots = np.concatenate([lots for _, lots, _ in self._parts.values()])
        classes = np.concatenate([classes for _, _, classes in self._parts.values()])
        others = np.sort(lots[~self._needed(lots, classes)])
        left = self.size - (len(lots) - len(others))
        bound = others[left] if left < len(others) else np.inf
        found = {}
        for name, (frame, own, of_class) in self._parts.items():
            chosen = (own < bound) | self._needed(own, of_class)
            if chosen.any():
                found[name] = frame[chosen].reset_index(drop=True)
        return found

    @property
    def _n_needed(self) -> int:
        return sum(map(len, self._least))

    def _classes(self, column: pd.Series[Any], lots: Floats) -> Ints:
        """The numbers of the classes of rows; their smallest lots are noted."""
        labels, codes = np.unique(column.astype(str).to_numpy(dtype=object), return_inverse=True)
        known = [self._codes.setdefault(label, len(self._codes)) for label in labels]
        if len(self._codes) > MOST_CLASSES:
            self.target, self._least, self._worst = None, [], np.zeros(1)
            self._codes = {}
            return np.full(len(column), -1)
        self._least += [lots[:0]] * (len(self._codes) - len(self._least))
        for place, code in enumerate(known):
            own = np.concatenate([self._least[code], lots[codes == place]])
            self._least[code] = np.sort(own)[:LEAST]
        # The last entry is for rows of no class.
        self._worst = np.array([*(least[-1] for least in self._least), -1.0])
        return np.asarray(known, dtype=np.int64)[codes]

    def _needed(self, lots: Floats, classes: Ints) -> Flags:
        return np.asarray(
            (classes >= 0) & (lots <= self._worst[np.minimum(classes, len(self._worst) - 1)])
        )

    def _keep(self, name: str, frame: pd.DataFrame, lots: Floats, classes: Ints) -> None:
        """The smallest lots of all, and of each class."""
        kept = np.flatnonzero((lots < self._bound) | self._needed(lots, classes))
        self._parts[name] = (frame.iloc[kept].reset_index(drop=True), lots[kept], classes[kept])

    def _throw_out(self) -> None:
        lots = np.concatenate([lots for _, lots, _ in self._parts.values()])
        if len(lots) > self.size:
            self._bound = float(np.partition(lots, self.size)[self.size])
        for name, part in list(self._parts.items()):
            self._keep(name, *part)

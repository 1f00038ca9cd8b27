"""Confidences, shortening and covering on pima, against the paper's pseudo-code transcribed.

The opponent is `literal_induction` of `tests/naive.py`: numpy over the objects, Python loops over
attributes and kinds of conditions.
"""

import sys
from pathlib import Path

import numpy as np

from benchmarks.timing import best
from frri import induction
from frri.compare.datasets import load
from frri.fuzzy import Scaling

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import naive


def main():
    data = load("pima")
    values = Scaling.fit(data.X.to_numpy()).transform(data.X.to_numpy())
    classes = np.unique(data.y, return_inverse=True)[1]
    literal = best(lambda: naive.literal_induction(values, classes), 2)
    print(f"{'literal':<10}{literal:.4f} s")
    order = np.arange(values.shape[1])
    for path, wanted in (("numpy", 100), ("compiled", 1000)):
        compiled = path == "compiled"
        induction.induce(values, classes, order, compiled=compiled)
        seconds = best(lambda: induction.induce(values, classes, order, compiled=compiled), 100)  # noqa: B023
        ratio = f"{literal / seconds:.0f} times faster (at least {wanted} wanted)"
        print(f"{path:<10}{seconds:.6f} s, {ratio}")
        # Classes as numbers, by thresholds for pairs instead of sets of bits.
        numbers = induction.Graded(classes, 1.0)
        induction.induce(values, numbers, order, compiled=compiled)
        graded = best(lambda: induction.induce(values, numbers, order, compiled=compiled), 20)  # noqa: B023
        print(f"{'':<10}{graded:.6f} s as numbers, {graded / seconds:.1f} times as long")

"""Time of induction (confidences, shortening, covering) on pima, compared with the paper's pseudo-code.

The baseline is `literal_induction` of `tests/naive.py`: numpy over the objects, Python loops over attributes and
types of conditions.
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
    for path in ("numpy", "compiled"):
        compiled = path == "compiled"
        induction.induce(values, classes, order, compiled=compiled)
        seconds = best(lambda: induction.induce(values, classes, order, compiled=compiled), 100)  # noqa: B023
        print(f"{path:<10}{seconds:.6f} s, {literal / seconds:.0f} times faster")
    # Numeric targets, for which all pairs of objects are compared.
    numbers = induction.Graded(classes, 1.0)
    graded = best(lambda: induction.induce(values, numbers, order), 20)
    print(f"{'numeric':<10}{graded:.6f} s, {literal / graded:.0f} times faster")

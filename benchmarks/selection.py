"""The exact fit of the 18 KEEL sets against Gurobi's time for the selection alone.

Gurobi (one thread, no gap, raw per-class instances) minimises the number of rules only and is timed
without building its models. The fit is timed as a whole: scaling, confidences, shortening, covering,
fewest rules with proof, fewest conditions with proof, fixed order.
"""

import warnings
from time import perf_counter

import gurobipy
import numpy as np

from benchmarks.timing import best
from frri import FRRIClassifier, induction
from frri.compare.datasets import NAMES, load
from frri.cover import minimum_cover
from frri.fuzzy import Scaling


def main():
    environment = gurobipy.Env(params={"OutputFlag": 0, "Threads": 1, "MIPGap": 0})
    print(
        f"{'set':<16}{'rules':>7}{'Gurobi':>9}{'fewest':>9}{'whole fit':>11}   seconds; not proved"
    )
    total = np.zeros(3)
    for round_ in ("warm-up", "timed"):
        for name in NAMES:
            data = load(name)
            X, y = data.X.to_numpy(), data.y
            clf = FRRIClassifier()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                whole = best(lambda: clf.fit(X, y), 3)  # noqa: B023
            if round_ == "warm-up":
                continue
            covers, positions, classes = _covers(X, y, clf)
            fewest = best(lambda: minimum_cover(covers, tie_break=False), 3)  # noqa: B023
            gurobi, optimum = _gurobi(environment, covers, positions, classes)
            assert clf.selection_.status != "optimal" or optimum == len(clf.ruleset_), name
            total += gurobi, fewest, whole
            open_ = [
                what
                for what, status in (
                    ("rules", clf.selection_.status),
                    ("conditions", clf.selection_.conditions_status),
                )
                if status != "optimal"
            ]
            print(
                f"{name:<16}{len(clf.ruleset_):>7}{gurobi:>9.3f}{fewest:>9.3f}{whole:>11.3f}   "
                f"{', '.join(open_)}",
                flush=True,
            )
    gurobi, fewest, whole = total
    print(f"{'sum':<23}{gurobi:>9.3f}{fewest:>9.3f}{whole:>11.3f}")
    print(f"whole exact fit / Gurobi's selection: {whole / gurobi:.2f} (at most 1 wanted)")
    print(f"fewest rules alone / Gurobi's selection: {fewest / gurobi:.2f} (at most 0.25 wanted)")


def _covers(X, y, clf):
    classes = np.unique(y, return_inverse=True)[1]
    values = Scaling.fit(X).transform(X)
    backend = induction.choose_backend(values, classes)
    layout = backend.layout
    covers = backend.source(layout.by_row(clf.confidence_), layout.by_row(clf._types))(None)
    return covers, layout.positions, classes


def _gurobi(environment, covers, positions, classes):
    dense = covers.to_dense()[:, positions]
    seconds, optimum = 0.0, 0
    for c in np.unique(classes):
        matrix = dense[np.ix_(classes == c, classes == c)]
        matrix = matrix[:, matrix.any(axis=0)]
        model = gurobipy.Model(env=environment)
        chosen = model.addMVar(len(matrix), vtype="B", obj=1.0)
        model.addConstr(matrix.T.astype(float) @ chosen >= 1)
        model.update()
        start = perf_counter()
        model.optimize()
        seconds += perf_counter() - start
        optimum += round(model.ObjVal)
    return seconds, optimum

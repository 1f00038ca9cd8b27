"""Time of exact FRRI fits on the 18 datasets, compared with Gurobi's time for the selection alone.

Gurobi (one thread, optimality gap 0, one model per class) minimizes the number of rules only; building its models is
not measured. The time of the fit includes scaling, confidences, shortening, covering, the minimum number of rules and
of conditions with proofs, and the order of the rules.
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
        f"{'set':<16}{'rules':>7}{'Gurobi':>9}{'fewest':>9}{'whole fit':>11}   seconds; not proven"
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
            not_proven = [
                quantity
                for quantity, status in (
                    ("rules", clf.selection_.status),
                    ("conditions", clf.selection_.conditions_status),
                )
                if status != "optimal"
            ]
            print(
                f"{name:<16}{len(clf.ruleset_):>7}{gurobi:>9.3f}{fewest:>9.3f}{whole:>11.3f}   "
                f"{', '.join(not_proven)}",
                flush=True,
            )
    gurobi, fewest, whole = total
    print(f"{'sum':<23}{gurobi:>9.3f}{fewest:>9.3f}{whole:>11.3f}")
    print(f"whole exact fit / Gurobi's selection: {whole / gurobi:.2f} (target: at most 1)")
    print(f"fewest rules alone / Gurobi's selection: {fewest / gurobi:.2f} (target: at most 0.25)")


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

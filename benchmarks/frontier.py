"""Minimum number of errors of 1 to 8 rules from several pools on pima, and the proven part of it.

    python -m benchmarks.frontier [SECONDS]

Each pool is searched for SECONDS (60) of CPU time, which other processes do not affect.
"""

import sys
import warnings
from time import process_time
from types import SimpleNamespace
from unittest.mock import patch

from sklearn.ensemble import RandomForestClassifier

from frri import FRRIClassifier, FURIAClassifier, RIPPERClassifier, frontier, tree_rules
from frri.compare.datasets import load
from frri.pareto import best_subset, matching_bound


def pools(X, y):
    """Yield the name and the rule sets of each pool."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield (
            "RIPPER and FURIA, ten seeds each",
            [
                learner(random_state=seed).fit(X, y).ruleset_
                for learner in (RIPPERClassifier, FURIAClassifier)
                for seed in range(10)
            ],
        )
        yield "FRRI's candidates", [FRRIClassifier(work_limit=0).fit(X, y).candidate_rules(X, y)]
    for trees, depth in ((20, 3), (100, 3), (100, 6)):
        forest = RandomForestClassifier(trees, max_depth=depth, random_state=0).fit(X, y)
        yield f"leaves of {trees} trees of depth {depth}", [tree_rules(forest, X, y)]


def main(seconds=60.0):
    data = load("pima")
    clock = SimpleNamespace(perf_counter=process_time)
    for name, pool in pools(data.X, data.y):
        start = process_time()
        with patch.object(best_subset, "time", clock), patch.object(matching_bound, "time", clock):
            found = frontier(pool, data.X, data.y, sizes=range(1, 9), time_limit=seconds)
        print(f"\n{name} ({process_time() - start:.1f} CPU seconds)\n{found}", flush=True)


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))

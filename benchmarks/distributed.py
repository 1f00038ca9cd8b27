"""FRRI on a Dask cluster of two processes here, beside the fit in threads, and what it sends.

Both with `work_limit=0` (induction, a greedy cover and a first bound), in turns, the best of several; workers
have loaded their kernels before. The seconds are of the wall: both use all cores.
"""

import os
import warnings
from time import perf_counter

from sklearn.datasets import make_classification

import frri
from frri.distributed import DaskFRRIClassifier, classifier

ROWS, ATTRIBUTES, REPEATS = 100_000, 10, 2


def main():
    from distributed import Client, LocalCluster

    warnings.simplefilter("ignore")
    kind = {"n_informative": 6, "n_redundant": 2, "flip_y": 0.0, "class_sep": 1.5}
    X, y = make_classification(ROWS, ATTRIBUTES, **kind, random_state=0)
    few = 12_000
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        frri.FRRIClassifier(work_limit=0).fit(X[:few], y[:few])
        for worker in client.scheduler_info()["workers"]:  # each loads what a selection needs
            client.submit(_fitted, X[:few], y[:few], workers=[worker], pure=False).result()
        DaskFRRIClassifier(client=client, work_limit=0).fit(X[:few], y[:few])
        threads, processes = [], []
        for _ in range(REPEATS):
            start = perf_counter()
            here = frri.FRRIClassifier(work_limit=0).fit(X, y)
            threads.append(perf_counter() - start)
            start = perf_counter()
            there = DaskFRRIClassifier(client=client, work_limit=0).fit(X, y)
            processes.append(perf_counter() - start)
        peaks = client.run(_peak)
    assert there.ruleset_ == here.ruleset_
    assert there.selection_.lower_bound == here.selection_.lower_bound
    print(f"{ROWS:,} x {ATTRIBUTES}, {len(there.ruleset_)} rules, the same in both")
    print(f"threads {min(threads):.1f} s, two processes {min(processes):.1f} s", end="")
    print(
        f": {min(processes) / min(threads):.2f} times (at most 1.3 wanted), {os.cpu_count()} cores"
    )
    steps = {name: f"{seconds:.2f}" for name, seconds in there.selection_.seconds.items()}
    print("steps on the cluster, as seen from here:", steps)
    print(
        f"largest worker {max(peaks.values()) / 2**20:.0f} MB at its peak; a selection is planned with "
        f"{classifier.COPIES} times the bytes of its covers"
    )


def _fitted(X, y):
    warnings.simplefilter("ignore")
    frri.FRRIClassifier(work_limit=0, n_jobs=1).fit(X, y)


def _peak():
    import resource

    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

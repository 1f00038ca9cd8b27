"""FRRI on a local Dask cluster of two processes, compared with a fit in threads.

Both fits use `work_limit=0` (induction, a greedy cover and a first bound). They run in turns, after the workers have
loaded their kernels; the best time counts. Times are wall-clock seconds, because both fits use all cores.
"""

import os
import warnings
from time import perf_counter

from sklearn.datasets import make_classification

import frri
from frri.distributed import DaskFRRIClassifier, estimators

ROWS, ATTRIBUTES, REPEATS = 100_000, 10, 2


def main():
    from distributed import Client, LocalCluster

    warnings.simplefilter("ignore")
    kind = {"n_informative": 6, "n_redundant": 2, "flip_y": 0.0, "class_sep": 1.5}
    X, y = make_classification(ROWS, ATTRIBUTES, **kind, random_state=0)
    n_warm_up = 12_000
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        frri.FRRIClassifier(work_limit=0).fit(X[:n_warm_up], y[:n_warm_up])
        for worker in client.scheduler_info()["workers"]:  # each loads its kernels
            client.submit(_fit, X[:n_warm_up], y[:n_warm_up], workers=[worker], pure=False).result()
        DaskFRRIClassifier(client=client, work_limit=0).fit(X[:n_warm_up], y[:n_warm_up])
        threads, processes = [], []
        for _ in range(REPEATS):
            start = perf_counter()
            local = frri.FRRIClassifier(work_limit=0).fit(X, y)
            threads.append(perf_counter() - start)
            start = perf_counter()
            remote = DaskFRRIClassifier(client=client, work_limit=0).fit(X, y)
            processes.append(perf_counter() - start)
        peaks = client.run(_peak_memory)
    assert remote.ruleset_ == local.ruleset_
    assert remote.selection_.lower_bound == local.selection_.lower_bound
    print(f"{ROWS:,} x {ATTRIBUTES}, {len(remote.ruleset_)} rules, identical in both")
    print(f"threads {min(threads):.1f} s, two processes {min(processes):.1f} s", end="")
    print(
        f": {min(processes) / min(threads):.2f} times (target: at most 1.3), {os.cpu_count()} cores"
    )
    steps = {name: f"{seconds:.2f}" for name, seconds in remote.selection_.seconds.items()}
    print("steps on the cluster, measured by the client:", steps)
    print(
        f"peak memory of the largest worker {max(peaks.values()) / 2**20:.0f} MB; the memory plan of a selection "
        f"is {estimators.COPIES} times the size of its covers"
    )


def _fit(X, y):
    warnings.simplefilter("ignore")
    frri.FRRIClassifier(work_limit=0, n_jobs=1).fit(X, y)


def _peak_memory():
    import resource

    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

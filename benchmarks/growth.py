"""CPU time and peak memory of FRRI for 1,000 to 1,000,000 rows, compared with scikit-learn's unpruned tree.

    python -m benchmarks growth
    python -m benchmarks.growth 100000x10 1000000x5 20000x10+5000 ...

Each size runs in a separate process; `MB` is the memory that the fit adds to that of the process. Selection ends with
a greedy cover and a first bound; a number after `+` is its work limit, and `gap` the remaining optimality gap. CPU
seconds are those of all threads. The exponent is the slope of a straight line through the logarithms. The two largest
sizes take minutes each.
"""

import json
import subprocess
import sys

import numpy as np

SIZES = ("1000x10", "10000x10", "20000x10", "100000x10", "1000000x5", "1000000x10", "20000x10+5000")
CODE = """
import json, sys, time, warnings
import numpy as np
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier
from frri import FRRIClassifier
from frri._compile import compiled
from frri.cover import local_search, matrix
warnings.simplefilter("ignore")
size, _, effort = sys.argv[1].partition("+")
n, m = map(int, size.split("x"))
kind = dict(n_informative=6, n_redundant=2) if m == 10 else dict(n_informative=3, n_redundant=1)
X, y = make_classification(max(n, 200_000), m, **kind, flip_y=0.0, class_sep=1.5, random_state=0)
X, y = X[:n].copy(), y[:n].copy()
rng = np.random.default_rng(0)
for module in (matrix, local_search) if effort else (matrix,):
    compiled(module)  # a search loads them only after some work
for rows in (12_000, 5_000):  # loads or compiles the other kernels
    z = rng.random((rows, m))
    FRRIClassifier(work_limit=1 if effort else 0).fit(z, z[:, 0] > 0.5)
def memory(what):
    for line in open("/proc/self/status"):
        if line.startswith(what):
            return int(line.split()[1]) / 1024
start = time.process_time()
DecisionTreeClassifier(random_state=0).fit(X, y)
tree = time.process_time() - start
open("/proc/self/clear_refs", "w").write("5")  # resets the peak
before = memory("VmRSS")
start = time.process_time()
clf = FRRIClassifier(work_limit=int(effort or 0)).fit(X, y)
fit = time.process_time() - start
print(json.dumps({"tree": tree, "fit": fit, "wall": clf.selection_.seconds, "MB": memory("VmHWM") - before,
                  "peak": memory("VmHWM"), "rules": len(clf.ruleset_), "gap": clf.selection_.gap,
                  "stopped": clf.selection_.stopped_by}))
"""


def main(sizes=SIZES):
    results = {}
    print(
        f"{'size':>14}{'tree':>9}{'FRRI':>9}{'ratio':>7}{'MB':>8}{'peak MB':>9}{'rules':>8}{'gap':>7}"
    )
    for size in sizes:
        output = subprocess.run(
            [sys.executable, "-c", CODE, size], check=True, capture_output=True, text=True
        )
        r = results[size] = json.loads(output.stdout)
        steps = ", ".join(f"{step} {seconds:.2f}" for step, seconds in r["wall"].items())
        print(
            f"{size:>14}{r['tree']:>9.2f}{r['fit']:>9.2f}{r['fit'] / r['tree']:>7.2f}{r['MB']:>8.0f}"
            f"{r['peak']:>9.0f}{r['rules']:>8}{r['gap']:>7.1%}  (wall: {steps})",
            flush=True,
        )
    for attributes in ("x5", "x10"):
        some = [
            size for size in results if size.endswith(attributes) and not size.startswith("1000x")
        ]
        if len(some) > 1:
            rows = np.log([int(size.split("x")[0]) for size in some])
            for what in ("fit", "tree"):
                slope = np.polyfit(rows, np.log([results[size][what] for size in some]), 1)[0]
                print(f"exponent of {what} from {some[0]} to {some[-1]}: {slope:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:] or SIZES)

"""Time and peak memory of a fit for 1,000 to 100,000 rows of 10 attributes, with exponents.

Each size runs in a process of its own, so that the peak is its own. The exponent is the slope of a
straight line through the logarithms. Selection is given no effort beyond its heuristics: what grows
here is induction (confidences, shortening, covering) and the first complete cover.
"""

import json
import subprocess
import sys

import numpy as np

SIZES = (1_000, 5_000, 20_000, 100_000)
CODE = """
import json, resource, sys, time, warnings
import numpy as np
from sklearn.datasets import make_classification
from frri import FRRIClassifier
warnings.simplefilter("ignore")
n = int(sys.argv[1])
X, y = make_classification(200_000, 10, n_informative=6, n_redundant=2, flip_y=0.0, class_sep=1.5, random_state=0)
for rows in (12_000, 5_000):  # loads or compiles the kernels
    FRRIClassifier(effort=0).fit(X[:rows], y[:rows])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
clf = FRRIClassifier(effort=0).fit(X[:n], y[:n])
seconds = dict(clf.selection_.seconds) | {"fit": time.perf_counter() - start}
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"seconds": seconds, "before": before / 1024, "peak": peak / 1024, "rules": len(clf.ruleset_),
                  "gap": clf.selection_.gap}))
"""


def main():
    results = []
    print(
        f"{'rows':>8}{'confidences':>13}{'shortening':>12}{'covering':>10}{'induction':>11}{'selection':>11}{'fit':>8}{'MB':>8}{'rules':>8}{'gap':>7}"
    )
    for n in SIZES:
        output = subprocess.run(
            [sys.executable, "-c", CODE, str(n)], check=True, capture_output=True, text=True
        )
        result = json.loads(output.stdout)
        s = result["seconds"]
        s["induction"] = s["confidences"] + s["shortening"] + s["covering"]
        results.append(result)
        print(
            f"{n:>8}{s['confidences']:>13.3f}{s['shortening']:>12.3f}{s['covering']:>10.3f}{s['induction']:>11.3f}"
            f"{s['selection']:>11.3f}{s['fit']:>8.2f}{result['peak']:>8.0f}{result['rules']:>8}{result['gap']:>7.1%}",
            flush=True,
        )
    logs = np.log(SIZES)
    for what in ("induction", "selection", "fit"):
        slope = np.polyfit(logs, np.log([r["seconds"][what] for r in results]), 1)[0]
        print(
            f"exponent of {what}: {slope:.2f}"
            + (" (at most 1.6 wanted)" if what == "induction" else "")
        )
    extra = [r["peak"] - r["before"] for r in results[-2:]]
    print(
        f"memory beyond start-up at {SIZES[-2]:,} and {SIZES[-1]:,} rows: {extra[0]:.0f} and {extra[1]:.0f} MB"
    )

"""Time of the first FRRI fit after installation, on pima and winequality-red, with and without numba.

Each measurement runs in a new process; times are CPU seconds without imports. Cold: with an empty cache of compiled
code. Warm: with the kernels compiled and loaded by an earlier fit in the same process.
"""

import json
import os
import subprocess
import sys
import tempfile

CODE = """
import json, sys, time
from frri import FRRIClassifier
from frri._compile import compiled
from frri.compare.datasets import load
from frri.cover import budget
data = load(sys.argv[1])
X, y = data.X.to_numpy(), data.y
start = time.process_time()
model = FRRIClassifier().fit(X, y)
seconds = [time.process_time() - start]
if sys.argv[2] == "warm":
    budget.Work.kernels = lambda self, module, **_: compiled(module)
    for _ in range(2):
        start = time.process_time()
        model.fit(X, y)
        seconds.append(time.process_time() - start)
selection = model.selection_
print(json.dumps([seconds[-1], selection.n_rules, selection.status, selection.conditions_status]))
"""

CASES = (
    ("cold, with numba", "cold", "0"),
    ("cold, without numba", "cold", "1"),
    ("warm, with numba", "warm", "0"),
)


def main():
    print(f"{'dataset':<18}{'case':<22}{'CPU s':>8}{'rules':>7}   status of rules and conditions")
    for name in ("pima", "winequality-red"):
        for case, state, disable_jit in CASES:
            with tempfile.TemporaryDirectory() as cache:
                changes = {"NUMBA_CACHE_DIR": cache, "NUMBA_DISABLE_JIT": disable_jit}
                output = subprocess.run(
                    [sys.executable, "-c", CODE, name, state],
                    check=True,
                    capture_output=True,
                    text=True,
                    env={**os.environ, **changes},
                )
            seconds, n_rules, *statuses = json.loads(output.stdout)
            print(f"{name:<18}{case:<22}{seconds:>8.2f}{n_rules:>7}   {', '.join(statuses)}")
    print("target: at most 10 s cold, with and without numba")

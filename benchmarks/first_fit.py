"""The first fit after a fresh install on 200 rows, against the second: no compilation.

Each measurement runs in a new process with an empty cache directory for compiled code.
"""

import json
import os
import subprocess
import sys
import tempfile

CODE = """
import json, sys, time
start = time.perf_counter()
from frri import FRRIClassifier
from sklearn.datasets import make_classification
imports = time.perf_counter() - start
X, y = make_classification(200, 8, flip_y=0.1, random_state=0)
seconds = []
for _ in range(3):
    start = time.perf_counter()
    FRRIClassifier().fit(X, y)
    seconds.append(time.perf_counter() - start)
print(json.dumps({"imports": imports, "seconds": seconds, "numba": "numba" in sys.modules}))
"""


def main():
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        output = subprocess.run(
            [sys.executable, "-c", CODE],
            check=True,
            capture_output=True,
            text=True,
            env=environment,
        )
        compiled = sum(len(files) for _, _, files in os.walk(cache))
    result = json.loads(output.stdout)
    first, second, third = result["seconds"]
    print(f"imports {result['imports']:.2f} s; fits {first:.4f}, {second:.4f}, {third:.4f} s")
    print(f"first / second: {first / second:.2f} (at most 2 wanted, imports apart)")
    print(f"compiler loaded: {result['numba']}, compiled files: {compiled}")

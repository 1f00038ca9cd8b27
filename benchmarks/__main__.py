"""Run all benchmarks (`make bench`), or some of them (`python -m benchmarks NAME ...`).

`python -m benchmarks --against REVISION NAME ...` runs each benchmark twice: in the code of an earlier
revision, with the benchmarks of that revision, then in the current code.
"""

import importlib
import io
import os
import platform
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np

import frri

HERE = Path(__file__).parents[1]
BENCHMARKS = (
    "induction",
    "selection",
    "growth",
    "few_rules_growth",
    "rival_growth",
    "distributed",
    "first_fit",
    "prediction",
    "mixed",
    "rivals",
    "small_rulesets",
    "bagging",
    "reference_rivals",
    "reference_rough",
    "probabilities",
    "ordinal",
    "regression",
    "page",
    "exports",
)


def main() -> None:
    names = sys.argv[1:]
    if names[:1] == ["--against"]:
        revision, *chosen = names[1:]
        compare(revision, chosen or BENCHMARKS)
        return
    print(f"frri {frri.__version__}, Python {platform.python_version()}, numpy {np.__version__}")
    for name in names or BENCHMARKS:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"\n## {name}: {module.__doc__.strip().splitlines()[0]}\n", flush=True)
        module.main()


def compare(revision, names) -> None:
    """Run the same benchmarks in two states of the repository, in turns."""
    archive = subprocess.run(
        ["git", "archive", revision], cwd=HERE, capture_output=True, check=True
    ).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        for name in names:
            for state, place in ((revision, Path(folder)), ("current", HERE)):
                print(f"\n# {name}, {state}", flush=True)
                environment = {**os.environ, "PYTHONPATH": str(place / "src")}
                command = [sys.executable, "-m", "benchmarks", name]
                subprocess.run(command, cwd=place, env=environment, check=False)


if __name__ == "__main__":
    main()

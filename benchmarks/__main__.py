"""`make bench` runs everything; `python -m benchmarks NAME ...` only what is named."""

import importlib
import platform
import sys

import numpy as np

import frri

BENCHMARKS = (
    "induction",
    "selection",
    "growth",
    "rival_growth",
    "first_fit",
    "prediction",
    "mixed",
    "rivals",
    "reference_rivals",
    "reference_rough",
)


def main() -> None:
    names = sys.argv[1:] or BENCHMARKS
    print(f"frri {frri.__version__}, Python {platform.python_version()}, numpy {np.__version__}")
    for name in names:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"\n## {name}: {module.__doc__.strip().splitlines()[0]}\n", flush=True)
        module.main()


if __name__ == "__main__":
    main()

"""What categories, gaps and restrictions cost: nothing on purely numeric tables, and how much on others.

The opponent is the induction as it was before it knew of them, taken from the repository's history and
run in the same process, in turns. Seconds of the processor, not of the clock, are compared.
"""

import importlib
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pandas as pd

from frri import FRRIClassifier, induction
from frri.compare.datasets import load
from frri.fuzzy import Scaling

BEFORE = "c5eb001"
MODULES = ("induction", "kernels/plain", "kernels/bitmap", "learners/base", "learners/frri")
WANTED = "at most 1.05 wanted"


def main():
    data = load("pima")
    X, y = data.X, pd.Series(np.asarray(data.y))
    classes = np.unique(data.y, return_inverse=True)[1]
    values = Scaling.fit(X.to_numpy()).transform(X.to_numpy())
    rng = np.random.default_rng(0)
    large = rng.random((20_000, 10))
    large_classes = (large[:, :3].sum(axis=1) + rng.normal(0, 0.1, 20_000) > 1.5).astype(int)

    with tempfile.TemporaryDirectory() as folder:
        before = _before(Path(folder))
        if before is None:
            print(f"No revision {BEFORE} here to compare with.")
        else:
            old_induction, old_learner = before
            for name, table, codes, compiled, repeats in (
                ("pima, numpy", values, classes, False, 300),
                ("pima, compiled", values, classes, True, 1000),
                ("20,000 x 10, compiled", large, large_classes, True, 30),
            ):
                order = np.arange(table.shape[1])
                jobs = [
                    lambda module=module: module.induce(table, codes, order, compiled=compiled)  # noqa: B023
                    for module in (old_induction, induction)
                ]
                _compare(f"induce, {name}", jobs, repeats)
            for name, table in (("array", X.to_numpy()), ("data frame", X)):
                jobs = [
                    lambda learner=learner: learner(effort=0).fit(table, y)  # noqa: B023
                    for learner in (old_learner, FRRIClassifier)
                ]
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    _compare(f"fit without effort, pima, {name}", jobs, 100)
    _mixed(large, large_classes)


def _before(folder):
    """The modules of an earlier revision, under names of their own."""
    for name in MODULES:
        show = ["git", "show", f"{BEFORE}:src/frri/{name}.py"]
        found = subprocess.run(
            show, cwd=Path(__file__).parent, capture_output=True, text=True, check=False
        )
        if found.returncode:
            return None
        text = found.stdout.replace("from frri import induction", "from before import induction")
        for package in ("kernels", "induction", "learners.base"):
            text = text.replace(f"from frri.{package} ", f"from before.{package} ")
        path = folder / "before" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    sys.path.insert(0, str(folder))
    return (
        importlib.import_module("before.induction"),
        importlib.import_module("before.learners.frri").FRRIClassifier,
    )


def _compare(name, jobs, repeats):
    """Best times of two jobs done in turns, and their ratio."""
    seconds = [float("inf")] * 2
    for repeat in range(repeats + 1):
        for j in (0, 1) if repeat % 2 else (1, 0):
            start = process_time()
            jobs[j]()
            if repeat:  # the first time may include compiling
                seconds[j] = min(seconds[j], process_time() - start)
    old, new = seconds
    print(
        f"{name:<38}before {old:.5f} s, now {new:.5f} s, ratio {new / old:.3f} ({WANTED})",
        flush=True,
    )


def _mixed(values, classes):
    """The same large table with categories, gaps and restrictions."""
    rng = np.random.default_rng(1)
    order = np.arange(values.shape[1])
    categories = values.copy()
    categories[:, 5:8] = (categories[:, 5:8] * 6) // 1
    nominal = np.isin(order, [5, 6, 7])
    gaps = np.where(rng.random(values.shape) < 0.02, np.nan, values)
    both = np.where(np.isnan(gaps), np.nan, categories)
    restricted = np.full(len(order), 3)
    restricted[[8, 9]] = 1, 0
    for name, table, declared in (
        ("numbers only", values, {}),
        ("3 nominal columns", categories, {"rigid": nominal}),
        ("2 % missing", gaps, {}),
        ("2 restricted columns", values, {"initial": restricted}),
        ("all of these", both, {"rigid": nominal, "initial": restricted}),
    ):
        seconds = {}
        for path, compiled in (("compiled", True), ("numpy", False)):
            best = float("inf")
            for _ in range(3 if compiled else 1):
                start = perf_counter()
                induction.induce(table, classes, order, compiled=compiled, **declared)
                best = min(best, perf_counter() - start)
            seconds[path] = best
        times = ", ".join(f"{path} {time:.2f} s" for path, time in seconds.items())
        print(f"induce, 20,000 x 10, {name:<22}{times}", flush=True)
    frame = pd.DataFrame(both[:1500]).rename(columns="a{}".format)
    for a in (5, 6, 7):
        texts = np.array([*"uvwxyz", None], dtype=object)
        frame[f"a{a}"] = texts[frame[f"a{a}"].fillna(6).astype(int)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = perf_counter()
        clf = FRRIClassifier(effort=0).fit(frame, classes[:1500])
    print(
        f"whole fit, 1,500 x 10 mixed data frame: {perf_counter() - start:.2f} s, "
        f"{len(clf.ruleset_)} rules, {len(clf.uncovered_)} objects uncovered"
    )

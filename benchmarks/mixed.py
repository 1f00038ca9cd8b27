"""Time of induction on a large table without and with categories, missing values and restricted columns."""

import warnings
from time import perf_counter

import numpy as np
import pandas as pd

from frri import FRRIClassifier, induction


def main():
    rng = np.random.default_rng(0)
    values = rng.random((20_000, 10))
    classes = (values[:, :3].sum(axis=1) + rng.normal(0, 0.1, 20_000) > 1.5).astype(int)
    _mixed(values, classes)


def _mixed(values, classes):
    """Measure the table with categories, missing values and restrictions, one at a time and together."""
    rng = np.random.default_rng(1)
    order = np.arange(values.shape[1])
    categories = values.copy()
    categories[:, 5:8] = (categories[:, 5:8] * 6) // 1
    nominal = np.isin(order, [5, 6, 7])
    with_missing = np.where(rng.random(values.shape) < 0.02, np.nan, values)
    both = np.where(np.isnan(with_missing), np.nan, categories)
    restricted = np.full(len(order), 3)
    restricted[[8, 9]] = 1, 0
    for name, table, declared in (
        ("numbers only", values, {}),
        ("3 nominal columns", categories, {"rigid": nominal}),
        ("2 % missing", with_missing, {}),
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
        labels = np.array([*"uvwxyz", None], dtype=object)
        frame[f"a{a}"] = labels[frame[f"a{a}"].fillna(6).astype(int)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = perf_counter()
        clf = FRRIClassifier(work_limit=0).fit(frame, classes[:1500])
    print(
        f"whole fit, 1,500 x 10 mixed data frame: {perf_counter() - start:.2f} s, "
        f"{len(clf.ruleset_)} rules, {len(clf.uncovered_)} rows uncovered"
    )

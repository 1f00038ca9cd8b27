"""Accuracy of small rule sets: Compact FRRI, additive rules and others on the same folds of the 18 datasets.

Settings were tuned on the nine datasets of the first column and confirmed on those of the second. Each column has
balanced accuracy, accuracy, rules and conditions per rule. `python -m benchmarks.small_rulesets SEED ...
[--learners=A,B]` measures other folds (means over the seeds) or other estimators.
"""

import sys
import warnings

from frri.compare import NAMES, run

TUNED = [
    "australian",
    "bupa",
    "cleveland",
    "dermatology",
    "glass",
    "pima",
    "sonar",
    "vowel",
    "wine",
]
LEARNERS = ("compact", "additive", "bagged", "ripper", "furia", "forest")


def main(seeds=(0,), learners=LEARNERS):
    groups = {"tuned": TUNED, "others": [n for n in NAMES if n not in TUNED], "all": list(NAMES)}
    print(f"{'':<14}" + "".join(f"{name:<32}" for name in groups), flush=True)
    for learner in learners:
        tables = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for seed in seeds:
                found = run(list(NAMES), [learner], seed=seed)
                for measure in ("balanced_accuracy", "accuracy", "rules", "conditions"):
                    means = found.means(measure)[learner]
                    tables[measure] = tables.get(measure, 0.0) + means / len(seeds)
        cells = []
        for names in groups.values():
            balanced, plain, *size = (table[names].mean() for table in tables.values())
            cells.append(f"{balanced:.3f} / {plain:.3f} / {size[0]:.1f} / {size[1]:.2f}")
        print(f"{learner:<14}" + "".join(f"{cell:<32}" for cell in cells), flush=True)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    learners = [a.partition("=")[2].split(",") for a in arguments if a.startswith("--learners=")]
    main([int(a) for a in arguments if a.isdecimal()] or (0,), *learners)

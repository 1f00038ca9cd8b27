"""Rules by which `frri fit` could choose a model, compared inside the training rows of 30 tables.

    python -m benchmarks.choice_rules [FILE]    # writes the folds to FILE (npz), then prints the table

Only the training rows of the tables of `benchmarks.default_path` are used; its test rows stay unseen. Models are
cross-validated on five folds. A rule chooses a model by its scores on three folds, and the choice is tested on the
other two, for all ten such divisions. Regret is the difference in accuracy between the choice and the best of the
candidates and two trees, on the same two folds.
"""

import sys
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

from benchmarks.default_path import CLOSE, COMPETITORS, MOST_ROWS, TABLES, run_competitor
from benchmarks.ordinary_tables import table

CANDIDATES = ("ripper", "additive", "furia", "compact")
METHODS = (*CANDIDATES, "tree of 10 leaves", "tree pruned by CV")
N_SPLITS, N_CHOOSE = 5, 3


def main():
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "choice_rules.npz")
    known = dict(np.load(path)) if path.exists() else {}
    for name in TABLES:
        if f"{name}/fold" not in known:
            known |= {f"{name}/{key}": values for key, values in measure(name).items()}
            np.savez_compressed(path, **known)
            print(name, flush=True)
    show(known)


def measure(name):
    """Return the fold of each training row, and for each method the correct rows and the number of conditions."""
    X, y = table(name)
    X, _, y, _ = train_test_split(X, y, test_size=0.3, stratify=y, random_state=1)
    fold = np.empty(len(y), dtype=int)
    found = {"fold": fold}
    splits = [*StratifiedKFold(N_SPLITS, shuffle=True, random_state=0).split(X, y)]
    for k, (_, held) in enumerate(splits):
        fold[held] = k
    for method in METHODS:
        if len(X) > MOST_ROWS.get(method, np.inf):
            continue
        is_correct, conditions = np.empty(len(y), dtype=bool), np.zeros(N_SPLITS)
        for k, (kept, held) in enumerate(splits):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = COMPETITORS[method]()
                _, predicted, size = run_competitor(model, X.iloc[kept], y.iloc[kept], X.iloc[held])
            is_correct[held] = np.asarray(predicted, dtype=str) == y.iloc[held].to_numpy()
            conditions[k] = size[1] or 0
        found |= {method: is_correct, f"{method} conditions": conditions}
    return found


class Scores:
    """Scores of the candidates on the folds by which a rule chooses."""

    def __init__(self, known, chosen):
        fold = known["fold"]
        rows = np.isin(fold, chosen)
        self.names = [name for name in CANDIDATES if name in known]
        self.correct = {name: known[name][rows].astype(float) for name in self.names}
        self.score = {name: is_correct.mean() for name, is_correct in self.correct.items()}
        sizes = {name: known[f"{name} conditions"] for name in self.names}
        self.conditions = {name: sizes[name][list(chosen)].mean() for name in self.names}
        self.best = max(self.names, key=self.score.get)

    def error(self, one, other):
        """Return the standard error of the difference between two scores."""
        difference = self.correct[one] - self.correct[other]
        return difference.std() / np.sqrt(len(difference))

    def close(self, leader, most):
        """Return the candidates within one standard error and `most` of a leader."""
        return [
            name
            for name in self.names
            if self.score[leader] - self.score[name] <= min(self.error(leader, name), most)
        ]

    def simplest(self, names):
        """Return the candidate with the fewest conditions."""
        return min(names, key=self.conditions.get)

    def favorite(self):
        """Return additive rules, or a candidate that is better by more than one standard error."""
        lacks = self.score[self.best] - self.score["additive"]
        return "additive" if lacks <= self.error(self.best, "additive") else self.best


RULES = {
    "best score": lambda s: s.best,
    "fewest conditions within one standard error and 0.005 of the best": lambda s: s.simplest(
        s.close(s.best, 0.005)
    ),
    "the same within 0.01": lambda s: s.simplest(s.close(s.best, 0.01)),
    **{
        f"additive rules lead unless another is better by one standard error; then fewest conditions within {most}": (
            lambda s, most=most: s.simplest(s.close(s.favorite(), most))
        )
        for most in (0.005, 0.002, 0.0)
    },
    "additive rules unless another is better by one standard error": lambda s: s.favorite(),
    "additive rules always": lambda _: "additive",
}


def show(known):
    names = sorted({key.split("/")[0] for key in known})
    print(
        f"{len(names)} tables\n\n| rule | accuracy | regret | tables within {CLOSE} | conditions |"
    )
    print("|---|---|---|---|---|")
    for rule, choose in RULES.items():
        found = []
        for name in names:
            own = {
                key.split("/", 1)[1]: v for key, v in known.items() if key.startswith(name + "/")
            }
            for chosen in combinations(range(N_SPLITS), N_CHOOSE):
                rows = ~np.isin(own["fold"], chosen)
                tested = {m: own[m][rows].mean() for m in METHODS if m in own}
                scores = Scores(own, chosen)
                choice = choose(scores)
                regret = max(tested.values()) - tested[choice]
                found.append((tested[choice], regret, regret <= CLOSE, scores.conditions[choice]))
        accuracy, regret, close, conditions = np.mean(found, axis=0)
        close *= len(names)
        print(f"| {rule} | {accuracy:.4f} | {regret:.4f} | {close:.1f} | {conditions:.1f} |")


if __name__ == "__main__":
    main()

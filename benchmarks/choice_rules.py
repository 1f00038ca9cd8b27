"""How `frri fit` should choose a model: rules of the choice, compared inside training parts.

    python -m benchmarks.choice_rules [FILE]    # folds into FILE (npz), then the table

Only the training parts of the 30 tables of `benchmarks.default_path` are used, so that its test parts stay
unseen. Models are cross-validated on five folds; a rule chooses by three of them, and the choice is tested on the
other two, in all ten divisions. Regret is the accuracy that the choice lacks to the best of the candidates and two
trees on the same two folds.
"""

import sys
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

from benchmarks.default_path import CLOSE, COMPETITORS, MOST_ROWS, TABLES, competitor
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
    """Folds of the training rows, and for each method whether rows are correct, and conditions."""
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
        right, conditions = np.empty(len(y), dtype=bool), np.zeros(N_SPLITS)
        for k, (kept, held) in enumerate(splits):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = COMPETITORS[method]()
                _, predicted, size = competitor(model, X.iloc[kept], y.iloc[kept], X.iloc[held])
            right[held] = np.asarray(predicted, dtype=str) == y.iloc[held].to_numpy()
            conditions[k] = size[1] or 0
        found |= {method: right, f"{method} conditions": conditions}
    return found


class Scores:
    """Scores of candidates on some folds: what a rule chooses by."""

    def __init__(self, known, chosen):
        fold = known["fold"]
        rows = np.isin(fold, chosen)
        self.names = [name for name in CANDIDATES if name in known]
        self.right = {name: known[name][rows].astype(float) for name in self.names}
        self.score = {name: right.mean() for name, right in self.right.items()}
        sizes = {name: known[f"{name} conditions"] for name in self.names}
        self.conditions = {name: sizes[name][list(chosen)].mean() for name in self.names}
        self.best = max(self.names, key=self.score.get)

    def error(self, one, other):
        """Standard error of the difference of two scores."""
        difference = self.right[one] - self.right[other]
        return difference.std() / np.sqrt(len(difference))

    def close(self, leader, most):
        """Candidates within one standard error and `most` of a leader."""
        return [
            name
            for name in self.names
            if self.score[leader] - self.score[name] <= min(self.error(leader, name), most)
        ]

    def simplest(self, names):
        """The one with the fewest conditions."""
        return min(names, key=self.conditions.get)

    def favorite(self):
        """Additive rules unless another one is better by more than one standard error."""
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

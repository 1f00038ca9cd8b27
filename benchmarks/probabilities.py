"""How good probabilities are: log loss against the shares of classes, Brier score against an unpruned tree.

Beside them stand both of a random forest; the last line counts the sets with a log loss below the forest's.

Three stratified folds of each of the eighteen sets. FRRI makes no effort to prove its rules the fewest.
"""

import warnings

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from frri.compare.datasets import NAMES, load
from frri.learners.registry import LEARNERS
from frri.rules.class_measures import brier_score

SETTINGS = {
    "frri": {"effort": 0},
    "compact": {},
    "ripper": {"random_state": 0},
    "furia": {"random_state": 0},
    "modlem": {},
    "additive": {},
    "quickrules": {},
}
MODELS = (*SETTINGS, "forest")


def main():
    print("log loss / Brier score; ! where the shares of classes are better")
    print(f"{'':16} {'shares':>6} {'tree':>6}", *(f"{name:>13}" for name in MODELS), flush=True)
    rows = []
    for name in NAMES:
        losses, scores = _measured(load(name))
        rows.append((losses, scores))
        _line(name, losses, scores)
    losses, scores = (
        {key: np.mean([row[k][key] for row in rows]) for key in rows[0][k]} for k in (0, 1)
    )
    _line("mean", losses, scores)
    below = [sum(row[0][one] < row[0]["forest"] for row in rows) for one in MODELS]
    print(f"{'below the forest':30}", *(f"{count:>6} of {len(rows)}" for count in below))


def _measured(data):
    """Log losses and Brier scores over the folds."""
    X, (_, y) = data.X, np.unique(data.y, return_inverse=True)
    n_classes = y.max() + 1
    found = {name: np.zeros((len(y), n_classes)) for name in ("shares", "tree", *MODELS)}
    warnings.simplefilter("ignore")
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        found["shares"][test] = np.bincount(y[train], minlength=n_classes) / len(train)
        models = {
            "tree": DecisionTreeClassifier(random_state=0),
            "forest": RandomForestClassifier(random_state=0, n_jobs=1),
        }
        models |= {name: LEARNERS[name].make(**more) for name, more in SETTINGS.items()}
        for name, model in models.items():
            model.fit(X.iloc[train], y[train])
            found[name][np.ix_(test, model.classes_)] = model.predict_proba(X.iloc[test])
    # As in scikit-learn, nothing is impossible; what a fold has not seen would be.
    true = {name: shares[np.arange(len(y)), y] for name, shares in found.items()}
    losses = {name: -np.log(np.clip(own, 1e-15, 1)).mean() for name, own in true.items()}
    return losses, {name: brier_score(y, shares) for name, shares in found.items()}


def _line(name, losses, scores):
    cells = [
        f"{losses[one]:6.3f}{'!' if losses[one] > losses['shares'] else ' '}/{scores[one]:.3f}"
        for one in MODELS
    ]
    print(f"{name:16} {losses['shares']:6.3f} {scores['tree']:6.3f}", *cells, flush=True)

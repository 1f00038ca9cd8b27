"""Log loss and Brier score of predicted probabilities, with class frequencies and an unpruned tree as baselines.

Both are compared with a random forest; the last line counts the datasets with a lower log loss than the forest. The
results are from three stratified folds of each of the 18 datasets. FRRI selects its rules greedily.
`python -m benchmarks.probabilities NAME ...` measures only some of the models.
"""

import sys
import warnings

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from frri.compare.datasets import NAMES, load
from frri.learners.registry import LEARNERS
from frri.rules.measures import brier_score

# Probabilities of models with class weights are those of a table with classes of equal size.
MODELS = {
    "frri": lambda: LEARNERS["frri"].make(work_limit=0),
    "compact": LEARNERS["compact"].make,
    "ripper": lambda: LEARNERS["ripper"].make(random_state=0),
    "furia": lambda: LEARNERS["furia"].make(random_state=0),
    "modlem": LEARNERS["modlem"].make,
    "additive": LEARNERS["additive"].make,
    "unweighted": lambda: LEARNERS["additive"].make(class_weight=None),
    "quickrules": LEARNERS["quickrules"].make,
    "forest": lambda: RandomForestClassifier(random_state=0, n_jobs=1),
}


def main(models=tuple(MODELS)):
    print("log loss / Brier score; ! where class frequencies are better")
    print(f"{'':16} {'prior':>6} {'tree':>6}", *(f"{name:>13}" for name in models), flush=True)
    rows = []
    for name in NAMES:
        losses, scores = _measure(load(name), models)
        rows.append((losses, scores))
        _show(name, losses, scores, models)
    losses, scores = (
        {key: np.mean([row[k][key] for row in rows]) for key in rows[0][k]} for k in (0, 1)
    )
    _show("mean", losses, scores, models)
    if "forest" not in models:
        return
    below = [sum(row[0][one] < row[0]["forest"] for row in rows) for one in models]
    print(f"{'below the forest':30}", *(f"{count:>6} of {len(rows)}" for count in below))


def _measure(data, models):
    """Return log losses and Brier scores over the folds."""
    X, (_, y) = data.X, np.unique(data.y, return_inverse=True)
    n_classes = y.max() + 1
    found = {name: np.zeros((len(y), n_classes)) for name in ("prior", "tree", *models)}
    warnings.simplefilter("ignore")
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        found["prior"][test] = np.bincount(y[train], minlength=n_classes) / len(train)
        tree = {"tree": DecisionTreeClassifier(random_state=0)}
        for name, model in (tree | {name: MODELS[name]() for name in models}).items():
            model.fit(X.iloc[train], y[train])
            found[name][np.ix_(test, model.classes_)] = model.predict_proba(X.iloc[test])
    # Probabilities are clipped as in scikit-learn, for classes that are absent in a fold.
    true = {name: probabilities[np.arange(len(y)), y] for name, probabilities in found.items()}
    losses = {name: -np.log(np.clip(own, 1e-15, 1)).mean() for name, own in true.items()}
    return losses, {name: brier_score(y, probabilities) for name, probabilities in found.items()}


def _show(name, losses, scores, models):
    cells = [
        f"{losses[one]:6.3f}{'!' if losses[one] > losses['prior'] else ' '}/{scores[one]:.3f}"
        for one in models
    ]
    print(f"{name:16} {losses['prior']:6.3f} {scores['tree']:6.3f}", *cells, flush=True)


if __name__ == "__main__":
    main(*[sys.argv[1:]] if sys.argv[1:] else ())

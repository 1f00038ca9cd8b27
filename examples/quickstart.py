"""Train, read, test, explain and save a rule set."""

from pathlib import Path
from tempfile import TemporaryDirectory

from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from frri import FRRIClassifier, RuleSet
from frri.plots import plot_rules

wine = load_wine(as_frame=True)
y = wine.target.map({0: "Barolo", 1: "Grignolino", 2: "Barbera"}).rename("wine")
X, X_new, y, y_new = train_test_split(
    wine.data, y, test_size=0.3, random_state=0, stratify=wine.target
)

clf = FRRIClassifier().fit(X, y)
print(clf.ruleset_)
print(f"\n{clf.selection_.n_rules} rules, {clf.selection_.status}")
print(f"Test accuracy: {clf.score(X_new, y_new):.3f}\n")
print(clf.ruleset_.explain(X_new.iloc[0]))
plot_rules(clf.ruleset_).savefig("quickstart.svg")

with TemporaryDirectory() as folder:
    path = Path(folder) / "wine.json"
    clf.ruleset_.save(path)
    same = RuleSet.load(path).predict(X_new) == clf.predict(X_new)
    print(f"\n{same.sum()} of {len(same)} predictions from the saved file are the same.")

"""Induce rules on a data set that comes with scikit-learn, and show them."""

from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from frri import FRRIClassifier

wine = load_wine(as_frame=True)
cultivar = wine.target.map(dict(enumerate(["Barolo", "Grignolino", "Barbera"]))).rename("wine")
X_train, X_test, y_train, y_test = train_test_split(
    wine.data, cultivar, test_size=0.3, random_state=0, stratify=cultivar
)
clf = FRRIClassifier().fit(X_train, y_train)

print(f"{len(X_train)} wines, {X_train.shape[1]} measurements each.\n")
print(clf.ruleset_)
selection = clf.selection_
print(
    f"\n{selection.n_rules} rules; {selection.status}: no smaller set of these rules covers all "
    f"{len(X_train)} wines (proved bound {selection.lower_bound})."
)
print(f"Accuracy on {len(X_test)} wines not seen in training: {clf.score(X_test, y_test):.2f}")

row = X_test.iloc[[0]]
print(f"\nWine {row.index[0]} is classified as {clf.predict(row)[0]}:")
for name, share in zip(clf.classes_, clf.predict_proba(row)[0], strict=True):
    print(f"  {name:<12}{share:.2f}")

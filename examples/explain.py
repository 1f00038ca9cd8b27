"""Explain two predictions, with counterfactual explanations."""

from matplotlib.figure import Figure
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from frri import FRRIClassifier

wine = load_wine(as_frame=True)
y = wine.target.map({0: "Barolo", 1: "Grignolino", 2: "Barbera"}).rename("wine")
X, X_new, y, y_new = train_test_split(
    wine.data, y, test_size=0.3, random_state=0, stratify=wine.target
)
rules = FRRIClassifier().fit(X, y).ruleset_

print("A correct prediction:\n")
why = rules.explain(X_new.iloc[0])
print(why)

wrong = (rules.predict(X_new) != y_new).to_numpy().nonzero()[0]
print(f"\nA wrong prediction; the wine is a {y_new.iloc[wrong[0]]}:\n")
print(rules.explain(X_new.iloc[wrong[0]], unchangeable=["alcohol"]))

# The conditions of the deciding rule. The degree of a rule is that of its weakest condition.
figure = Figure(figsize=(7, 2.8), layout="constrained")
axes = figure.subplots()
conditions = why.deciding.conditions
axes.barh(
    [f"{c.condition}\nhere {c.value}" for c in conditions], [c.membership for c in conditions]
)
axes.set(xlim=(0, 1), xlabel="degree", title=f"Why {why.target} = {why.decision}")
axes.invert_yaxis()
figure.savefig("explain.svg")

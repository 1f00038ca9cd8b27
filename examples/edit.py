"""Edit rules, and measure the effect on held-out samples."""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from frri import FRRIClassifier, NumericCondition, Rule
from frri.plots import plot_rule
from frri.rules import compare

wine = load_wine(as_frame=True)
y = wine.target.map({0: "Barolo", 1: "Grignolino", 2: "Barbera"}).rename("wine")
X, X_new, y, y_new = train_test_split(
    wine.data, y, test_size=0.3, random_state=0, stratify=wine.target
)
rules = FRRIClassifier().fit(X, y).ruleset_

stricter = NumericCondition("hue", core_high=0.7, support_high=0.9)
edited = rules.with_condition(0, stricter, replacing=1)
edited = edited.without_rule(6)
edited = edited.with_rule(Rule((NumericCondition.below("hue", 0.6),), "Barbera", weight=0.5))

print(compare(rules, edited, X_new, y_new))
for rule, line in zip(edited, str(edited.with_statistics(X, y)).splitlines(), strict=True):
    print(f"{rule.origin:<8} {line}")

# The stricter condition; the one that it replaces is dashed.
figure = plot_rule(edited, 0, X, y)
membership = figure.axes[1::2][edited[0].attributes.index("hue")]
before = np.clip(rules[0].conditions[1].trapezoid, *membership.get_xlim())
membership.plot(before, [1, 1, 1, 0], "k--")
figure.savefig("edit.svg")

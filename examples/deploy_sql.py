"""Deploy rules as a database view with the same predictions."""

import sqlite3

from sklearn.datasets import load_wine

from frri import FRRIClassifier
from frri.export import to_sql
from frri.plots import plot_map

wine = load_wine(as_frame=True)
y = wine.target.map({0: "Barolo", 1: "Grignolino", 2: "Barbera"}).rename("wine")
rules = FRRIClassifier().fit(wine.data, y).ruleset_

database = sqlite3.connect(":memory:")
wine.data.assign(bottle=range(len(y))).to_sql("wines", database, index=False)
database.execute(to_sql(rules, "wines", as_view="decided", keep=["bottle"]))

for row in database.execute("SELECT * FROM decided ORDER BY bottle LIMIT 5"):
    print(row)
decided = database.execute("SELECT prediction FROM decided ORDER BY bottle").fetchall()
same = sum(a == b for (a,), b in zip(decided, rules.predict(wine.data), strict=True))
print(f"{same} of {len(decided)} predictions are those of the library.")
database.close()

# The decisions of the database over two features.
labels = [label for (label,) in decided]
plot_map(rules, "alcohol", "hue", wine.data, labels).savefig("deploy_sql.svg")

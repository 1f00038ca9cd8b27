"""Tune a pipeline of feature selection and rules by a grid search."""

from functools import partial

from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest, mutual_info_classif
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline

from frri import FRRIClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"}).rename("tumor")

relevance = partial(mutual_info_classif, random_state=0)
pipeline = Pipeline(
    [("select", SelectKBest(relevance)), ("rules", FRRIClassifier(calibrate=False))]
)
pipeline.set_output(transform="pandas")  # rules need the names of the columns

search = GridSearchCV(
    pipeline,
    {"select__k": [5, 10, 30]},
    cv=StratifiedKFold(3, shuffle=True, random_state=0),
    scoring="balanced_accuracy",
).fit(X, y)

print(search.best_params_, round(search.best_score_, 3))
print(search.best_estimator_["rules"].ruleset_)

figure = Figure(figsize=(6, 3.6), layout="constrained")
axes = figure.subplots()
tried = [str(k) for k in search.cv_results_["param_select__k"]]
scores, spread = (search.cv_results_[f"{name}_test_score"] for name in ("mean", "std"))
axes.errorbar(tried, scores, spread, marker="o", linestyle="none", capsize=4)
axes.set(
    xlabel="features selected",
    ylabel="balanced accuracy",
    title="Three folds, mean and standard deviation",
)
figure.savefig("pipeline.svg")

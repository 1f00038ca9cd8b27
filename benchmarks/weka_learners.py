"""Estimators of WEKA, in a Java virtual machine of this process."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin


def java():
    """Return the function that loads Java classes by name; the first call starts the virtual machine."""
    if shutil.which("java") is None:
        subprocess.run(["apt-get", "install", "-y", "default-jre-headless"], check=True)
    import jpype

    spec = importlib.util.find_spec("weka")
    if spec is None:
        raise ImportError("python-weka-wrapper3 is not installed")
    jars = Path(spec.submodule_search_locations[0]) / "lib"
    if not jpype.isJVMStarted():
        jpype.startJVM(classpath=[str(jar) for jar in jars.glob("*.jar")])
    return jpype.JClass


def instances(X, y, classes=None):
    """Convert a numeric table to WEKA's format; the last column is the target or the index of the class."""
    find = java()
    attribute, attributes = find("weka.core.Attribute"), find("java.util.ArrayList")()
    for j in range(X.shape[1]):
        attributes.add(attribute(f"x{j}"))
    if classes is None:
        attributes.add(attribute("y"))
    else:
        labels = find("java.util.ArrayList")()
        for label in classes:
            labels.add(str(label))
        attributes.add(attribute("class", labels))
    data = find("weka.core.Instances")("data", attributes, len(X))
    data.setClassIndex(X.shape[1])
    dense = find("weka.core.DenseInstance")
    for row, value in zip(X, y, strict=True):
        data.add(dense(1.0, [*row.tolist(), float(value)]))
    return data


class M5Rules(RegressorMixin, BaseEstimator):
    """M5Rules of WEKA with default parameters: each rule has a linear model."""

    def fit(self, X, y):
        """Fit the rules."""
        self.fitted_ = java()("weka.classifiers.rules.M5Rules")()
        self.fitted_.buildClassifier(instances(X, y))
        return self

    def predict(self, X):
        """Return the predictions."""
        data = instances(X, np.zeros(len(X)))
        return np.array([self.fitted_.classifyInstance(data.get(i)) for i in range(len(X))])

    @property
    def n_rules_(self):
        """Number of rules."""
        return int(self.fitted_.getMeasure("measureNumRules"))

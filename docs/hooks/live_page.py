"""Writes the page that can be tried on the site, when the site is built."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from frri import FRRIClassifier
from frri.report import write_report


def on_post_build(config: Any) -> None:
    """Rules from every other wine, shown on the rest."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    y = pd.Series(np.array(["Barolo", "Grignolino", "Barbera"])[y], name="cultivar")
    clf = FRRIClassifier().fit(X[::2], y[::2])
    write_report(clf, Path(config["site_dir"]) / "wine.html", X[1::2], y[1::2])

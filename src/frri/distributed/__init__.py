"""Estimators on a Dask cluster: more memory, more cores, the same rules.

Needs ``pip install 'frri[dask]'``; Dask is imported when an estimator is fitted.
"""

from frri.distributed.estimators import DaskAdditiveRulesClassifier, DaskFRRIClassifier

__all__ = ["DaskAdditiveRulesClassifier", "DaskFRRIClassifier"]

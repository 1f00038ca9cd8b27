"""The same learners on a Dask cluster: more memory, more cores, the same rules.

Needs ``pip install 'frri[dask]'``; nothing of Dask is imported before a learner is used.
"""

from frri.distributed.additive import DaskAdditiveRulesClassifier
from frri.distributed.bagging import DaskFRRIBaggingClassifier
from frri.distributed.classifier import DaskFRRIClassifier

__all__ = ["DaskAdditiveRulesClassifier", "DaskFRRIBaggingClassifier", "DaskFRRIClassifier"]

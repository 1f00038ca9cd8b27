"""The same learners on a Dask cluster: more memory, more cores, the same rules.

Needs ``pip install 'frri[dask]'``; nothing of Dask is imported before a learner is used.
"""

from frri.distributed.additive import AdditiveRulesClassifier
from frri.distributed.bagging import FRRIBaggingClassifier
from frri.distributed.classifier import FRRIClassifier

__all__ = ["AdditiveRulesClassifier", "FRRIBaggingClassifier", "FRRIClassifier"]

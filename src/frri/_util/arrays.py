"""The types of arrays that all rooms speak of."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
# Where something stands: a row, a column, a class.
Positions = NDArray[np.intp]
# Words of 64 bits: sets of objects, a bit for each, or keys.
Words = NDArray[np.uint64]
# What each condition of rules is: members of `frri.induction.ConditionType` as numbers.
Types = NDArray[np.int8]

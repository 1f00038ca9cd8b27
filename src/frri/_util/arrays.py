"""The types of arrays that all rooms speak of."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
# Where something stands: a row, a column, a class.
Positions = NDArray[np.intp]

"""Columns of numbers as short strings that JSON can hold and the page can decode exactly.

A column is a dict: `type` of the numbers in `data` (base64, little-endian). With `values` they are
positions in that list, where null stands for NaN. With `places` they are integers, to be added to
`least` and divided by that power of ten.
"""

import base64
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Floats

Encoded = dict[str, Any]


def encode_numbers(column: Floats) -> Encoded:
    """Encode floats, NaN where missing, in the shortest of four exact ways.

    These are doubles, singles, integers of decimal places, and positions in a list of values.

    Examples
    --------
    >>> encode_numbers(np.array([0.1, 0.1, 7.0, np.nan, 7.0]))
    {'type': 'u1', 'data': 'AAABAgE=', 'values': [0.1, 7.0, None]}
    """
    with np.errstate(over="ignore"):
        single = column.astype(np.float32)
    exact = np.array_equal(single.astype(np.float64), column, equal_nan=True)
    plain = _encode_decimals(column) or _encode(column, "f4" if exact else "f8")
    values, codes = np.unique(column, return_inverse=True)
    if len(values) > 1 << 16 or np.isinf(values).any():
        return plain
    listed = encode_codes(codes) | {"values": [None if np.isnan(v) else float(v) for v in values]}
    return min((listed, plain), key=lambda encoded: len(json.dumps(encoded)))


def encode_codes(codes: NDArray[np.integer]) -> Encoded:
    """Encode integers from 0 upwards, in as few bytes each as they need."""
    largest = int(codes.max(initial=0))
    return _encode(codes, "u1" if largest < 1 << 8 else "u2" if largest < 1 << 16 else "u4")


def _encode_decimals(column: Floats) -> Encoded | None:
    """Encode numbers of at most four decimal places, as most measurements are; None for others."""
    negative_zero = np.signbit(column[column == 0]).any()
    if not len(column) or not (np.abs(column) <= 1e9).all() or negative_zero:
        return None
    for places in range(5):
        scaled = np.round(column * 10.0**places)
        least = int(scaled.min())
        # The quotient of two exact numbers is rounded correctly: it equals the decimals as read.
        if np.array_equal(scaled / 10.0**places, column):
            if scaled.max() - least >= 1 << 32:
                return None
            codes = encode_codes((scaled - least).astype(np.int64))
            return codes | {"least": least, "places": places}
    return None


def _encode(values: NDArray[Any], kind: str) -> Encoded:
    data = base64.b64encode(values.astype(f"<{kind}").tobytes()).decode("ascii")
    return {"type": kind, "data": data}

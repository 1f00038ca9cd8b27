"""Columns of numbers as short strings that JSON can hold and the page can decode exactly."""

import base64
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Flags, Floats

Encoded = dict[str, Any]


def encode_numbers(column: Floats) -> Encoded:
    """Encode a column of floats in the shortest of four exact ways.

    These are doubles, singles, integers of decimal places, and positions in a list of values.

    Parameters
    ----------
    column : ndarray of float64
        NaN where missing.

    Returns
    -------
    dict
        `type` of the numbers in `data` (base64, little-endian); with `values` they are positions in
        that list, where null stands for NaN; with `places` they are whole numbers, to be added to
        `least` and divided by that power of ten.

    Examples
    --------
    >>> encode_numbers(np.array([0.1, 0.1, 7.0, np.nan, 7.0]))
    {'type': 'u1', 'data': 'AAABAgE=', 'values': [0.1, 7.0, None]}
    """
    with np.errstate(over="ignore"):
        single = column.astype(np.float32)
    exact = np.array_equal(single.astype(np.float64), column, equal_nan=True)
    plain = _encode(single, "f4") if exact else _encode(column, "f8")
    plain = _encode_decimals(column) or plain
    values, codes = np.unique(column, return_inverse=True)
    if len(values) > 1 << 16 or np.isinf(values).any():
        return plain
    listed = encode_codes(codes) | {"values": [None if np.isnan(v) else float(v) for v in values]}
    return min((listed, plain), key=lambda encoded: len(json.dumps(encoded)))


def encode_codes(codes: NDArray[np.integer]) -> Encoded:
    """Encode integers from 0 upwards, in as few bytes each as they need.

    Examples
    --------
    >>> encode_codes(np.array([0, 2, 1]))
    {'type': 'u1', 'data': 'AAIB'}
    """
    largest = int(codes.max(initial=0))
    return _encode(codes, "u1" if largest < 1 << 8 else "u2" if largest < 1 << 16 else "u4")


def encode_flags(flags: Flags) -> Encoded:
    """Encode flags as a bit per sample, or as positions where these are fewer characters.

    Examples
    --------
    >>> encode_flags(np.array([True, False, True]))
    {'type': 'bits', 'data': 'BQ=='}
    """
    bits = {"type": "bits", "data": _base64(np.packbits(flags, bitorder="little"))}
    rows = encode_codes(np.flatnonzero(flags))
    return min((bits, rows), key=lambda encoded: len(encoded["data"]))


def _encode_decimals(column: Floats) -> Encoded | None:
    """Encode numbers of at most four decimal places, as most measurements are; None for others."""
    if not np.isfinite(column).all() or not len(column) or np.abs(column).max() > 1e9:
        return None
    for places in range(5):
        scaled = np.round(column * 10.0**places)
        # The quotient of two exact numbers is rounded correctly: it equals the decimals as read.
        if (
            np.array_equal(scaled / 10.0**places, column)
            and not np.signbit(column[column == 0]).any()
        ):
            least = int(scaled.min())
            if scaled.max() - least >= 1 << 32:
                return None
            return encode_codes((scaled - least).astype(np.int64)) | {
                "least": least,
                "places": places,
            }
    return None


def _encode(values: NDArray[Any], kind: str) -> Encoded:
    return {"type": kind, "data": _base64(values.astype(f"<{kind}"))}


def _base64(values: NDArray[Any]) -> str:
    return base64.b64encode(values.tobytes()).decode("ascii")

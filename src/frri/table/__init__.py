"""Tables: named, typed columns on the way in, one float64 matrix on the way through."""

from frri.table.attribute import FARTHEST_DATE, KINDS, Attribute, number_text
from frri.table.encoding import (
    LARGEST,
    EncodedTable,
    check_numbers,
    column_names,
    describe_columns,
    describe_frame,
    to_matrix,
)

__all__ = [
    "FARTHEST_DATE",
    "KINDS",
    "LARGEST",
    "Attribute",
    "EncodedTable",
    "check_numbers",
    "column_names",
    "describe_columns",
    "describe_frame",
    "number_text",
    "to_matrix",
]

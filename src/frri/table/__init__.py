"""Tables: named, typed columns on the way in, one float64 matrix on the way through."""

from frri.table.attribute import KINDS, Attribute, number_text
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

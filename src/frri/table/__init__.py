"""Tables: named, typed columns on the way in, one float64 matrix on the way through."""

from frri.table.attribute import FARTHEST_DATE, KINDS, Attribute, number_text
from frri.table.checks import LARGEST, check_numbers
from frri.table.columns import column_names
from frri.table.encode import EncodedTable, describe_columns, encode_frame, to_matrix

__all__ = [
    "FARTHEST_DATE",
    "KINDS",
    "LARGEST",
    "Attribute",
    "EncodedTable",
    "check_numbers",
    "column_names",
    "describe_columns",
    "encode_frame",
    "number_text",
    "to_matrix",
]

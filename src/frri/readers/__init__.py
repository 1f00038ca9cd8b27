"""Tables from files: CSV and its relatives, Parquet, ARFF, KEEL."""

from frri.readers.tables import read_table

__all__ = ["read_table"]

"""Tables from files: CSV and its relatives, Excel, JSON, Parquet, Arrow, ARFF, KEEL."""

from frri.readers.tables import read_table

__all__ = ["read_table"]

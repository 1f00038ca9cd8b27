"""Tables from files: CSV and its relatives, Excel, JSON, Parquet, Arrow, ARFF, KEEL."""

from frri.readers.files import read_table

__all__ = ["read_table"]

"""SQL dialects: quoting, exact numbers, least and greatest, dates and strings of columns."""

from collections.abc import Sequence
from decimal import Decimal
from math import inf, isfinite
from typing import Any

from frri._util import find_name
from frri.table import Attribute
from frri.table.encode import FLAGS, category_texts, folding

# Beyond all distances, where a database has no infinity.
FAR = 1e200


class Dialect:
    """Standard SQL with LEAST and GREATEST, as many databases understand it.

    Numbers are written so that the database reads the same 64-bit float: a threshold that is off by
    its last bit decides differently about the value it was taken from. Dates are exact to the
    second. Whether a backslash means itself differs between databases, so texts with one are
    refused. Other dialects replace what their databases read in another way.
    """

    name = "ansi"
    aliases: tuple[str, ...] = ("standard",)
    real = "DOUBLE PRECISION"
    text_type = "VARCHAR"
    integer = "INTEGER"
    truths = ("FALSE", "TRUE")
    quotes = '""'
    materialized = "AS"
    # What keeps a database from copying a common table expression into the next.
    barrier = ""
    least, greatest = "LEAST", "GREATEST"
    most_arguments = 1000
    most_columns: float = inf
    empty_names = False
    backslashes = False
    # How numbers and infinity are written, what stands for infinity, and the start of a string.
    literal = "{}"
    infinity = "infinity"
    largest = inf
    string = "'"
    # Whether a backslash in a string is written twice.
    doubled = False
    # A column as float, NULL where missing; as days since 1970; as string; a string in lower case.
    as_number = "CAST({0} AS DOUBLE PRECISION)"
    as_days = "CAST(EXTRACT(EPOCH FROM CAST({0} AS TIMESTAMP)) AS DOUBLE PRECISION) / 86400e0"
    as_text = "CAST({0} AS VARCHAR)"
    lower = "lower({0})"

    def identifier(self, name: str) -> str:
        """Return a name in quotes."""
        if not name and not self.empty_names:
            raise ValueError(f"A column without a name cannot be used in SQL for {self.name}.")
        start, end = self.quotes[0], self.quotes[1]
        return start + self.check_text(name).replace(end, end * 2) + end

    def text(self, value: str) -> str:
        """Return a string in single quotes."""
        shown = self.check_text(value).replace("\\", "\\\\" if self.doubled else "\\")
        return self.string + shown.replace("'", "''") + "'"

    def check_text(self, value: str) -> str:
        """Return the string itself, if SQL can contain it and every database reads it alike."""
        if "\0" in value or any("\ud800" <= c <= "\udfff" for c in value):
            raise ValueError(f"SQL cannot hold the text {value!r}; rename it without U+0000.")
        if "\\" in value and not self.backslashes:
            raise ValueError(
                f"Databases differ in how they read the backslash in {value!r}; "
                "choose the dialect of yours or rename it."
            )
        return value

    def number(self, value: float) -> str:
        """Return a float that is read back exactly.

        It has an exponent always: without one it would be a decimal.
        """
        value = max(-self.largest, min(float(value), self.largest))
        if abs(value) == inf:
            return f"CAST('{'-' if value < 0 else ''}{self.infinity}' AS {self.real})"
        shown = repr(value)
        shown = self.literal.format(shown if "e" in shown else f"{shown}e0")
        return f"({shown})" if value < 0 else shown

    def label(self, value: Any) -> str:
        """Return a class label: str, int, bool or float."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, bool):
            return self.truths[value]
        if isinstance(value, int):
            if not -(2**63) <= value < 2**63:
                raise ValueError(f"The class {value} does not fit into an integer of SQL.")
            return str(value)
        if not isfinite(value):
            raise ValueError(f"The class {value} cannot be written in SQL.")
        return self.number(value)

    def extreme(self, function: str, values: Sequence[str]) -> str:
        """Return the least or the greatest, by the name of the function, of some expressions."""
        # Some databases refuse to compare a column with itself.
        values, step = list(dict.fromkeys(values)), self.most_arguments
        while len(values) > 1:
            parts = [values[i : i + step] for i in range(0, len(values), step)]
            values = [f"{function}({', '.join(p)})" if len(p) > 1 else p[0] for p in parts]
        return values[0]

    def encode(self, attribute: Attribute, column: str) -> str:
        """Return a column as number (dates in days since 1970, ordinals by position) or string."""
        if attribute.kind == "numeric":
            number = self.as_number.format(column)
            if not attribute.is_flag:
                return number
            # 1 and 0 for the words of booleans and for those of the database.
            words = " ".join(f"WHEN '{word}' THEN {self.number(n)}" for word, n in FLAGS.items())
            text = f"trim(CAST({column} AS {self.text_type}))"
            return f"CASE {self.lower.format(text)} {words} ELSE {number} END"
        if attribute.kind == "date":
            return self.as_days.format(column)
        categories = attribute.categories or ()
        texts = category_texts(categories)
        value = self.as_text.format(column)
        # An empty text is missing, as in a file, unless training had it.
        value = value if "" in texts else f"NULLIF({value}, {self.text('')})"
        lower = folding(categories) is str.lower
        codes = {c: self.text(c) for c in categories}
        if attribute.kind == "ordinal":
            codes = {c: self.number(float(k)) for k, c in enumerate(categories)}
        branches = "".join(
            f"WHEN {self.text(text)} THEN {codes[category]} "
            for text, category in texts.items()
            if lower or text != category or attribute.kind == "ordinal"
        )
        other = "NULL" if attribute.kind == "ordinal" else value
        folded = self.lower.format(value) if lower else value
        return f"CASE {folded} {branches}ELSE {other} END" if branches else other


class DuckDB(Dialect):
    """DuckDB 1.0 or later."""

    name = "duckdb"
    aliases = ()
    real = "DOUBLE"
    materialized = "AS MATERIALIZED"
    backslashes = True

    as_number = "CASE WHEN NOT isnan(TRY_CAST({0} AS DOUBLE)) THEN TRY_CAST({0} AS DOUBLE) END"
    as_days = "epoch_us(TRY_CAST({0} AS TIMESTAMP)) / 86400e6"
    # NaN in columns of floats is missing. A boolean is written as Python does, but one that DuckDB
    # inferred from a file is cast to the string in the file.
    as_text = (
        "CASE WHEN typeof({0}) IN ('DOUBLE', 'FLOAT') AND CAST({0} AS VARCHAR) = 'nan' THEN NULL "
        "WHEN typeof({0}) = 'BOOLEAN' THEN CASE CAST({0} AS VARCHAR) WHEN 'true' THEN 'True' "
        "WHEN 'false' THEN 'False' ELSE CAST({0} AS VARCHAR) END ELSE CAST({0} AS VARCHAR) END"
    )


class SQLite(Dialect):
    """SQLite 3.35 or later."""

    name = "sqlite"
    aliases = ("sqlite3",)
    real = "REAL"
    text_type = "TEXT"
    materialized = "AS MATERIALIZED"
    least, greatest = "min", "max"
    most_arguments = 100
    most_columns = 2000
    empty_names = True
    backslashes = True

    # A string that is no number is missing; SQLite would make it 0.
    as_number = (
        "CASE WHEN typeof({0}) IN ('integer', 'real') OR (typeof({0}) = 'text' AND "
        "trim({0}) GLOB '*[0-9]*' AND trim({0}) NOT GLOB '*[^0-9eE.+-]*') "
        "THEN CAST({0} AS REAL) END"
    )
    # Of a string like 2024-05-17 12:00:00.000000, in UTC.
    as_days = (
        "(CAST(strftime('%s', substr({0}, 1, 19)) AS INTEGER) * 1000000 + "
        "CASE WHEN substr({0}, 20, 1) = '.' THEN "
        "CAST(substr(rtrim(substr({0}, 21, 6), 'Z') || '000000', 1, 6) AS INTEGER) "
        "ELSE 0 END) / 86400000000.0"
    )
    # Without the collation of the column, in which different strings may be equal.
    as_text = "(CAST({0} AS TEXT) || '')"

    def number(self, value: float) -> str:
        """Write a quotient of integers, because SQLite rounds some decimal fractions wrongly.

        `one` is a column with the value 1.0. With a constant in its place SQLite would look for
        equal expressions among all others before it starts, for half a minute in large rulesets.
        """
        if abs(value) == inf:
            return "-9e999" if value < 0 else "9e999"
        if value == int(value) and abs(value) < 1e14:
            shown = f"{value:.1f}"
            return f"({shown})" if value < 0 else shown
        _, digits, exponent = Decimal(repr(value)).as_tuple()
        mantissa = int("".join(map(str, digits)))
        sign = "-" if value < 0 else ""
        if isinstance(exponent, int) and -15 <= exponent < 0 and mantissa < 10**15:
            return f"(one * {sign}{mantissa} / 1{'0' * -exponent})"
        numerator, denominator = value.as_integer_ratio()
        shift = max(numerator.bit_length() - 53, 0)
        factors = [f" * {factor}" for factor in _powers_of_two(shift)]
        factors += [f" / {factor}" for factor in _powers_of_two(denominator.bit_length() - 1)]
        return f"(one * {sign}{abs(numerator) >> shift}{''.join(factors)})"


class PostgreSQL(Dialect):
    """PostgreSQL 12 or later. A literal with an exponent would be a decimal."""

    name = "postgresql"
    aliases = ("postgres",)
    text_type = "TEXT"
    materialized = "AS MATERIALIZED"
    most_columns = 1600
    backslashes = True
    literal = "float8 '{}'"
    # NaN, and a string that is no number, are missing.
    as_number = (
        "CASE WHEN trim(CAST({0} AS TEXT)) ~* "
        "'^[+-]?(([0-9]+[.]?[0-9]*|[.][0-9]+)(e[+-]?[0-9]+)?|infinity)$' "
        "THEN CAST(trim(CAST({0} AS TEXT)) AS float8) END"
    )
    # A time without a zone is in UTC.
    as_days = (
        "CAST(round(CAST(EXTRACT(EPOCH FROM CAST(NULLIF(trim(CAST({0} AS TEXT)), '') || CASE WHEN "
        "CAST({0} AS TEXT) ~ ':[0-9.:]+ *(Z|[+-][0-9]+(:?[0-9]+)?) *$' THEN '' ELSE ' UTC' END "
        "AS TIMESTAMPTZ)) AS NUMERIC) * 1000000) AS float8) / float8 '86400e6'"
    )
    # Booleans as Python writes them.
    as_text = (
        "CASE WHEN CAST(pg_typeof({0}) AS TEXT) = 'boolean' THEN initcap(CAST({0} AS TEXT)) "
        "ELSE CAST({0} AS TEXT) END"
    )


class MySQL(Dialect):
    """MySQL 8.0.17 or later and MariaDB 10.5 or later; times are in UTC."""

    name = "mysql"
    aliases = ("mariadb",)
    real = "DOUBLE"
    text_type = "CHAR"
    integer = "SIGNED"
    quotes = "``"
    barrier = "\n  LIMIT 18446744073709551615"
    most_columns = 1000
    backslashes = doubled = True
    largest = FAR
    # A string that is no number is missing; MySQL would make it 0.
    as_number = (
        "CASE WHEN CAST({0} AS CHAR) REGEXP "
        "'^ *[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)? *$' THEN CAST({0} AS DOUBLE) END"
    )
    as_days = (
        "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', CAST(NULLIF("
        "trim(TRAILING 'Z' FROM trim(CAST({0} AS CHAR))), '') AS DATETIME(6))) / 86400e6"
    )
    # Bytes, so that letters of either case, and strings with spaces at the end, are different.
    as_text = "CAST(CONVERT({0} USING utf8mb4) AS BINARY)"
    lower = "CAST(lower(CONVERT({0} USING utf8mb4)) AS BINARY)"


class SQLServer(Dialect):
    """SQL Server 2022 or later, which has LEAST and GREATEST; not executed in tests."""

    name = "sqlserver"
    aliases = ("mssql", "tsql", "sql server")
    real = "FLOAT"
    text_type = "NVARCHAR(4000)"
    truths = ("CAST(0 AS BIT)", "CAST(1 AS BIT)")
    quotes = "[]"
    most_arguments = 250
    most_columns = 4000
    backslashes = True
    largest = FAR
    string = "N'"
    # The text of a float has fewer digits than the float.
    as_number = (
        "CASE WHEN TRY_CAST(NULLIF(trim(CAST({0} AS NVARCHAR(4000))), '') AS FLOAT) IS NOT NULL "
        "THEN CAST({0} AS FLOAT) END"
    )
    as_days = (
        "DATEDIFF_BIG(MICROSECOND, '1970-01-01', CAST(TRY_CAST(NULLIF(CAST({0} AS NVARCHAR(40)), "
        "'') AS DATETIMEOFFSET) AT TIME ZONE 'UTC' AS DATETIME2)) / 86400e6"
    )
    as_text = "CAST({0} AS NVARCHAR(4000)) COLLATE Latin1_General_100_BIN2"


class BigQuery(Dialect):
    """GoogleSQL of BigQuery; not executed in tests."""

    name = "bigquery"
    aliases: tuple[str, ...] = ("bq",)
    real = "FLOAT64"
    text_type = "STRING"
    integer = "INT64"
    quotes = "``"
    infinity = "inf"
    backslashes = True
    as_number = (
        "CASE WHEN NOT IS_NAN(SAFE_CAST(CAST({0} AS STRING) AS FLOAT64)) "
        "THEN SAFE_CAST(CAST({0} AS STRING) AS FLOAT64) END"
    )
    as_days = "UNIX_MICROS(SAFE_CAST(CAST({0} AS STRING) AS TIMESTAMP)) / 86400e6"
    as_text = "CAST({0} AS STRING)"

    def text(self, value: str) -> str:
        """Escape backslashes, quotes and line breaks."""
        shown = self.check_text(value).replace("\\", "\\\\").replace("'", "\\'")
        return "'" + shown.replace("\n", "\\n").replace("\r", "\\r") + "'"


class Snowflake(Dialect):
    """Snowflake, where a literal may be a decimal; not executed in tests."""

    name = "snowflake"
    aliases = ()
    real = "FLOAT"
    backslashes = doubled = True
    literal = "CAST('{}' AS FLOAT)"
    infinity = "inf"
    as_number = "NULLIF(TRY_TO_DOUBLE(CAST({0} AS VARCHAR)), CAST('NaN' AS FLOAT))"
    as_days = (
        "DATE_PART(EPOCH_MICROSECOND, TRY_TO_TIMESTAMP_NTZ(CAST({0} AS VARCHAR))) "
        "/ CAST('86400e6' AS FLOAT)"
    )


class Spark(BigQuery):
    """Spark SQL 3.4 or later and Databricks; not executed in tests."""

    name = "spark"
    aliases = ("sparksql", "databricks")
    real = "DOUBLE"
    integer = "INT"
    infinity = "Infinity"
    literal = "{}D"
    as_number = DuckDB.as_number
    # A time without a zone is in UTC.
    as_days = (
        "unix_micros(TRY_CAST(concat(trim(CAST({0} AS STRING)), "
        "CASE WHEN length(trim(CAST({0} AS STRING))) = 10 THEN 'T00:00:00Z' "
        "WHEN trim(CAST({0} AS STRING)) RLIKE ':[0-9.:]+(Z|[+-][0-9:]+)$' THEN '' ELSE 'Z' END"
        ") AS TIMESTAMP)) / 86400e6D"
    )


_ALL = (SQLite(), DuckDB(), PostgreSQL(), MySQL(), SQLServer(), BigQuery(), Snowflake(), Spark())
DIALECTS: dict[str, Dialect] = {d.name: d for d in (*_ALL, Dialect())}
"""Every dialect by name."""

ALIASES = {alias: d.name for d in DIALECTS.values() for alias in d.aliases}
"""Other names of dialects."""


def find_dialect(name: str) -> Dialect:
    """Return a dialect by any of its names.

    Examples
    --------
    >>> find_dialect("Postgres").name
    'postgresql'
    """
    known = ALIASES.get(name.lower(), name.lower())
    return DIALECTS[find_name(known, DIALECTS, "The SQL export", "dialect")]


def _powers_of_two(exponent: int) -> list[int]:
    """Return factors of a power of 2 that each fit into a 64-bit integer."""
    return [1 << min(62, exponent - done) for done in range(0, exponent, 62)]

"""SQL dialects: quoting, exact numbers, least and greatest, dates and strings of columns."""

from collections.abc import Sequence
from decimal import Decimal
from math import inf, isfinite
from typing import Any

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
    real = "DOUBLE PRECISION"
    text_type = "VARCHAR"
    integer = "INTEGER"
    truths = ("FALSE", "TRUE")
    quotes = '""'
    infinity = "infinity"
    materialized = "AS"
    # What keeps a database from copying a common table expression into the next.
    barrier = ""
    least_name = "LEAST"
    greatest_name = "GREATEST"
    most_arguments = 1000
    most_columns: int | None = None
    empty_names = False
    backslashes = False

    def identifier(self, name: str) -> str:
        """Return a name in quotes."""
        if not name and not self.empty_names:
            raise ValueError(f"A column without a name cannot be used in SQL for {self.name}.")
        start, end = self.quotes[0], self.quotes[1]
        return start + self.check_text(name).replace(end, end * 2) + end

    def text(self, value: str) -> str:
        """Return a string in single quotes."""
        return "'" + self.check_text(value).replace("'", "''") + "'"

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
        if abs(value) == inf:
            sign = "-" if value < 0 else ""
            return f"CAST('{sign}{self.infinity}' AS {self.real})"
        shown = repr(float(value))
        shown = shown if "e" in shown else f"{shown}e0"
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

    def least(self, values: Sequence[str]) -> str:
        """Return the smallest of one or more expressions."""
        return self._nested(self.least_name, list(values))

    def greatest(self, values: Sequence[str]) -> str:
        """Return the largest of one or more expressions."""
        return self._nested(self.greatest_name, list(values))

    def encode(self, attribute: Attribute, column: str) -> str:
        """Return a column as number (dates in days since 1970, ordinals by position) or string."""
        if attribute.kind == "numeric":
            number = self.as_number(column)
            if not attribute.is_flag:
                return number
            # 1 and 0 for the words of booleans and for those of the database.
            words = " ".join(f"WHEN '{word}' THEN {self.number(n)}" for word, n in FLAGS.items())
            text = f"trim(CAST({column} AS {self.text_type}))"
            return f"CASE {self.lower(text)} {words} ELSE {number} END"
        if attribute.kind == "date":
            return self.as_days(column)
        categories = attribute.categories or ()
        texts = category_texts(categories)
        value = self.as_text(column)
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
        folded = self.lower(value) if lower else value
        return f"CASE {folded} {branches}ELSE {other} END" if branches else other

    def imputed(self, attribute: Attribute) -> str:
        """Return the imputed value of an attribute as its column is encoded."""
        if attribute.kind == "nominal":
            return self.text(str(attribute.typical))
        return self.number(attribute.typical_code)

    def as_number(self, column: str) -> str:
        """Return a column as float, NULL where missing; databases disagree about NaN."""
        return f"CAST({column} AS {self.real})"

    def as_days(self, column: str) -> str:
        """Return a column of dates as days since 1970."""
        seconds = f"EXTRACT(EPOCH FROM CAST({column} AS TIMESTAMP))"
        return f"CAST({seconds} AS {self.real}) / 86400e0"

    def as_text(self, column: str) -> str:
        """Return a column as string, to be looked up among the strings of categories."""
        return f"CAST({column} AS {self.text_type})"

    def lower(self, value: str) -> str:
        """Return a text in lower case."""
        return f"lower({value})"

    def _nested(self, function: str, values: list[str]) -> str:
        # Some databases refuse to compare a column with itself.
        values = list(dict.fromkeys(values))
        while len(values) > 1:
            step = self.most_arguments
            parts = [values[i : i + step] for i in range(0, len(values), step)]
            values = [f"{function}({', '.join(p)})" if len(p) > 1 else p[0] for p in parts]
        return values[0]


class DuckDB(Dialect):
    """DuckDB 1.0 or later."""

    name = "duckdb"
    real = "DOUBLE"
    materialized = "AS MATERIALIZED"
    backslashes = True

    def as_number(self, column: str) -> str:
        """Read NaN, and a string that is no number, as missing."""
        value = f"TRY_CAST({column} AS DOUBLE)"
        return f"CASE WHEN NOT isnan({value}) THEN {value} END"

    def as_days(self, column: str) -> str:
        """Divide the microseconds since 1970."""
        return f"epoch_us(TRY_CAST({column} AS TIMESTAMP)) / 86400e6"

    def as_text(self, column: str) -> str:
        """Read NaN in columns of floats as missing, and booleans as Python writes them.

        A boolean that DuckDB inferred from a file is cast to the string in the file.
        """
        value, kind = f"CAST({column} AS VARCHAR)", f"typeof({column})"
        spelled = f"CASE {value} WHEN 'true' THEN 'True' WHEN 'false' THEN 'False' ELSE {value} END"
        return (
            f"CASE WHEN {kind} IN ('DOUBLE', 'FLOAT') AND {value} = 'nan' THEN NULL "
            f"WHEN {kind} = 'BOOLEAN' THEN {spelled} ELSE {value} END"
        )


class SQLite(Dialect):
    """SQLite 3.35 or later."""

    name = "sqlite"
    real = "REAL"
    text_type = "TEXT"
    materialized = "AS MATERIALIZED"
    least_name = "min"
    greatest_name = "max"
    most_arguments = 100
    most_columns = 2000
    empty_names = True
    backslashes = True

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

    def as_number(self, column: str) -> str:
        """Read a string that is no number as missing; SQLite would make it 0."""
        plain = f"trim({column}) GLOB '*[0-9]*' AND trim({column}) NOT GLOB '*[^0-9eE.+-]*'"
        return (
            f"CASE WHEN typeof({column}) IN ('integer', 'real') OR (typeof({column}) = 'text' "
            f"AND {plain}) THEN CAST({column} AS REAL) END"
        )

    def as_days(self, column: str) -> str:
        """Divide the microseconds since 1970 of a string like 2024-05-17 12:00:00.000000."""
        seconds = f"CAST(strftime('%s', substr({column}, 1, 19)) AS INTEGER)"
        fraction = f"CAST(substr(substr({column}, 21, 6) || '000000', 1, 6) AS INTEGER)"
        fraction = f"CASE WHEN substr({column}, 20, 1) = '.' THEN {fraction} ELSE 0 END"
        return f"({seconds} * 1000000 + {fraction}) / 86400000000.0"

    def as_text(self, column: str) -> str:
        """Remove the collation of the column, in which different strings may be equal."""
        return f"(CAST({column} AS TEXT) || '')"


class PostgreSQL(Dialect):
    """PostgreSQL 12 or later."""

    name = "postgresql"
    text_type = "TEXT"
    materialized = "AS MATERIALIZED"
    backslashes = True

    def number(self, value: float) -> str:
        """Name the type: a literal with an exponent would be a decimal."""
        shown = repr(float(value))
        return f"float8 '{shown.replace('inf', 'infinity')}'"

    def as_number(self, column: str) -> str:
        """Read NaN, and a string that is no number, as missing."""
        value = f"trim(CAST({column} AS TEXT))"
        plain = "([0-9]+[.]?[0-9]*|[.][0-9]+)(e[+-]?[0-9]+)?|infinity"
        return f"CASE WHEN {value} ~* '^[+-]?({plain})$' THEN CAST({value} AS float8) END"

    def as_days(self, column: str) -> str:
        """Divide the microseconds since 1970; a time without a zone is in UTC."""
        value = f"NULLIF(trim(CAST({column} AS TEXT)), '')"
        zoned = f"{value} ~ ':[0-9.:]+ *(Z|[+-][0-9]+(:?[0-9]+)?)$'"
        moment = f"CAST({value} || CASE WHEN {zoned} THEN '' ELSE ' UTC' END AS TIMESTAMPTZ)"
        seconds = f"CAST(EXTRACT(EPOCH FROM {moment}) AS NUMERIC)"
        return f"CAST(round({seconds} * 1000000) AS float8) / float8 '86400e6'"

    def as_text(self, column: str) -> str:
        """Spell booleans as Python does."""
        value = f"CAST({column} AS TEXT)"
        boolean = f"CAST(pg_typeof({column}) AS TEXT) = 'boolean'"
        return f"CASE WHEN {boolean} THEN initcap({value}) ELSE {value} END"


class MySQL(Dialect):
    """MySQL 8.0.17 or later and MariaDB 10.5 or later.

    They have no infinity: a number beyond all distances stands for it.
    """

    name = "mysql"
    real = "DOUBLE"
    text_type = "CHAR"
    integer = "SIGNED"
    quotes = "``"
    barrier = "\n  LIMIT 18446744073709551615"
    most_columns = 1000
    backslashes = True

    def number(self, value: float) -> str:
        """Write infinity as a large number."""
        return super().number(max(-FAR, min(value, FAR)))

    def text(self, value: str) -> str:
        """Double backslashes too."""
        return super().text(value.replace("\\", "\\\\"))

    def as_number(self, column: str) -> str:
        """Read a string that is no number as missing; MySQL would make it 0."""
        plain = "^ *[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)? *$"
        return (
            f"CASE WHEN CAST({column} AS CHAR) REGEXP '{plain}' THEN CAST({column} AS DOUBLE) END"
        )

    def as_days(self, column: str) -> str:
        """Divide the microseconds since 1970; a time is in UTC."""
        value = f"NULLIF(trim(TRAILING 'Z' FROM trim(CAST({column} AS CHAR))), '')"
        moment = f"CAST({value} AS DATETIME(6))"
        return f"TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {moment}) / 86400e6"

    def as_text(self, column: str) -> str:
        """Return bytes: letters of either case, and texts with spaces at the end, are different."""
        return f"CAST(CONVERT({column} USING utf8mb4) AS BINARY)"

    def lower(self, value: str) -> str:
        """Return bytes of lower case, which only characters have."""
        return f"CAST(lower(CONVERT({value} USING utf8mb4)) AS BINARY)"


class SQLServer(Dialect):
    """SQL Server 2022 or later, which has LEAST and GREATEST; not executed in tests."""

    name = "sqlserver"
    real = "FLOAT"
    text_type = "NVARCHAR(4000)"
    truths = ("CAST(0 AS BIT)", "CAST(1 AS BIT)")
    quotes = "[]"
    most_arguments = 250
    most_columns = 4000
    backslashes = True

    def number(self, value: float) -> str:
        """Write infinity as a large number."""
        return super().number(max(-FAR, min(value, FAR)))

    def text(self, value: str) -> str:
        """Return a string of Unicode characters."""
        return "N" + super().text(value)

    def as_number(self, column: str) -> str:
        """Read a string that is no number as missing."""
        value = f"NULLIF(trim(CAST({column} AS NVARCHAR(4000))), '')"
        # The text of a float has fewer digits than the float.
        return f"CASE WHEN TRY_CAST({value} AS FLOAT) IS NOT NULL THEN CAST({column} AS FLOAT) END"

    def as_days(self, column: str) -> str:
        """Divide the microseconds since 1970, in UTC."""
        moment = f"CAST(TRY_CAST(NULLIF(CAST({column} AS NVARCHAR(40)), '') AS DATETIMEOFFSET)"
        moment = f"{moment} AT TIME ZONE 'UTC' AS DATETIME2)"
        return f"DATEDIFF_BIG(MICROSECOND, '1970-01-01', {moment}) / 86400e6"

    def as_text(self, column: str) -> str:
        """Compare characters, not letters of either case."""
        return f"CAST({column} AS NVARCHAR(4000)) COLLATE Latin1_General_100_BIN2"


class BigQuery(Dialect):
    """GoogleSQL of BigQuery; not executed in tests."""

    name = "bigquery"
    real = "FLOAT64"
    text_type = "STRING"
    integer = "INT64"
    quotes = "``"
    infinity = "inf"
    backslashes = True

    def text(self, value: str) -> str:
        """Escape backslashes, quotes and line breaks."""
        shown = self.check_text(value).replace("\\", "\\\\").replace("'", "\\'")
        return "'" + shown.replace("\n", "\\n").replace("\r", "\\r") + "'"

    def as_number(self, column: str) -> str:
        """Read NaN, and a string that is no number, as missing."""
        value = f"SAFE_CAST(CAST({column} AS STRING) AS FLOAT64)"
        return f"CASE WHEN NOT IS_NAN({value}) THEN {value} END"

    def as_days(self, column: str) -> str:
        """Divide the microseconds since 1970; a time without a zone is in UTC."""
        return f"UNIX_MICROS(SAFE_CAST(CAST({column} AS STRING) AS TIMESTAMP)) / 86400e6"


class Snowflake(Dialect):
    """Snowflake; not executed in tests."""

    name = "snowflake"
    real = "FLOAT"
    infinity = "inf"
    backslashes = True

    def number(self, value: float) -> str:
        """Name the type: a literal may be a decimal."""
        return f"CAST('{float(value)!r}' AS FLOAT)"

    def text(self, value: str) -> str:
        """Double backslashes too."""
        return super().text(value.replace("\\", "\\\\"))

    def as_number(self, column: str) -> str:
        """Read NaN, and a string that is no number, as missing."""
        return f"NULLIF(TRY_TO_DOUBLE(CAST({column} AS VARCHAR)), CAST('NaN' AS FLOAT))"

    def as_days(self, column: str) -> str:
        """Divide the microseconds since 1970; a time without a zone is in UTC."""
        moment = f"TRY_TO_TIMESTAMP_NTZ(CAST({column} AS VARCHAR))"
        return f"DATE_PART(EPOCH_MICROSECOND, {moment}) / CAST('86400e6' AS FLOAT)"


class Spark(BigQuery):
    """Spark SQL 3.4 or later and Databricks; not executed in tests."""

    name = "spark"
    real = "DOUBLE"
    integer = "INT"
    infinity = "Infinity"

    def number(self, value: float) -> str:
        """Name the type: a literal may be a decimal."""
        return f"{float(value)!r}D" if abs(value) < inf else super().number(value)

    def as_number(self, column: str) -> str:
        """Read NaN, and a string that is no number, as missing."""
        value = f"TRY_CAST({column} AS DOUBLE)"
        return f"CASE WHEN NOT isnan({value}) THEN {value} END"

    def as_days(self, column: str) -> str:
        """Divide the microseconds since 1970; a time without a zone is in UTC."""
        value = f"trim(CAST({column} AS STRING))"
        day, zone = f"length({value}) = 10", f"{value} RLIKE ':[0-9.:]+(Z|[+-][0-9:]+)$'"
        end = f"CASE WHEN {day} THEN 'T00:00:00Z' WHEN {zone} THEN '' ELSE 'Z' END"
        return f"unix_micros(TRY_CAST(concat({value}, {end}) AS TIMESTAMP)) / 86400e6D"


_ALL = (SQLite(), DuckDB(), PostgreSQL(), MySQL(), SQLServer(), BigQuery(), Snowflake(), Spark())
DIALECTS: dict[str, Dialect] = {d.name: d for d in (*_ALL, Dialect())}
"""Every dialect by name."""

ALIASES = {
    "sqlite3": "sqlite",
    "postgres": "postgresql",
    "mariadb": "mysql",
    "mssql": "sqlserver",
    "tsql": "sqlserver",
    "sql server": "sqlserver",
    "bq": "bigquery",
    "sparksql": "spark",
    "databricks": "spark",
    "standard": "ansi",
}
"""Other names of dialects."""


def find_dialect(name: str) -> Dialect:
    """Return a dialect by any of its names.

    Examples
    --------
    >>> find_dialect("Postgres").name
    'postgresql'
    """
    found = DIALECTS.get(ALIASES.get(name.lower(), name.lower()))
    if found is None:
        raise ValueError(f"dialect must be one of {', '.join(DIALECTS)}, got {name!r}.")
    return found


def _powers_of_two(exponent: int) -> list[int]:
    """Return factors of a power of 2 that each fit into a 64-bit integer."""
    return [1 << min(62, exponent - done) for done in range(0, exponent, 62)]

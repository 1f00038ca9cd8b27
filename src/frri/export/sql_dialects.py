"""SQL dialects: quoting, exact numbers, least and greatest, dates and strings of columns."""

from collections.abc import Sequence
from decimal import Decimal
from math import inf, isfinite
from typing import Any

from frri.table import Attribute
from frri.table.encode import FLAGS, category_texts, folding


class Dialect:
    """Standard SQL with LEAST and GREATEST, as PostgreSQL and many others understand it.

    Numbers are written so that the database reads the same 64-bit float: a threshold that is off by
    its last bit decides differently about the value it was taken from. Dates are exact to the
    second. Whether a backslash means itself differs between databases, so texts with one are
    refused. Other dialects replace what their databases read in another way.
    """

    name = "ansi"
    real = "DOUBLE PRECISION"
    text_type = "VARCHAR"
    materialized = "AS"
    least_name = "LEAST"
    greatest_name = "GREATEST"
    most_arguments = 1000
    most_columns: int | None = None
    empty_names = False
    backslashes = False

    def identifier(self, name: str) -> str:
        """Return a name in double quotes."""
        if not name and not self.empty_names:
            raise ValueError(f"A column without a name cannot be used in SQL for {self.name}.")
        return '"' + self.check_text(name).replace('"', '""') + '"'

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
            return f"CAST('{sign}infinity' AS {self.real})"
        shown = repr(float(value))
        shown = shown if "e" in shown else f"{shown}e0"
        return f"({shown})" if value < 0 else shown

    def label(self, value: Any) -> str:
        """Return a class label: str, int, bool or float."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
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
            return f"CASE lower(trim(CAST({column} AS {self.text_type}))) {words} ELSE {number} END"
        if attribute.kind == "date":
            return self.as_days(column)
        categories = attribute.categories or ()
        texts = category_texts(categories)
        value = self.as_text(column)
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
        folded = f"lower({value})" if lower else value
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


DIALECTS: dict[str, Dialect] = {d.name: d for d in (SQLite(), DuckDB(), Dialect())}
"""Every dialect by name."""


def _powers_of_two(exponent: int) -> list[int]:
    """Return factors of a power of 2 that each fit into a 64-bit integer."""
    return [1 << min(62, exponent - done) for done in range(0, exponent, 62)]

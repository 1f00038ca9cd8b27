"""Spreadsheets (Excel, OpenDocument): their first sheet, read as if it had been saved as CSV."""

import csv
import io
from typing import Any
from zipfile import BadZipFile

from frri._util import import_optional, import_pandas


def sheet_text(content: bytes, name: str) -> bytes:
    """The first sheet of a workbook as separated values, for `read_delimited`.

    Examples
    --------
    >>> sheet_text(b"a,b", "x.xlsx")
    Traceback (most recent call last):
        ...
    ValueError: x.xlsx is not a spreadsheet, or a damaged one.
    """
    pd = import_pandas()
    calamine = import_optional("python_calamine", "Reading spreadsheets", "excel")
    try:
        sheet = pd.read_excel(
            io.BytesIO(content), header=None, dtype=object, engine="calamine", keep_default_na=False
        )
    except (ValueError, OSError, BadZipFile, calamine.CalamineError):
        raise ValueError(f"{name} is not a spreadsheet, or a damaged one.") from None
    if sheet.empty:
        raise ValueError(f"{name} is empty: its first sheet has no cells.")
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerows([_cell(value) for value in row] for row in sheet.itertuples(index=False))
    return lines.getvalue().encode()


def _cell(value: Any) -> str:
    """Whole numbers without decimals, dates without midnight."""
    if value is None or value != value:  # noqa: PLR0124
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).removesuffix(" 00:00:00")

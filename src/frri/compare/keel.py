"""KEEL files that come without their header."""

import re
from collections.abc import Sequence
from dataclasses import replace

from frri.readers.keel import KeelTable, read_keel


def headless(text: str, columns: Sequence[str]) -> KeelTable:
    r"""A table without a header; its last column is the output, a column `Id` only names objects.

    Examples
    --------
    >>> headless("1 0.5 yes\n2 0.7 no", ["Id", "width", "class"]).inputs
    ('width',)
    """
    *others, output = columns
    inputs = tuple(column for column in others if column != "Id")
    header = [f"@attribute '{c}' {'real' if c in inputs else 'string'}" for c in columns]
    rows = [re.sub(r"[,;\s]+", ",", line.strip()) for line in text.splitlines() if line.strip()]
    table = read_keel("\n".join(["@relation table", *header, "@data", *rows, ""]))
    return replace(table, inputs=inputs, outputs=(output,))

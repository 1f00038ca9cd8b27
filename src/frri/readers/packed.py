"""Compressed files."""

import bz2
import gzip
import io
import lzma
from collections.abc import Callable

from frri._util import import_optional


def _zstd(content: bytes) -> bytes:
    arrow = import_optional("pyarrow", "Reading .zst files", "tables")
    with arrow.input_stream(io.BytesIO(content), compression="zstd") as stream:
        unpacked: bytes = stream.read()
    return unpacked


_UNPACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
    ".zst": _zstd,
}

ENDINGS = tuple(_UNPACK)


def unpacked(content: bytes, name: str, ending: str) -> bytes:
    """What a file holds that is compressed as its ending says.

    Examples
    --------
    >>> unpacked(gzip.compress(b"a,b"), "x.csv.gz", ".gz")
    b'a,b'
    >>> unpacked(b"a,b", "x.csv.gz", ".gz")
    Traceback (most recent call last):
        ...
    ValueError: x.csv.gz is not compressed as its ending '.gz' says, or damaged.
    """
    try:
        return _UNPACK[ending](content)
    except (OSError, EOFError, ValueError, lzma.LZMAError):
        raise ValueError(
            f"{name} is not compressed as its ending {ending!r} says, or damaged."
        ) from None

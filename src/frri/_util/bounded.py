"""JSON from anywhere, bounded in size and depth before anything is made of it."""

from typing import IO

import numpy as np

_CHUNK = 2**18
_QUOTE = ord('"')
# What each byte does to the depth.
_STEPS = np.zeros(256, dtype=np.int8)
_STEPS[list(b"[{")] = 1
_STEPS[list(b"]}")] = -1


def read_text(file: IO[bytes], name: str, most: int) -> str:
    """The text of an open file, device or stream, of which hardly more than `most` bytes are read.

    Examples
    --------
    >>> from io import BytesIO
    >>> read_text(BytesIO(b"[1, 2]"), "x.json", 3)
    Traceback (most recent call last):
        ...
    ValueError: x.json is too large: at most 3 bytes are read.
    """
    chunks: list[bytes] = []
    size = 0
    while size <= most and (chunk := file.read(_CHUNK)):
        chunks.append(chunk)
        size += len(chunk)
    if size > most:
        raise ValueError(f"{name} is too large: at most {most:,} bytes are read.")
    try:
        text = b"".join(chunks).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{name} cannot be read: it is not a text file.") from None
    if not text.strip():
        raise ValueError(f"{name} is empty.")
    return text


def depth_and_size(text: str, deepest: int) -> tuple[int, int]:
    """How deep lists and objects of JSON are nested, and how many there are.

    Counting ends soon after something deeper than `deepest`, and means nothing after what is no JSON.

    Examples
    --------
    >>> depth_and_size('{"a": [1], "b": [[2], "[[["]}', 9)
    (3, 4)
    """
    # Without escapes, every quotation mark begins or ends a text.
    content = text.encode(errors="replace").replace(rb"\\", b"").replace(rb"\"", b"")
    depth = most = size = 0
    quoted = False
    for start in range(0, len(content), _CHUNK):
        chunk = np.frombuffer(content, np.uint8, min(_CHUNK, len(content) - start), start)
        inside = np.logical_xor.accumulate(chunk == _QUOTE) ^ quoted
        steps = np.where(inside, 0, _STEPS[chunk])
        depths = depth + np.cumsum(steps, dtype=np.int32)
        most = max(most, int(depths.max()))
        size += int((steps > 0).sum())
        depth, quoted = int(depths[-1]), bool(inside[-1])
        if most > deepest:
            break
    return most, size

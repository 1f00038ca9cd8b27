"""From the bytes of a file to its text."""

import codecs
import re

# What texts do not contain: control characters other than tabs, line breaks and the old end of file.
_CONTROL = re.compile("[\x00-\x08\x0e-\x19\x1b-\x1f]")


def decoded(content: bytes, name: str) -> str:
    r"""The text of a file in UTF-8, in UTF-16 with its mark, or else in Windows' Western European.

    Lines end with a line feed, whatever they ended with in the file.

    Examples
    --------
    >>> decoded("größe".encode("cp1252"), "example"), decoded("größe".encode("utf-16"), "example")
    ('größe', 'größe')
    >>> decoded(b"\x00\x01", "example")
    Traceback (most recent call last):
        ...
    ValueError: example is a binary file, not a table in text form.
    """
    text = _text(content)
    if text is None or _CONTROL.search(text):
        raise ValueError(f"{name} is a binary file, not a table in text form.")
    if not text.strip("\ufeff\x1a \t\v\f\r\n"):
        raise ValueError(f"{name} is empty.")
    # One line end: pandas' parser goes astray where a carriage return is followed by a space.
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def is_wide(content: bytes) -> bool:
    """Whether a file says that it is in UTF-16, with two bytes or more for each character."""
    return content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def _text(content: bytes) -> str | None:
    if is_wide(content):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError:
            return None
    if b"\x00" in content:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Five of the 256 bytes mean nothing there: they become the replacement character.
        return content.decode("cp1252", errors="replace")

"""Names and labels as harmless data: what a file made elsewhere says must never act on its own."""

import json
import re
import unicodedata

# Ends a script element, opens one, or starts a comment in a page around the script.
_MARKUP = re.compile(r"<(?=[/!?a-zA-Z])")


def one_line(text: str) -> str:
    r"""A text without line breaks and other control characters, each replaced by a space.

    Examples
    --------
    >>> one_line("red\nDROP\x1b[31m")
    'red DROP [31m'
    """
    control = {"Cc", "Zl", "Zp", "Cs"}
    return "".join(" " if unicodedata.category(c) in control else c for c in text)


def script_text(text: str) -> str:
    r"""A text in plain ASCII and one line, for comments of programs and literals of scripts.

    Examples
    --------
    >>> script_text("a <= 5\n</script>")
    'a <= 5\\n\\u003c/script>'
    """
    return script_json(text)[1:-1]


def script_json(value: object) -> str:
    r"""JSON that is safe inside a JavaScript file and inside a script element of a page.

    Examples
    --------
    >>> script_json("</script>\u2028")
    '"\\u003c/script>\\u2028"'
    """
    return _MARKUP.sub(r"\\u003c", json.dumps(value, allow_nan=False))

"""The page's JavaScript modules as one script.

The files are plain ES modules and can be read, checked and run as such. A page that must work from disk
and ask for nothing cannot import them, so each is wrapped in a function of its own, in an order in which
everything is there before it is used. Two forms are understood, and anything else is an error:
`import { a, b } from "./file.js";` and `export` before a function, a class or a constant.
"""

import re
from functools import cache
from importlib.resources import files

# Whoever wants to read the scripts reads the files; a page is mailed, and shorter without.
_COMMENT = re.compile(r"^ */\*\*[\s\S]*?\*/\n|^ *//.*\n", re.MULTILINE)
_INDENT = re.compile(r"^ +", re.MULTILINE)
# Room around signs is for readers of the files, too. Of a line with anything but plain texts in double quotes
# it is not known where texts begin and end, and `+` and `-` need their room.
_SIGN = re.compile(r" *(=>|===|!==|&&|\|\||[=,;:?{}()<>*]) *")
_TEXT = re.compile(r'("[^"]*")')
_OTHER_TEXT = re.compile(r"[`'/\\]")
# No statement ends after these, and none begins with those: the next line may follow at once.
_BREAK = re.compile(r"(?<=[,;{(\[])\n|\n(?=[)\]])")
_STYLE_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STYLE_SIGN = re.compile(r" *([{};,>]) *")
_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)


@cache
def page_script() -> str:
    """All modules that the page needs, starting from app.js.

    Examples
    --------
    >>> script = page_script()
    >>> "import {" in script, 'modules["app.js"]' in script
    (False, True)
    """
    joined: dict[str, str] = {}
    _join("app.js", joined, ())
    script = "const modules = {};\n" + "\n".join(joined.values())
    if "</script" in script.lower():
        raise ValueError("A script must not hold the end of a script element.")
    return script


@cache
def page_style() -> str:
    """The style sheets: ground and rules, the other views, and what narrow screens and paper change.

    Examples
    --------
    >>> "@media print" in page_style()
    True
    """
    style = "\n".join(_read(name) for name in ("style.css", "views.css", "media.css"))
    lines = _STYLE_COMMENT.sub("", style).split("\n")
    return "\n".join(_STYLE_SIGN.sub(r"\1", line.strip()) for line in lines if line.strip())


def _join(name: str, joined: dict[str, str], importing: tuple[str, ...]) -> None:
    """Add a module, wrapped, after those that it imports."""
    if name in importing:
        raise ValueError(f"The scripts import each other: {' -> '.join((*importing, name))}.")
    if name in joined:
        return
    source = _INDENT.sub("", _COMMENT.sub("", _read(name)))
    if any(line.count("`") % 2 for line in source.split("\n")):
        raise ValueError(f"{name} has a text of several lines, whose indents would be lost.")
    for _, other in _IMPORT.findall(source):
        _join(other, joined, (*importing, name))
    source = _IMPORT.sub(
        lambda found: f'const {{{found[1]}}} = modules["{found[2]}"];\n',
        source,
    )
    exported = ", ".join(_EXPORT.findall(source))
    source = _EXPORT.sub("", source)
    if re.search(r"^(import|export)\b", source, re.MULTILINE):
        raise ValueError(f"{name} imports or exports in a form that is not understood.")
    source = _BREAK.sub("", "\n".join(_tight(line) for line in source.split("\n") if line))
    body = f'modules["{name}"] = (() => {{\n{source}\nreturn {{ {exported} }};\n}})();\n'
    joined[name] = body


def _tight(line: str) -> str:
    """A line of a script without the room around its signs."""
    if _OTHER_TEXT.search(line):
        return line
    parts = _TEXT.split(line)
    return "".join(part if i % 2 else _SIGN.sub(r"\1", part) for i, part in enumerate(parts))


def _read(name: str) -> str:
    """A file of the page; the evaluator is the one that is exported with models, too."""
    folder = "export" if name == "evaluator.js" else "report/static"
    return files("frri").joinpath(folder, name).read_text(encoding="utf-8")

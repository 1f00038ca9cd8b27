"""Documentation, docstrings and messages use the terms of the field.

Documentation, README, changelog, examples, docstrings, messages, the help of the commands and the texts of the report
are checked line by line, without code. Exceptions name the file and the reason.
"""

import ast
import re
from pathlib import Path

import pytest

from frri.cli import COMMANDS, OWN, _command

ROOT = Path(__file__).parents[1]

# Each pattern with the words to use instead.
BANNED = {
    r"\benem(y|ies)\b": "sample of another class",
    r"\bhow right\b|\brightly\b|\berrs\b|\bis taken for\b": "accurate, correct, misclassifies",
    r"\balways answering\b|\bcommonest\b": "majority-class baseline, majority class",
    r"\bnot learned from\b": "held-out rows",
    r"\b(?:a|the|this|its|their|of|in|by|what) shares?\b": "fraction, percentage, probability",
    r"\bdraws? lots\b|\banew\b|\bby lot\b": "random, again",
    r"\bdear(er|est)?\b|\bcustomers of\b|\bhopeless\b": "no metaphors",
    r"\bdata sets?\b": "dataset",
    r"\b(?-i:[Rr]ulesets?)\b(?!\.|_| :|[=\"])": "rule set in prose, RuleSet in code",
    r"\bwhole numbers?\b|\btruth values?\b": "integer, boolean",
    r"\bso many\b|\bas many as can be\b": "name the number",
    r"\bordered classes\b": "ordinal classification",
    r"\bthe fewest rules, proved\b|\bproved to be the fewest\b": "minimum-size, proven optimal",
    r"\bmade-up\b": "artificial",
    r"\b(?-i:Lukasiewicz)\b": "Łukasiewicz",
    r"\b(?-i:R2)\b|\bR squared\b": "R²",
    r"(?<![\d.\w`\"'/-])\.\d{2,3}\b": "0.755, with the zero",
    r"\b(?-i:Not reached|The aim was)\b": "research pages only, in a table",
    r"^(?:[-*] |\d\. )?What [a-z ]+ (?:is|are|was|were) (?:said|told|shown)\b": "subject first",
    r"\b(?:files?|rules?|models?|columns?|pages?|tests?|it) (?:tells?|says?|said|told|knows?)\b": (
        "things do not speak: contains, states, prints"
    ),
}

# Words that are right elsewhere, but not in errors, warnings and notes.
BANNED_IN_MESSAGES = {r"\bobjects?\b": "sample, row", r"\b(?:a|the) text such as\b": "string"}

# (file, pattern or word): reason.
EXCEPTIONS = {
    ("docs/research/theory.md", "enem"): "the paper's word, introduced there",
    ("docs/research/reproduction.md", "enem"): "the paper's word",
    ("docs/reference/glossary.md", "enem"): "defines the paper's word",
    ("docs/research/theory.md", "ordered classes"): "a kind of target, in a table of definitions",
    ("src/frri/fuzzy.py", "object"): "the paper's word",
    ("src/frri/readers/files.py", "object"): "objects of JSON",
    ("src/frri/rules/json_format.py", "object"): "objects of JSON",
}

FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]+`")
EXAMPLE = re.compile(r"^Examples\n-+\n.*", re.MULTILINE | re.DOTALL)
# Strings of scripts with at least one space: messages, not keys.
STRING = re.compile(r"""["'`]([^"'`]* [^"'`]*)["'`]""")
SCRIPTS = sorted(ROOT.glob("src/frri/report/static/**/*.js"))
SOURCES = sorted(ROOT.glob("src/frri/**/*.py"))
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
PAGES += sorted(ROOT.glob("docs/**/*.md"))
PAGES += sorted(ROOT.glob("examples/*.py"))


def test_the_list_finds_what_it_bans():
    bad = (
        "The rules say how right it is. What the columns are told. A share of .75 in two data sets."
    )
    assert len(found_in(bad, "x.md")) == 4 + 1


@pytest.mark.parametrize("page", [pytest.param(p, id=str(p.relative_to(ROOT))) for p in PAGES])
def test_pages_use_the_words_of_the_field(page):
    text = page.read_text(encoding="utf-8")
    found = found_in(text, page.relative_to(ROOT).as_posix())
    assert not found, "\n".join(found)


@pytest.mark.parametrize("source", [pytest.param(p, id=p.name) for p in SOURCES])
def test_docstrings_use_the_words_of_the_field(source):
    tree = ast.parse(source.read_text(encoding="utf-8"))
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    texts = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds)]
    name = source.relative_to(ROOT).as_posix()
    found = [one for text in texts for one in found_in(EXAMPLE.sub("", text), name)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("source", [pytest.param(p, id=p.name) for p in SOURCES])
def test_messages_use_the_words_of_the_field(source):
    name = source.relative_to(ROOT).as_posix()
    words = BANNED | BANNED_IN_MESSAGES
    found = [one for text in messages(source) for one in found_in(text, name, words)]
    assert not found, "\n".join(found)


def messages(source):
    """Yield the texts of errors, warnings and notes, without the values in them."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        called = getattr(node, "func", None)
        name = getattr(called, "attr", getattr(called, "id", ""))
        if isinstance(node, ast.Raise) or name in {"warn", "_warn", "note", "show_note"}:
            parts = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
            yield "".join(part for part in parts if isinstance(part, str))


@pytest.mark.parametrize("script", [pytest.param(p, id=p.name) for p in SCRIPTS])
def test_messages_of_the_report_use_the_words_of_the_field(script):
    lines = script.read_text(encoding="utf-8").splitlines()
    texts = [" ".join(STRING.findall(line)) for line in lines]
    found = found_in("\n".join(texts), script.relative_to(ROOT).as_posix())
    assert not found, "\n".join(found)


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in OWN])
def test_help_uses_the_words_of_the_field(command):
    found = found_in(_command(command)[1].format_help(), f"frri {command}")
    assert not found, "\n".join(found)


def found_in(text, name, words=BANNED):
    """Return the banned words of a text, with lines and what to use instead."""
    plain = FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)
    plain = CODE.sub("`code`", plain)
    return [
        f"{name}:{number}: {match[0]!r}; use: {better}"
        for number, line in enumerate(plain.splitlines(), 1)
        for pattern, better in words.items()
        for match in re.finditer(pattern, line, re.IGNORECASE)
        if not is_exception(name, match[0])
    ]


def is_exception(name, word):
    return any(name == page and part in word.lower() for page, part in EXCEPTIONS)

"""The order of the rooms in CONTRIBUTING.md is the order of imports: nothing imports what comes later."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "frri"
LAYOUT = re.search(
    r"^src/frri/\n(.*?)^\S", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
)
ROOMS = re.findall(r"^  (\w+)", LAYOUT[1], re.MULTILINE)
# A ruleset explains and shows itself: two of its methods import, when they are called, what knows rulesets.
CONVENIENCES = {("rules/ruleset.py", "explain"), ("rules/ruleset.py", "report")}


def test_the_rooms_listed_are_those_that_exist():
    files = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in SOURCE.rglob("*.py")}
    assert sorted(ROOMS) == sorted(files - {"__init__", "__main__"})


def test_the_picture_of_the_design_shows_every_room():
    picture = (ROOT / "docs" / "images" / "rooms.svg").read_text("utf-8")
    assert sorted(re.findall(r'class="room">(\w+)', picture)) == sorted(ROOMS)


@pytest.mark.parametrize("room", ROOMS[:-1])  # the last may import everything
def test_a_room_imports_nothing_that_comes_after_it(room):
    allowed = {*ROOMS[: ROOMS.index(room) + 1], "__version__"}
    for path in [*SOURCE.glob(f"{room}.py"), *(SOURCE / room).rglob("*.py")]:
        name = path.relative_to(SOURCE).as_posix()
        for target in rooms_named(ast.parse(path.read_text("utf-8"))) - allowed:
            assert (name, target) in CONVENIENCES, f"{name} imports frri.{target}"


def test_what_has_an_underscore_is_imported_in_its_room_only():
    for path in SOURCE.rglob("*.py"):
        here = "frri." + ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for name in names_imported(ast.parse(path.read_text("utf-8"))):
            home = re.match(r"(frri\..+?)\._[a-z]", name)
            assert home is None or f"{here}.".startswith(f"{home[1]}."), f"{here} imports {name}"


@pytest.mark.parametrize("room", ["explain", "export", "plots", "report", "cli"])
def test_customers_of_rulesets_have_no_private_entrance(room):
    for path in [*SOURCE.glob(f"{room}.py"), *(SOURCE / room).rglob("*.py")]:
        assert "SLF001" not in path.read_text("utf-8"), f"{path} reaches into another's object"


def rooms_named(tree):
    """The rooms that a module imports."""
    names = [name for name in names_imported(tree) if re.match(r"frri\b", name)]
    return {f"{name}.".split(".")[1] for name in names}


def names_imported(tree):
    """What a module imports: anywhere, also in functions, for types only, or by a name in a string."""
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom():
                assert node.level == 0, f"line {node.lineno}: an import that is not absolute"
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            case ast.Constant(str(text)) if re.fullmatch(r"frri(\.\w+)+:?\w*", text):
                yield text

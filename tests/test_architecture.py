"""The order of the packages in CONTRIBUTING.md is the order of imports: nothing imports later ones."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "frri"
LAYOUT = re.search(
    r"^src/frri/\n(.*?)^\S", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
)
PACKAGES = re.findall(r"^  (\w+)", LAYOUT[1], re.MULTILINE)
FILES = sorted(SOURCE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text("utf-8")) for path in FILES}
# Two methods of a rule set import, when they are called, packages that depend on rule sets.
CONVENIENCES = {("rules/ruleset.py", "explain"), ("rules/ruleset.py", "report")}


def test_the_listed_packages_are_those_that_exist():
    found = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in FILES}
    assert sorted(PACKAGES) == sorted(found - {"__init__", "__main__"})


def test_the_picture_of_the_design_shows_every_package():
    picture = (ROOT / "docs" / "images" / "packages.svg").read_text("utf-8")
    assert sorted(re.findall(r'class="package">(\w+)', picture)) == sorted(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES[:-1])  # the last may import everything
def test_a_package_imports_nothing_that_comes_after_it(package):
    allowed = {*PACKAGES[: PACKAGES.index(package) + 1], "__version__"}
    for path in [*SOURCE.glob(f"{package}.py"), *(SOURCE / package).rglob("*.py")]:
        name = path.relative_to(SOURCE).as_posix()
        for target in imported_packages(TREES[path]) - allowed:
            assert (name, target) in CONVENIENCES, f"{name} imports frri.{target}"


def test_names_with_an_underscore_are_imported_in_their_package_only():
    for path, tree in TREES.items():
        here = "frri." + ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for name in imported_names(tree):
            home = re.match(r"(frri\..+?)\._[a-z]", name)
            assert home is None or f"{here}.".startswith(f"{home[1]}."), f"{here} imports {name}"


@pytest.mark.parametrize("package", ["explain", "export", "plots", "report", "cli"])
def test_what_uses_rule_sets_uses_their_public_api(package):
    for path in [*SOURCE.glob(f"{package}.py"), *(SOURCE / package).rglob("*.py")]:
        assert "SLF001" not in path.read_text("utf-8"), f"{path} uses a private attribute"


def imported_packages(tree):
    """Return the packages that a module imports."""
    names = [name for name in imported_names(tree) if re.match(r"frri\b", name)]
    return {f"{name}.".split(".")[1] for name in names}


def imported_names(tree):
    """Yield what a module imports: anywhere, also in functions, for types or by a name in a string."""
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom():
                assert node.level == 0, f"line {node.lineno}: an import that is not absolute"
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            case ast.Constant(str(text)) if re.fullmatch(r"frri(\.\w+)+:?\w*", text):
                yield text

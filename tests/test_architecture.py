"""Rules for the source: order of imports, sizes, names and signatures.

The order of the packages in CONTRIBUTING.md is the order of imports: nothing imports what comes later.
"""

import ast
import functools
import re
from collections import Counter
from pathlib import Path

import pytest

import frri

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "frri"
LAYOUT = re.search(
    r"^src/frri/\n(.*?)^\S", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
)
PACKAGES = re.findall(r"^  (\w+)", LAYOUT[1], re.MULTILINE)
FILES = sorted(SOURCE.rglob("*.py"))
# Two methods of a rule set import, when they are called, packages that depend on rule sets.
CONVENIENCES = {("rules/ruleset.py", "explain"), ("rules/ruleset.py", "report")}
# Files under 40 lines, with the reason.
SHORT = {
    "__main__.py": "python -m frri",
}
# Limits are only lowered: a larger feature replaces another.
MAX_LINES, MAX_CODE_LINES, MAX_FILES = 36_378, 22_537, 140
MAX_PARAMETERS, MAX_WIDTH, MIN_LINES = 8, 100, 40


@functools.cache
def trees():
    """Parse on first use, because only one of the processes that collect tests needs them."""
    return {path: ast.parse(path.read_text("utf-8")) for path in FILES}


def test_the_listed_packages_are_those_that_exist():
    found = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in FILES}
    assert sorted(PACKAGES) == sorted(found - {"__init__", "__main__"})


def test_the_stub_declares_the_public_names():
    stub = ast.parse((SOURCE / "__init__.pyi").read_text("utf-8"))
    imported = {
        name.name for node in stub.body if isinstance(node, ast.ImportFrom) for name in node.names
    }
    listed = next(node.value for node in stub.body if isinstance(node, ast.Assign))
    assert imported == set(ast.literal_eval(listed)) == set(frri.__all__)


def test_the_picture_of_the_design_shows_every_package():
    picture = (ROOT / "docs" / "images" / "packages.svg").read_text("utf-8")
    assert sorted(re.findall(r'class="package">(\w+)', picture)) == sorted(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES[:-1])  # the last may import everything
def test_a_package_imports_nothing_that_comes_after_it(package):
    allowed = {*PACKAGES[: PACKAGES.index(package) + 1], "__version__"}
    for path in [*SOURCE.glob(f"{package}.py"), *(SOURCE / package).rglob("*.py")]:
        name = path.relative_to(SOURCE).as_posix()
        for target in imported_packages(trees()[path]) - allowed:
            assert (name, target) in CONVENIENCES, f"{name} imports frri.{target}"


def test_names_with_an_underscore_are_imported_in_their_package_only():
    for path, tree in trees().items():
        here = "frri." + ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for name in imported_names(tree):
            home = re.match(r"(frri\..+?)\._[a-z]", name)
            assert home is None or f"{here}.".startswith(f"{home[1]}."), f"{here} imports {name}"


@pytest.mark.parametrize("package", ["explain", "export", "plots", "report", "cli"])
def test_packages_that_use_rule_sets_use_their_public_api(package):
    for path in [*SOURCE.glob(f"{package}.py"), *(SOURCE / package).rglob("*.py")]:
        assert "SLF001" not in path.read_text("utf-8"), f"{path} uses a private attribute"


def test_the_source_stays_within_its_size():
    assert len(FILES) <= MAX_FILES
    assert sum(len(path.read_text("utf-8").splitlines()) for path in FILES) <= MAX_LINES
    assert sum(code_lines(path) for path in FILES) <= MAX_CODE_LINES


def test_no_line_is_too_long():
    for path in FILES:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            assert len(line) <= MAX_WIDTH, f"{path.relative_to(ROOT)}:{number}"


def test_a_short_file_has_a_reason():
    for path in FILES:
        if path.name != "__init__.py" and path.relative_to(SOURCE).as_posix() not in SHORT:
            lines = len(path.read_text("utf-8").splitlines())
            assert lines >= MIN_LINES, f"{path.relative_to(ROOT)} has {lines} lines"


def test_a_function_has_at_most_eight_parameters():
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name != "__init__":
                names = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
                names += [one.arg for one in node.args.kwonlyargs]
                found = len([name for name in names if name not in {"self", "cls"}])
                place = f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
                assert found <= MAX_PARAMETERS, f"{place} has {found} parameters"


def test_a_class_name_occurs_once():
    names = [
        n.name for tree in trees().values() for n in ast.walk(tree) if isinstance(n, ast.ClassDef)
    ]
    assert not [name for name, times in Counter(names).items() if times > 1]


def test_exceptions_are_caught_by_name():
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler):
                caught = ast.unparse(node.type) if node.type else ""
                assert caught not in {"", "Exception"}, f"{path.relative_to(ROOT)}:{node.lineno}"


def code_lines(path):
    """Count the lines that are neither blank nor comments nor docstrings."""
    documented = set()
    for node in ast.walk(trees()[path]):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str):
                documented.update(range(first.lineno, first.end_lineno + 1))
    lines = enumerate(path.read_text("utf-8").splitlines(), start=1)
    return sum(
        number not in documented and not line.lstrip().startswith("#") and bool(line.strip())
        for number, line in lines
    )


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

"""The wheel, installed with its dependencies only, outside the checkout."""

import os
import re
import subprocess
import sys
import venv
import zipfile
from email import message_from_bytes
from importlib.metadata import distribution
from pathlib import Path

import pytest

from frri import __version__
from programs import required

ROOT = Path(__file__).parents[1]
NEEDED = {"joblib", "numpy", "scikit-learn", "scipy"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    try:
        import build
        import hatchling
    except ImportError:
        build = hatchling = None
    required("build and hatchling", build and hatchling)
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (source,) = folder.glob("*.tar.gz")
    (built,) = folder.glob("*.whl")
    assert source.name == f"frri-{__version__}.tar.gz"
    return built


def run(*command, cwd):
    """Return the output of a command, without the settings of the user who runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=kept,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    files = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    package = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "frri").rglob("*")
        if path.is_file() and not {"__pycache__", "static"} & set(path.parts)
    }
    assert files == package
    assert {
        "frri/py.typed",
        "frri/report/page.css",
        "frri/report/page.js",
        "frri/report/template.html",
        "frri/rules/ruleset.schema.json",
    } <= files


def test_the_wheel_needs_few_packages(wheel):
    with zipfile.ZipFile(wheel) as archive:
        facts = message_from_bytes(archive.read(f"frri-{__version__}.dist-info/METADATA"))
    always = [need for need in facts.get_all("Requires-Dist") if "extra ==" not in need]
    assert {re.match(r"[\w-]+", need)[0] for need in always} == NEEDED
    assert facts["License-Expression"] == "BSD-3-Clause"


def test_every_package_has_one_oldest_version():
    lines = run(sys.executable, ROOT / ".ci" / "oldest.py", cwd=ROOT).splitlines()
    names = [re.match(r"[\w.-]+", line)[0] for line in lines]
    assert len(names) == len(set(names))
    assert set(names) > NEEDED


def test_the_version_to_cite_is_this_one():
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_wheel_works_in_an_empty_environment(wheel, tmp_path):
    place = tmp_path / "venv"
    venv.create(place, symlinks=os.name == "posix")
    (python,) = (path for path in place.rglob("python*") if path.stem == "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index"]
    run(*pip, "--quiet", wheel, cwd=tmp_path)
    site = Path(
        run(python, "-c", "import frri; print(frri.__path__[0])", cwd=tmp_path).strip()
    ).parent
    assert place in site.parents
    # Instead of a download: the required packages of this environment.
    for name in needed_by(*NEEDED):
        for top in {file.parts[0] for file in distribution(name).files} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(distribution(name).locate_file(top))
    frri = python.with_name(python.name.replace("python", "frri"))
    assert run(frri, "--version", cwd=tmp_path) == f"frri {__version__}\n"
    assert "such rules are needed to cover" in run(frri, "demo", cwd=tmp_path)


def needed_by(*names):
    """Return packages with all their requirements, without extras."""
    found = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            needs = distribution(name).requires or []
            todo += [re.match(r"[\w.-]+", need)[0] for need in needs if ";" not in need]
    return found

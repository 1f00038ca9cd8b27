"""Settings of the test run, and programs that are started once for all tests of a file."""

import gc
import os
import shutil
import signal
import sys
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

from browser_pages import ARGUMENTS, Visit, chromium, needs
from frri import _compile
from frri.cover import budget
from programs import NODE_DRIVER, PYTHON_DRIVER, Program, required
from thorough import often

# Saved models contain a date; those of the tests must be identical in every run.
os.environ.setdefault("SOURCE_DATE_EPOCH", "1704067200")

# The duration of an example depends on other processes of the machine.
settings.register_profile("frri", deadline=None, max_examples=often(200))
settings.load_profile("frri")

# Background processes of a shell or of nohup ignore Ctrl-C or a hangup, which tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Do not collect doctests of test files, which would import each file twice."""
    return [found for found in (yield) if not isinstance(found, DoctestModule)]


# Slow files, the slowest first. Files that use a compiler and files that wait for browsers, clusters and other
# processes alternate, because later files reuse compiled kernels from disk.
LONG = (
    "test_cover",
    "test_page",
    "test_docs",
    "test_distributed",
    "test_induction",
    "test_machine_independence",
    "test_compare_run",
    "test_conformance",
    "test_cli",
    "test_export",
    "test_additive",
    "test_page_rules",
    "test_selection",
    "test_ripper",
    "test_frri",
    "test_databases",
    "test_page_cases",
    "test_end_to_end",
    "test_furia",
    "test_compile",
    "test_modlem",
    "test_page_regression",
    "test_messy_files",
    "test_cli_regression",
    "test_size_cv",
    "test_json_format",
    "test_weights",
    "test_additive_blocks",
    "test_export_excel",
    "test_bagged",
    "test_scores",
    "test_quickrules",
    "test_same_rules",
    "test_compare_output",
    "test_experiments",
    "claims",
    "auto",
)


def pytest_collection_modifyitems(items):
    """Run slow files first, so that no worker waits for one at the end; then those with many tests."""
    n_tests = Counter(item.path for item in items)
    rank = {name: place for place, name in enumerate(LONG)}
    items.sort(
        key=lambda item: (rank.get(item.path.stem, len(LONG)), -n_tests[item.path], item.path)
    )


# Imported modules and collected tests are never garbage.
gc.disable()


def pytest_collection_finish():
    """Exclude imported objects from garbage collection, which would take a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def _small_searches():
    """Do not compile kernels for many small cover searches, which takes half a minute per process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "COMPILE_SECONDS", dict.fromkeys(budget.COMPILE_SECONDS, 60.0))
        patch.setattr(_compile, "LOAD_SECONDS", 5.0)
        yield


@pytest.fixture(scope="module", autouse=True)
def _searches_of_other_files():
    """Reset the time that earlier files spent on searches."""
    budget._kernel_seconds.clear()


@pytest.fixture
def _short_paths(monkeypatch):
    """Limit additive rules and their repetitions, on which no scikit-learn check depends."""
    from frri.learners.additive import classifier, regressor

    for module in (classifier, regressor):
        monkeypatch.setattr(module, "MOST_RULES", 2)
    monkeypatch.setattr(regressor, "REPEATS", 2)


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory):
    command = [sys.executable, "-S", "-I", "-c", PYTHON_DRIVER]
    program = Program(command, tmp_path_factory.mktemp("python"), ".py")
    yield program
    program.close()


@pytest.fixture(scope="module")
def node(tmp_path_factory):
    required("node", shutil.which("node"))
    command = ["node", "--input-type=module", "-e", NODE_DRIVER]
    program = Program(command, tmp_path_factory.mktemp("node"), ".mjs")
    yield program
    program.close()


@pytest.fixture(scope="module")
def duck():
    try:
        import duckdb
    except ImportError:
        duckdb = None
    required("duckdb", duckdb)
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        yield connection


@pytest.fixture(scope="session")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        needs("playwright", present=False)
    with sync_playwright() as playwright:
        program = chromium(playwright)
        needs("Chromium", program.exists())
        opened = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def visit(browser, tmp_path):
    """Check after every test that the console has no errors and that the page requested only its own file."""
    visit = Visit(browser, tmp_path)
    yield visit
    visit.close()


@pytest.fixture(scope="session")
def wine():
    """Return rules fitted on every second wine, and all wines."""
    from sklearn.datasets import load_wine

    from frri import FRRIClassifier

    X, y = load_wine(return_X_y=True, as_frame=True)
    y = pd.Series(np.array(["Barolo", "Grignolino", "Barbera"])[y], name="cultivar")
    return FRRIClassifier().fit(X[::2], y[::2]).ruleset_, X, y


@pytest.fixture(scope="module")
def pages(browser, tmp_path_factory):
    visit = Visit(browser, tmp_path_factory.mktemp("pages"))
    yield visit
    visit.close()

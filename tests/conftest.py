"""Programs that are started once for all tests of a file."""

import os
import shutil
import sys

import pytest

from programs import NODE_DRIVER, PYTHON_DRIVER, Program, required

# Models say when they were made; those of the tests must be the same in every run.
os.environ.setdefault("SOURCE_DATE_EPOCH", "1704067200")


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

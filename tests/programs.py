"""Programs that run exported rules: databases, a Python without packages, and Node."""

import json
import os
import sqlite3
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import frri
from frri.export import to_javascript, to_python, to_sql

PAGE_EVALUATOR = Path(frri.__file__).parent / "report" / "static" / "core" / "evaluator.js"

# Tests of the library run everywhere; these tests need further programs.
posix = pytest.mark.skipif(os.name != "posix", reason="needs signals, shells and modes of POSIX")
device_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


def required(name, found):
    """Skip tests that this machine cannot run; fail where all tests must run."""
    if found:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"{name} is missing")
    pytest.skip(f"needs {name}")


PYTHON_DRIVER = """
import json, sys
for line in sys.stdin:
    path, rows, names = json.loads(line)
    try:
        module = {}
        with open(path, encoding="utf-8") as file:
            exec(compile(file.read(), path, "exec"), module)
        answers = [[module[name](row) for name in names] for row in rows]
    except Exception as error:
        answers = repr(error)
    print(json.dumps(answers), flush=True)
"""
NODE_DRIVER = """
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
for await (const line of createInterface({ input: process.stdin })) {
  const [path, rows, names] = JSON.parse(line);
  let answers;
  try {
    const m = await import(pathToFileURL(path));
    answers = rows.map((row) => names.map((name) => m[name](row)));
  } catch (error) {
    answers = String(error);
  }
  process.stdout.write(JSON.stringify(answers) + "\\n");
}
"""


class Program:
    """A process that evaluates exported modules, one line of JSON at a time."""

    def __init__(self, command, folder, suffix):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        self.folder, self.suffix, self.count = folder, suffix, 0

    def run(self, source, rows, names=("predict",)):
        """Return the results of functions of a module for rows: rows x functions."""
        self.count += 1
        path = self.folder / f"module{self.count}{self.suffix}"
        path.write_text(source, encoding="utf-8")
        self.process.stdin.write(json.dumps([str(path), rows, names]) + "\n")
        self.process.stdin.flush()
        answers = json.loads(self.process.stdout.readline())
        assert isinstance(answers, list), answers
        return answers

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()


def python_module(ruleset):
    """Return the exported Python module, in this process."""
    module = {}
    exec(to_python(ruleset), module)
    return SimpleNamespace(**module)


def sqlite_answers(ruleset, frame, **options):
    """Return predictions, rules and scores from SQLite, in the order of the rows."""
    quoted = ['"' + name.replace('"', '""') + '"' for name in frame.columns]
    database = sqlite3.connect(":memory:")
    try:
        database.execute(f'CREATE TABLE "a ""table""" (row_number, {", ".join(quoted)})')
        places = ", ".join("?" * (len(quoted) + 1))
        values = [[*row] for row in frame.itertuples(index=True, name=None)]
        database.executemany(f'INSERT INTO "a ""table""" VALUES ({places})', values)
        query = to_sql(ruleset, 'a "table"', keep=["row_number"], as_view="v'iew", **options)
        database.execute(query)
        return database.execute('SELECT * FROM "v\'iew" ORDER BY row_number').fetchall()
    finally:
        database.close()


def duck_answers(duck, ruleset, frame, dialect="duckdb"):
    table = frame.reset_index(names="row_number")
    duck.register("frame", table)
    duck.execute('CREATE OR REPLACE TABLE "a ""table""" AS SELECT * FROM frame')
    duck.unregister("frame")
    query = to_sql(ruleset, ["main", 'a "table"'], dialect=dialect, keep=["row_number"])
    return sorted(duck.execute(query).fetchall(), key=lambda row: row[0])


def records(frame):
    """Return the rows of a table as JSON values."""
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def agree_in_decisions(ruleset, frame, duck, bare_python, node):
    """Compare predictions, deciding rules and scores of all programs with the library, row by row."""
    expected = ruleset.predict(frame).tolist()
    python = [a for (a,) in bare_python.run(to_python(ruleset), records(frame), ["explain"])]
    script = [a for (a,) in node.run(to_javascript(ruleset), records(frame), ["explain"])]
    assert [answer["prediction"] for answer in python] == expected
    assert python == script
    rules, scores = [a["rule"] for a in python], ruleset.scores(frame).max(axis=1)
    for answers in (sqlite_answers(ruleset, frame), duck_answers(duck, ruleset, frame)):
        assert [answer[1] for answer in answers] == expected
        assert [answer[2] for answer in answers] == rules
        found = np.array([answer[3] for answer in answers])
        np.testing.assert_allclose(found, scores, rtol=0, atol=1e-12)


def agree(ruleset, frame, duck, bare_python, node):
    """Compare these, and all other numbers that programs return."""
    agree_in_decisions(ruleset, frame, duck, bare_python, node)
    names = ["predict", "scores", "probabilities", "degrees"]
    known = [ruleset.scores(frame), ruleset.predict_proba(frame), ruleset.degrees(frame)]
    expected = ruleset.predict(frame).tolist()
    for program, export in ((bare_python, to_python), (node, to_javascript)):
        answers = program.run(export(ruleset), records(frame), names)
        assert [answer[0] for answer in answers] == expected
        for i, values in enumerate(known, start=1):
            found = np.array([answer[i] for answer in answers]).reshape(values.shape)
            np.testing.assert_allclose(found, values, rtol=0, atol=1e-12)

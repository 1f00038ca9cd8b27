"""Runs: identical results after interruptions, and unchanged earlier results."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from collections import Counter

import cloudpickle
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier

from frri.compare import journal, run
from frri.compare.journal import JournalError
from programs import posix
from thorough import often

LEARNERS = {"tree": DecisionTreeClassifier(), "stump": DecisionTreeClassifier(max_depth=1)}
# `frri.compare.run` as an attribute is the function.
RUN_MODULE = sys.modules["frri.compare.run"]
METRICS = ["balanced_accuracy", "rules"]


def small(out, learners=LEARNERS, **settings):
    settings = {"n_folds": 3, "workers": 0, "metrics": METRICS, **settings}
    return run(["wine", "heart"], learners, out=out, **settings)


def lines(out):
    return [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]


def without_costs(out):
    """Return the file of results without times and the order of cells."""
    header, *rest = lines(out)
    for line in rest:
        line.pop("cost", None)
        line.pop("check")
    return header, sorted(rest, key=lambda line: json.dumps(line, sort_keys=True))


def test_one_and_two_workers_give_the_same_file_up_to_times(tmp_path):
    for workers in (0, 1, 2):
        small(tmp_path / str(workers), workers=workers, full=True)
    expected = without_costs(tmp_path / "1")
    assert without_costs(tmp_path / "2") == expected
    assert without_costs(tmp_path / "0") == expected
    first, second = (
        small(tmp_path / name, full=True).frame().filter(regex="^(?!.*(seconds|memory))")
        for name in ("1", "2")
    )
    assert first.equals(second)
    assert len(first) == 2 * 2 * 4


KILLING = """
import os, random, signal, sys, time
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from frri.compare import run

def whole(out, workers):
    learners = {"forest": RandomForestClassifier(60), "tree": DecisionTreeClassifier()}
    run(["wine", "heart"], learners, n_folds=6, workers=workers, out=out)

undisturbed, killed, attempts = sys.argv[1:]
whole(undisturbed, 0)
random.seed(4)
ended = 0
for attempt in range(int(attempts)):
    workers = 2 if attempt % 7 == 0 else 0
    child = os.fork()
    if not child:
        try:
            whole(killed, workers)
        finally:
            os._exit(0)
    time.sleep(random.uniform(0.5, 3.0) if workers else random.uniform(0.0, 0.2))
    os.kill(child, signal.SIGKILL)
    ended += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
whole(killed, 0)
print(ended)
"""


@posix
def test_repeated_kills_change_nothing(tmp_path):
    attempts = often(14)
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    done = subprocess.run(
        [sys.executable, "-c", KILLING, undisturbed, killed, str(attempts)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) >= attempts / 2, (
        "most attempts must have been killed before they were done"
    )
    assert without_costs(killed) == without_costs(undisturbed)
    cells = Counter((c["dataset"], c["learner"], c["fold"]) for c in lines(killed) if "fold" in c)
    assert set(cells.values()) == {1}
    assert len(cells) == 2 * 2 * 6


@pytest.mark.parametrize("cut", [1, 30, 400])
def test_an_incomplete_line_is_repeated(tmp_path, cut):
    small(tmp_path / "whole")
    small(tmp_path / "torn")
    file = tmp_path / "torn" / "results.jsonl"
    content = file.read_bytes()
    file.write_bytes(content[:-cut])
    small(tmp_path / "torn")
    assert without_costs(tmp_path / "torn") == without_costs(tmp_path / "whole")
    file.write_bytes(content[:20])  # within the very first line
    small(tmp_path / "torn")
    assert without_costs(tmp_path / "torn") == without_costs(tmp_path / "whole")


def test_a_finished_run_is_only_read(tmp_path):
    first = small(tmp_path).means("rules")
    before = (tmp_path / "results.jsonl").read_bytes()
    assert small(tmp_path).means("rules").equals(first)
    assert (tmp_path / "results.jsonl").read_bytes() == before


def test_learners_may_be_added_to_a_file(tmp_path):
    small(tmp_path, {"tree": LEARNERS["tree"]})
    before = (tmp_path / "results.jsonl").read_bytes()
    small(tmp_path)
    assert (tmp_path / "results.jsonl").read_bytes().startswith(before)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_folds": 4}, "was made with folds 3, this run has 4: choose another directory"),
        ({"seed": 1}, "was made with seed 0, this run has 1"),
        (
            {"metrics": ["rules"]},
            "was made with metrics balanced_accuracy, rules, this run has rules",
        ),
        (
            {"learners": {"tree": DecisionTreeClassifier(max_depth=3)}},
            r"learner 'tree' with DecisionTreeClassifier\(\), not DecisionTreeClassifier\(max_depth=3\)",
        ),
    ],
)
def test_other_settings_are_refused_and_nothing_is_touched(tmp_path, settings, message):
    small(tmp_path)
    before = (tmp_path / "results.jsonl").read_bytes()
    with pytest.raises(JournalError, match=message):
        small(tmp_path, **settings)
    assert (tmp_path / "results.jsonl").read_bytes() == before


def test_other_data_under_the_same_name_are_refused(tmp_path):
    pair = ([[1.0], [2.0], [3.0], [4.0]], list("abab"))
    other = ([[1.0], [2.0], [3.0], [5.0]], list("abab"))
    run([pair], LEARNERS, out=tmp_path, n_folds=2, workers=0)
    with pytest.raises(JournalError, match="data set 'data' with other values or folds"):
        run([other], LEARNERS, out=tmp_path, n_folds=2, workers=0)


def test_files_of_other_versions_are_refused_and_not_touched(tmp_path, monkeypatch):
    small(tmp_path)
    file = tmp_path / "results.jsonl"
    before = file.read_bytes()
    with monkeypatch.context() as m:
        m.setattr(RUN_MODULE, "__version__", "9.9")
        with pytest.raises(JournalError, match=r"with frri \S+, this run has 9\.9"):
            small(tmp_path)
    with monkeypatch.context() as m:
        m.setattr(journal, "FORMAT", 3)
        with pytest.raises(JournalError, match="is written in format 2, this version reads 3"):
            small(tmp_path)
    assert file.read_bytes() == before
    for content, message in (
        ("hello\n", "line 1 is damaged"),
        ("{}\n", "is not a results file"),
        ("[1]\n", "line 1 is damaged"),
    ):
        file.write_text(content)
        with pytest.raises(JournalError, match=message):
            small(tmp_path)
        assert file.read_text() == content


def test_two_runs_do_not_write_to_one_file(tmp_path):
    pytest.importorskip("fcntl")
    with (
        journal.open_journal(tmp_path / "results.jsonl", {}, {}),
        pytest.raises(JournalError, match="is being written by another run"),
    ):
        small(tmp_path)


# Other processes cannot import this module by the name that pytest uses.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


class Troublesome(ClassifierMixin, BaseEstimator):
    """An estimator that fails in the way of its parameter."""

    def __init__(self, how="raise"):
        self.how = how

    def fit(self, X, y):
        if self.how == "raise":
            raise RuntimeError("no rules today")
        if self.how == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.how == "sleep":
            time.sleep(60)
        if self.how == "warn":
            warnings.warn("dull", stacklevel=2)
        print("talking on stdout")  # noqa: T201 - must not mix with the results
        self.model_ = DummyClassifier().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)


@posix
def test_failures_are_recorded_and_the_run_goes_on(tmp_path):
    learners = {how: Troublesome(how) for how in ("raise", "die", "talk")}
    results = run(["wine"], learners, out=tmp_path, n_folds=2, workers=2)
    failures = Counter((c["learner"], c["failure"]) for c in results.failures)
    assert failures == {
        ("raise", "RuntimeError: no rules today"): 2,
        ("die", "the process ended with code -9"): 2,
    }
    assert results.means("accuracy").notna().loc["wine"].tolist() == [False, False, True]


def test_a_learner_that_takes_too_long_is_ended(tmp_path):
    sleeper = {"sleep": Troublesome("sleep")}
    results = run(["wine"], sleeper, out=tmp_path, n_folds=2, workers=1, time_limit=0.5)
    assert [c["failure"] for c in results.failures] == ["took longer than 0.5 seconds"] * 2


@posix
def test_ctrl_c_ends_cleanly_and_the_same_command_goes_on(tmp_path):
    command = [sys.executable, "-m", "frri", "bench", "--datasets", "vowel", "--learners", "forest"]
    command += ["--folds", "20", "--workers", "1", "--out", str(tmp_path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    file = tmp_path / "results.jsonl"
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline and (not file.exists() or len(lines_so_far(file)) < 4):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    output = process.communicate(timeout=600)[1]
    assert process.returncode == 1
    assert "interrupted; what is finished is stored" in output
    assert "Traceback" not in output
    stored = len(lines_so_far(file))
    assert 4 <= stored < 23  # 3 lines before those of the folds
    assert all(isinstance(json.loads(line), dict) for line in lines_so_far(file))


def lines_so_far(file):
    return file.read_text().splitlines()


def test_learners_of_a_script_without_a_guard_run_in_processes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
            from sklearn.dummy import DummyClassifier
            import frri.compare as bench
            from frri._util import n_threads

            class Mine(DummyClassifier):
                def predict(self, X):
                    return ["1"] * len(X)

            bench.add_metric("half", lambda outcome: 0.5)
            bench.add_metric("threads", lambda outcome: n_threads())  # the processes are enough
            results = bench.run(["wine"], {"mine": Mine()}, n_folds=2, workers=2)
            print(results.means("half").loc["wine", "mine"], results.failures)
            print(results.means("threads").loc["wine", "mine"])
        """)
    )
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout == "0.5 []\n1.0\n"


@pytest.mark.parametrize("workers", [0, 1])
def test_warnings_are_notes_of_their_cells(tmp_path, workers):
    shown = warnings.showwarning
    learners = {"warn": Troublesome("warn"), "dummy": DummyClassifier()}
    results = run(["wine"], learners, out=tmp_path, n_folds=2, workers=workers)
    assert [cell.get("notes") for cell in results.cells] == [["dull"], ["dull"], None, None]
    assert warnings.showwarning is shown


def test_an_estimator_that_cannot_be_pickled_is_a_failure(tmp_path):
    class Elsewhere(DummyClassifier):
        def __reduce__(self):
            return __import__, ("nowhere_to_be_found",)

    results = run(["wine"], {"lost": Elsewhere()}, out=tmp_path, n_folds=2, workers=1)
    message = "ModuleNotFoundError: No module named 'nowhere_to_be_found'"
    assert [c["failure"] for c in results.failures] == [message] * 2

"""The command `frri compare`: exit codes, error messages, results on stdout."""

import errno
import os
import subprocess
import sys

import pandas as pd
import pytest

from frri.cli import main
from frri.compare import journal
from frri.learners import registry


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*arguments):
    return main(["bench", *arguments, "--workers", "0"])


def test_a_full_disk_is_reported_with_the_output_folder(capsys, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(journal.os, "fsync", full)
    assert run("--datasets", "sklearn:iris", "--learners", "tree", "--folds", "2") == 2
    assert capsys.readouterr().err == "frri: bench: No space left on device.\n"


def test_own_data_from_beginning_to_end(tmp_path, capsys):
    frame = pd.DataFrame(
        {"a": range(20), "b": ["u", "v"] * 10, "risk": ["low"] * 8 + ["high"] * 12}
    )
    frame.to_csv("patients.csv", index=False)
    arguments = ["patients.csv", "--target", "risk", "--learners", "frri,tree,knn", "--folds", "3"]
    assert run(*arguments) == 0
    output = capsys.readouterr()
    assert output.out.startswith("| learner | balanced accuracy |")
    assert output.out.endswith("bench/report.html\n")
    assert output.err == (
        "patients: not run: decision tree takes numbers only, and 'b' holds others\n"
        "patients: not run: 5-nearest neighbors takes numbers only, and 'b' holds others\n"
    )
    page = (tmp_path / "bench" / "report.html").read_text()
    assert "<li>patients: not run: decision tree takes numbers only" in page
    rows = pd.read_csv("bench/results.csv")
    assert rows["balanced_accuracy"].notna().sum() == 3
    assert rows["failure"].str.startswith("not run: ").sum() == 2
    assert run(*arguments) == 0
    assert capsys.readouterr().out == output.out
    before = (tmp_path / "bench" / "results.jsonl").read_bytes()
    assert run(*arguments, "--seed", "3") == 2
    assert "was made with seed 0, this run has 3: choose another" in capsys.readouterr().err
    assert (tmp_path / "bench" / "results.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Name datasets or files to compare, or use --quick"),
        (["--datasets", "wime"], "no dataset 'wime'; did you mean 'wine'?"),
        (["--quick", "--learners", "fria"], "no learner 'fria'; did you mean 'furia'?"),
        (["--quick", "--learners", "sklearn.nothing.At"], "'sklearn.nothing.At' is not available"),
        (["--quick", "--learners", "sklearn.linear_model.Ridge"], "is not a classifier"),
        (["lost.csv"], "There is no file lost.csv."),
        (["--datasets", "wine,wine"], "Two datasets are called 'wine'"),
        (
            ["--datasets", "wine", "--learners", "tree", "--folds", "100"],
            "no class has 100 members",
        ),
    ],
)
def test_bad_requests_get_one_sentence(capsys, tmp_path, arguments, sentence):
    assert run(*arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert sentence in output.err
    assert output.err.startswith("frri: ")
    assert output.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_bad_numbers_are_refused_by_the_parser(capsys):
    assert main(["bench", "--quick", "--folds", "1"]) == 2
    assert "expected an integer, 2 or more, got '1'" in capsys.readouterr().err


def test_failures_exit_with_1_and_small_classes_are_reported(capsys):
    failing = "sklearn.naive_bayes.MultinomialNB"  # refuses negative values, which vowel has
    assert run("--datasets", "vowel,glass", "--learners", failing, "--folds", "10") == 1
    output = capsys.readouterr().err
    assert "glass: class '6' has 9 members, fewer than the 10 folds" in output
    assert f"failed: {failing} on vowel, fold 0: ValueError: Negative values" in output
    assert "and 5 more failures" in output
    rows = pd.read_csv("bench/results.csv")
    assert rows["failure"].notna().sum() == 10
    assert rows["balanced_accuracy"].notna().sum() == 10


def test_options_about_columns_are_those_of_fit(capsys):
    frame = pd.DataFrame(
        {
            "a": range(20),
            "b": ["u", "v"] * 10,
            "c": [None, 1.5] * 10,
            "risk": ["x"] * 8 + ["y"] * 12,
        }
    )
    frame.to_csv("p.csv", index=False)
    common = ["p.csv", "--target", "risk", "--learners", "tree,knn", "--folds", "2"]
    assert run(*common) == 2
    output = capsys.readouterr().err
    assert "p: not run: decision tree takes numbers only, and 'b' holds others" in output
    assert output.endswith("frri: None of the learners can be run on these data; see above.\n")
    assert run(*common, "--learners", "knn", "--ignore", "b") == 2
    output = capsys.readouterr().err
    assert "p: not run: 5-nearest neighbors takes no missing values, and 'c' has some" in output
    assert run(*common, "--ignore", "b", "--ignore", "c") == 0
    assert "not run" not in capsys.readouterr().err
    assert run(*common, "--ignore", "risk") == 2
    assert "'risk' is given both to --ignore and --target" in capsys.readouterr().err
    assert run(*common, "--ordinal", "b=u<w") == 2
    assert (
        "Column 'b' holds 'v' in row 2, which is not in the order u < w" in capsys.readouterr().err
    )
    assert run("--datasets", "wine", "--ignore", "Hue") == 2
    assert "speak of files" in capsys.readouterr().err


def test_a_learner_that_is_not_there_is_reported_and_left_out(capsys, monkeypatch):
    gone = registry.Learner("frri", "FRRI", "frri.learners.gone.GoneClassifier")
    kept = {"frri": gone, "tree": registry.LEARNERS["tree"]}
    monkeypatch.setattr(registry, "LEARNERS", kept)
    monkeypatch.setattr("frri.compare.evaluate.LEARNERS", tuple(kept))
    assert run("--datasets", "wine", "--folds", "2") == 0
    output = capsys.readouterr()
    assert "the learner 'frri' is not available: No module named 'frri.learners.gone'" in output.err
    assert "decision tree" in output.out


def test_help_needs_nothing_slow():
    code = (
        "import sys; from frri.cli import main; main(['bench', '--help']); "
        "print({'sklearn', 'pandas', 'matplotlib'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"

"""The command: exit codes, sentences instead of tracebacks, results on stdout."""

import json
import subprocess
import sys

import pandas as pd
import pytest

from frri.cli import bench as command
from frri.cli.bench import main
from frri.compare import learners as registry


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command.signal, "signal", lambda *_: None)


def run(*arguments):
    return main([*arguments, "--workers", "0", "--quiet"])


def test_own_data_from_beginning_to_end(tmp_path, capsys):
    frame = pd.DataFrame(
        {"a": range(20), "b": ["u", "v"] * 10, "risk": ["low"] * 8 + ["high"] * 12}
    )
    frame.to_csv("patients.csv", index=False)
    arguments = ["patients.csv", "--target", "risk", "--learners", "frri,tree,knn", "--folds", "3"]
    assert run(*arguments) == 0
    said = capsys.readouterr()
    assert said.out.startswith("| learner | balanced accuracy |")
    assert said.out.endswith("bench/report.html\n")
    assert said.err == "patients: not numeric, left out: 'b'\n"
    assert "patients" in (tmp_path / "bench" / "report.html").read_text()
    assert run(*arguments) == 0
    assert capsys.readouterr().out == said.out
    before = (tmp_path / "bench" / "results.jsonl").read_bytes()
    assert run(*arguments, "--seed", "3") == 2
    assert "was made with seed 0, this run has 3: choose another" in capsys.readouterr().err
    assert (tmp_path / "bench" / "results.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "what shall be compared? Name data sets or files, or ask for --quick or --paper"),
        (["--datasets", "wime"], "there is no data set 'wime'; did you mean 'wine'?"),
        (["--quick", "--learners", "fria"], "there is no learner 'fria'; did you mean 'furia'?"),
        (["--quick", "--learners", "sklearn.nothing.At"], "'sklearn.nothing.At' is not available"),
        (["--quick", "--learners", "sklearn.linear_model.Ridge"], "is not a classifier"),
        (["lost.csv"], "there is no file lost.csv"),
        (["--datasets", "wine,wine"], "two data sets are called 'wine'"),
        (
            ["--datasets", "wine", "--learners", "tree", "--folds", "100"],
            "no class has 100 members",
        ),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(capsys, tmp_path, arguments, sentence):
    assert run(*arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert sentence in said.err
    assert said.err.startswith("frri bench: ")
    assert said.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_bad_numbers_are_refused_by_the_parser(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--quick", "--folds", "1"])
    assert end.value.code == 2
    assert "must be 2 or more, got 1" in capsys.readouterr().err


def test_failures_end_with_one_and_small_classes_are_told(capsys):
    failing = "sklearn.naive_bayes.MultinomialNB"  # refuses negative values, which vowel has
    assert run("--datasets", "vowel,glass", "--learners", failing, "--folds", "10") == 1
    said = capsys.readouterr().err
    assert "glass: class '6' has 9 members, fewer than the 10 folds" in said
    assert f"failed: {failing} on vowel, fold 0: ValueError: Negative values" in said
    assert "and 5 more failures" in said
    rows = pd.read_csv("bench/results.csv")
    assert rows["failure"].notna().sum() == 10
    assert rows["balanced_accuracy"].notna().sum() == 10


def test_a_learner_that_is_not_there_is_reported_and_left_out(capsys, monkeypatch):
    gone = registry.Learner("frri", "FRRI", "frri.learners.gone.GoneClassifier")
    kept = {"frri": gone, "tree": registry._KNOWN["tree"]}
    monkeypatch.setattr(registry, "_KNOWN", kept)
    monkeypatch.setattr(registry, "LEARNERS", tuple(kept))
    assert run("--datasets", "wine", "--folds", "2") == 0
    said = capsys.readouterr()
    assert "the learner 'frri' is not available: No module named 'frri.learners.gone'" in said.err
    assert "decision tree" in said.out


def test_the_papers_tables_next_to_ours(capsys, tmp_path):
    assert (
        run("--datasets", "wine", "--learners", "frri,ripper", "--folds", "3", "--docs", "here.md")
        == 0
    )
    text = (tmp_path / "here.md").read_text()
    assert "| data set | FRRI: paper | here | RIPPER: paper | here |" in text
    assert "| wine | 0.921 |" in text
    cells = [json.loads(s) for s in (tmp_path / "bench" / "results.jsonl").read_text().splitlines()]
    assert sum(cell.get("fold") == -1 for cell in cells) == 2
    capsys.readouterr()


def test_help_needs_nothing_slow():
    code = (
        "import sys; from frri.cli.bench import parser; parser().format_help(); "
        "print({'sklearn', 'pandas', 'matplotlib'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"

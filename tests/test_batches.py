"""Files larger than memory: reading in parts, and atomic writing of predictions."""

import csv
import io
from datetime import date
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frri import Attribute, NominalCondition, NumericCondition, Rule, RuleSet, read_table
from frri.cli import main
from frri.readers import files as readers
from frri.readers.files import read_batches
from thorough import often

MODEL = RuleSet(
    rules=(
        Rule((NumericCondition("age", 25, 40),), "no", 0.9),
        Rule((NominalCondition("colour", frozenset({"red"})),), "yes", 0.8),
        Rule((NumericCondition("born", 18628, 18700),), "yes", 0.7),
    ),
    attributes=(
        Attribute("age", 20, 60),
        Attribute("colour", categories=("blue", "red")),
        Attribute("born", 18628, 19000, kind="date"),
    ),
    classes=("no", "yes"),
    target="y",
)


@pytest.fixture
def small(monkeypatch):
    """Read in parts of a few rows."""
    monkeypatch.setattr(readers, "STRETCH", 300)
    monkeypatch.setattr(readers, "MOST_ROWS", 7)


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(0)
    n = 60
    return pd.DataFrame(
        {
            "key": [f"{i:03d}" for i in range(n)],
            "age": [
                None if i % 9 == 4 else int(a) for i, a in enumerate(random.integers(20, 60, n))
            ],
            "colour": random.choice(["red", "blue", "green", "black\nor white", None], n),
            "born": [date(2021, 1 + i % 12, 1 + i % 28) for i in range(n)],
            "note": [f'he said "{i}", or so' for i in range(n)],
            "size": np.where(np.arange(n) % 5 == 0, 2.5, np.arange(n)),
        }
    )


@pytest.fixture(scope="module")
def files(people, tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    people.to_csv(folder / "people.csv", index=False)
    people.to_csv(folder / "people.tsv", sep="\t", index=True)
    people.to_parquet(folder / "people.parquet", row_group_size=25)
    MODEL.save(folder / "model.json")
    return folder


ENDINGS = ["csv", "tsv", "parquet"]


@pytest.mark.filterwarnings("ignore:.*first column has no name")
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.usefixtures("small")
def test_parts_add_up_to_the_table(files, ending):
    path = files / f"people.{ending}"
    parts = list(read_batches(path, {"key": ()}))
    assert len(parts) > 4
    whole = read_table(path, {"key": ()})
    assert [part.start for part in parts] == np.cumsum([0, *(len(p.frame) for p in parts)])[
        :-1
    ].tolist()
    assert parts[-1].done == 1.0
    assert all(a.done <= b.done for a, b in pairwise(parts))
    joined = pd.concat([part.frame for part in parts], ignore_index=True)
    pd.testing.assert_frame_equal(joined, whole, check_dtype=False)


@pytest.mark.usefixtures("small")
def test_only_needed_columns_of_typed_files_are_read(files):
    first = next(read_batches(files / "people.parquet", columns={"born", "age"})).frame
    assert list(first.columns) == ["age", "born"]
    # If a column is missing, all columns are returned, so that the error can list them.
    first = next(read_batches(files / "people.parquet", columns={"bron"})).frame
    assert len(first.columns) == 6


cells = st.text(alphabet='ab",;\n 1x', max_size=4)


@settings(max_examples=often(200), deadline=None)
@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=12), st.integers(1, 30))
def test_any_text_is_cut_between_rows(rows, size):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("a", "b"), *rows])
    content = text.getvalue().encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readers, "STRETCH", size)
        stretches = list(readers._stretches(_File(content)))
    assert b"".join(stretches) == content
    read = [row for stretch in stretches for row in csv.reader(io.StringIO(stretch.decode()))]
    assert read == list(csv.reader(io.StringIO(content.decode())))


@pytest.mark.parametrize("n_before", [0, 1000])
def test_an_unclosed_quotation_mark_is_reported_after_one_scan(n_before, tmp_path, monkeypatch):
    rows = ["1,x\n"] * n_before + ['1,"x\n'] + ["1,x\n"] * 4000
    (tmp_path / "x.csv").write_text("a,b\n" + "".join(rows))
    monkeypatch.setattr(readers, "STRETCH", 1000)
    with pytest.raises(ValueError, match="a quotation mark is opened and never closed"):
        list(read_batches(tmp_path / "x.csv"))
    *before, last = readers._stretches(tmp_path / "x.csv")
    assert all(part.count(b'"') == 0 for part in before)
    assert last.endswith(b"1,x\n" * 4000)


class _File:
    """A path as the reader needs it."""

    def __init__(self, content):
        self.content = content

    def open(self, _):
        return io.BytesIO(self.content)


# ---------------------------------------------------------------- frri predict

OPTIONS = {
    "plain": [],
    "all": ["--keep-all", "--proba", "--rules"],
    "json": ["--json", "--keep", "key,age", "--rules"],
}


def predicted(files, ending, options, capsys, output):
    command = ["predict", str(files / "model.json"), str(files / f"people.{ending}"), *options]
    assert main([*command, "-o", str(output)]) == 0
    printed = capsys.readouterr().err.splitlines()
    notes = [
        line for line in printed if not line.startswith("predicting ")
    ]  # progress, where it takes a second
    return output.read_text(encoding="utf-8"), "\n".join(notes)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_predictions_of_parts_are_those_of_the_whole(
    files, ending, options, capsys, tmp_path, monkeypatch
):
    whole = predicted(files, ending, options, capsys, tmp_path / "whole")
    monkeypatch.setattr(readers, "STRETCH", 300)
    monkeypatch.setattr(readers, "MOST_ROWS", 7)
    monkeypatch.setattr("frri.cli.predict.MOST_DEGREES", 50)
    parts = predicted(files, ending, options, capsys, tmp_path / "parts")
    assert parts == whole
    assert "2 categories never seen in training" in whole[1]
    assert "of 60 rows: no condition on it holds there" in whole[1]
    assert main([*_command(files, ending), *options]) == 0
    assert capsys.readouterr().out == whole[0]


def _command(files, ending):
    return ["predict", str(files / "model.json"), str(files / f"people.{ending}")]


@pytest.mark.usefixtures("small")
def test_late_failures_leave_no_files(tmp_path, capsys):
    rows = [f"{20 + i},red,2021-01-01\n" for i in range(60)]
    table, output = tmp_path / "bad.csv", tmp_path / "old.csv"
    MODEL.save(tmp_path / "model.json")
    output.write_text("precious")
    for wrong, message in (
        ("young,red,2021-01-01\n", "After row 50"),
        ("20,red,2021-01-01,7\n", "lines and rows counted from there"),
    ):
        table.write_text("age,colour,born\n" + "".join(rows[:50]) + wrong + "".join(rows[50:]))
        before = sorted(path.name for path in tmp_path.iterdir())
        command = ["predict", str(tmp_path / "model.json"), str(table)]
        assert main([*command, "-o", str(output)]) == 2
        printed = capsys.readouterr()
        assert message in printed.err
        assert printed.err.count("\n") == 1
        assert output.read_text() == "precious"
        assert sorted(path.name for path in tmp_path.iterdir()) == before
        assert main(command) == 2
        assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("small")
def test_a_typed_file_that_ends_early_is_reported_as_damaged(files, tmp_path, capsys):
    whole = (files / "people.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[:-40])
    assert main(["predict", str(files / "model.json"), str(tmp_path / "cut.parquet")]) == 2
    assert "cut.parquet is not a Parquet file, or a damaged one." in capsys.readouterr().err
    # The footer exists, but not the data that it refers to.
    (tmp_path / "holes.parquet").write_bytes(b"\0" * 600 + whole[600:])
    assert main(["predict", str(files / "model.json"), str(tmp_path / "holes.parquet")]) == 2
    assert capsys.readouterr().out == ""

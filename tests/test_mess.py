"""The command line on tables as people have them: it copes, and says what it did."""

import json

import pytest

from frri.cli import main

ROWS = [(i, i * 7 % 5, "ab"[i % 3 == 0], "no" if i < 10 else "yes") for i in range(20)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(rows=ROWS, header="age,crp mg/l,kind,y"):
    return header + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


def fitted(capsys, *options, data="x.csv"):
    """What is said while rules are learned, and the model."""
    code = main(["fit", data, "--target", "y", "-o", "m.json", *options])
    said = capsys.readouterr().err
    assert code == 0, said
    with open("m.json", encoding="utf-8") as file:  # noqa: PTH123 - one line
        return said, json.load(file)


def names(model):
    return [attribute["name"] for attribute in model["attributes"]]


def test_an_index_is_left_out_and_predicting_needs_none(folder, capsys):
    rows = [(i, *row) for i, row in enumerate(ROWS)]
    (folder / "x.csv").write_text(table(rows, ",age,crp mg/l,kind,y"))
    said, model = fitted(capsys)
    assert "note: x.csv: the first column has no name and numbers or names the rows" in said
    assert names(model) == ["age", "crp mg/l", "kind"]
    assert main(["predict", "m.json", "x.csv"]) == 0
    assert "note: x.csv: the first column has no name" in capsys.readouterr().err


def test_columns_to_ignore_are_listed_or_repeated_and_may_have_commas(folder, capsys):
    (folder / "x.csv").write_text(table())
    for options in (["--ignore", "age, kind"], ["--ignore", "age", "--ignore", "kind"]):
        assert names(fitted(capsys, *options)[1]) == ["crp mg/l"]
    (folder / "x.csv").write_text(table(header='"age,kind",age,kind,y'))
    assert names(fitted(capsys, "--ignore", "age,kind")[1]) == ["age", "kind"]
    (folder / "x.csv").write_text(table())
    assert main(["fit", "x.csv", "--target", "y", "-o", "m.json", "--ignore", "age,kin"]) == 2
    assert "x.csv has no column 'kin'; did you mean 'kind'?" in capsys.readouterr().err
    _, model = fitted(capsys, "--nominal", "age,crp mg/l")
    assert [a["kind"] for a in model["attributes"]] == ["nominal"] * 3


def test_marks_of_missing_values_are_named(folder, capsys):
    rows = [(-999 if i == 3 else i, "unknown" if i == 4 else b, *r) for i, b, *r in ROWS]
    (folder / "x.csv").write_text(table(rows))
    said, _ = fitted(capsys, "--missing", "-999,unknown")
    assert "2 numeric, 1 nominal; 2 missing values" in said
    for command in ("predict", "evaluate", "report"):
        assert main([command, "m.json", "x.csv", "--missing", "-999,unknown"]) == 0
    explain = ["explain", "m.json", "x.csv", "--row", "5", "--missing", "-999,unknown"]
    assert main(explain) == 0


def test_rows_without_a_class_are_left_out_on_demand(folder, capsys):
    rows = [(*r, "" if i == 7 else int(y == "yes")) for i, (*r, y) in enumerate(ROWS)]
    (folder / "x.csv").write_text(table(rows))
    assert main(["fit", "x.csv", "--target", "y", "-o", "m.json"]) == 2
    assert capsys.readouterr().err == (
        "frri: The target 'y' has no value in 1 of 20 rows, the first in row 8; "
        "leave them out (--drop-unlabelled).\n"
    )
    said, model = fitted(capsys, "--drop-unlabelled")
    assert "note: 1 of 20 rows have no 'y'; they are left out." in said
    assert "19 rows" in said
    assert model["classes"] == [0, 1]


def test_numbering_and_empty_columns_are_noted_with_what_to_type(folder, capsys):
    rows = [(892 + i * 7, i + 1, "", *r) for i, (_, *r) in enumerate(ROWS)]
    (folder / "x.csv").write_text(table(rows, "PassengerId,row_id,no use,crp mg/l,kind,y"))
    said, _ = fitted(capsys)
    assert "note: Column 'no use' has no values; leave it out with --ignore \"no use\"." in said
    assert (
        "note: Columns 'PassengerId', 'row_id' have another whole number in every row; "
        "leave them out with --ignore PassengerId,row_id." in said
    )
    said, _ = fitted(capsys, "--ignore", "PassengerId,row_id,no use")
    assert "leave" not in said


def test_suggestions_quote_names_with_spaces(folder, capsys):
    rows = [(a, "4o" if i == 5 else b, *r) for i, (a, b, *r) in enumerate(ROWS)]
    (folder / "x.csv").write_text(table(rows))
    assert main(["fit", "x.csv", "--target", "y", "-o", "m.json"]) == 2
    assert 'as nominal (--nominal "crp mg/l").' in capsys.readouterr().err


def test_rows_without_a_rule_are_counted_from_one_and_python_is_not_spoken(folder, capsys):
    twins = [(1, 1, "a", "no"), (1, 1, "a", "yes"), (2, 2, "b", "no"), (3, 3, "b", "yes")]
    (folder / "x.csv").write_text(table(twins))
    said, _ = fitted(capsys)
    assert "rows 1, 2" in said
    assert "uncovered_" not in said

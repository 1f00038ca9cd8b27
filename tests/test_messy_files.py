"""The command line on messy files, with notes about its assumptions."""

import csv
import json
import re
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from frri import (
    AdditiveRulesClassifier,
    Attribute,
    FURIAClassifier,
    MODLEMClassifier,
    NominalCondition,
    NumericCondition,
    RIPPERClassifier,
    Rule,
    RuleSet,
)
from frri.cli import main
from frri.learners.registry import LEARNERS
from frri.readers import read_table

ROWS = [(i, i * 7 % 5, "ab"[i % 3 == 0], "no" if i < 10 else "yes") for i in range(20)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(rows=ROWS, header="age,crp mg/l,kind,y"):
    return header + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


def fitted(capsys, *options, data="x.csv"):
    """Fit a model, and return the printed notes and the model."""
    code = main(["fit", data, "--target", "y", "-o", "m.json", *options])
    output = capsys.readouterr().err
    assert code == 0, output
    with open("m.json", encoding="utf-8") as file:  # noqa: PTH123 - one line
        return output, json.load(file)


def names(model):
    return [attribute["name"] for attribute in model["attributes"]]


def test_an_index_is_left_out_and_predicting_needs_none(folder, capsys):
    rows = [(i, *row) for i, row in enumerate(ROWS)]
    (folder / "x.csv").write_text(table(rows, ",age,crp mg/l,kind,y"))
    output, model = fitted(capsys, "--no-check")
    assert "note: x.csv: the first column has no name and numbers or names the rows" in output
    assert names(model) == ["age", "crp mg/l", "kind"]
    assert main(["predict", "m.json", "x.csv"]) == 0
    assert "note: x.csv: the first column has no name" in capsys.readouterr().err


def test_columns_to_ignore_are_listed_or_repeated_and_may_have_commas(folder, capsys):
    (folder / "x.csv").write_text(table())
    for options in (["--ignore", "age, kind"], ["--ignore", "age", "--ignore", "kind"]):
        assert names(fitted(capsys, "--no-check", *options)[1]) == ["crp mg/l"]
    (folder / "x.csv").write_text(table(header='"age,kind",age,kind,y'))
    assert names(fitted(capsys, "--no-check", "--ignore", "age,kind")[1]) == ["age", "kind"]
    (folder / "x.csv").write_text(table())
    assert main(["fit", "x.csv", "--target", "y", "-o", "m.json", "--ignore", "age,kin"]) == 2
    assert "x.csv has no column 'kin'; did you mean 'kind'?" in capsys.readouterr().err
    _, model = fitted(capsys, "--no-check", "--nominal", "age,crp mg/l")
    assert [a["kind"] for a in model["attributes"]] == ["nominal"] * 3


def test_marks_of_missing_values_are_named(folder, capsys):
    rows = [(-999 if i == 3 else i, "unknown" if i == 4 else b, *r) for i, b, *r in ROWS]
    (folder / "x.csv").write_text(table(rows))
    output, _ = fitted(capsys, "--no-check", "--na-values", "-999,unknown", "--learner", "frri")
    assert re.search(r"2 numeric, 1 nominal \(\w+: \d+ values\); 2 missing values", output)
    for command in ("predict", "evaluate", "report"):
        assert main([command, "m.json", "x.csv", "--na-values", "-999,unknown"]) == 0
    explain = ["explain", "m.json", "x.csv", "--row", "5", "--na-values", "-999,unknown"]
    assert main(explain) == 0


def test_rows_without_a_class_are_left_out_on_demand(folder, capsys):
    rows = [(*r, "" if i == 7 else int(y == "yes")) for i, (*r, y) in enumerate(ROWS)]
    (folder / "x.csv").write_text(table(rows))
    assert main(["fit", "x.csv", "--target", "y", "-o", "m.json"]) == 2
    assert capsys.readouterr().err == (
        "frri: The target 'y' has no value in 1 of 20 rows, the first in row 8; "
        "leave them out (--drop-unlabelled).\n"
    )
    output, model = fitted(capsys, "--no-check", "--drop-unlabelled")
    assert "note: 1 of 20 rows have no 'y'; they are left out." in output
    assert "19 rows" in output
    assert model["classes"] == [0, 1]


def test_empty_columns_are_noted_and_numbering_ones_left_out(folder, capsys):
    rows = [(892 + i * 7, i + 1, "", *r) for i, (_, *r) in enumerate(ROWS)]
    (folder / "x.csv").write_text(table(rows, "PassengerId,row_id,no use,crp mg/l,kind,y"))
    output, model = fitted(capsys, "--no-check")
    assert "note: No values in 'no use'; exclude with --ignore \"no use\"." in output
    for name in ("PassengerId", "row_id"):
        assert (
            f"note: Column '{name}' looks like an identifier (20 distinct values in 20 rows) and is "
            f"ignored; keep it with --numeric {name}." in output
        )
    assert names(model) == ["no use", "crp mg/l", "kind"]
    output, _ = fitted(capsys, "--no-check", "--ignore", "PassengerId,row_id,no use")
    assert "leave" not in output
    assert "ignored" not in output
    kept = fitted(capsys, "--no-check", "--numeric", "row_id", "--nominal", "PassengerId")[1]
    assert names(kept) == ["PassengerId", "row_id", "no use", "crp mg/l", "kind"]
    assert [a["name"] for a in kept["attributes"] if a["kind"] == "nominal"] == [
        "PassengerId",
        "kind",
    ]


def test_consecutive_numbers_are_left_out_under_any_name(folder, capsys):
    rows = [(1000 + i + i // 20, 1960 + i, i * 7 % 60, *r) for i, (_, *r) in enumerate(ROWS * 3)]
    (folder / "x.csv").write_text(table(rows, "Kundennummer,year,age,crp mg/l,kind,y"))
    output, model = fitted(capsys, "--no-check")
    assert (
        "note: Column 'Kundennummer' looks like an identifier (60 distinct values in 60 rows)"
        in output
    )
    assert names(model) == ["year", "age", "crp mg/l", "kind"]
    # Distinct measurements are not consecutive, or not sorted.
    rows = [(20_000 + i * 37 % 600, "yes" if i > 30 else "no") for i in range(60)]
    (folder / "x.csv").write_text(table(rows, "income,y"))
    assert names(fitted(capsys, "--no-check")[1]) == ["income"]


def test_a_column_that_counts_up_is_kept_where_there_is_no_other(folder, capsys):
    rows = [(i, "yes" if i > 30 else "no") for i in range(60)]
    (folder / "x.csv").write_text(table(rows, "id,y"))
    assert names(fitted(capsys, "--no-check")[1]) == ["id"]


def test_rows_without_a_class_are_left_out_of_evaluation_and_page(folder, capsys):
    (folder / "x.csv").write_text(table())
    fitted(capsys, "--no-check")
    (folder / "some.csv").write_text(table([(*r[:3], "" if r[0] == 3 else r[3]) for r in ROWS]))
    assert main(["report", "m.json", "some.csv"]) == 2
    assert capsys.readouterr().err == (
        "frri: Column 'y' has no class in row 4 (1 of 20 rows); leave out what has none "
        "(--drop-unlabelled).\n"
    )
    note = "note: 1 of 20 rows have no 'y'; they are left out.\n"
    assert main(["evaluate", "m.json", "some.csv", "--drop-unlabelled"]) == 0
    out, err = capsys.readouterr()
    assert note in err
    assert out.startswith("rows                     19\n")
    assert main(["report", "m.json", "some.csv", "--drop-unlabelled"]) == 0
    assert note in capsys.readouterr().err


def test_a_category_never_seen_is_noted_by_explain(folder, capsys):
    rules = RuleSet(
        (Rule((NominalCondition("sex", ("male",)), NumericCondition("size", 0, 1)), "no", 1.0),),
        (
            Attribute("sex", categories=("female", "male")),
            Attribute("size", categories=("small", "large"), kind="ordinal"),
            Attribute("job", categories=("nurse",)),
        ),
        ("no", "yes"),
    )
    rules.save("m.json")
    assert main(["explain", "m.json", "sex=man", "size=huge", "job=clerk"]) == 0
    assert capsys.readouterr().err == (
        "note: sex = man was never seen in training, which had female, male: no condition on it holds, "
        "except != and not in.\n"
        "note: size = huge was never seen in training, which had small, large: it counts as missing.\n"
    )
    (folder / "x.csv").write_text("sex,size\nfemale,\nman,small\n")
    assert main(["explain", "m.json", "x.csv", "--row", "2"]) == 0
    assert "note: sex = man was never seen" in capsys.readouterr().err
    assert main(["explain", "m.json", "x.csv", "--row", "1"]) == 0
    assert not capsys.readouterr().err


def test_names_of_rows_can_be_kept_beside_the_prediction(folder, capsys):
    (folder / "x.csv").write_text(table())
    fitted(capsys, "--no-check")
    (folder / "new.csv").write_text(
        table([(f"Mr {i}", *r) for i, r in enumerate(ROWS)], "rownames,age,crp mg/l,kind,y")
    )
    assert main(["predict", "m.json", "new.csv", "--keep", "rownames"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[:2] == ["rownames,prediction", "Mr 0,no"]
    assert "left out" not in err


def test_suggestions_quote_names_with_spaces(folder, capsys):
    rows = [(a, "4o" if i == 5 else b, *r) for i, (a, b, *r) in enumerate(ROWS)]
    (folder / "x.csv").write_text(table(rows))
    assert main(["fit", "x.csv", "--target", "y", "-o", "m.json", "--strict"]) == 2
    assert 'as nominal (--nominal "crp mg/l").' in capsys.readouterr().err


def test_uncovered_rows_are_numbered_from_one_without_names_of_python(folder, capsys):
    twins = [(1, 1, "a", "no"), (1, 1, "a", "yes"), (2, 2, "b", "no"), (3, 3, "b", "yes")]
    (folder / "x.csv").write_text(table(twins))
    output, _ = fitted(capsys, "--no-check")
    assert "rows 1, 2" in output
    assert "uncovered_" not in output


def output_of(capsys, *arguments):
    """Return the output for a table that is refused, or fitted without saving."""
    code = main(["fit", *arguments, "--target", "y"])
    captured = capsys.readouterr()
    return code, captured.err, captured.out


# ---------------------------------------------------------------------- titles, headers and names of rows


@pytest.mark.parametrize(
    "header",
    ["Patients of 2024\nall wards\n\n", "Patients, ward 3\n", "Patients of 2024,,,\n,,,\n"],
)
def test_a_title_above_the_header_is_left_out(header, folder, capsys):
    (folder / "x.csv").write_text(header + table())
    if "ward 3" in header:
        (folder / "x.csv").write_text(header + table().replace(",", ";"))
    output, model = fitted(capsys, "--no-check")
    assert f"note: x.csv: the table begins in line {header.count(chr(10)) + 1};" in output
    assert names(model) == ["age", "crp mg/l", "kind"]


@pytest.mark.parametrize(
    "text",
    [
        "name;y\nMiller, Anna;n\nSmith, Bob;y\nJones, Jo;n\n",  # commas in the values
        "a,\n1,\n2,\n",  # separators at the ends of lines
        '"a\nb",y\n1,n\n2,y\n',  # a name of two lines
        "a;y\n1,5;n\n2,5;y\n",  # decimal commas
    ],
)
def test_a_header_is_not_taken_for_a_title(text, folder):
    (folder / "x.csv").write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read_table(folder / "x.csv")) == text.count("\n") - 1 - text.count("a\n")


@pytest.mark.parametrize("separator", [",", " ", "\t"])
@pytest.mark.parametrize("names_of_rows", [str, "person {}".format])
@pytest.mark.usefixtures("folder")
def test_the_short_header_of_r_is_understood(separator, names_of_rows, capsys):
    frame = pd.DataFrame(ROWS, columns=["age", "crp mg/l", "kind", "y"])
    frame.index = [names_of_rows(i + 1) for i in range(len(frame))]
    frame["last"] = [None, *range(19)]
    written = {"index_label": False, "quoting": csv.QUOTE_NONNUMERIC, "na_rep": "NA"}
    frame.to_csv("x.csv", sep=separator, **written)
    output, model = fitted(capsys, "--ignore", "last", "--no-check")
    assert "note: x.csv: the first column has no name and numbers or names the rows" in output
    assert names(model) == ["age", "crp mg/l", "kind"]


def test_rows_that_are_longer_than_the_header_are_still_refused(folder, capsys):
    for text in ("a,y\n1,2,n\n3,4,n\n", "name,y\nanna,1,\nbob,2,\n"):
        (folder / "x.csv").write_text(text)
        assert output_of(capsys, "x.csv")[0] == 2


def test_names_of_rows_under_their_usual_names_are_left_out(folder, capsys):
    (folder / "x.csv").write_text(
        table([(i, *r) for i, r in enumerate(ROWS)], "rownames,age,b,kind,y")
    )
    output, model = fitted(capsys, "--no-check")
    assert "the first column is called 'rownames' and numbers or names the rows" in output
    assert names(model) == ["age", "b", "kind"]
    rows = [(i, i + 1, *r) for i, r in enumerate(ROWS)]
    (folder / "x.csv").write_text(table(rows, ",rownames,age,b,kind,y"))
    assert names(fitted(capsys, "--no-check")[1]) == ["age", "b", "kind"]


# ---------------------------------------------------------------------- values


def test_identifiers_are_ignored_unless_declared(folder, capsys):
    rows = [(f"person {i}", *r) for i, r in enumerate(ROWS)]
    (folder / "x.csv").write_text(table(rows, "name,age,b,kind,y"))
    output, model = fitted(capsys, "--no-check")
    assert (
        "note: Column 'name' looks like an identifier (20 distinct values in 20 rows) and is ignored; "
        "keep it with --nominal name." in output
    )
    assert names(model) == ["age", "b", "kind"]
    assert names(fitted(capsys, "--no-check", "--nominal", "name")[1]) == [
        "name",
        "age",
        "b",
        "kind",
    ]


def test_names_may_be_numbers_more_often_than_not(folder, capsys):
    rows = [(f"A/5 {i}" if i % 3 == 0 else 7000 + i, *r) for i, r in enumerate(ROWS)]
    (folder / "x.csv").write_text(table(rows, "ticket,age,b,kind,y"))
    output, model = fitted(capsys, "--no-check")
    assert "Column 'ticket' looks like an identifier (20 distinct values in 20 rows)" in output
    assert names(model) == ["age", "b", "kind"]


def test_few_values_that_come_again_are_categories_even_if_most_are_numbers(folder, capsys):
    rows = [("rotary" if i == 7 else 4 + 2 * (i % 3), *r) for i, r in enumerate(ROWS)]
    (folder / "x.csv").write_text(table(rows, "cylinders,age,b,kind,y"))
    output, model = fitted(capsys, "--no-check")
    assert (
        "note: Column 'cylinders' holds 'rotary' in row 8 among numbers; the column is taken as nominal "
        "(--numeric cylinders takes it as numbers)." in output
    )
    assert model["attributes"][0]["categories"] == ["4", "6", "8", "rotary"]
    code, output, _ = output_of(capsys, "x.csv", "--strict")
    assert code == 2
    assert (
        "holds 'rotary' in row 8 among numbers; correct or empty it, or declare the column"
        in output
    )
    output, model = fitted(capsys, "--no-check", "--numeric", "cylinders")
    assert "rotary" not in output
    assert re.search(r"3 numeric, 1 nominal \(\w+: \d+ values\); 1 missing value", output)
    assert model["attributes"][0]["kind"] == "numeric"


def test_words_among_numbers_are_missing_values_unless_refused(folder, capsys):
    words = {3: "some", 5: "none yet"}
    rows = [(words.get(i, i / 2), *r) for i, r in enumerate(ROWS * 2)]
    (folder / "x.csv").write_text(table(rows, "experience,age,b,kind,y"))
    output, model = fitted(capsys, "--no-check")
    assert (
        "note: Column 'experience' holds 'some' in row 4 among numbers; words count as missing "
        '(2 of 40 rows): confirm it by --na-values "some,none yet", also to frri predict, or keep them by '
        "--nominal experience." in output
    )
    assert re.search(r"3 numeric, 1 nominal \(\w+: \d+ values\); 2 missing values", output)
    assert (model["attributes"][0]["kind"], model["attributes"][0]["high"]) == ("numeric", 19.5)
    confirmed = ["--na-values", "some,none yet"]
    output, again = fitted(capsys, "--no-check", *confirmed)
    assert "words" not in output
    assert again["rules"] == model["rules"]
    assert main(["predict", "m.json", "x.csv", *confirmed]) == 0
    capsys.readouterr()
    code, output, _ = output_of(capsys, "x.csv", "--strict")
    assert code == 2
    assert output == (
        "frri: Column 'experience' holds 'some' in row 4 among numbers; correct or empty it, or "
        "declare the column as nominal (--nominal experience).\n"
    )
    assert (
        fitted(capsys, "--no-check", "--nominal", "experience")[1]["attributes"][0]["kind"]
        == "nominal"
    )
    bags = ["--bags", "2", "--sample", "20", "--no-check", "--seed", "0"]
    assert fitted(capsys, *bags)[1]["attributes"][0]["kind"] == "numeric"


def test_a_word_among_the_numbers_of_one_of_several_files_is_missing_too(folder, capsys):
    (folder / "x.csv").write_text(
        table([(0.1 * i, *r) for i, r in enumerate(ROWS)], "dose,age,b,kind,y")
    )
    rows = [("some" if i == 3 else 0.1 * i, *r) for i, r in enumerate(ROWS)]
    (folder / "more.csv").write_text(table(rows, "dose,age,b,kind,y"))
    for files in (["x.csv", "more.csv"], ["more.csv", "x.csv"]):
        code, output, _ = output_of(capsys, *files, "--no-check")
        assert code == 0
        assert (
            f"'dose' holds 'some' in row {24 if files[0] == 'x.csv' else 4} among numbers" in output
        )
        assert re.search(
            r"40 rows, 4 columns: 3 numeric, 1 nominal \(\w+: \d+ values\); 1 missing value", output
        )
    assert output_of(capsys, "x.csv", "more.csv", "--strict")[0] == 2


def test_words_among_dates_are_refused(folder, capsys):
    rows = [("soon" if i == 3 else f"2020-01-{i + 1:02}", *r) for i, r in enumerate(ROWS)]
    (folder / "x.csv").write_text(table(rows, "day,age,b,kind,y"))
    code, output, _ = output_of(capsys, "x.csv")
    assert (code, "'day' holds 'soon' in row 4 among dates; correct or empty it" in output) == (
        2,
        True,
    )


def test_empty_rows_are_left_out_with_a_note(folder, capsys):
    rows = [*ROWS[:5], ("", "", "", ""), *ROWS[5:], ("", "", "", "no")]
    (folder / "x.csv").write_text(table(rows))
    output, model = fitted(capsys, "--no-check")
    assert "note: 2 of 22 rows are empty, the first is row 6; they are left out." in output
    assert re.search(
        r"20 rows, 3 columns: 2 numeric, 1 nominal \(\w+: \d+ values\); no missing values", output
    )
    assert sum(model["class_counts"]) == 20


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("1", "01", ["01", "1"]),
        ("10%", "20%", ["10%", "20%"]),
        ("1", "2.0", [1.0, 2.0]),
        ("$5", "$10", ["$10", "$5"]),
        ("true", "FALSE", [False, True]),
        ("0", "1", [0, 1]),
    ],
)
def test_classes_stay_apart_and_as_they_are_written(first, second, expected, folder, capsys):
    rows = [(*r, first if y == "no" else second) for *r, y in ROWS]
    (folder / "x.csv").write_text(table(rows))
    _, model = fitted(capsys, "--no-check")
    assert model["classes"] == expected
    records = [dict(zip(("age", "b", "kind", "y"), row, strict=True)) for row in rows]
    (folder / "x.json").write_text(json.dumps(records))
    assert fitted(capsys, "--no-check", data="x.json")[1]["classes"] == expected
    assert main(["evaluate", "m.json", "x.json"]) == 0
    assert "accuracy                 1.000" in capsys.readouterr().out


def test_a_target_of_many_percentages_needs_a_task(folder, capsys):
    rows = [(i, i % 5, "a", f"{i // 2}%") for i in range(60)]
    (folder / "x.csv").write_text(table(rows))
    code, output, _ = output_of(capsys, "x.csv")
    assert (code, "looks like a number to predict" in output) == (2, True)
    assert fitted(capsys, "--bins", "2", "--no-check")[1]["classes"] == ["15 and over", "under 15"]


def test_a_model_with_bins_is_evaluated_on_numbers(folder, capsys):
    rows = [(i, i * 7 % 5, "a", i / 4) for i in range(40)]
    (folder / "x.csv").write_text(table(rows))
    fitted(capsys, "--bins", "3", "--no-check", "--learner", "frri")
    assert main(["evaluate", "m.json", "x.csv"]) == 0
    assert "accuracy                 1.000" in capsys.readouterr().out
    (folder / "x.csv").write_text(table([*rows, (1, 1, "a", "many")]))
    assert main(["evaluate", "m.json", "x.csv"]) == 2
    assert "holds 'many' in row 41, which is none of the model's classes" in capsys.readouterr().err


def test_dates_are_read_in_the_declared_format(folder, capsys):
    rows = [(f"0{1 + i % 3}/0{1 + i % 2}/2024", *r) for i, r in enumerate(ROWS)]
    (folder / "x.csv").write_text(table(rows, "day,age,b,kind,y"))
    output, model = fitted(capsys, "--no-check")
    assert "type --date-format %d/%m/%Y or %m/%d/%Y." in output
    assert model["attributes"][0]["kind"] == "nominal"
    output, model = fitted(capsys, "--no-check", "--date-format", "%m/%d/%Y")
    assert "1 date (day)" in output
    assert model["attributes"][0]["kind"] == "date"
    assert main(["predict", "m.json", "x.csv", "--date-format", "%m/%d/%Y"]) == 0
    capsys.readouterr()
    for wrong, sentence in (
        ("dd/mm/yyyy", "--date-format is written like %d.%m.%Y"),
        (
            "%d.%m.%Y",
            "x.csv has no column of dates that are written as --date-format %d.%m.%Y says",
        ),
    ):
        code, output, _ = output_of(capsys, "x.csv", "--date-format", wrong)
        assert (code, output.count("\n")) == (2, 1)
        assert sentence in output


@pytest.mark.usefixtures("folder")
def test_decimals_are_numbers_in_features_and_targets(capsys):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {
        "price": [Decimal(i) / 4 for i in range(20)],
        "y": [Decimal(i % 2) for i in range(20)],
    }
    parquet.write_table(arrow.table(columns), "x.parquet")
    output, model = fitted(capsys, "--no-check", data="x.parquet")
    assert "1 numeric; no missing values" in output
    assert model["classes"] == [0.0, 1.0]


# ---------------------------------------------------------------------- several files


def test_several_files_are_one_table(folder, capsys):
    (folder / "x.csv").write_text(table(ROWS[:8]))
    (folder / "z.csv").write_text(table([r[::-1] for r in ROWS[8:]], "y,kind,crp mg/l,age"))
    code = main(["fit", "x.csv", "z.csv", "--target", "y", "-o", "two.json", "--no-check"])
    assert (code, "20 rows, 3 columns" in capsys.readouterr().err) == (0, True)
    (folder / "x.csv").write_text(table())
    fitted(capsys, "--no-check")
    assert RuleSet.load("m.json") == RuleSet.load("two.json")
    code, output, _ = output_of(capsys, "x.csv", "x.csv")
    assert (code, output) == (2, "frri: x.csv is given twice; name it once.\n")


def test_classes_of_several_files_are_compared_as_they_are_written(folder, capsys):
    (folder / "x.csv").write_text("a,y\n1,1\n2,2\n3,1\n")
    (folder / "z.csv").write_text("a,y\n9,1\n8,01\n7,01\n")
    assert main(["fit", "x.csv", "z.csv", "--target", "y", "-o", "m.json"]) == 0
    assert RuleSet.load("m.json").classes == ("01", "1", "2")
    capsys.readouterr()


@pytest.mark.parametrize(
    ("header", "row", "sentence"),
    [
        ("age,kind,y", (1, "a", "no"), "z.csv has no column 'crp mg/l', which x.csv has"),
        (
            "age,crp mg/l,kind,y,new",
            (1, 2, "a", "no", 3),
            "x.csv has no column 'new', which z.csv has",
        ),
        (
            "age,crp mg/l,kind,y",
            ("old", 2, "a", "no"),
            "'age' holds numbers in x.csv and strings in z.csv",
        ),
    ],
)
def test_files_that_do_not_go_together_get_one_sentence(header, row, sentence, folder, capsys):
    (folder / "x.csv").write_text(table())
    (folder / "z.csv").write_text(table([row], header))
    code, output, _ = output_of(capsys, "x.csv", "z.csv")
    assert (code, output.count("\n")) == (2, 1)
    assert sentence in output


# ---------------------------------------------------------------------- choice of the estimator


def noisy(n_rows, right):
    """Return one column that predicts the class with a given probability, and an irrelevant one."""
    random = np.random.default_rng(0)
    values = random.uniform(size=(n_rows, 2)).round(3)
    truth = (values[:, 0] > 0.5) == (random.uniform(size=n_rows) < right)
    return "a,b,y\n" + "".join(
        f"{a},{b},{'ny'[int(t)]}\n" for (a, b), t in zip(values, truth, strict=True)
    )


CHOSEN = re.compile(r"^Model \((\w+)\): (\d+) rules? with (\d+) conditions?", re.MULTILINE)
COMPARED = re.compile(r"([a-z]+) (0\.\d\d|1\.00) \((\d+) rules\)")


def test_without_a_learner_the_best_one_is_chosen_and_the_reason_printed(folder, capsys):
    (folder / "x.csv").write_text(noisy(150, 0.8))
    output, model = fitted(capsys)
    picked, n_rules, _ = CHOSEN.search(output).groups()
    assert picked in {"compact", "additive", "ripper", "furia"}
    assert {"frri", "ripper", "additive"} <= {picked, *(one[0] for one in COMPARED.findall(output))}
    assert "random forest 0." in output
    assert re.search(r"5-fold cross-validation: accuracy 0\.[78]", output)
    assert len(model["rules"]) == int(n_rules)
    assert picked in model["about"]["learner"].lower()
    assert len(output.splitlines()) <= 5
    output, model = fitted(capsys, "--learner", "frri")
    assert "Compared: " not in output
    assert model["about"]["learner"] == "FRRI"


def test_ignored_columns_get_no_further_notes(folder, capsys):
    rows = [(*row[:2], f"{i % 24}:30", row[3]) for i, row in enumerate(ROWS * 2)]
    (folder / "x.csv").write_text(table(rows))
    assert "times of day" in fitted(capsys, "--no-check", "--learner", "frri")[0]
    assert (
        "times of day"
        not in fitted(capsys, "--no-check", "--learner", "frri", "--ignore", "kind")[0]
    )


def test_numbers_that_are_written_as_codes_are_pointed_out(folder, capsys):
    rows = [(*row[:2], f"0{1000 + i % 7}", row[3]) for i, row in enumerate(ROWS * 2)]
    (folder / "x.csv").write_text(table(rows, "age,crp,zip code,y"))
    output, _ = fitted(capsys, "--no-check", "--learner", "frri")
    assert (
        "Column 'zip code' holds '01000', as codes are written; it is taken as a number" in output
    )
    assert '--nominal "zip code"' in output
    assert (
        "as codes"
        not in fitted(capsys, "--no-check", "--learner", "frri", "--nominal", "zip code")[0]
    )


def test_without_cross_validation_a_small_table_gets_frri(folder, capsys):
    (folder / "x.csv").write_text(noisy(60, 0.8))
    for options in (["--no-check"], ["--set", "work_limit=10"], ["--work-limit", "10"]):
        output, model = fitted(capsys, *options)
        assert "Compared: " not in output
        assert model["about"]["learner"] == "FRRI"


def test_weights_restrict_the_candidates(folder, capsys):
    rows = [(a, b, 1 + i % 2, y) for i, (a, b, _, y) in enumerate(ROWS * 2)]
    (folder / "x.csv").write_text(table(rows, "age,b,w,y"))
    output, _ = fitted(capsys, "--weights", "w", "--max-rules", "4")
    tried = [CHOSEN.search(output)[1], *(one[0] for one in COMPARED.findall(output))]
    assert len(tried) > 1
    assert all(LEARNERS[name].weights for name in tried)


def test_models_that_do_not_beat_the_majority_class_are_reported(folder, capsys):
    random = np.random.default_rng(1)
    rows = [
        (*random.integers(0, 50, 2), "ab"[i % 2], "yes" if i % 10 else "no") for i in range(100)
    ]
    (folder / "x.csv").write_text(table(rows))
    output, _ = fitted(capsys, "--max-rules", "4")
    assert "majority-class baseline 0.90, not better than the baseline" in output
    assert "note: all rows are predicted as yes; to predict other classes, use --metric" in output


def test_without_an_output_the_rules_are_shown(folder, capsys):
    (folder / "x.csv").write_text(table())
    code, output, shown = output_of(capsys, "x.csv", "--learner", "frri")
    assert code == 0
    assert shown.startswith("1  IF age")
    assert output.endswith("Next: the same with -o model.json saves the rules as a model\n")
    assert sorted(path.name for path in folder.iterdir()) == ["x.csv"]


def test_bench_reads_cells_as_fit_does(folder, capsys):
    rows = [(-999 if i == 3 else i, f"0{1 + i % 9}/02/2024", k, y) for i, _, k, y in ROWS]
    (folder / "x.csv").write_text(table(rows, "age,day,kind,y"))
    command = ["bench", "x.csv", "--target", "y", "--learners", "frri,knn", "--folds", "2"]
    options = ["--na-values=-999", "--date-format", "%d/%m/%Y", "--workers", "0"]
    assert main([*command, *options]) == 0
    output = capsys.readouterr()
    assert "'day'" in output.err + output.out
    assert main(["bench", "--quick", "--date-format", "%d"]) == 2
    assert "speak of files; name one" in capsys.readouterr().err


@pytest.mark.parametrize("learner", [FURIAClassifier(), MODLEMClassifier(), RIPPERClassifier()])
def test_estimators_warn_of_a_class_without_a_rule(learner):
    X = [[i] for i in range(30)] + [[3]]
    y = ["a"] * 15 + ["b"] * 15 + ["rare"]
    with pytest.warns(
        UserWarning, match=r"There is no rule for 'rare': 1 of 31 rows is too little"
    ):
        learner.fit(X, y)
    with pytest.warns(
        UserWarning, match=r"There is no rule for .* to make one with max_rules=1[.]"
    ):
        learner.set_params(max_rules=1).fit(X, y)


def test_estimators_warn_of_classes_without_conditions():
    X = [[0.0]] * 10
    with pytest.warns(UserWarning, match="'b': no condition tells them apart"):
        AdditiveRulesClassifier().fit(X, ["a"] * 2 + ["b"] * 8)
    with pytest.warns(UserWarning, match="'a': all rows have this class"):
        MODLEMClassifier().fit(X, ["a"] * 10)


def test_a_class_without_a_rule_is_pointed_out(folder, capsys):
    rows = [*ROWS * 4, (9, 3, "a", "rare"), (10, 0, "a", "rare")]
    (folder / "x.csv").write_text(table(rows))
    output, _ = fitted(capsys, "--learner", "ripper", "--no-check")
    assert "rare" not in {rule.consequent for rule in RuleSet.load("m.json")}
    assert (
        "note: There is no rule for 'rare': 2 of 82 rows are too few, or too much like rows"
        in output
    )


def sizes(values):
    return pd.Categorical(values, ["S", "M", "L", "XL"][: 3 + ("XL" in values)], ordered=True)


ORDERED = pd.DataFrame(
    {
        "size": sizes(["S", "M", "L", "S", "M", "L"]),
        "day": pd.to_datetime(["2024-01-01", "2024-06-01"] * 3),
    }
)


def test_an_unseen_ordinal_category_is_reported():
    """It is treated as missing; if missing values are refused, the error does not call it missing."""
    y = [0, 1, 1, 0, 1, 1]
    new = ORDERED.assign(size=sizes(["S", "XL", "M", "S", "M", "L"]))
    message = (
        r"Column 'size' holds 'XL' in row 2 \(1 of 6 rows\), which has no place among S, M, L; "
    )
    model = RIPPERClassifier().fit(ORDERED, y)
    assert model.ruleset_.used_attributes == ("size",)
    bare = new.to_numpy(dtype=object)
    for predict, table in (
        (model.predict, new),
        *((model.ruleset_.predict, t) for t in (new, bare)),
    ):
        with pytest.warns(UserWarning, match=f"{message}it counts as missing"):
            predict(table)
    with pytest.raises(ValueError, match=f"{message}replace it by one of these"):
        RIPPERClassifier(missing="error").fit(ORDERED, y).predict(new)
    by_day = RIPPERClassifier().fit(ORDERED, [0, 1] * 3)
    assert by_day.ruleset_.used_attributes == ("day",)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        by_day.predict(new)  # no rule uses the column
        by_day.ruleset_.predict(new)


def test_a_rule_by_itself_is_shown_as_among_others():
    rules = RuleSet(
        (
            Rule((NumericCondition("size", 1, 1),), "a"),
            Rule((NumericCondition("day", 19723.0, 19723.0),), "b"),
        ),
        (
            Attribute("size", categories=("S", "M"), kind="ordinal"),
            Attribute("day", 19723, 19800, kind="date"),
        ),
        ("a", "b"),
    )
    assert [str(rule).partition(" THEN")[0] for rule in rules] == [
        "IF size = M",
        "IF day >= 2024-01-01",
    ]
    numbers = RuleSet(rules.rules[:1], (Attribute("size", 0, 1),), ("a", "b"))
    assert str(numbers[0]).startswith("IF size >= 1 THEN")
    assert numbers[0] == rules[0]
    assert hash(numbers[0]) == hash(rules[0])


@pytest.mark.parametrize("several", [[1, 2], (1, 2), {"a": 1}, np.array([1, 2])])
def test_columns_of_lists_are_refused(several):
    table = pd.DataFrame({"codes": [None, several, "a"]})
    with pytest.raises(ValueError, match=r"Column 'codes' holds .* in row 2, which is several val"):
        MODLEMClassifier().fit(table, [0, 1, 1])

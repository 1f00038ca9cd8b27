"""The command line: commands, and error messages for bad input."""

import csv
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from browser_pages import embedded
from frri import Attribute, FRRIClassifier, NominalCondition, NumericCondition, Rule, RuleSet
from frri._util import Progress
from frri.cli import COMMANDS, main
from frri.cli.files import check_files, write_output
from frri.compare import dataset
from frri.export import FORMATS, to_text
from frri.learners.registry import LEARNERS, RULE_LEARNERS
from frri.readers.training import _weights
from frri.report.facts import facts
from frri.report.page import headline
from frri.rules.measures import evaluation_of
from frri.table.targets import ManyClassesWarning
from make_patients import patients
from programs import device_full, posix
from thorough import often

HEADER = "age,colour,born,size,weight,y\n"
ROWS = [
    f"{20 + i},{'red' if i % 3 else 'blue'},2021-{1 + i % 12:02d}-01,{'SML'[i % 3]},1,{'yes' if i > 9 else 'no'}\n"
    for i in range(20)
]
DATA = HEADER + "".join(ROWS)
NUMBERS = "a,b,y\n" + "".join(f"{i},{i * 7 % 5},{'no' if i < 10 else 'yes'}\n" for i in range(20))

MODEL = RuleSet(
    rules=(
        Rule((NumericCondition.below("age", 30),), "no", 0.9),
        Rule((NominalCondition("colour", frozenset({"red"})),), "yes", 0.8),
        Rule((NumericCondition("born", 18628, 18628),), "yes", 0.1),
    ),
    attributes=(
        Attribute("age", 20, 39),
        Attribute("colour", categories=("blue", "red")),
        Attribute("born", 18628, 18962, kind="date"),
        Attribute("size", categories=("S", "M", "L"), kind="ordinal"),
    ),
    classes=("no", "yes"),
    target="y",
)


def parquet(**columns):
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    names = [name.rstrip("_") for name in columns]
    pq.write_table(pa.table([pa.array(values) for values in columns.values()], names=names), sink)
    return sink.getvalue()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with a table, a model and a file that must not change."""
    (tmp_path / "data.csv").write_text(DATA)
    (tmp_path / "numbers.csv").write_text(NUMBERS)
    MODEL.save(tmp_path / "model.json")
    (tmp_path / "old.json").write_text("precious")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def snapshot(folder):
    return {
        path.relative_to(folder): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def give_stdin(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


# ------------------------------------------------------------------ bad input

FIT = ["fit", "x.csv", "--target", "y", "-o", "old.json"]
FIT_DATA = ["fit", "data.csv", "--target", "y", "-o", "old.json", "--learner", "ripper"]
FIT_NUMBERS = ["fit", "numbers.csv", "--target", "y", "-o", "old.json"]
QUICKLY = ["--learner", "ripper", "--no-check"]
PREDICT = ["predict", "model.json", "x.csv", "-o", "old.json"]
ONE = ["age=31", "colour=red", "born=2021-05-01", "size=M"]
OTHER_VERSION = MODEL.to_json().replace('"version": 2', '"version": 99')


def rows(column, values):
    """Return a table whose first column has these values."""
    return f"{column},b,y\n" + "".join(f"{v},{i},{'ny'[i % 2]}\n" for i, v in enumerate(values))


# name: (arguments, contents of x.* or of standard input, part of the sentence)
BAD = {
    # the command itself
    "no command": ([], None, "Name a command: fit, rules"),
    "unknown command": (["predit", "model.json"], None, "did you mean 'predict'?"),
    "unknown option of frri": (["--verbose"], None, "unrecognized arguments: --verbose"),
    "fit without target": (["fit", "data.csv", "-o", "old.json"], None, "required: --target"),
    "the same file twice": (["fit", "x.csv", *FIT[1:]], "a,y\n1,n\n2,y\n", "x.csv is given twice"),
    "unknown option of fit": ([*FIT_DATA, "--tagret", "y"], None, "see frri fit --help"),
    # files that are no tables
    "no such file": (FIT, None, "There is no file x.csv."),
    "a folder": (["fit", "sub", "--target", "y", "-o", "old.json"], None, "sub is a folder"),
    "unknown ending": (["fit", "x.docx", *FIT[2:]], "PK", "'.docx'; expected one of .csv"),
    "empty file": (FIT, "", "x.csv is empty."),
    "only blank lines": (FIT, "\n \n\n", "x.csv is empty."),
    "only a header": (FIT, "a,b,y\n", "x.csv has no rows."),
    "binary file": (FIT, b"\x89PNG\r\n\x1a\n\x00\x00\x00", "x.csv is a binary file"),
    "binary after a while": (FIT, b"a,y\n" + b"1,n\n" * 9 + b"\x00\x01", "is a binary file"),
    "control characters": (FIT, b"a,y\n\x01\x02,n\n", "is a binary file"),
    "UTF-16 cut off": (FIT, "a,y\n1,n\n".encode("utf-16")[:-1], "is a binary file"),
    "empty standard input": (["fit", "-", *FIT[2:]], "", "standard input is empty."),
    # tables that are not well formed
    "a column without name": (FIT, "a,,y\n1,2,n\n", "column 2 has no name"),
    "a row too long": (FIT, "a,y\n1,n\n1,2,n\n", "line 3 has 3 values, the header 2 names"),
    "all rows too long": (FIT, "a,y\n1,2,n\n3,4,n\n", "line 2 has 3 values, the header 2 names"),
    "a row too short": (FIT, "a,b,y\n1,2,n\n1,2\n", "line 3 has 2 values, the header 3 names"),
    "a quotation left open": (FIT, 'a,y\n1,"n\n2,y\n', "opened and never closed"),
    "no @data line": (["fit", "x.arff", *FIT[2:]], "@relation r\n", "there is no @data line"),
    "no attributes": (["fit", "x.dat", *FIT[2:]], "@relation r\n@data\n", "no @attribute line"),
    "unknown type of attribute": (
        ["fit", "x.arff", *FIT[2:]], "@attribute a relational\n@data\n1\n", "declares no attribute",
    ),
    "an ARFF row too short": (
        ["fit", "x.arff", *FIT[2:]],
        "@attribute a real\n@attribute y {n}\n@data\n1\n",
        "line 4 has 1 values for 2 attributes",
    ),
    "a text in a numeric ARFF attribute": (
        ["fit", "x.arff", *FIT[2:]], "@attribute y real\n@data\nx\n", "'y' has the value 'x'",
    ),
    "sparse ARFF": (
        ["fit", "x.arff", *FIT[2:]], "@attribute y real\n@data\n{0 1}\n", "is a sparse row",
    ),
    "two ARFF attributes of a name": (
        ["fit", "x.arff", *FIT[2:]],
        "@attribute y real\n@attribute y real\n@data\n1,1\n",
        "two attributes named 'y'",
    ),
    "not Parquet": (["fit", "x.parquet", *FIT[2:]], "a,y\n", "is not a Parquet file"),
    "damaged Parquet": (
        ["fit", "x.parquet", *FIT[2:]], lambda: parquet(a=[1], y=[2])[:-20], "or a damaged one",
    ),
    "lists in Parquet": (
        ["fit", "x.parquet", *FIT[2:]], lambda: parquet(a=[[1]], y=[2]), "'a' holds values of the type",
    ),
    "duplicate names in Parquet": (
        ["fit", "x.parquet", *FIT[2:]], lambda: parquet(a=[1], a_=[2]), "more than one column 'a'",
    ),
    # the target
    "wrong target": (["fit", "data.csv", "--target", "why", *FIT[4:]], None, "no column 'why'; it has age"),
    "target nearly right": (
        ["fit", "data.csv", "--target", "Colur", *FIT[4:]], None, "did you mean 'colour'?",
    ),
    "missing classes": (FIT, "a,y\n1,n\n2,\n3,y\n", "'y' has no value in 1 of 3 rows, the first in row 2; leave them out (--drop-unlabelled)"),
    "quantities as target": (FIT, "a,y\n1,1.5\n2,2.5\n3,2.5\n", "looks like a number to predict (2 different numbers, such as 1.5)"),
    "dates as target": (FIT, "a,y\n1,2020-01-01\n2,2020-01-01\n", "holds dates"),
    "a class for every row": (FIT, "a,y\n1,p\n2,q\n3,r\n", "another value in every row"),
    "the target ignored": ([*FIT_DATA, "--ignore", "y"], None, "both to --ignore and --target"),
    # columns and kinds
    "ignoring what is not there": ([*FIT_DATA, "--ignore", "ag"], None, "did you mean 'age'?"),
    "nominal what is not there": ([*FIT_DATA, "--nominal", "zzz"], None, "no column 'zzz'; it has"),
    "ordinal what is not there": ([*FIT_DATA, "--ordinal", "siz=S<M"], None, "did you mean 'size'?"),
    "ordinal without values": ([*FIT_DATA, "--ordinal", "size"], None, "expected COLUMN=LOW<...<HIGH"),
    "ordinal with one value": ([*FIT_DATA, "--ordinal", "size=S"], None, "expected COLUMN=LOW<...<HIGH"),
    "ordinal value twice": ([*FIT_DATA, "--ordinal", "size=S<M<S"], None, "without repeated values, got 'size=S<M<S'"),
    "a value outside the order": (
        [*FIT_DATA, "--ordinal", "size=S<M"], None, "holds 'L' in row 3, which is not in the order S < M",
    ),
    "nominal and ignored": (
        [*FIT_DATA, "--nominal", "size", "--ignore", "size"], None, "both to --ignore and --nominal",
    ),
    "nothing left": (FIT, "y\nn\ny\nn\n", "no column left to learn from"),
    "mixed types": ([*FIT, "--strict"], rows("age", [*range(20), "4o"]), "holds '4o' in row 21 among numbers"),
    "mixed dates": (
        FIT, rows("day", [*[f"2020-01-{d}" for d in range(10, 30)], "2020-02-31"]), "among dates",
    ),
    "a thousand and one names": (
        [*FIT, "--ignore", "b"], rows("name", [f"n{i}" for i in range(1001)]), "(1001 distinct values",
    ),
    "infinity": (FIT, rows("a", ["inf", *range(9)]), "inf (infinity) in row 1"),
    # the learner
    "unknown learner": ([*FIT_NUMBERS, "--learner", "riper"], None, "did you mean 'ripper'?"),
    "unknown parameter": (
        [*FIT_NUMBERS, "--learner", "ripper", "--set", "fold=2"], None, "did you mean 'folds'?",
    ),
    "parameter without value": ([*FIT_NUMBERS, "--set", "work_limit"], None, "expected PARAMETER=VALUE"),
    "a parameter out of range": ([*FIT_NUMBERS, "--set", "work_limit=-1"], None, "work_limit must be"),
    "an unknown value": (
        [*FIT_NUMBERS, "--set", "attribute_order=sideways"], None, "attribute_order must be",
    ),
    "a seed that is no number": ([*FIT_NUMBERS, "--seed", "x"], None, "expected an integer"),
    "a seed nobody needs": (
        [*FIT_NUMBERS, "--learner", "modlem", "--seed", "1"], None, "modlem does not support --seed",
    ),
    "effort nobody needs": (
        [*FIT_NUMBERS, "--learner", "ripper", "--work-limit", "1"], None, "ripper does not support --work-limit",
    ),
    "time running backwards": ([*FIT_NUMBERS, "--time-limit", "-1"], None, "expected a number, 0 or more"),
    "effort twice": (
        [*FIT_NUMBERS, "--work-limit", "1", "--set", "work_limit=2"], None, "both by --work-limit and by --set",
    ),
    "weights nobody takes": (
        [*FIT_NUMBERS, "--learner", "bagged", "--weights", "a"], None, "bagged takes no weights of rows",
    ),
    "weights of classes that do not exist": (
        [*FIT_NUMBERS, "--learner", "ripper", "--set", "class_weight={'perhaps': 2}"], None, "names the class 'perhaps'",
    ),
    "weights of classes by another name": (
        [*FIT_NUMBERS, "--learner", "ripper", "--set", "class_weight=even"], None, 'must be "balanced", None or a mapping',
    ),
    # output
    "no folder to write to": ([*FIT_NUMBERS[:-1], "no/m.json"], None, "There is no folder no"),
    "a folder to write": ([*FIT_NUMBERS[:-1], "sub"], None, "sub is a folder"),
    "a folder below a file": ([*FIT_NUMBERS[:-1], "old.json/m"], None, "old.json"),
    "an unwritable folder": ([*FIT_NUMBERS[:-1], "/proc/m.json", *QUICKLY], None, "/proc/m.json cannot be written"),
    "no name to write to": ([*FIT_NUMBERS[:-1], ""], None, "is a folder; name a file"),
    "the input as output": ([*FIT_NUMBERS[:-1], "numbers.csv"], None, "would overwrite what is read"),
    "the disk is full": ([*FIT_NUMBERS[:-1], "/dev/full", *QUICKLY], None, "No space left on device"),
    "predicting over the model": ([*PREDICT[:-1], "model.json"], DATA, "would overwrite"),
    # models
    "no such model": (["rules", "mdel.json"], None, "There is no file mdel.json."),
    "a folder as model": (["rules", "sub"], None, "sub is a folder, not a model"),
    "an empty model": (["rules", "x.json"], "", "x.json is empty."),
    "a binary model": (["rules", "x.json"], b"\xff\xfe\x00\x80", "it is not a text file"),
    "a table as model": (["rules", "data.csv"], None, "data.csv is a table, not a model"),
    "truncated JSON": (["rules", "x.json"], MODEL.to_json()[:300], "x.json: This is not JSON"),
    "other JSON": (["rules", "x.json"], '{"a": 1}', "This is not a saved rule set"),
    "another version's JSON": (["rules", "x.json"], OTHER_VERSION, "format version 99"),
    "a rule for no class": (
        ["rules", "x.json"], MODEL.to_json().replace('"then": "no"', '"then": "maybe"'), "'maybe'",
    ),
    "NaN in JSON": (["rules", "x.json"], MODEL.to_json().replace("0.9", "NaN"), "NaN"),
    "JSON without end": (["rules", "x.json"], "[" * 100_000, "x.json"),
    "a key twice": (["rules", "x.json"], '{"format": 1, "format": 2}', "'format' twice"),
    "a model from empty standard input": (["rules", "-"], "", "standard input is empty."),
    "rules of no class": (["rules", "model.json", "--class", "Yes"], None, "did you mean 'yes'?"),
    "rules of two models": (["rules", "model.json", "old.json"], None, "unrecognized arguments"),
    # predict
    "a column missing": (PREDICT, DATA.replace("colour", "color"), "no column 'colour'; did you mean 'color'?"),
    "a text among numbers": (PREDICT, DATA.replace("31,", "young,"), "'young' in row 12, which is not a number"),
    "no dates": (PREDICT, DATA.replace("2021-05-01", "May"), "'born' does not hold dates"),
    "nothing to predict": (PREDICT, HEADER, "no rows"),
    "everything from standard input": (["predict", "-", "-"], "", "Only one of the files"),
    "infinity to predict": (PREDICT, DATA.replace("31,", "inf,"), "'age' holds inf (infinity) in row 12"),
    "infinity to evaluate": (
        ["evaluate", "model.json", "x.csv"], DATA.replace("31,", "-inf,"), "'age' holds -inf (infinity)",
    ),
    # explain
    "infinity to explain": (["explain", "model.json", "age=inf", *ONE[1:]], None, "'age' holds inf (infinity)"),
    "no such row": (["explain", "model.json", "data.csv", "--row", "21"], None, "no row 21; its rows are 1 to 20"),
    "which row": (["explain", "model.json", "data.csv"], None, "--row 1 to --row 20"),
    "a row before the first": (["explain", "model.json", "data.csv", "--row", "0"], None, "has no row 0"),
    "a row before that": (["explain", "model.json", "data.csv", "--row", "-1"], None, "expected an integer"),
    "an unknown name": (["explain", "model.json", "agee=3"], None, "did you mean 'age'?"),
    "no value": (["explain", "model.json", *ONE, "red"], None, "'red' is not of the form NAME=VALUE"),
    "a name twice": (["explain", "model.json", *ONE, "age=3"], None, "age is given twice"),
    "a value missing": (["explain", "model.json", *ONE[1:]], None, "or age=? if it is missing"),
    "a text for a number": (["explain", "model.json", "age=old", *ONE[1:]], None, "'age' holds 'old' in row 1, which is not a number"),
    "no date": (["explain", "model.json", "born=May", *ONE[:2]], None, "'born' does not hold dates"),
    "keeping what is not there": (["explain", "model.json", *ONE, "--keep", "sex"], None, "no column 'sex'"),
    "a row of values": (["explain", "model.json", *ONE, "--row", "1"], None, "--row belongs to a table"),
    "nothing to explain": (["explain", "model.json"], None, "see frri explain --help"),
    # evaluate
    "no classes to compare with": (
        ["evaluate", "model.json", "x.csv"], DATA.replace(",y\n", ",outcome\n"), "--target names the column",
    ),
    "a class the model lacks": (["evaluate", "model.json", "x.csv"], DATA.replace("yes", "maybe"), "none of the model's classes"),
    "a class left out": (["evaluate", "model.json", "x.csv"], DATA.replace("yes", ""), "no class in row 11"),
    # export
    "unknown format": (["export", "model.json", "--to", "markdwn"], None, "did you mean 'markdown'?"),
    "no format": (["export", "model.json"], None, "required: --to"),
    "a format that is gone": (
        ["export", "model.json", "--to", "pmml"], None, "PMML was removed; use --to onnx, dmn, python, javascript or sql.",
    ),
    "unknown dialect": (["export", "model.json", "--to", "sql", "--dialect", "duck"], None, "did you mean 'duckdb'?"),
    "a dialect of no SQL": (["export", "model.json", "--to", "csv", "--dialect", "ansi"], None, "belongs to --to sql"),
    "export to nowhere": (["export", "model.json", "--to", "sql", "-o", "no/x"], None, "There is no folder no"),
    "export to a full disk": (["export", "model.json", "--to", "sql", "-o", "/dev/full"], None, "No space left"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence_and_writes_nothing(name, folder, monkeypatch, capsys):
    argv, content, sentence = BAD[name]
    for place in (Path(word) for word in argv if word.startswith(("/dev/", "/proc/"))):
        if not (place if place.parent.name == "dev" else place.parent).exists():
            pytest.skip(f"there is no {place} here")
    if callable(content):
        content = content()
    if content is not None:
        data = content.encode() if isinstance(content, str) else content
        source = next((a for a in argv if a.startswith("x.")), None)
        if source:
            (folder / source).write_bytes(data)
        else:
            give_stdin(monkeypatch, data)
    before = snapshot(folder)

    assert main(argv) == 2

    captured = capsys.readouterr()
    *narration, last = captured.err.splitlines()
    assert last.startswith("frri: ")
    assert sentence in last
    assert last.endswith((".", "?"))
    assert not any(line.startswith("frri: ") for line in narration)
    assert "Traceback" not in captured.err
    assert not captured.out
    assert snapshot(folder) == before


def test_the_table_of_bad_input_is_long_enough():
    assert len(BAD) >= 60


@pytest.mark.usefixtures("folder")
def test_missing_libraries_are_named_with_the_remedy(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert main(["predict", "model.json", "data.csv"]) == 2
    assert "pip install 'frri[tables]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (["a", "b"], "are not numbers"),
        ([1.0, -1.0], "holds -1 in row 2"),
        ([1.0, None], "holds nan in row 2"),
        ([0.0, 0.0], "zero in every row"),
    ],
)
def test_bad_weights_are_refused(values, sentence):
    import pandas as pd

    with pytest.raises(ValueError, match=sentence):
        _weights(pd.Series(values, name="w"))


# ------------------------------------------------------------------ good input


def run(argv, capsys):
    """Run a command, check its exit code, and return its standard output."""
    code = main(argv)
    captured = capsys.readouterr()
    assert code == 0, captured.err
    return captured.out


@pytest.mark.parametrize("learner", ["frri", "ripper", "furia", "modlem", "quickrules"])
@pytest.mark.usefixtures("folder")
def test_all_commands_accept_a_model_of_a_mixed_table(learner, capsys):
    options = ["--ordinal", "size=S<M<L", "--ignore", "weight", "--learner", learner]
    assert main(["fit", "data.csv", "--target", "y", "-o", "m.json", *options]) == 0
    err = capsys.readouterr().err
    assert "20 rows, 4 columns: 1 numeric, 1 date (born), 1 ordinal (size: S < M < L), " in err
    assert "1 nominal (colour: 2 values); no missing values" in err
    assert "saved in m.json" in err
    kinds = [attribute.kind for attribute in RuleSet.load("m.json").attributes]
    assert kinds == ["numeric", "nominal", "date", "ordinal"]

    predictions = run(["predict", "m.json", "data.csv"], capsys).split()
    assert predictions[0] == "prediction"
    assert len(predictions) == 21
    assert json.loads(run(["evaluate", "m.json", "data.csv", "--json"], capsys))["accuracy"] > 0.8
    assert "THEN y = " in run(["rules", "m.json", "--class", "no"], capsys) or learner == "ripper"
    assert "Predicted y = " in run(["explain", "m.json", "data.csv", "--row", "3"], capsys)
    assert "CASE" in run(["export", "m.json", "--to", "sql"], capsys).upper()


@pytest.mark.parametrize("learner", RULE_LEARNERS)
@pytest.mark.usefixtures("folder")
def test_every_command_takes_every_learner_or_refuses_in_a_sentence(learner, capsys):
    assert main([*FIT_NUMBERS[:-1], "m.json", "--learner", learner, "--cv", "2"]) == 0
    assert ("proven optimal" in capsys.readouterr().err) == (learner in {"frri", "frri-bags"})
    assert "THEN y " in run(["rules", "m.json"], capsys)
    answers = run(["predict", "m.json", "numbers.csv", "--proba", "--rules"], capsys).splitlines()
    assert len(answers) == len(NUMBERS.splitlines())
    assert "accuracy" in run(["evaluate", "m.json", "numbers.csv"], capsys)
    other = [["export", "m.json", "--to", name] for name in FORMATS]
    other.append(["explain", "m.json", "numbers.csv", "--row", "1"])
    other.append(["report", "m.json", "numbers.csv", "-o", "page.html"])
    for argv in other:
        code = main(argv)
        err = capsys.readouterr().err
        assert code == 0 or (code == 2 and len(err.splitlines()) == 1 and "; " in err), err


@pytest.mark.usefixtures("folder")
def test_frri_proves_the_minimum_number_of_rules(capsys):
    assert main([*FIT_NUMBERS[:-1], "-", "--learner", "frri"]) == 0
    captured = capsys.readouterr()
    assert RuleSet.from_json(captured.out).target == "y"
    assert "proven optimal (the fewest)" in captured.err


@pytest.mark.usefixtures("folder")
def test_a_cross_validated_size_is_printed(capsys):
    options = ["--learner", "additive", "--set", "max_rules=auto", "--no-check"]
    assert main([*FIT_NUMBERS[:-1], "m.json", *options]) == 0
    path = RuleSet.load("m.json").about["path"]
    assert path["chosen"] in path["sizes"]
    best = path["sizes"][path["scores"].index(max(path["scores"]))]
    shown = f"Compared: {path['chosen']} rules " in capsys.readouterr().err
    assert shown == (best > path["chosen"])


@pytest.mark.parametrize("learner", RULE_LEARNERS)
@pytest.mark.usefixtures("folder")
def test_every_learner_takes_limits_or_refuses_in_a_sentence(learner, capsys):
    fit = [*FIT_NUMBERS[:-1], "m.json", "--learner", learner, "--no-check"]
    limits = ["--max-rules", "2", "--max-conditions", "1"]
    assert main([*fit, *limits]) == 0
    rules = RuleSet.load("m.json")
    assert all(len(rule.conditions) <= 1 for rule in rules)
    assert learner == "bagged" or len(rules) <= 2
    capsys.readouterr()
    code = main([*fit, "--min-support", "0.1"])
    assert code == 0 or capsys.readouterr().err == (
        "frri: The learner bagged does not support --min-support; frri, compact, ripper, furia, "
        "modlem, additive, frri-bags, quickrules support it.\n"
    )
    assert (code == 0) == (learner != "bagged")


@pytest.mark.usefixtures("folder")
def test_limits_hold_for_the_learner_that_is_picked(capsys):
    assert main([*FIT_NUMBERS[:-1], "m.json", "--max-rules", "2"]) == 0
    assert len(RuleSet.load("m.json")) <= 2
    assert "Compared: " in capsys.readouterr().err
    twice = ["--learner", "ripper", "--max-rules", "2", "--set", "max_rules=3"]
    assert main([*FIT_NUMBERS, *twice]) == 2
    assert "given both by --max-rules and by --set" in capsys.readouterr().err


def write_noise(folder, n_rows=150):
    """Write two columns, one of which predicts the class with probability 0.75."""
    generator = np.random.default_rng(0)
    values = generator.uniform(size=(n_rows, 2)).round(3)
    kept = generator.uniform(size=n_rows) < 0.75
    frame = pd.DataFrame(values, columns=["a", "b"])
    frame.assign(y=np.where((values[:, 0] > 0.5) == kept, "yes", "no")).to_csv(
        folder / "x.csv", index=False
    )


def test_a_fit_prints_its_cross_validated_accuracy(folder, capsys):
    write_noise(folder)
    assert main([*FIT, "--no-check"]) == 0
    assert "accuracy" not in capsys.readouterr().err
    assert main([*FIT, "--learner", "frri"]) == 0
    output = capsys.readouterr().err
    pattern = (
        r"5-fold cross-validation: accuracy (0\.\d\d) \((0\.\d\d) to (0\.\d\d)\); "
        r"majority-class baseline 0\.5\d"
    )
    reached, low, high = map(float, re.search(pattern, output).groups())
    assert low <= reached <= high < 0.75
    assert re.search(r"note: FRRI needs \d+ rules for 150 samples", output)
    assert main([*FIT, "--learner", "compact", "--cv", "3"]) == 0
    output = capsys.readouterr().err
    assert float(re.search(r"3-fold cross-validation: accuracy (0\.\d\d)", output)[1]) > reached
    assert "note" not in output


def test_the_check_of_weighted_rows_is_weighted_throughout(folder, capsys):
    rows = [
        f"{i},{'no' if i < 40 else 'yes'},{(1, 0)[i % 2] if i < 40 else 9}\n" for i in range(60)
    ]
    (folder / "x.csv").write_text("a,y,w\n" + "".join(rows))
    weighted = [*FIT, "--learner", "modlem", "--weights", "w"]
    for options, spread in (
        ([], r"[\d.]+ to [\d.]+"),
        (["--test", "0.3"], "95 % interval .*"),
    ):
        assert main([*weighted, *options]) == 0
        output = capsys.readouterr().err
        assert re.search(
            rf"accuracy [\d.]+ \({spread}\); majority-class baseline 0\.9\d\n", output
        ), output


def test_rows_can_be_held_out_and_a_useless_model_is_reported(folder, capsys):
    (folder / "x.csv").write_text("a,y\n" + "".join(f"{i},{'ny'[i % 3 == 0]}\n" for i in range(60)))
    assert main([*FIT, "--learner", "frri", "--test", "0.3"]) == 0
    output = capsys.readouterr().err
    assert re.search(
        r"Test set of 18 rows: accuracy 0\.\d\d \(95 % interval 0\.\d\d to 0\.\d\d\); "
        r"majority-class baseline 0\.67, not better than the baseline",
        output,
    )
    assert main([*FIT, "--test", "0.01"]) == 0
    assert "a test set of 0.01 of 60 rows leaves too few" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rows", "options", "reason"),
    [
        (12, [], "only 12 rows (force with --cv 5)"),
        (60, ["--cv", "50"], "no class has 50 rows"),
    ],
)
def test_a_skipped_cross_validation_is_reported(rows, options, reason, folder, capsys):
    write_noise(folder, rows)
    assert main([*FIT, "--learner", "frri", *options]) == 0
    assert f"Not cross-validated: {reason}\n" in capsys.readouterr().err


def test_an_interrupted_check_leaves_the_model(folder, monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("frri.selection.Holdout.evaluate", interrupted)
    write_noise(folder, 30)
    assert main([*FIT, "--learner", "frri"]) == 0
    assert (
        "Not cross-validated: it was interrupted; the model is complete\n"
        in capsys.readouterr().err
    )
    assert RuleSet.load(FIT[-1]).target == "y"


def test_the_estimator_warns_of_many_rules_with_a_remedy(folder):
    write_noise(folder)
    frame = pd.read_csv("x.csv")
    with pytest.warns(UserWarning, match=r"rules for 150 samples.*RIPPERClassifier.* fewer"):
        FRRIClassifier().fit(frame[["a", "b"]], frame["y"])


def test_a_target_of_many_integers_needs_a_task(folder, capsys):
    rows = "".join(f"{i * 3 % 80},{i % 7},{18 + i % 40}\n" for i in range(80))
    (folder / "x.csv").write_text(f"a,b,y\n{rows}")
    assert main([*FIT, "--no-check"]) == 2
    assert capsys.readouterr().err == (
        "frri: The target 'y' looks like a number to predict (40 different numbers, such as 18): use "
        "--task regression to predict it, --bins 3 to make 3 classes of it, or --task classification if "
        "each is a class.\n"
    )
    assert main([*FIT, "--no-check", "--task", "classification"]) == 0
    assert RuleSet.load("old.json").classes == tuple(range(18, 58))
    assert "looks like" not in capsys.readouterr().err
    assert main([*FIT, "--no-check", "--bins", "3"]) == 0
    assert set(RuleSet.load("old.json").classes) == {"under 31", "31 to under 44", "44 and over"}


def test_quantities_become_classes_by_bins_and_strings_do_not(folder, capsys):
    (folder / "x.csv").write_text("a,y\n" + "".join(f"{i},{i / 8}\n" for i in range(40)))
    assert main([*FIT, "--no-check"]) == 2
    assert (
        "another value in every row; a classifier needs classes; frri fit --task regression predicts the "
        "number, --bins 3 makes 3 classes of it" in capsys.readouterr().err
    )
    assert main([*FIT, "--no-check", "--bins", "2"]) == 0
    assert set(RuleSet.load("old.json").classes) == {"under 2.5", "2.5 and over"}
    assert main([*FIT_NUMBERS, "--bins", "2"]) == 2
    assert "holds other things than numbers; leave --bins out" in capsys.readouterr().err


def test_the_estimator_warns_of_many_integers():
    with pytest.warns(ManyClassesWarning, match="'class' has 30 different integers.*bin it"):
        FRRIClassifier().fit([[i] for i in range(60)], [i // 2 for i in range(60)])


def test_the_sample_is_what_its_script_makes_and_runs_as_pasted(folder, capsys):
    assert main(["example", "patients.csv"]) == 0
    assert "Wrote patients.csv, an artificial table." in capsys.readouterr().err
    assert (folder / "patients.csv").read_bytes() == patients().encode()
    assert run(["example", "patients.csv", "-o", "-"], capsys) == patients()
    assert main(["example", "patients.csv"]) == 0
    (folder / "patients.csv").write_text("mine")
    capsys.readouterr()
    assert main(["example", "patients.csv"]) == 2
    assert capsys.readouterr().err == (
        "frri: patients.csv is there already; name another file (-o FILE).\n"
    )
    assert (folder / "patients.csv").read_text() == "mine"


def test_warnings_of_the_learner_become_notes(folder, capsys):
    (folder / "x.csv").write_text("a,y\n1,n\n1,y\n2,n\n3,y\n")
    assert main(FIT) == 0
    assert "note: 2 of 4 samples are covered by no rule" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_rules_as_text_and_json_have_their_numbers(capsys):
    lines = run(["rules", "model.json"], capsys).splitlines()
    assert lines[1] == "2  IF colour = red THEN y = yes   [weight 0.80]"
    content = json.loads(run(["rules", "model.json", "--class", "yes", "--json"], capsys))
    assert [rule["rule"] for rule in content["rules"]] == [2, 3]
    assert content["rules"][0]["if"] == [{"attribute": "colour", "values": ["red"]}]


@pytest.mark.usefixtures("folder")
def test_names_are_escaped_on_the_terminal(capsys):
    name = "a\n\x1b[2Jb \u202ec\u2066d"
    rules = RuleSet((Rule((NumericCondition.below(name, 1),), 0),), (Attribute(name),), (0, 1))
    rules.save("evil.json")
    out = run(["rules", "evil.json"], capsys)
    assert out.count("\n") == 1
    assert not set("\x1b\u202e\u2066") & set(out)
    for text in (str(rules), str(rules[0]), to_text(rules)):
        assert "a  [2Jb  c d < 1" in text


@pytest.mark.usefixtures("folder")
def test_predictions_are_those_of_the_rule_set(capsys):
    import pandas as pd

    frame = pd.read_csv("data.csv", parse_dates=["born"])
    found = run(["predict", "model.json", "data.csv", "--proba", "--rules"], capsys)
    table = list(csv.DictReader(io.StringIO(found)))
    assert [row["prediction"] for row in table] == MODEL.predict(frame).tolist()
    shares = [[float(row["probability_no"]), float(row["probability_yes"])] for row in table]
    np.testing.assert_array_equal(shares, MODEL.predict_proba(frame))
    assert table[1] | {"probability_no": "", "probability_yes": ""} == {
        "prediction": "no", "rule": "1", "fired": "1 2 3",
        "probability_no": "", "probability_yes": "",
    }  # fmt: skip


def test_predicted_classes_are_read_back_as_they_are(folder, capsysbinary):
    import pandas as pd

    plain = ["a\rb", "a\r", "a\r\nb", "a\nb", 'a"b', "a,b", "", " ", "-1", "+2.5e3", "'", "ü"]
    # These get an apostrophe, so that spreadsheets do not evaluate them.
    formulas = [
        "=1+1",
        "+a",
        "-1-1",
        "@sum(A1)",
        "\tx",
        "\rx,y",
        "\n",
        "\uff1d1",
        "'=1+1",
        "''=1+1",
    ]
    nulls = ["a\0", "a\0\0", "\0"]
    labels = [*plain, *formulas, *nulls]
    model = RuleSet(
        tuple(Rule((NumericCondition("n", x, x, x, x),), y) for x, y in enumerate(labels)),
        (Attribute("n", 0, len(labels)),),
        tuple(labels),
    )
    model.save("model.json")
    numbers = "".join(f"{x}\n" for x in range(len(labels)))
    (folder / "x.csv").write_text(f"n\n{numbers}")
    expected = [f"'{label}" if label in formulas else label for label in labels]
    for options in ([], ["-o", "old.json"], ["--proba", "--rules"]):
        assert main(["predict", "model.json", "x.csv", *options]) == 0
        written = capsysbinary.readouterr().out
        if "-o" in options:
            written = (folder / "old.json").read_bytes()
        rows = list(csv.reader(io.StringIO(written.decode(), newline="")))
        assert [row[0] for row in rows] == ["prediction", *expected]
        assert len({len(row) for row in rows}) == 1
        frame = pd.read_csv(io.BytesIO(written), keep_default_na=False, dtype={"prediction": str})
        # pandas itself ends a text at a null character.
        assert frame["prediction"].tolist()[: -len(nulls)] == expected[: -len(nulls)]
        assert [
            text[1:] if label in formulas else text
            for label, (text, *_) in zip(labels, rows[1:], strict=True)
        ] == labels
    assert main(["predict", "model.json", "x.csv", "--json"]) == 0
    assert [row["prediction"] for row in json.loads(capsysbinary.readouterr().out)] == labels
    assert main(["export", "model.json", "--to", "csv"]) == 0
    exported = list(csv.reader(io.StringIO(capsysbinary.readouterr().out.decode(), newline="")))
    assert [row[2] for row in exported[1:]] == expected


def test_unknown_categories_and_missing_values_are_predicted(folder, capsys):
    (folder / "x.csv").write_text(
        HEADER + "25,purple,2021-01-01,XXL,1,no\n,red,,?,1,no\n35,NA,2021-01-01,S,,\n"
    )
    assert run(["predict", "model.json", "x.csv"], capsys).split() == [
        "prediction", "no", "yes", "yes",
    ]  # fmt: skip


def test_unseen_values_are_counted_in_a_note(folder, capsys):
    (folder / "x.csv").write_text(
        HEADER + "25,purple,2021-01-01,XXL,1,no\n35,,,S,1,no\n35,pink,,S,1,no\n5,pink,,S,1,no\n"
    )
    assert main(["predict", "model.json", "x.csv"]) == 0
    # No rule uses the size.
    assert capsys.readouterr().err == (
        "note: column 'colour' holds 2 categories never seen in training (purple, pink) in 3 of 4 rows: "
        "no condition on it holds there, except != and not in.\n"
    )
    ordered = Rule((NumericCondition("size", 1, 1),), "yes")
    RuleSet((ordered, *MODEL.rules), MODEL.attributes, MODEL.classes).save("m.json")
    assert main(["predict", "m.json", "x.csv"]) == 0
    assert (
        "column 'size' holds 1 category never seen in training (XXL) in 1 of 4 rows: these count "
        "as missing.\n"
    ) in capsys.readouterr().err
    assert main(["evaluate", "model.json", "x.csv"]) == 0
    assert "(purple, pink) in 3 of 4 rows" in capsys.readouterr().err


def test_changed_types_are_noted_and_booleans_understood(folder, capsys):
    smokes = Attribute("smokes", categories=("no", "yes"))
    rules = (
        Rule((NominalCondition("smokes", frozenset({"yes"})),), "ill"),
        Rule((NumericCondition("age", 0, 1),), "well", 0.5),
    )
    RuleSet(rules, (smokes, Attribute("age", 0, 9)), ("ill", "well")).save("m.json")
    (folder / "x.parquet").write_bytes(parquet(smokes=[True, False, None], age=[5, 5, 5]))
    assert main(["predict", "m.json", "x.parquet"]) == 0
    out, err = capsys.readouterr()
    assert out.split() == ["prediction", "ill", "well", "well"]
    assert (
        err == "note: column 'smokes' holds booleans in 2 of 3 rows where training had no, yes.\n"
    )
    (folder / "y.parquet").write_bytes(parquet(smokes=[3, 4], age=[True, False]))
    assert main(["predict", "m.json", "y.parquet"]) == 0
    assert capsys.readouterr().err == (
        "note: column 'smokes' holds numbers in 2 of 2 rows where training had no, yes, and holds 2 "
        "categories never seen in training (3, 4) in 2 of 2 rows: no condition on it holds there, "
        "except != and not in.\n"
        "note: column 'age' holds booleans in 2 of 2 rows where training had numbers.\n"
    )


def test_columns_are_kept_beside_the_prediction_as_they_are(folder, capsys):
    (folder / "x.csv").write_text(
        "id,age,born,share,colour\n007,31,2021-01-01,45%,red\n008,,,=1+1,blue\n"
    )
    out = run(["predict", "model.json", "x.csv", "--keep", "id,age", "--keep", "share"], capsys)
    assert out == "id,age,share,prediction\n007,31,45%,yes\n008,,'=1+1,no\n"
    out = run(["predict", "model.json", "x.csv", "--keep-all", "--json"], capsys)
    assert json.loads(out) == [
        {"id": "007", "age": 31, "born": "2021-01-01", "share": "45%", "colour": "red",
         "prediction": "yes"},
        {"id": "008", "age": None, "born": None, "share": "=1+1", "colour": "blue",
         "prediction": "no"},
    ]  # fmt: skip
    day = date(2024, 5, 17)
    (folder / "x.parquet").write_bytes(
        parquet(id=[Decimal("1.50")], day=[day], age=[31], colour=["red"], born=[day], gone=[None])
    )
    out = run(["predict", "model.json", "x.parquet", "--keep", "id,day,gone", "--json"], capsys)
    assert json.loads(out) == [{"id": 1.5, "day": "2024-05-17", "gone": None, "prediction": "yes"}]
    assert main(["predict", "model.json", "x.csv", "--keep", "Id"]) == 2
    assert capsys.readouterr().err == "frri: x.csv has no column 'Id'; did you mean 'id'?\n"
    (folder / "y.csv").write_text("prediction,age,born,colour\n1,2,2021-01-01,red\n")
    assert main(["predict", "model.json", "y.csv", "--keep-all"]) == 2
    assert "y.csv has a column 'prediction' of its own; keep others" in capsys.readouterr().err


def test_only_the_columns_that_rules_use_are_asked_for(folder, capsys):
    lines = [",".join(line.split(",")[i] for i in (0, 1, 2, 5)) for line in DATA.splitlines()]
    (folder / "x.csv").write_text("\n".join(lines) + "\n")
    assert run(["predict", "model.json", "x.csv"], capsys) == run(
        ["predict", "model.json", "data.csv"], capsys
    )
    assert run(["evaluate", "model.json", "x.csv"], capsys) == run(
        ["evaluate", "model.json", "data.csv"], capsys
    )
    assert "Predicted y" in run(["explain", "model.json", "x.csv", "--row", "2"], capsys)
    (folder / "y.csv").write_text("Age,colour,born\n1,red,2021-01-01\n")
    assert main(["predict", "model.json", "y.csv"]) == 2
    assert "y.csv has no column 'age'; did you mean 'Age'?" in capsys.readouterr().err


def test_categories_that_look_like_numbers_stay_strings(folder, capsys):
    (folder / "x.csv").write_text("code,y\n" + "007,a\n" * 5 + "8,b\n" * 5 + "NA,b\n1.0,b\n")
    assert main([*FIT, "--nominal", "code", "--learner", "ripper"]) == 0
    capsys.readouterr()
    assert RuleSet.load("old.json").attributes[0].categories == ("007", "1.0", "8")
    (folder / "new.csv").write_text("code\n007\n8\n7\n")
    assert run(["predict", "old.json", "new.csv"], capsys).split() == ["prediction", "a", "b", "b"]


@pytest.mark.parametrize("spelling", ["true", "TRUE", "True", "1", "1.0"])
def test_booleans_are_recognized_in_any_spelling(spelling, folder, capsys):
    (folder / "x.csv").write_text("ok,b,y\n" + "true,1,p\nfalse,2,q\n" * 9)
    assert main([*FIT, "--learner", "ripper"]) == 0
    capsys.readouterr()
    (folder / "new.csv").write_text(f"ok,b\n{spelling},3\nmaybe,3\n")
    assert run(["predict", "old.json", "new.csv"], capsys).split()[1] == "p"
    out = run(["explain", "old.json", f"ok={spelling}", "b=1"], capsys)
    assert "Predicted y = p" in out


def test_numeric_and_boolean_classes_are_compared_whatever_their_form(folder, capsys):
    for labels in (("0", "1"), ("false", "true")):
        (folder / "x.csv").write_text(
            "a,b,y\n" + "".join(f"{i},{i % 3},{labels[i > 9]}\n" for i in range(20))
        )
        assert main([*FIT, "--learner", "frri", "--no-check"]) == 0
        capsys.readouterr()
        assert json.loads(run(["evaluate", "old.json", "x.csv", "--json"], capsys))["accuracy"] == 1


@pytest.mark.usefixtures("folder")
def test_tables_and_models_come_from_standard_input(capsys, monkeypatch):
    give_stdin(monkeypatch, DATA.encode())
    assert len(run(["predict", "model.json", "-"], capsys).split()) == 21
    give_stdin(monkeypatch, MODEL.to_json().encode())
    assert len(run(["predict", "-", "data.csv"], capsys).split()) == 21


@pytest.mark.usefixtures("folder")
def test_explanations_keep_unchangeable_columns(capsys):
    free = json.loads(run(["explain", "model.json", *ONE, "--json"], capsys))
    assert free["decision"] == "yes"
    assert [change["attribute"] for change in free["change"]["changes"]] == ["age"]
    kept = json.loads(run(["explain", "model.json", *ONE, "--keep", "age", "--json"], capsys))
    assert kept["unchangeable"] == ["age"]
    assert kept["change"] is None
    assert kept["unalterable"]


@pytest.mark.usefixtures("folder")
def test_attributes_that_no_rule_uses_need_no_value(capsys):
    assert "Predicted y = yes" in run(["explain", "model.json", *ONE[:3]], capsys)


def test_evaluation_points_out_rules_that_drift(folder, capsys):
    rules = RuleSet(
        (Rule((NumericCondition.below("a", 10),), "no"), Rule((NumericCondition("a", 10, 10),), "yes")),
        (Attribute("a", 0, 19),), ("no", "yes"), target="y", class_counts=(100, 100),
    ).with_statistics([[i % 20] for i in range(200)], ["no" if i % 20 < 10 else "yes" for i in range(200)])  # fmt: skip
    rules.save("m.json")
    (folder / "x.csv").write_text("a,y\n" + "15,no\n" * 50)
    out = run(["evaluate", "m.json", "x.csv"], capsys)
    assert "accuracy                 0.000" in out
    lines = out.splitlines()
    assert lines[-2].endswith("lower coverage")
    assert lines[-1].endswith("lower precision")


def test_evaluation_shows_every_class_beside_the_majority_and_an_interval(folder, capsys):
    rule = Rule((NumericCondition.below("a", 10),), "no")
    others = Rule((NumericCondition("a", 10, 10),), "yes")
    RuleSet((rule, others), (Attribute("a", 0, 19),), ("no", "yes"), target="y").save("m.json")
    (folder / "x.csv").write_text("a,y\n" + "1,no\n" * 6 + "15,no\n" * 2 + "15,yes\n" * 2)
    lines = run(["evaluate", "m.json", "x.csv"], capsys).splitlines()
    assert lines[:9] == [
        "rows                     10",
        "accuracy                 0.800  (95 % interval 0.490 to 0.943)",
        "majority-class baseline  0.800  (always no)",
        "balanced accuracy        0.875",
        "Brier score              0.200",
        "",
        "class  rows  precision  recall     F1    AUC",
        "no        8      1.000   0.750  0.857  0.875",
        "yes       2      0.500   1.000  0.667  0.875",
    ]
    facts = json.loads(run(["evaluate", "m.json", "x.csv", "--json"], capsys))
    assert facts["majority_class"] == "no"
    assert facts["majority_accuracy"] == 0.8
    assert facts["accuracy_interval"] == pytest.approx([0.490, 0.943], abs=1e-3)
    assert facts["brier_score"] == pytest.approx(0.2)
    assert facts["class_measures"][1] == {
        "class": "yes", "rows": 2, "decided": 4, "precision": 0.5, "recall": 1.0,
        "f1": pytest.approx(2 / 3), "auc": 0.875,
    }  # fmt: skip


@pytest.mark.parametrize("learner", RULE_LEARNERS)
def test_evaluation_on_the_training_table_is_pointed_out(learner, folder, capsys):
    # A few rules of a random sample may have equal results on another table.
    seed = ["--seed", "0"] if "random_state" in LEARNERS[learner].make().get_params() else []
    assert main([*FIT_NUMBERS[:-1], "m.json", "--learner", learner, "--no-check", *seed]) == 0
    capsys.readouterr()
    assert main(["evaluate", "m.json", "numbers.csv"]) == 0
    assert "seem to be the training rows" in capsys.readouterr().err
    lines = NUMBERS.splitlines(keepends=True)
    for name, content in (
        ("fewer", lines[:-1]),
        ("other", [*lines[:-1], "0,0,yes\n"]),
        ("swapped", [line.replace("yes", "NO").replace("no", "yes").lower() for line in lines]),
    ):
        (folder / f"{name}.csv").write_text("".join(content))
        assert main(["evaluate", "m.json", f"{name}.csv"]) == 0
        assert "note" not in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_sql_of_every_dialect_is_exported_and_named_in_the_help(capsys):
    written = {
        name: run(["export", "model.json", "--to", "sql", "--dialect", name], capsys)
        for name in ("sqlite", "duckdb", "ansi")
    }
    assert len(set(written.values())) == 3
    assert run(["export", "model.json", "--to", "sql"], capsys) == written["sqlite"]
    shown = run(["export", "--to", "sql", "--help"], capsys)
    for name in ("SQLite", "DuckDB", "PostgreSQL", "ansi"):
        assert name in shown


@pytest.mark.parametrize(
    ("name", "dialect"), [("Postgres", "postgresql"), ("tsql", "sqlserver"), ("sqlite3", "sqlite")]
)
@pytest.mark.usefixtures("folder")
def test_dialects_have_common_aliases(name, dialect, capsys):
    export = ["export", "model.json", "--to", "sql", "--dialect"]
    assert run([*export, name], capsys) == run([*export, dialect], capsys)


@pytest.mark.usefixtures("folder")
def test_formats_are_listed_and_bad_requests_get_a_sentence(capsys):
    listed = run(["export", "--to"], capsys).splitlines()
    assert [line.split()[0] for line in listed[1:]] == [*FORMATS]
    assert listed == run(["export", "model.json", "--to"], capsys).splitlines()
    dbt = ["export", "model.json", "--to", "dbt"]
    for argv, message in (
        (["export", "--to", "sql"], "--to sql needs a saved model"),
        (["export", "model.json", "--to", "phyton"], "no format 'phyton'; did you mean 'python'?"),
        (["export", "model.json", "--to", "sql", "--dialect", "oracle"], "no dialect"),
        (["export", "model.json", "--to", "python", "--table", "t"], "--table belongs to --to sql"),
        (dbt, "writes a model and a schema file; use -o NAME.sql"),
        ([*dbt, "-o", "m.sql"], "--to dbt needs --dialect"),
        ([*dbt, "-o", "m.sql", "--dialect", "spark", "--view", "v"], "--view belongs to --to sql"),
    ):
        assert main(argv) == 2
        assert message in capsys.readouterr().err
    assert run([*dbt, "-o", "m.sql", "--dialect", "spark", "--table", "people"], capsys) == ""
    assert "{{ ref('people') }}" in Path("m.sql").read_text("utf-8")
    assert "  - name: m\n" in Path("m.yml").read_text("utf-8")


@pytest.mark.usefixtures("folder")
def test_sql_names_the_table_the_key_and_the_view(capsys):
    frame = pd.read_csv("data.csv").reset_index(names="nr")
    expected = MODEL.predict(frame).tolist()
    frame = frame.drop(columns=["size"])  # which no rule uses
    sql = ["export", "model.json", "--to", "sql", "--table", "the people", "--keep", "nr"]
    database = sqlite3.connect(":memory:")
    try:
        frame.to_sql("the people", database, index=False)
        found = database.execute(run(sql, capsys)).fetchall()
        assert [label for _, label, *_ in sorted(found)] == expected
        database.execute(run([*sql, "--view", "guessed", "--schema", "main"], capsys))
        columns = "nr, prediction, rule, score"
        found = database.execute(f"SELECT {columns} FROM guessed ORDER BY nr").fetchall()
        assert [label for _, label, *_ in found] == expected
    finally:
        database.close()
    assert not capsys.readouterr().err
    assert main(["export", "model.json", "--to", "sql"]) == 0
    assert "rows in any order; --keep adds a key" in capsys.readouterr().err
    assert main(["export", "model.json", "--to", "csv", "--keep", "nr"]) == 2
    assert capsys.readouterr().err == "frri: --keep belongs to --to sql.\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_an_example(name, capsys):
    out = run([name, "--help"], capsys)
    assert f"  frri {name}" in out.split("examples:")[1]


# ------------------------------------------------------------------ files


@posix
def test_a_new_file_keeps_the_mode_of_the_old_one_and_links_stay_links(folder):
    old = folder / "old.json"
    old.chmod(0o640)
    (folder / "link").symlink_to("old.json")
    write_output("link", "new")
    assert old.read_text() == "new"
    assert (folder / "link").is_symlink()
    assert old.stat().st_mode & 0o777 == 0o640


@posix
def test_a_new_file_can_be_read_by_others_as_usual(folder):
    before = os.umask(0o022)
    try:
        write_output("new.txt", "x")
    finally:
        os.umask(before)
    assert (folder / "new.txt").stat().st_mode & 0o777 == 0o644


def test_interrupted_writes_leave_no_files(folder, monkeypatch):
    def fails(*_):
        raise OSError(28, "No space left on device")

    before = snapshot(folder)
    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(ValueError, match=r"old.json cannot be written: No space left on device."):
        write_output("old.json", "new")
    assert snapshot(folder) == before


@pytest.mark.usefixtures("folder")
def test_folders_without_permission_are_refused_early(monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ValueError, match="Permission denied"):
        check_files([], "sub/m.json")


# ------------------------------------------------------------------ as a process


def frri(*argv, **options):
    return subprocess.run(
        [sys.executable, "-m", "frri", *argv],
        capture_output=True, text=True, timeout=600, check=False, **options,
    )  # fmt: skip


@posix
def test_a_file_that_grows_too_large_leaves_the_old_one(folder):
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    # Python itself would leave compiled sources that are cut off, and a measurement of coverage its data.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("COVERAGE")}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    command = ["export", "model.json", "--to", "json", "-o", "old.json"]
    result = frri(*command, preexec_fn=limit, env=environment)
    assert result.returncode == 2
    assert result.stderr == "frri: old.json cannot be written: File too large.\n"
    assert (folder / "old.json").read_text() == "precious"
    assert not list(folder.glob(".frri*"))


@pytest.mark.usefixtures("folder")
def test_predicting_needs_neither_learners_nor_compilers():
    program = (
        "import sys; from frri.cli import main; code = main(['predict', 'model.json', 'data.csv']);"
        "print(code, sorted({m.split('.')[0] for m in sys.modules}"
        " & {'numba', 'scipy', 'sklearn', 'highspy', 'matplotlib'}), file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=600, check=True
    )
    assert result.stderr.endswith("0 []\n")  # without progress lines of a slow machine


def test_help_loads_nothing_that_takes_time():
    program = (
        "import sys; from frri.cli import main; code = main(['--help']);"
        "print(code, sorted(m for m in sys.modules if m.partition('.')[0] in "
        "{'numpy', 'scipy', 'sklearn', 'pandas', 'pyarrow', 'numba', 'matplotlib', 'jinja2'}"
        " or m.startswith('frri.') and not m.startswith('frri.cli')), file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=600, check=True
    )
    assert result.stderr == "0 []\n"


def test_help_and_version_have_the_usual_forms(capsys):
    assert run(["help"], capsys) == run(["--help"], capsys)
    assert run(["help", "fit"], capsys) == run(["fit", "--help"], capsys)
    assert main(["help", "fitt"]) == 2
    assert "did you mean 'fit'?" in capsys.readouterr().err
    assert run(["-V"], capsys) == run(["--version"], capsys)


@pytest.mark.usefixtures("folder")
def test_quiet_prints_errors_only(capsys):
    assert main([*FIT_NUMBERS[:-1], "m.json", "--learner", "ripper", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["-q", *FIT_NUMBERS[:-1], "m.json", "--learner", "ripper"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["rules", "-q", "nothing.json"]) == 2
    assert capsys.readouterr().err == "frri: There is no file nothing.json.\n"
    assert main([*FIT_NUMBERS[:-1], "m.json", "--learner", "ripper"]) == 0
    assert "saved in m.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("terminal", "options", "shown"), [(False, [], False), (True, ["-q"], False), (True, [], True)]
)
@pytest.mark.usefixtures("folder")
def test_progress_is_shown_on_a_terminal_only(terminal, options, shown, monkeypatch, capsys):
    def load_slowly(_):
        with Progress("loading", 0.01):
            time.sleep(0.1)
        return MODEL

    monkeypatch.setattr("frri.cli.rules.load_model", load_slowly)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    assert main(["rules", "model.json", *options]) == 0
    assert ("loading ..." in capsys.readouterr().err) == shown
    load_slowly("by itself")
    assert "loading ..." in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_a_fit_can_be_written_as_json(capsys):
    fit = [*FIT_NUMBERS[:-2], "--learner", "ripper", "--seed", "0", "--json", "--cv", "2"]
    facts = json.loads(run(fit, capsys))
    assert (facts["task"], facts["learner"], facts["rows"], facts["model"]) == (
        "classification", "ripper", 20, None,
    )  # fmt: skip
    assert facts["measure"] == "accuracy"
    assert facts["baseline"] == {"answer": "no", "score": 0.5}
    assert len(facts["rules"]) == facts["n_rules"] > 0
    saved = json.loads(run([*fit, "-o", "m.json"], capsys))
    assert saved == {k: v for k, v in facts.items() if k not in {"classes", "rules"}} | {
        "model": "m.json"
    }
    assert len(RuleSet.load("m.json")) == saved["n_rules"]
    unchecked = json.loads(
        run([*FIT_NUMBERS[:-2], "--learner", "ripper", "--json", "--no-check"], capsys)
    )
    assert "score" not in unchecked
    assert main([*fit, "-o", "-"]) == 2
    assert "would both go to standard output" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("options", [[], ["--bags", "2", "--sample", "9"]])
def test_a_column_of_row_numbers_is_noted_once(options, capsys):
    frame = pd.read_csv("numbers.csv")
    for name in ("one.csv", "two.csv"):
        frame.to_csv(name)
    assert main(["fit", "one.csv", "two.csv", *FIT_NUMBERS[2:-2], "--no-check", *options]) == 0
    output = [line for line in capsys.readouterr().err.splitlines() if "first column" in line]
    assert len(output) == 1
    assert output[0].startswith("note: one.csv, two.csv: the first column has no name")


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_column_that_alone_predicts_the_target_is_pointed_out(task, folder, capsys):
    generator = np.random.default_rng(1)
    income = generator.normal(size=80)
    paid = income if task == "regression" else np.where(income > 0, "yes", "no")
    frame = pd.DataFrame({"a": generator.normal(size=80), "in come": 2 * income, "paid": paid})
    frame.to_csv(folder / "x.csv", index=False)
    fit = [
        "fit",
        "x.csv",
        "--target",
        "paid",
        "--task",
        task,
        "--learner",
        "additive",
        "--max-rules",
        "4",
        "--no-check",
    ]
    assert main(fit) == 0
    measure = "R2 1.00" if task == "regression" else "accuracy 0.99"
    output = capsys.readouterr().err
    assert f"note: check for leakage: 'in come' alone reaches {measure}; is it known" in output
    assert '--ignore "in come" leaves it out.\n' in output
    assert main([*fit, "--ignore", "in come"]) == 0
    assert "leakage" not in capsys.readouterr().err


def test_rules_on_a_column_of_many_categories_are_pointed_out(folder, capsys):
    towns, calls = np.repeat(np.arange(120), 5), np.tile(np.arange(5), 120)
    frame = pd.DataFrame({"home town": [f"town {k}" for k in towns], "calls": calls})
    frame["paid"] = np.where((towns < 4) & (calls < 4), "yes", "no")
    frame.to_csv(folder / "x.csv", index=False)
    fit = ["fit", "x.csv", "--target", "paid", "--learner", "additive", "--no-check"]
    assert main([*fit, "--nominal", "home town"]) == 0
    output = capsys.readouterr().err
    assert (
        "note: rules use 'home town', which has 120 categories; they do not transfer to" in output
    )
    assert '--ignore "home town" leaves the column out.\n' in output
    assert main([*fit, "--ignore", "home town"]) == 0
    assert "categories" not in capsys.readouterr().err


@posix
def test_bash_completes_commands_and_options(capsys):
    script = run(["completion"], capsys)
    assert run(["completion", "zsh"], capsys).endswith(f"bashcompinit\n{script}")

    def completed(*words):
        given = f"COMP_WORDS=(frri {' '.join(words)}); COMP_CWORD={len(words)}; _frri"
        program = f"{script}{given}; echo ${{COMPREPLY[@]}}"
        found = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
        return found.stdout.split()

    assert completed("fr") == ["frontier"]
    assert completed("fit", "--ta") == ["--target", "--task"]
    assert completed("help", "exp") == ["explain", "export"]
    assert completed("predict", "model.json", "new") == []


@posix
@pytest.mark.usefixtures("folder")
def test_a_closed_pipe_is_no_error():
    many = tuple(Rule((NumericCondition.below("a", i),), 0) for i in range(5_000))
    RuleSet(many, (Attribute("a"),), (0, 1)).save("many.json")
    command = f"set -o pipefail; {sys.executable} -m frri rules many.json | head -1"
    result = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=600, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.count("\n") == 1


@device_full
@pytest.mark.usefixtures("folder")
def test_standard_output_that_is_full_is_one_sentence():
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "frri", "rules", "model.json"],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=600, check=False,
        )  # fmt: skip
    assert result.returncode == 2
    assert result.stderr == "frri: standard output: No space left on device.\n"


@pytest.mark.usefixtures("folder")
def test_results_are_utf_8_whatever_the_locale():
    rule = Rule((NumericCondition.below("größe", 1),), "Jürgen")
    RuleSet((rule,), (Attribute("größe"),), ("Jürgen", "Ωmega")).save("m.json")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = subprocess.run(
        [sys.executable, "-m", "frri", "rules", "m.json"],
        capture_output=True, timeout=600, check=True, env=environment,
    )  # fmt: skip
    assert "IF größe < 1 THEN class = Jürgen" in result.stdout.decode("utf-8")


@posix
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_interrupting_ends_cleanly(folder, name):
    program = f"""
import os, signal, sys, time
import frri.cli
class Interrupted:
    @property
    def buffer(self):
        return self
    def read(self, *_):
        os.kill(os.getpid(), signal.{name})
        time.sleep(30)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.stdin = Interrupted()
sys.exit(frri.cli.main(["predict", "model.json", "-", "-o", "new.csv"]))
"""
    before = sorted(folder.iterdir())
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=600, check=False
    )
    assert result.returncode == 130
    assert sorted(folder.iterdir()) == before
    assert (result.stdout, result.stderr) == ("", "frri: interrupted; nothing was written.\n")


def test_the_demo_needs_neither_data_nor_pandas():
    program = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name in {"pandas", "pyarrow"}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocked())
from frri.cli import main
sys.exit(main(["demo"]))
"""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=600, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "THEN cultivar = Barolo" in result.stdout
    assert "such rules are needed to cover" in result.stdout


@pytest.mark.usefixtures("folder")
def test_colors_only_on_a_terminal_that_supports_them(monkeypatch, capsys):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b" not in run(["rules", "model.json"], capsys)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert "\x1b[1mIF\x1b[0m" in run(["rules", "model.json"], capsys)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run(["rules", "model.json"], capsys)


def test_evaluation_keeps_classes_apart_that_are_the_same_number(folder, capsys):
    rules = (
        Rule((NumericCondition.below("a", 2),), "1"),
        Rule((NumericCondition("a", 2, 2),), "01"),
    )
    RuleSet(rules, (Attribute("a", 0, 3),), ("01", "1"), target="y").save("codes.json")
    (folder / "codes.csv").write_text("a,y\n0,1\n1,1\n2,01\n3,01\n")
    assert main(["evaluate", "--json", "codes.json", "codes.csv"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["accuracy"] == 1.0
    assert found["confusion"] == [[2, 0], [0, 2]]


@pytest.mark.parametrize(
    ("classes", "written"),
    [((1, 2), "1.0 01 2"), ((0.5, 1.5), "0.50 .5 1.5"), ((True, False), "1 TRUE 0")],
)
def test_evaluation_recognizes_numeric_classes_in_any_form(folder, capsys, classes, written):
    rules = (Rule((NumericCondition.below("a", 2),), classes[0]),)
    rules += (Rule((NumericCondition("a", 2, 2),), classes[1]),)
    RuleSet(rules, (Attribute("a", 0, 3),), classes, target="y").save("numbers.json")
    lines = [f"{row},{label}" for row, label in enumerate(written.split())]
    (folder / "some.csv").write_text("\n".join(["a,y", *lines]))
    assert main(["evaluate", "--json", "numbers.json", "some.csv"]) == 0
    assert json.loads(capsys.readouterr().out)["confusion"] == [[2, 0], [0, 1]]


@pytest.mark.usefixtures("folder")
def test_a_column_of_numbers_with_many_strings_is_refused_as_in_a_data_frame(capsys):
    mixed = [*range(6), "low", "high", "low", "high"]
    frame = pd.DataFrame({"a": mixed, "y": list("nnnnnyyyyy")})
    sentence = r"Column 'a' holds 'low' in row 7 among numbers; correct or empty it, or "
    with pytest.raises(ValueError, match=sentence + "turn the column into strings"):
        FRRIClassifier().fit(frame[["a"]], frame["y"])
    frame.to_csv("mixed.csv", index=False)
    fit = ["fit", "mixed.csv", "--target", "y", "-o", "new.json"]
    assert main([*fit, "--strict"]) == 2
    assert re.search(sentence + r"declare .*\(--nominal a\)", capsys.readouterr().err)
    assert main([*fit, "--nominal", "a"]) == 0
    assert RuleSet.load("new.json").attributes[0].kind == "nominal"


@pytest.mark.usefixtures("folder")
def test_an_option_without_its_value_gets_a_sentence(capsys):
    assert main(["fit", "numbers.csv", "--target=--", "-o", "new.json"]) == 2
    assert capsys.readouterr().err == (
        "frri: argument --target: expected a value, got '--'; see frri fit --help.\n"
    )


MONSTERS = [
    "[]", "{}", "text", "-1", "1.5", f"1{'0' * 21}", f"1{'0' * 400}", "9" * 5000, "true", "none",
    "[1, 'a']", "{'a': 1}", "{0: []}", "1e999", "nan", "[[]]", "b'x'", "{1}", "1j", "''",
    "10**21", "[[0, 1], [1]]", f"{'[' * 50}{']' * 50}", "4294967296",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("learner", RULE_LEARNERS)
def test_any_value_of_any_parameter_is_taken_or_gets_one_sentence(learner, folder, capsys):
    (folder / "few.csv").write_text("a,b,y\n1,2,no\n2,1,no\n3,4,yes\n4,3,yes\n5,5,yes\n")
    fit = ["fit", "few.csv", "--target", "y", "-o", "new.json", "--learner", learner]
    for parameter in LEARNERS[learner].make().get_params():
        for value in MONSTERS[:: len(MONSTERS) // often(len(MONSTERS))]:
            code = main([*fit, "--set", f"{parameter}={value}"])
            *_, output = capsys.readouterr().err.splitlines()
            assert code in {0, 2}, (parameter, value)
            if code == 2:
                assert re.fullmatch(rf"frri: .*({parameter}|column).*[.?]", output), (
                    parameter,
                    value,
                    output,
                )
                assert len(output) < 250, (parameter, value, output)


@pytest.mark.usefixtures("folder")
def test_columns_that_no_rule_uses_need_not_be_there(capsys):
    without = pd.read_csv("data.csv").drop(columns="size")
    without.to_csv("fewer.csv", index=False)
    assert main(["rules", "model.json", "--tree", "fewer.csv"]) == 0
    assert main(["report", "model.json", "fewer.csv"]) == 0
    found = facts(MODEL, without, without["y"])
    assert [one["histogram"] is None for one in found["attributes"]] == [False] * 3 + [True]
    assert [one["missing"] for one in found["attributes"]] == [0, 0, 0, None]
    capsys.readouterr()
    assert main(["rules", "model.json", "--stability", "fewer.csv"]) == 2
    assert "The table for --stability has no column 'size'" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_intervals_of_classes_are_refused_in_words_of_the_command(capsys):
    assert main(["predict", "model.json", "data.csv", "--interval", "0.9"]) == 2
    output = capsys.readouterr().err
    assert "leave --interval out, --proba adds the probability of each class" in output
    assert "predict_proba" not in output


@pytest.mark.usefixtures("folder")
def test_options_of_0_1_0_are_accepted_with_a_note(capsys):
    assert main(["explain", "no-model.json", "a=1", "--keep=a"]) == 2
    assert capsys.readouterr().err == (
        "note: --keep is now called --fix; the old name goes with version 0.4.\n"
        "frri: There is no file no-model.json.\n"
    )


def test_the_column_of_row_names_gives_the_names_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    MODEL.save("model.json")
    rows = DATA.splitlines()
    named = [f"rownames,{rows[0]}", *(f"00{i},{row}" for i, row in enumerate(rows[1:]))]
    Path("rows.csv").write_text("\n".join(named) + "\n")
    assert main(["report", "model.json", "rows.csv", "--names", "rownames"]) == 0
    known = embedded(Path("report.html").read_text("utf-8"))
    assert known["data"]["names"][:2] == ["000", "001"]


@pytest.mark.usefixtures("folder")
def test_a_model_file_has_its_held_out_estimate(capsys):
    """Rules and page begin with the cross-validated score, not with that on training rows."""
    pima = dataset("pima")
    pima.X.assign(y=pima.y)[::3].to_csv("pima.csv", index=False)
    run(["fit", "pima.csv", "--target", "y", "--learner", "frri", "-o", "m.json"], capsys)
    rules = RuleSet.load("m.json")
    known = rules.about["evaluation"]
    assert known["measure"] == "accuracy"
    assert known["folds"] == 5
    assert known["interval"][0] < known["score"] < known["interval"][1] < 0.9
    assert main(["rules", "m.json"]) == 0
    assert f"On held-out rows: accuracy {known['score']:.2f} (" in capsys.readouterr().err
    table = pd.read_csv("pima.csv")
    shown = facts(rules, table.drop(columns="y"), table["y"])
    assert shown["performance"]["accuracy"] == 1.0
    correct = f"On new data about {100 * known['score']:.0f} of 100 rows are classified correctly"
    assert correct in headline(shown)
    assert "evaluation" not in rules.without_rule(0).about


@pytest.mark.parametrize(
    "strange",
    [1, [], {}, {"score": "x"}, {"score": 1, "interval": [0], "rows": 1, "baseline": {"score": 1}}],
)
def test_an_invalid_estimate_in_a_file_is_ignored(strange):
    rules = RuleSet((), (Attribute("x"),), (0, 1), about={"evaluation": strange})
    assert evaluation_of(rules) is None


@pytest.mark.parametrize(
    "strange", [1, [], [[0]], ["abc"], [[0, 2, 5]], [[0, 1, 0]], [[0, 0.5, 1]], [[0, 1, "x"]]]
)
def test_an_invalid_confusion_matrix_in_a_file_is_ignored(strange):
    known = {"measure": "accuracy", "score": 0.5, "interval": [0.4, 0.6], "rows": 9}
    known |= {"baseline": {"score": 0.5}}
    for confusion in ([[0, 1, 4], [1, 1, 5]], strange):
        about = {"evaluation": known | {"confusion": confusion}}
        found = evaluation_of(RuleSet((), (Attribute("x"),), (0, 1), about=about))
        assert found == (None if confusion is strange else about["evaluation"])


@pytest.mark.usefixtures("folder")
def test_the_leaderboard_is_saved_with_the_model(capsys):
    load_wine(as_frame=True).frame.iloc[::3, [0, 6, -1]].to_csv("wine.csv", index=False)
    run(["fit", "wine.csv", "--target", "target", "--max-rules", "4", "-o", "m.json"], capsys)
    names = [one["name"] for one in RuleSet.load("m.json").about["evaluation"]["leaderboard"]]
    assert set(names) >= {"ripper", "additive"}

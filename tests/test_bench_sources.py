"""Data sets come from files, scikit-learn, pairs and KEEL's folds, and say what was left out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris

from frri.compare import NAMES, dataset, load
from frri.compare.facts import dataset_table, facts, paper_table

FRAME = pd.DataFrame(
    {
        "age": [31, 44, 58, None, 63],
        "smoker": ["yes", "no", "no", "yes", "no"],
        "weight": [70.5, 81.0, 64.0, 90.0, 77.0],
        "risk": ["low", "low", "high", "high", "high"],
    }
)
NOTES = ("1 row with missing values left out", "not numeric, left out: 'smoker'")


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arff"])
def test_files_of_all_kinds_give_the_same_table(tmp_path, ending):
    path = tmp_path / f"patients.{ending}"
    if ending == "parquet":
        pl.DataFrame(FRAME.to_dict("list")).write_parquet(path)
    elif ending == "arff":
        rows = FRAME.to_csv(index=False, header=False, na_rep="?")
        head = "@attribute age numeric\n@attribute smoker {yes,no}\n@attribute weight real\n"
        path.write_text(f"@relation p\n{head}@attribute risk {{low,high}}\n@data\n{rows}")
    else:
        FRAME.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    data = dataset(path, target=None if ending == "arff" else "risk")
    assert data.name == "patients"
    assert data.X.to_dict("list") == {"age": [31, 44, 58, 63], "weight": [70.5, 81, 64, 77]}
    assert data.y.tolist() == ["low", "low", "high", "high"]
    assert data.notes == NOTES


def test_a_pair_a_frame_and_a_loader():
    X, y = load_iris(return_X_y=True, as_frame=True)
    pair = dataset((X, y), name="iris")
    assert pair.y[:2].tolist() == ["0", "0"]
    assert list(pair.X.columns) == list(X.columns)
    loader = dataset(load_iris, name="iris")
    assert sorted(set(loader.y.tolist())) == ["setosa", "versicolor", "virginica"]
    assert list(loader.X.columns) == list(X.columns)
    assert dataset("sklearn:iris").fingerprint == loader.fingerprint != pair.fingerprint
    assert dataset((pl.DataFrame({"class": [1, 2]}), ["a", "b"])).target == "class_"
    assert dataset((np.eye(3), [0.0, 1.0, 1.0])).y.tolist() == ["0", "1", "1"]


def test_ready_made_folds_of_keel_are_kept(tmp_path):
    head = "@relation t\n@attribute a real\n@attribute c {x, y}\n@inputs a\n@outputs c\n@data\n"
    parts = ["1, x\n2, y\n", "3, x\n<null>, y\n5, y\n", "6, x\n"]
    for i, part in enumerate(parts, start=1):
        others = "".join(p for j, p in enumerate(parts, start=1) if j != i)
        (tmp_path / f"tiny-3-{i}tst.dat").write_text(head + part)
        (tmp_path / f"tiny-3-{i}tra.dat").write_text(head + others)
    data = dataset(tmp_path)
    assert data.name == "tiny"
    assert data.X["a"].tolist() == [1, 2, 3, 5, 6]
    assert data.folds.tolist() == [0, 0, 1, 1, 2]
    (tmp_path / "tiny-3-2tra.dat").write_text(head + "1, x\n")
    with pytest.raises(ValueError, match=r"tiny-3-2tra\.dat is not what the other test parts"):
        dataset(tmp_path)
    (tmp_path / "tiny-3-2tst.dat").unlink()
    with pytest.raises(ValueError, match="does not hold the test parts of 3 folds"):
        dataset(tmp_path)
    with pytest.raises(ValueError, match="holds no folds of KEEL"):
        dataset(tmp_path.parent)


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("vehicel", None, r"no data set 'vehicel'; did you mean 'vehicle'\? A file"),
        ("sklearn:irs", None, "did you mean 'sklearn:iris'"),
        ("lost.csv", None, r"there is no file lost\.csv"),
        ("p.csv", None, r"which column is the class\? .* columns are age, smoker, weight, risk"),
        ("p.csv", "risky", r"p\.csv has no column 'risky'; did you mean 'risk'"),
        ("p.csv", "weight", "holds quantities such as 70.5"),
        ("p.xls", None, r"files ending in '\.xls' are not read"),
    ],
)
def test_what_is_wrong_with_a_source_is_said_in_a_sentence(
    tmp_path, monkeypatch, source, target, message
):
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("p.csv", index=False)
    FRAME.to_csv("p.xls", index=False)
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        dataset(source, target=target)


def test_shapes_agree_with_the_papers_table_but_for_its_slips():
    printed = paper_table("datasets")
    assert tuple(printed.index) == NAMES
    slips = {}
    for name in NAMES:
        found = facts(load(name))
        assert [found.attributes, found.objects, found.classes] == printed.loc[name].tolist()[:3]
        if round(found.imbalance_ratio, 2) != printed.loc[name, "imbalance_ratio"]:
            slips[name] = round(found.imbalance_ratio, 2)
    assert slips == {"cleveland": 12.31, "ecoli": 71.5, "spectfheart": 3.85}
    shown = dataset_table(load(name) for name in slips).markdown()
    assert "| cleveland | 13 | 297 | 5 | 12.31 | paper prints 12.62 |" in shown

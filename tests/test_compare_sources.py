"""Datasets from files, scikit-learn, pairs and folds of KEEL, with notes about omitted data."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris

from frri.compare import dataset
from frri.readers.training import read_training
from frri.table.columns import kind_of

FRAME = pd.DataFrame(
    {
        "age": [31, 44, 58, None, 63],
        "smoker": ["yes", "no", "no", "yes", "no"],
        "weight": [70.5, 81.0, 64.0, 90.0, 77.0],
        "risk": ["low", "low", "high", "high", "high"],
    }
)


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
    assert list(data.X.columns) == ["age", "smoker", "weight"]
    np.testing.assert_equal(data.X["age"].to_numpy(), [31, 44, 58, np.nan, 63])
    assert data.X["smoker"].tolist() == ["yes", "no", "no", "yes", "no"]
    assert data.X["weight"].tolist() == [70.5, 81, 64, 90, 77]
    assert data.y.tolist() == ["low", "low", "high", "high", "high"]
    assert (data.not_numeric, data.with_missing, data.notes) == (["smoker"], ["age"], ())


def test_a_file_is_read_as_fit_reads_it(tmp_path):
    """Types, categories, missing values, dates and declared columns."""
    path = tmp_path / "cars.csv"
    path.write_text(
        "id;seen;size;doors;colour;price;sold\n"
        + "1;2020-01-05;mid;4;red;10,5;01\n2;2020-03-01;small;2;NA;9,25;1\n" * 3
    )
    kinds = {"ordinal": {"size": ["small", "mid"]}, "nominal": ["doors"], "ignore": ["id"]}
    data = dataset(path, target="sold", **kinds)
    X, y, _ = read_training(path, "sold", **kinds)
    pd.testing.assert_frame_equal(data.X, X)
    assert [kind_of(data.X[c]) for c in data.X] == [
        "date", "ordinal", "nominal", "nominal", "numeric",
    ]  # fmt: skip
    assert data.y.tolist() == [str(label) for label in y]
    assert data.with_missing == ["colour"]
    other = dataset(path, target="sold", **{**kinds, "nominal": []})
    assert (
        other.fingerprint != data.fingerprint == dataset(path, target="sold", **kinds).fingerprint
    )
    with pytest.raises(ValueError, match="has no column 'door'; did you mean 'doors'"):
        dataset(path, target="sold", nominal=["door"])
    path.write_text("a,b\n1,x\n2,\n")
    with pytest.raises(ValueError, match="The target 'b' has no value in 1 of"):
        dataset(path, target="b")


def test_a_pair_a_frame_and_a_name_of_scikit_learn():
    X, y = load_iris(return_X_y=True, as_frame=True)
    pair = dataset((X, y), name="iris")
    assert pair.y[:2].tolist() == ["0", "0"]
    assert list(pair.X.columns) == list(X.columns)
    named = dataset("sklearn:iris")
    assert named.name == "iris"
    assert sorted(set(named.y.tolist())) == ["setosa", "versicolor", "virginica"]
    assert list(named.X.columns) == list(X.columns)
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
    np.testing.assert_equal(data.X["a"].to_numpy(), [1, 2, 3, np.nan, 5, 6])
    assert data.folds.tolist() == [0, 0, 1, 1, 1, 2]
    marked = dataset(tmp_path, na_values=["6"]).X["a"]
    np.testing.assert_equal(marked.to_numpy(), [1, 2, 3, np.nan, 5, np.nan])
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
        ("vehicel", None, r"no dataset 'vehicel'; did you mean 'vehicle'\? A file"),
        ("sklearn:irs", None, "did you mean 'sklearn:iris'"),
        ("lost.csv", None, r"There is no file lost\.csv"),
        (
            "p.csv",
            None,
            r"which column is the class\? .*\(--target COLUMN\); the columns are age, smoker, weight, risk",
        ),
        ("p.csv", "risky", r"p\.csv has no column 'risky'; did you mean 'risk'"),
        ("p.csv", "weight", "The target 'weight' has another value in every row"),
        ("p.doc", None, r"cannot tell the format from the ending '\.doc'"),
    ],
)
def test_bad_sources_get_one_sentence(tmp_path, monkeypatch, source, target, message):
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("p.csv", index=False)
    FRAME.to_csv("p.doc", index=False)
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        dataset(source, target=target)


def test_a_target_of_quantities_is_refused():
    with pytest.raises(
        ValueError, match=r"target 'class' holds quantities such as 0\.5; a classifier"
    ):
        dataset(([[1], [2], [3]], [0.5, 0.5, 2.0]))

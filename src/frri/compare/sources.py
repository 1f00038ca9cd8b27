"""Data sets from anywhere: a file, scikit-learn, a pair of table and classes, ready-made folds."""

import difflib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from frri.compare.datasets import NAMES, Dataset, load, prepare
from frri.compare.optional import import_pandas
from frri.readers.keel import read_keel

if TYPE_CHECKING:
    import pandas as pd

Source = str | os.PathLike[str] | Dataset | tuple[Any, Any] | Callable[[], Any]

_added: dict[str, Source] = {}


def dataset(source: Source, *, target: str | None = None, name: str | None = None) -> Dataset:
    """A data set from whatever holds one.

    Parameters
    ----------
    source : str, path, Dataset, pair or callable
        A name of `frri.compare.NAMES` or one given to `add_dataset`; ``"sklearn:"`` and the name of a
        loader of scikit-learn without ``load_``; the path of a CSV, ARFF, KEEL (.dat) or Parquet file,
        or of a directory with KEEL's ready-made folds; a pair `(X, y)`; a function that returns any of
        these, or a bunch of scikit-learn.
    target : str, optional
        The column that holds the class. Necessary for CSV and Parquet; ARFF and KEEL files say it
        themselves (without a word, it is the last attribute).
    name : str, optional
        What to call it; by default the name of the file.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> dataset("sklearn:iris").X.shape
    (150, 4)
    >>> dataset(([[1.0], [2.0], [3.0]], ["no", "no", "yes"]), name="mine").y.tolist()
    ['no', 'no', 'yes']
    """
    if isinstance(source, Dataset):
        return source
    if isinstance(source, tuple):
        return _from_pair(*source, name=name or "data", target=target)
    if callable(source):
        return _from_loader(source, name or str(getattr(source, "__name__", "data")), target)
    if isinstance(source, str) and not _looks_like_path(source):
        return _from_name(source, name, target)
    return _from_path(Path(source), target, name)


def add_dataset(name: str, source: Source) -> None:
    """Make a data set available by name.

    Parameters
    ----------
    name : str
    source : anything `dataset` takes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> add_dataset("iris", load_iris)
    >>> dataset("iris").name
    'iris'
    """
    _added[name] = source


def _looks_like_path(text: str) -> bool:
    return text not in {*_added, *NAMES} and (bool(Path(text).suffix) or Path(text).exists())


def _from_name(text: str, name: str | None, target: str | None) -> Dataset:
    if text in _added:
        return dataset(_added[text], target=target, name=name or text)
    if text in NAMES:
        return load(text)
    if text.startswith("sklearn:"):
        return _from_sklearn(text.removeprefix("sklearn:"), name)
    close = difflib.get_close_matches(text, [*NAMES, *_added], n=1, cutoff=0)
    raise ValueError(
        f"there is no data set {text!r}; did you mean {close[0]!r}? "
        "A file is given by its path, with its ending"
    )


def _from_pair(X: Any, y: Any, *, name: str, target: str | None) -> Dataset:
    pd = import_pandas()
    columns = getattr(X, "columns", None)
    if columns is None:
        matrix = np.asarray(X)
        if matrix.ndim != 2:
            raise ValueError(f"{name}: expected a table of rows and columns, got {matrix.shape}")
        frame = pd.DataFrame(matrix, columns=[f"x{j}" for j in range(matrix.shape[1])])
    else:
        frame = pd.DataFrame({str(c): np.asarray(X[c]) for c in columns})
    label = target or str(getattr(y, "name", None) or "class")
    while label in frame.columns:
        label += "_"
    classes = np.asarray(y).ravel()
    if len(classes) != len(frame):
        raise ValueError(
            f"{name}: the table has {len(frame)} rows but there are {len(classes)} labels"
        )
    inputs = list(frame.columns)
    return prepare(name, frame.assign(**{label: classes}), inputs, label)


def _from_loader(loader: Callable[[], Any], name: str, target: str | None) -> Dataset:
    content = loader()
    if isinstance(content, dict) and "data" in content and "target" in content:
        X = content["data"]
        names = content.get("feature_names")
        if names is not None and not hasattr(X, "columns"):
            X = import_pandas().DataFrame(X, columns=[str(n) for n in names])
        y, labels = np.asarray(content["target"]), content.get("target_names")
        if labels is not None and y.dtype.kind in "iu":
            y = np.asarray(labels)[y]
        return _from_pair(X, y, name=name, target=target)
    return dataset(content, target=target, name=name)


def _from_sklearn(loader: str, name: str | None) -> Dataset:
    from sklearn import datasets  # noqa: PLC0415 - slow to import

    known = [n.removeprefix("load_") for n in dir(datasets) if n.startswith("load_")]
    if loader not in known:
        close = difflib.get_close_matches(loader, known, n=1, cutoff=0)
        raise ValueError(
            f"scikit-learn has no loader for {loader!r}; did you mean 'sklearn:{close[0]}'?"
        )
    return _from_loader(getattr(datasets, f"load_{loader}"), name or loader, None)


def _from_path(path: Path, target: str | None, name: str | None) -> Dataset:
    name = name or path.stem
    if path.is_dir():
        return _from_keel_folds(path, name)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    if path.suffix.lower() in {".dat", ".arff"}:
        table = read_keel(path)
        label = target or _only_output(path, table.outputs)
        _check_column(path, label, table.frame)
        return prepare(name, table.frame, [c for c in table.frame.columns if c != label], label)
    frame = _read_frame(path)
    if target is None:
        raise ValueError(
            f"{path.name}: which column is the class? Name it with target; "
            f"the columns are {', '.join(map(str, frame.columns))}"
        )
    _check_column(path, target, frame)
    return prepare(name, frame, [c for c in frame.columns if c != target], target)


def _read_frame(path: Path) -> "pd.DataFrame":
    pd = import_pandas()
    match path.suffix.lower():
        case ".csv" | ".tsv" | ".txt":
            return pd.read_csv(path, sep=_separator(path), skipinitialspace=True)
        case ".parquet":
            return _read_parquet(path)
        case ending:
            raise ValueError(
                f"{path.name}: files ending in {ending!r} are not read; "
                "expected .csv, .tsv, .arff, .dat (KEEL) or .parquet"
            )


def _separator(path: Path) -> str:
    """The one of comma, semicolon and tab that the first line has most of."""
    with path.open(encoding="utf-8-sig") as file:
        first = file.readline()
    return max(",;\t", key=first.count)


def _read_parquet(path: Path) -> "pd.DataFrame":
    pd = import_pandas()
    try:
        import polars as pl  # noqa: PLC0415 - optional

        table = pl.read_parquet(path)
        return pd.DataFrame({c: table[c].to_list() for c in table.columns})
    except ImportError:
        pass
    try:
        return pd.read_parquet(path)
    except ImportError:
        raise ImportError(
            f"{path.name}: reading Parquet needs polars or pyarrow: run pip install polars"
        ) from None


def _check_column(path: Path, target: str, frame: "pd.DataFrame") -> None:
    if target not in frame.columns:
        names = [str(c) for c in frame.columns]
        close = difflib.get_close_matches(target, names, n=1, cutoff=0)
        raise ValueError(f"{path.name} has no column {target!r}; did you mean {close[0]!r}?")


def _only_output(path: Path, outputs: tuple[str, ...]) -> str:
    if len(outputs) != 1:
        raise ValueError(f"{path.name} declares {len(outputs)} outputs; name the class with target")
    return outputs[0]


# `wine-10-3tst.dat` is the test part of the third of ten folds of wine.
_TEST_FILE = re.compile(r"(?P<name>.+)-(?P<of>\d+)-(?P<fold>\d+)tst\.dat", re.IGNORECASE)


def _from_keel_folds(directory: Path, name: str) -> Dataset:
    """The table that the test parts of KEEL's ready-made folds make up together."""
    found = [(m, p) for p in sorted(directory.iterdir()) if (m := _TEST_FILE.fullmatch(p.name))]
    if not found:
        raise ValueError(
            f"{directory} holds no folds of KEEL: expected files such as {name}-10-1tst.dat"
        )
    found.sort(key=lambda pair: int(pair[0]["fold"]))
    expected = int(found[0][0]["of"])
    if [int(m["fold"]) for m, _ in found] != list(range(1, expected + 1)):
        raise ValueError(f"{directory} does not hold the test parts of {expected} folds")
    tables = [read_keel(path) for _, path in found]
    frame = import_pandas().concat([t.frame for t in tables], ignore_index=True)
    sizes = [len(t.frame) for t in tables]
    for (_, path), size in zip(found, sizes, strict=True):
        training = path.with_name(re.sub(r"tst(?=\.dat$)", "tra", path.name))
        if training.is_file() and len(read_keel(training).frame) != len(frame) - size:
            raise ValueError(f"{training.name} is not what the other test parts make up together")
    folds = np.repeat(np.arange(expected), sizes)
    target = _only_output(found[0][1], tables[0].outputs)
    return prepare(found[0][0]["name"], frame, tables[0].inputs, target, folds)

"""Data sets from anywhere: a file, scikit-learn, a pair of table and classes, ready-made folds."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from frri._util import find_name, import_pandas
from frri.compare.datasets import NAMES, Dataset, class_names, load
from frri.readers import read_table
from frri.readers.keel import read_keel
from frri.readers.training import read_training, split_training
from frri.rules.rule import as_labels

if TYPE_CHECKING:
    import pandas as pd

Source = str | os.PathLike[str] | Dataset | tuple[Any, Any] | Callable[[], Any]

_added: dict[str, Source] = {}


def dataset(
    source: Source, *, target: str | None = None, name: str | None = None, **kinds: Any
) -> Dataset:
    """A data set from whatever holds one.

    Files are read as `frri fit` reads them: numbers, dates, categories and missing values stay what
    they are.

    Parameters
    ----------
    source : str, path, Dataset, pair or callable
        A name of `frri.compare.NAMES` or one given to `add_dataset`; ``"sklearn:"`` and the name of a
        loader of scikit-learn without ``load_``; the path of a file that `frri.read_table` reads,
        or of a directory with KEEL's ready-made folds; a pair `(X, y)`; a function that returns any of
        these, or a bunch of scikit-learn.
    target : str, optional
        The column that holds the class. Necessary but for ARFF and KEEL files, which say it
        themselves (without a word, it is the last attribute).
    name : str, optional
        What to call it; by default the name of the file.
    **kinds
        `nominal`, `ordinal`, `ignore`, `missing` and `date_format`, for files: see
        `frri.readers.training`.

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
    return _from_path(Path(source), target, name, kinds)


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
    if text.startswith("sklearn:"):
        return _from_sklearn(text.removeprefix("sklearn:"), name)
    try:
        find_name(text, [*NAMES, *_added], "The comparison", "data set")
    except ValueError as error:
        raise ValueError(f"{error} A file is given by its path, with its ending.") from None
    return load(text)


def _from_pair(X: Any, y: Any, *, name: str, target: str | None) -> Dataset:
    pd = import_pandas()
    if isinstance(X, pd.DataFrame):
        frame = X.reset_index(drop=True).rename(columns=str)
    elif hasattr(X, "columns"):
        frame = pd.DataFrame({str(c): np.asarray(X[c]) for c in X.columns})
    else:
        matrix = np.asarray(X)
        if matrix.ndim != 2:
            raise ValueError(f"{name}: expected a table of rows and columns, got {matrix.shape}")
        frame = pd.DataFrame(matrix, columns=[f"x{j}" for j in range(matrix.shape[1])])
    label = target or str(getattr(y, "name", None) or "class")
    while label in frame.columns:
        label += "_"
    classes = as_labels(y).ravel()
    if len(classes) != len(frame):
        raise ValueError(
            f"{name}: the table has {len(frame)} rows but there are {len(classes)} labels"
        )
    X, y, _ = split_training(frame.assign(**{label: classes}), name, label)
    return Dataset(name, X, class_names(y), label)


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

    known = [n.replace("load_", "sklearn:", 1) for n in dir(datasets) if n.startswith("load_")]
    find_name(f"sklearn:{loader}", known, "scikit-learn", "data set")
    return _from_loader(getattr(datasets, f"load_{loader}"), name or loader, None)


def _from_path(path: Path, target: str | None, name: str | None, kinds: dict[str, Any]) -> Dataset:
    if path.is_dir():
        return _from_keel_folds(path, target, name, kinds)
    if target is None:
        target = _declared_target(path)
    X, y, _ = read_training(path, target, **kinds)
    return Dataset(name or path.stem, X, class_names(y), target)


def _declared_target(path: Path) -> str:
    """The column of the classes, in files that say which it is."""
    frame = read_table(path)
    if path.suffix.lower() not in {".dat", ".arff"}:
        raise ValueError(
            f"{path.name}: which column is the class? Name it with target (--target COLUMN); "
            f"the columns are {', '.join(map(str, frame.columns))}."
        )
    outputs = read_keel(path).outputs
    if len(outputs) != 1:
        raise ValueError(
            f"{path.name} declares {len(outputs)} outputs; name the class with target (--target COLUMN)."
        )
    return outputs[0]


# `wine-10-3tst.dat` is the test part of the third of ten folds of wine.
_TEST_FILE = re.compile(r"(?P<name>.+)-(?P<of>\d+)-(?P<fold>\d+)tst\.dat", re.IGNORECASE)


def _from_keel_folds(
    directory: Path, target: str | None, name: str | None, kinds: dict[str, Any]
) -> Dataset:
    """The table that the test parts of KEEL's ready-made folds make up together."""
    found = [(m, p) for p in sorted(directory.iterdir()) if (m := _TEST_FILE.fullmatch(p.name))]
    if not found:
        raise ValueError(
            f"{directory} holds no folds of KEEL: expected files such as "
            f"{directory.name}-10-1tst.dat"
        )
    found.sort(key=lambda pair: int(pair[0]["fold"]))
    expected = int(found[0][0]["of"])
    if [int(m["fold"]) for m, _ in found] != list(range(1, expected + 1)):
        raise ValueError(f"{directory} does not hold the test parts of {expected} folds")
    target = target or _declared_target(found[0][1])
    texts = dict.fromkeys((*kinds.get("nominal", ()), *(kinds.get("ordinal") or ())), ())
    cells = {option: kinds.pop(option) for option in ("missing", "date_format") if option in kinds}
    parts: list[pd.DataFrame] = [read_table(path, texts, **cells) for _, path in found]
    frame = import_pandas().concat(parts, ignore_index=True)
    for (_, path), part in zip(found, parts, strict=True):
        training = path.with_name(re.sub(r"tst(?=\.dat$)", "tra", path.name))
        if training.is_file() and len(read_table(training)) != len(frame) - len(part):
            raise ValueError(f"{training.name} is not what the other test parts make up together")
    folds = np.repeat(np.arange(expected), [len(part) for part in parts])
    name = name or str(found[0][0]["name"])
    X, y, _ = split_training(frame, name, target, **kinds)
    return Dataset(name, X, class_names(y), target, folds)

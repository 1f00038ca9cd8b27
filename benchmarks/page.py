"""Response times of the report page in a browser, with 500 rules and 5,000 rows.

Times are milliseconds in headless Chromium: medians from an event to the frame that shows its effect, and from the
start of loading to the first rule. `python -m benchmarks.page` needs Playwright and Chromium.
"""

import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np

from frri import Attribute, NumericCondition, Rule, RuleSet
from frri.report import write_report

N_ROWS, N_RULES, N_ATTRIBUTES = 5_000, 500, 12
CHROMIUMS = Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium")

# Waits until the browser has painted the effect of an event.
PAINTED = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
TYPING = f"""async () => {{
  const search = document.getElementById("search");
  const waits = [];
  for (const text of ["s", "se", "sensor 1", "sensor 11", "", "3", "37", ">= 1", "is 2", "x", ""]) {{
    const start = performance.now();
    search.value = text;
    search.dispatchEvent(new Event("input"));
    await {PAINTED};
    waits.push(performance.now() - start);
  }}
  return waits; }}"""
SORTING = f"""async () => {{
  const waits = [];
  for (const button of [...document.querySelectorAll("thead button")].slice(0, 8)) {{
    const start = performance.now();
    button.click();
    await {PAINTED};
    waits.push(performance.now() - start);
  }}
  return waits; }}"""
SLIDING = f"""async () => {{
  const slider = document.getElementById("value-0-slider");
  const waits = [];
  for (let k = 0; k < 15; k += 1) {{
    const start = performance.now();
    slider.value = Number(slider.min) + ((slider.max - slider.min) * k) / 15;
    slider.dispatchEvent(new Event("input"));
    await {PAINTED};
    waits.push(performance.now() - start);
  }}
  return waits; }}"""
SETTLING = """async () => {
  const change = document.querySelector(".change");
  const waits = [];
  for (let k = 1; k <= 15; k += 1) {
    const start = performance.now();
    const number = document.getElementById("row-number");
    number.value = 1 + k * 300;
    number.dispatchEvent(new Event("change"));
    while (change.hasAttribute("aria-busy")) await new Promise((done) => setTimeout(done, 1));
    waits.push(performance.now() - start);
  }
  return waits; }"""
OPENING = f"""async () => {{
  const waits = [];
  for (const opener of [...document.querySelectorAll(".opener")].slice(0, 8)) {{
    const start = performance.now();
    opener.click();
    await {PAINTED};
    waits.push(performance.now() - start);
    opener.click();
  }}
  return waits; }}"""


def artificial_model() -> tuple[RuleSet, np.ndarray, np.ndarray]:
    """Return an artificial model of the largest size that the page is designed for, and its rows."""
    random = np.random.default_rng(0)
    X = random.normal(size=(N_ROWS, N_ATTRIBUTES)).round(3)
    y = (X[:, :3].sum(axis=1) > 0).astype(int) + (X[:, 3] > 1)
    rules = []
    for row in random.integers(0, N_ROWS, N_RULES):
        columns = random.choice(N_ATTRIBUTES, random.integers(2, 6), replace=False)
        conditions = []
        for j in columns:
            near, far = np.sort(random.uniform(0.1, 2, 2))
            x = X[row, j]
            bounds = [(x - far, x - near, x + near, x + far), (None, None, x + near, x + far)]
            low, core_low, core_high, high = bounds[int(random.integers(2))]
            conditions.append(
                NumericCondition(f"sensor {j}", core_high=core_high, support_high=high)
                if low is None
                else NumericCondition(f"sensor {j}", low, core_low, core_high, high)
            )
        rules.append(Rule(tuple(conditions), int(y[row]), float(random.uniform(0.2, 1))))
    attributes = tuple(
        Attribute(f"sensor {j}", X[:, j].min(), X[:, j].max()) for j in range(N_ATTRIBUTES)
    )
    return RuleSet(tuple(rules), attributes, (0, 1, 2), clip=True), X, y


def main() -> int:
    """Print one line for each response time."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "report.html"
        write_report(artificial_model()[0], path, *artificial_model()[1:])
        own = Path(playwright.chromium.executable_path)
        program = next((path for path in CHROMIUMS if path.exists()), own)
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script(
            """new MutationObserver((_, observer) => {
                 if (!document.querySelector("tr.rule")) return;
                 globalThis.firstRule = performance.now();
                 observer.disconnect();
               }).observe(document, { childList: true, subtree: true });"""
        )
        page.goto(path.as_uri())
        page.wait_for_selector("tr.rule")
        show("file, megabytes", path.stat().st_size / 1e6)
        show("first rule", page.evaluate("firstRule"))
        show("open a rule", statistics.median(page.evaluate(OPENING)))
        show("search", statistics.median(page.evaluate(TYPING)))
        show("sort", statistics.median(page.evaluate(SORTING)))
        page.click("#tab-what-if")
        page.wait_for_selector(".change:not([aria-busy])")
        show("what-if, slider", statistics.median(page.evaluate(SLIDING)))
        page.wait_for_selector(".change:not([aria-busy])")
        show("what-if, complete", statistics.median(page.evaluate(SETTLING)))
        browser.close()
    return 0


def show(name: str, value: float) -> None:
    """Print a line of the table."""
    sys.stdout.write(f"{name:22} {value:8.1f}\n")


if __name__ == "__main__":
    raise SystemExit(main())

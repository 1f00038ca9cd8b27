"""Browser helpers for the tests of the report page."""

import base64
import json
import os
import re
import sys
import zlib
from pathlib import Path

import pytest

from frri import RuleSet
from frri.report import report_html

# The first installed one is used. As in Playwright, Chromium runs headless, which takes less time.
CHROMIUMS = Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium")
AXE = Path(sys.prefix) / "axe/node_modules/axe-core/axe.min.js"
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium(playwright):
    """Return the path of the browser, whether it is installed or not."""
    own = Path(playwright.chromium.executable_path)
    return next((program for program in CHROMIUMS if program.exists()), own)


def needs(what, present):
    """Skip a test whose requirement is missing; in CI, fail."""
    if not present:
        message = f"{what} is not installed (make test installs it where it may)"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)


# Pages of the same objects are written once. The objects are kept, so that their ids are not used again.
_written: dict[tuple[int, ...], tuple[str, tuple[object, ...]]] = {}


def written(*shown):
    """Return the report page of a model and its rows."""
    key = tuple(map(id, shown))
    if key not in _written:
        _written[key] = report_html(*shown), shown
    return _written[key][0]


def ready(page, load):
    """Load a page, and wait until its script has decoded the data and built the page."""

    def load_and_wait(*arguments):
        load(*arguments)
        if page.locator("#app").count():
            page.wait_for_selector("#app:not([hidden])")

    return load_and_wait


class Visit:
    """Opens pages, and records their errors and requests."""

    def __init__(self, browser, folder):
        self.browser, self.folder = browser, folder
        self.contexts, self.complaints, self.requests = [], [], []

    def page(self, **settings):
        context = self.browser.new_context(**settings)
        self.contexts.append(context)
        context.on("request", lambda request: self.requests.append(request.url))
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", self._dialog)
        if settings.get("java_script_enabled", True):
            page.goto, page.reload = ready(page, page.goto), ready(page, page.reload)
        return page

    def report(self, ruleset, X=None, y=None, **settings):
        path = self.folder / f"report-{len(self.contexts)}.html"
        path.write_text(written(ruleset, X, y), encoding="utf-8")
        return self.open(path, **settings)

    def open(self, path, **settings):
        page = self.page(**settings)
        page.goto(path.as_uri())
        return page

    def close(self):
        """Check that the console has no errors and that the pages requested only their own files."""
        for context in self.contexts:
            context.close()
        assert self.complaints == [], self.complaints
        asked = [url[:60] for url in self.requests if not url.startswith(("file://", "blob:"))]
        assert asked == []

    def _dialog(self, dialog):
        # Edited pages ask for confirmation before they close; tests of that handle the dialog themselves.
        if dialog.type != "beforeunload":
            self.complaints.append(dialog.message)

    def _console(self, message):
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)


def embedded(html):
    """Return the data embedded in the HTML of a page."""
    packed = re.search(r'id="facts">([A-Za-z0-9+/=]*)</script>', html)[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def shown(page):
    return [int(text.split()[-1]) for text in page.locator("tr.rule .opener").all_text_contents()]


def typed(text):
    """Replace typographic characters by those of Python output."""
    for sign, typed_sign in (("≤", "<="), ("≥", ">="), ("≠", "!="), ("\N{MINUS SIGN}", "-")):
        text = text.replace(sign, typed_sign)
    return text


def settle(page):
    page.wait_for_selector(".change:not([aria-busy])")


def download(page, folder):
    """Download the current model, by the button in the edit bar or in the overview."""
    with page.expect_download() as expected:
        page.evaluate("frri.actions.download()")
    path = folder / expected.value.suggested_filename
    expected.value.save_as(path)
    return RuleSet.load(path)


def figure(page, name):
    """Return the current value of a measure in the list of effects of edits."""
    open_history(page)
    row = page.locator(".effects tr", has=page.get_by_role("cell", name=name, exact=True))
    return row.locator("td").last.inner_text()


def edit_rule(page, number):
    """Open the form that edits a rule, and return the form."""
    if page.locator("#tab-rules").get_attribute("aria-selected") != "true":
        page.click("#tab-rules")
    opened = page.locator(f"#rule-{number}-opened")
    if not opened.is_visible():
        page.click(f"[data-rule='{number}'] .opener")
    if not opened.locator(".editor").count():
        opened.get_by_role("button", name="Edit", exact=True).click()
    return opened


def remove_rule(page, number):
    if page.locator("#tab-rules").get_attribute("aria-selected") != "true":
        page.click("#tab-rules")
    opened = page.locator(f"#rule-{number}-opened")
    if not opened.is_visible():
        page.click(f"[data-rule='{number}'] .opener")
    opened.get_by_role("button", name=f"Remove rule {number}").click()
    page.wait_for_selector("body:not([aria-busy])")


def open_history(page):
    if not page.is_visible("#history"):
        page.click("#edit-bar [aria-controls=history]")


def violations(page, only=None):
    """Return the accessibility violations that axe finds, except minor ones, by all or some of its rules."""
    needs("axe-core", AXE.exists())
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(AXE.read_text(encoding="utf-8"))
    options = {"resultTypes": ["violations"]} | ({"runOnly": only} if only else {})
    found = page.evaluate("(options) => axe.run(document, options)", options)["violations"]
    return [(one["id"], one["nodes"][0]["html"][:200]) for one in found if one["impact"] != "minor"]

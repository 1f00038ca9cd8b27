"""A browser that visits pages: what tests of the page share."""

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

# The first that is there. Without windows, as Playwright has it too, Chromium starts and draws in less time.
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
    """Where the browser is, or would be."""
    own = Path(playwright.chromium.executable_path)
    return next((program for program in CHROMIUMS if program.exists()), own)


def needs(what, present):
    """In CI everything must be there; elsewhere a test may be skipped, with the reason."""
    if not present:
        message = f"{what} is not installed (make test installs it where it may)"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)


# Pages of the same objects are written once; these are kept, so that their ids stay theirs.
_written: dict[tuple[int, ...], tuple[str, tuple[object, ...]]] = {}


def written(*shown):
    """The page about a model and its rows."""
    key = tuple(map(id, shown))
    if key not in _written:
        _written[key] = report_html(*shown), shown
    return _written[key][0]


def ready(page, load):
    """Wait after loading until the script has set the page up: it decodes its facts meanwhile."""

    def load_and_wait(*arguments):
        load(*arguments)
        if page.locator("#app").count():
            page.wait_for_selector("#app:not([hidden])")

    return load_and_wait


class Visit:
    """Opens pages and remembers whatever they complained about or asked for."""

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
        """No errors on the console, and nothing asked for but the files themselves."""
        for context in self.contexts:
            context.close()
        assert self.complaints == [], self.complaints
        asked = [url[:60] for url in self.requests if not url.startswith(("file://", "blob:"))]
        assert asked == []

    def _dialog(self, dialog):
        # Pages with edits ask before they are left; tests that mean to leave answer themselves.
        if dialog.type != "beforeunload":
            self.complaints.append(dialog.message)

    def _console(self, message):
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)


def embedded(html):
    """The facts in the text of a page."""
    packed = re.search(r'id="facts">([A-Za-z0-9+/=]*)</script>', html)[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def shown(page):
    return [int(text.split()[-1]) for text in page.locator("tr.rule .opener").all_text_contents()]


def typed(text):
    """Signs of print as they are typed, and as Python writes them."""
    for sign, typed_sign in (("≤", "<="), ("≥", ">="), ("≠", "!="), ("\N{MINUS SIGN}", "-")):
        text = text.replace(sign, typed_sign)
    return text


def settle(page):
    page.wait_for_selector(".change:not([aria-busy])")


def download(page, folder):
    """The model as it is now, by the button in the bar of edits or in the overview."""
    with page.expect_download() as expected:
        page.evaluate("frri.actions.download()")
    path = folder / expected.value.suggested_filename
    expected.value.save_as(path)
    return RuleSet.load(path)


def figure(page, name):
    """The effect of edits: a measure as it is now."""
    open_history(page)
    row = page.locator(".effects tr", has=page.get_by_role("cell", name=name, exact=True))
    return row.locator("td").last.inner_text()


def edit_rule(page, number):
    """Open a rule with the form that changes it, and return that."""
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
    """What axe finds that is not minor; by all of its rules, or by some."""
    needs("axe-core", AXE.exists())
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(AXE.read_text(encoding="utf-8"))
    options = {"resultTypes": ["violations"]} | ({"runOnly": only} if only else {})
    found = page.evaluate("(options) => axe.run(document, options)", options)["violations"]
    return [(one["id"], one["nodes"][0]["html"][:200]) for one in found if one["impact"] != "minor"]

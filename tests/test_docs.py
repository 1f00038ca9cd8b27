"""The documentation is executed: its code, its commands, its links, its examples, its site.

Each page is run from top to bottom in a separate folder.

- A ```python block is run; a ```text block directly after it has its output.
- A line `$ command` of a ```console block is run; the lines after it have its output.
- A block with a title, such as ```js title="score.mjs", is written to that file and not run.
- A block after a comment `<!-- not run: reason -->` is not run.

An output may be shortened by `...`. `python tests/test_docs.py PAGE ...` writes the actual outputs
into pages; review the difference before you commit it.
"""

import contextlib
import doctest
import functools
import io
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import matplotlib as mpl
import pytest

from programs import posix

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")])
EXAMPLES = sorted(ROOT.glob("examples/*.py"))
PICTURES = ROOT / "docs" / "images" / "examples"
IN_CI = os.environ.get("CI") == "true"

FENCE = re.compile(r"^```(\w+)(?: ([^\n]*))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"<!-- not run: .+ -->\s*$")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
# Progress lines of slow machines, which pages do not show.
PROGRESS = re.compile(r"^[a-z][^\n]* \.\.\. \d+ s\n", re.MULTILINE)
CHECK = doctest.OutputChecker().check_output
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# Commands for installation, and commands that other tests run.
INSTALLING = (". .venv", "pip install", "make test", "make docs", "make bench", "cd ", "git ")


@dataclass
class Block:
    """A fenced block of a page."""

    language: str
    title: str | None
    body: str
    start: int
    end: int
    line: int
    run: bool


def blocks_of(text):
    found = []
    for match in FENCE.finditer(text):
        title = re.search(r'title="([^"]+)"', match[2] or "")
        found.append(
            Block(
                match[1],
                title[1] if title else None,
                match[3],
                match.start(3),
                match.end(3),
                text.count("\n", 0, match.start(3)) + 1,
                NOT_RUN.search(text[: match.start()]) is None,
            )
        )
    return found


def work_through(page, folder):
    """Run a page, and yield (block, shown output, actual output) in order."""
    text = page.read_text(encoding="utf-8")
    blocks = blocks_of(text)
    namespace = {"__name__": "__main__"}
    for block, after in zip_longest(blocks, blocks[1:]):
        if block.title is not None:
            (folder / block.title).write_text(block.body, encoding="utf-8")
        elif not block.run:
            continue
        elif block.language == "python":
            source = "\n" * (block.line - 1) + block.body
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(source, str(page), "exec", dont_inherit=True), namespace)
            if after is not None and after.language == "text":
                fence = text[block.end : after.start].removeprefix("```").removesuffix("```text\n")
                if not fence.strip():
                    yield after, after.body, printed.getvalue()
        elif block.language in {"console", "bash"}:
            yield block, block.body, run_console(block, folder)


def run_console(block, folder):
    """Return the block with the current output of its commands."""
    lines = []
    for line, shown in commands_of(block):
        lines.append(line)
        command = line.removeprefix("$ ").partition("   #")[0].strip()
        code, printed = run_command(command, folder)
        wanted = "".join(shown)
        # Only error messages may be shown on purpose.
        fine = code == 0 or (wanted and printed.startswith("frri: "))
        assert fine, f"line {block.line}: {command!r} ends with {code}:\n{printed}"
        # A command may be shown without its output.
        lines.append(printed if wanted and not CHECK(wanted, printed, FLAGS) else wanted)
    return "".join(lines)


def commands_of(block):
    found = []
    for line in block.body.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line, []))
        elif found:
            found[-1][1].append(line)
    assert found, f"line {block.line}: a block of commands without any line that begins with $"
    return found


def run_command(command, folder):
    if command.startswith(INSTALLING):
        return 0, ""
    if command == "make demo":
        command = demo_command()
    if command.startswith("frri bench") and "--list" not in command:  # takes minutes
        from frri.cli import bench
        from frri.cli.console import Parser

        parser = Parser("frri bench", "")
        bench.configure(parser)
        parser.parse_intermixed_args(shlex.split(command)[2:])
        return 0, ""
    words = shlex.split(command)
    if words[0] == "frri" and not {"|", ">", "<", "&&"} & set(words):
        return run_in_process(words[1:])
    if words[:2] == ["python", "-c"]:
        exec(words[2], {})
        return 0, ""
    done = subprocess.run(
        command,
        shell=True,
        check=False,
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    return done.returncode, done.stdout


# Output and files of `frri fit`, by command and input files, because two pages begin with the same commands.
FITTED = {}


def run_in_process(arguments):
    """Run a command as in a separate process, without importing all modules again."""
    from frri.cli import main

    given = (*arguments, *(Path(a).read_bytes() for a in arguments if Path(a).is_file()))
    if given in FITTED:
        printed, model = FITTED[given]
        Path("model.json").write_bytes(model)
        return 0, printed
    with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.redirect_stderr(output):
        code = main(arguments)
    printed = PROGRESS.sub("", output.getvalue())
    if arguments[0] == "fit" and arguments[-2:] == ["-o", "model.json"] and code == 0:
        FITTED[given] = printed, Path("model.json").read_bytes()
    return code, printed


def demo_command():
    """Return the last command of `make demo`."""
    # Independent of a make that may be running the tests.
    inside = ("MAKE", "VENV")
    outside = {name: value for name, value in os.environ.items() if not name.startswith(inside)}
    command = ["make", "-n", "-s", "demo"]
    plan = subprocess.run(
        command, cwd=ROOT, env=outside, check=True, capture_output=True, text=True
    )
    return plan.stdout.splitlines()[-1].replace(".venv/bin/", "")


@functools.cache
def environment():
    """Return the variables of a terminal in which `frri` and `python` are those under test."""
    bin_folder = Path(tempfile.mkdtemp(prefix="frri-docs-"))
    for name, arguments in (("frri", "-m frri "), ("python", "")):
        (bin_folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments}"$@"\n')
        (bin_folder / name).chmod(0o755)
    return os.environ | {
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONUNBUFFERED": "1",
        "PYTHONWARNINGS": "default",
        "MPLBACKEND": "agg",
        "BROWSER": "true",
        "NO_COLOR": "1",
    }


def named(paths):
    return [pytest.param(path, id=str(path.relative_to(ROOT))) for path in paths]


@posix
@pytest.mark.parametrize("page", named(PAGES))
def test_code_and_commands_have_the_shown_outputs(page, tmp_path, monkeypatch):
    needs_node = "$ node" in page.read_text(encoding="utf-8")
    if needs_node and not IN_CI and shutil.which("node") is None:
        pytest.skip("node is not installed")
    monkeypatch.chdir(tmp_path)
    for name in ("MPLBACKEND", "BROWSER", "NO_COLOR"):
        monkeypatch.setenv(name, environment()[name])
    for block, shown, printed in work_through(page, tmp_path):
        if not CHECK(shown, printed, FLAGS):
            difference = doctest.OutputChecker().output_difference(
                doctest.Example("", shown), printed, FLAGS | doctest.REPORT_NDIFF
            )
            pytest.fail(f"{page.name}, line {block.line}:\n{difference}", pytrace=False)


@pytest.mark.parametrize("page", named(PAGES))
def test_every_output_belongs_to_code_that_prints_it(page):
    text = page.read_text(encoding="utf-8")
    blocks = blocks_of(text)
    for before, block in zip([None, *blocks], blocks, strict=False):
        if block.language == "text":
            follows = before is not None and before.language == "python" and before.run
            assert follows, f"line {block.line}: an output without code before it"
            between = text[before.end : block.start].replace("```text", "").replace("```", "")
            assert not between.strip(), f"line {block.line}: something stands before the output"


def test_few_blocks_are_not_run():
    left_alone = [b for page in PAGES for b in blocks_of(page.read_text("utf-8")) if not b.run]
    assert len(left_alone) <= 2


@pytest.mark.parametrize("page", named(PAGES))
def test_links_and_images_lead_somewhere(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in LINK.findall(text):
        if target.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), f"{page.name} links to {target}, which does not exist"
        assert ROOT in found.parents, f"{page.name} links to {target}, outside the project"
        if anchor:
            assert anchor in anchors_of(found), f"{page.name}: no heading for {target}"


def anchors_of(page):
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    plain = (re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings)
    return {re.sub(r"[\s-]+", "-", heading) for heading in plain}


@pytest.mark.parametrize("script", named(EXAMPLES))
def test_examples_draw_their_pictures(script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with mpl.rc_context(fname=script.with_name("matplotlibrc")):
        runpy.run_path(str(script), run_name="__main__")
    drawn, kept = tmp_path / f"{script.stem}.svg", PICTURES / f"{script.stem}.svg"
    # Fonts and versions of matplotlib affect positions; only the text is compared.
    assert words_of(drawn) == words_of(kept), "make gallery draws the pictures again"


def words_of(picture):
    texts = (text.text for text in ET.parse(picture).iter("{http://www.w3.org/2000/svg}text"))
    return {text for text in texts if re.search(r"[a-z]{3}", text)}


def test_the_gallery_shows_every_example():
    gallery = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\(images/examples/(\w+)\.svg\)", gallery)) == [
        s.stem for s in EXAMPLES
    ]
    assert sorted(re.findall(r'--8<-- "examples/(\w+)\.py"', gallery)) == [s.stem for s in EXAMPLES]
    assert sorted(path.stem for path in PICTURES.iterdir()) == [s.stem for s in EXAMPLES]


def test_the_site_builds_without_a_warning(tmp_path):
    if not IN_CI:
        pytest.importorskip("material", reason="mkdocs-material is not installed")
        pytest.importorskip("mkdocstrings", reason="mkdocstrings is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path)],
        check=False,
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    live = re.search(r'<iframe src="([^"]+)"', (tmp_path / "index.html").read_text("utf-8"))
    assert "5 rules from 89 rows. On the" in (tmp_path / live[1]).read_text("utf-8")
    for page in tmp_path.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        fetched = re.findall(
            r'<(?:script|link|img|iframe)\b[^>]*(?:src|href)="https?://[^"]+', text
        )
        assert not fetched, f"{page.name} fetches {fetched}"


def test_tables_of_results_are_those_of_the_results_files():
    from benchmarks import docs

    texts = {page: page.read_text(encoding="utf-8") for page in docs.pages()}
    with_results = {page for page, text in texts.items() if docs.BLOCK.search(text)}
    assert {"README.md", "index.md", "results.md"} <= {page.name for page in with_results}
    for page in with_results:
        message = f"{page.name} is not current: python -m benchmarks.docs"
        assert docs.with_tables(texts[page]) == texts[page], message


def test_the_table_of_choices_is_that_of_the_results_file():
    from benchmarks import default_path

    text = default_path.PAGE.read_text(encoding="utf-8")
    assert "| choice |" in text
    assert default_path.with_table(text) == text


def write_outputs(page):
    """Replace the outputs shown on a page that are not what is printed."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        found = list(work_through(page, Path(folder)))
    for block, shown, printed in reversed(found):
        if not CHECK(shown, printed, FLAGS):
            text = text[: block.start] + printed + text[block.end :]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    os.environ.update(environment())
    warnings.simplefilter("error")
    for name in sys.argv[1:]:
        write_outputs(Path(name).resolve())

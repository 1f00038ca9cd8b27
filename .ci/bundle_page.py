"""Bundle the scripts and the style sheets of the report page into one file each, with esbuild.

`make page` runs it after a change of src/frri/report/static. With `--check`, it fails if the files
are not up to date. Users of the package need neither esbuild nor Node.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

REPORT = Path(__file__).parents[1] / "src" / "frri" / "report"
ESBUILD = Path(sys.prefix) / "axe" / "node_modules" / ".bin" / "esbuild"
OPTIONS = (
    "--bundle",
    "--format=esm",
    "--minify",
    "--charset=utf8",
    "--target=es2022",
    "--log-level=warning",
    f"--inject:{Path(__file__).parent / 'short_names.js'}",
)
ENTRIES = {"app.js": "page.js", "page.css": "page.css"}


def bundle(folder: Path, esbuild: Path = ESBUILD) -> None:
    """Write page.js and page.css to a folder."""
    for entry, output in ENTRIES.items():
        subprocess.run(  # noqa: S603 - the tool of this project
            [esbuild, REPORT / "static" / entry, *OPTIONS, f"--outfile={folder / output}"],
            check=True,
        )


def is_current(esbuild: Path = ESBUILD) -> bool:
    """Return whether the committed files are those that esbuild writes."""
    with tempfile.TemporaryDirectory() as folder:
        bundle(Path(folder), esbuild)
        return all(
            (Path(folder) / name).read_bytes() == (REPORT / name).read_bytes()
            for name in ENTRIES.values()
        )


if __name__ == "__main__":
    if "--check" in sys.argv:
        raise SystemExit(0 if is_current() else "the page is not current: run make page")
    bundle(REPORT)

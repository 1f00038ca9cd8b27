"""The paper's experiment: 18 data sets, ten folds, five learners, and its tables next to those of the run.

    python -m experiments [--output DIR] [--docs FILE] [--datasets A,B] [--learners A,B] [--folds N] [--workers N]

The same command resumes a run that was interrupted.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.printed import LEARNERS, slips
from experiments.reproduction import reproduction_page
from frri.compare import NAMES, learner, load
from frri.compare.page import make_report, overview, write_report
from frri.compare.run import Grid, run_grid


def main(argv: Sequence[str] | None = None) -> None:
    """Run the experiment, and write its results to a folder and the page of the reproduction to a file."""
    parser = argparse.ArgumentParser("experiments", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("paper"))
    parser.add_argument("--docs", type=Path)
    parser.add_argument("--datasets", type=lambda text: text.split(","), default=NAMES)
    parser.add_argument("--learners", type=lambda text: text.split(","), default=LEARNERS)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--workers", type=int)
    told = parser.parse_args(argv)
    data = {name: load(name) for name in told.datasets}
    learners = {name: learner(name) for name in told.learners}
    grid = Grid(data, learners, told.folds, full=told.docs is not None)
    results = run_grid(grid, told.output, told.workers, progress=sys.stderr.isatty())
    page = write_report(make_report(results, remarks=slips(data)), told.output)
    if told.docs is not None:
        told.docs.write_text(reproduction_page(results), encoding="utf-8")
    sys.stdout.write(f"{overview(results).markdown()}\n\n{page}\n")


if __name__ == "__main__":
    main()

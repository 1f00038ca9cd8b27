"""Repeat the paper's experiment (18 datasets, ten folds, five algorithms) and compare the results with its tables.

    python -m experiments [--output DIR] [--docs FILE] [--datasets A,B] [--learners A,B] [--folds N] [--workers N]

The same command continues an interrupted run.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.printed import LEARNERS, find_misprints
from experiments.reproduction import reproduction_page
from frri.compare import NAMES, learner, load
from frri.compare.page import make_report, overview, write_report
from frri.compare.run import Grid, run_grid


def main(argv: Sequence[str] | None = None) -> None:
    """Run the experiment; write its results to a folder and the reproduction page to a file."""
    parser = argparse.ArgumentParser("experiments", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("paper"))
    parser.add_argument("--docs", type=Path)
    parser.add_argument("--datasets", type=lambda text: text.split(","), default=NAMES)
    parser.add_argument("--learners", type=lambda text: text.split(","), default=LEARNERS)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--workers", type=int)
    arguments = parser.parse_args(argv)
    data = {name: load(name) for name in arguments.datasets}
    learners = {name: learner(name) for name in arguments.learners}
    grid = Grid(data, learners, arguments.folds, full=arguments.docs is not None)
    results = run_grid(grid, arguments.output, arguments.workers, progress=sys.stderr.isatty())
    page = write_report(make_report(results, remarks=find_misprints(data)), arguments.output)
    if arguments.docs is not None:
        arguments.docs.write_text(reproduction_page(results), encoding="utf-8")
    sys.stdout.write(f"{overview(results).markdown()}\n\n{page}\n")


if __name__ == "__main__":
    main()

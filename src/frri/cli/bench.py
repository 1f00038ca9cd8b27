"""Compare models by cross-validation on identical folds; write tables, tests, figures and a report.

Tables are read as in frri fit. Models that cannot use the columns of a table are skipped, with a
note. The same command continues an interrupted run. The exit code is 0 if all fits succeeded, and 1
if some failed or the run was interrupted.

$ frri bench --quick --output quick         three datasets, three folds, all models
$ frri bench patients.csv --target risk     all models on your own data
"""

import sys
from pathlib import Path
from typing import Any

from frri.cli.console import Arguments, Parser, notes, say

# The smallest of the paper's datasets with two, three and six classes.
QUICK = ("wine", "heart", "glass")


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    add = parser.add
    add("data", "files in any form that frri fit reads, or directories of KEEL folds", nargs="*")
    add("--quick", f"{', '.join(QUICK)}; three folds; all models")
    add("--target COLUMN", "the column with the class, for files other than ARFF and KEEL")
    parser.add_column_options()
    parser.add_reading_options()
    add("--datasets A,B", "names of datasets, or loaders such as sklearn:iris", type="names")
    add("--learners A,B", "names of models, or full names of classifier classes", type="names")
    add("--folds N", "number of folds (default: 10; with --quick 3)", type="from 2")
    add("--seed N", "random seed (default: 0)", type="from 0", default=0)
    workers = "number of processes, 0 for none (default: one per processor)"
    add("--workers N", workers, type="from 0")
    add("--time-limit SECONDS", "time limit of each fit, 0 for none (default: 600)", type="number")
    add("-o --output DIR", "folder to write (default: bench)", type=Path, default=Path("bench"))
    add("--list", "list datasets and models")


def run(arguments: Arguments) -> int:
    """Print the means, and write everything else to a directory."""
    if arguments.list:
        from frri.compare import LEARNERS, NAMES  # noqa: PLC0415 - slow to import

        listing = f"datasets: {', '.join(NAMES)}\nmodels: {', '.join(LEARNERS)}\n"
        sys.stdout.write(listing)
        return 0
    try:
        return _compare(arguments)
    except KeyboardInterrupt:
        say(
            f"interrupted; what is finished is stored in {arguments.output}, the same command "
            "goes on"
        )
        return 1


def _compare(arguments: Arguments) -> int:
    from frri.compare.page import make_report, overview, write_report  # noqa: PLC0415
    from frri.compare.run import Grid, describe_small_classes, run_grid  # noqa: PLC0415

    data = {d.name: d for d in _data(arguments)}
    learners = _learners(arguments)
    own = [int(d.folds.max()) + 1 for d in data.values() if d.folds is not None]
    folds = arguments.folds or (own[0] if own else 3 if arguments.quick else 10)
    grid = Grid(data, learners, folds, arguments.seed)
    for d in data.values():
        small = describe_small_classes(d, folds)
        if small and d.folds is None:
            say(small)
        for note in d.notes:
            say(f"{d.name}: {note}")
    for (name, _), reason in grid.not_run.items():
        say(f"{name}: {reason}")
    if not grid.tasks():
        raise ValueError("None of the learners can be run on these data; see above.")
    limits = {"workers": arguments.workers, "time_limit": arguments.time_limit}
    try:
        results = run_grid(grid, arguments.output, **limits, progress=True)
        page = write_report(make_report(results), arguments.output)
    except OSError as error:
        if error.strerror and error.filename is None:  # a full disk
            error.filename = str(arguments.output)
        raise
    sys.stdout.write(f"{overview(results).markdown()}\n\n{page}\n")
    failures = results.failures
    for cell in failures[:5]:
        where = f"{cell['learner']} on {cell['dataset']}, fold {cell['fold']}"
        say(f"failed: {where}: {cell['failure']}", always=True)
    if len(failures) > 5:
        say(f"and {len(failures) - 5} more failures, listed on the page", always=True)
    return 1 if failures else 0


def _data(arguments: Arguments) -> list[Any]:
    """Return the datasets that the arguments name."""
    from frri.compare.datasets import dataset  # noqa: PLC0415

    names = arguments.datasets or ()
    kinds = arguments.declared_columns | arguments.reading_options
    if not arguments.data and (arguments.target is not None or any(kinds.values())):
        raise ValueError(
            "--target, --ignore, --nominal, --numeric, --ordinal, --strict, --na-values and "
            "--date-format speak of files; name one."
        )
    if not names and not arguments.data:
        if not arguments.quick:
            raise ValueError("Name datasets or files to compare, or use --quick.")
        names = QUICK
    found = [dataset(name) for name in names]
    with notes():
        found += [dataset(Path(path), target=arguments.target, **kinds) for path in arguments.data]
    twice = {d.name for d in found if sum(e.name == d.name for e in found) > 1}
    if twice:
        raise ValueError(f"Two datasets are called {min(twice)!r}; rename one of the files.")
    return found


def _learners(arguments: Arguments) -> dict[str, Any]:
    """Return the named learners, by default all that are installed; print which are not."""
    from frri.compare import evaluate  # noqa: PLC0415

    if arguments.learners:
        return {name: evaluate.learner(name) for name in arguments.learners}
    found = {}
    for name in evaluate.LEARNERS:
        try:
            found[name] = evaluate.learner(name)
        except ImportError as error:
            say(str(error))
    return found

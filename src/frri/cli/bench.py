"""Compare learners by cross-validation on identical folds; tables, tests, figures and a page come out.

Your own tables are read as frri fit reads them; learners that cannot take their columns are not run, and you
are told. A run that is interrupted or killed goes on where it stopped when the same command is given again. It
ends with 0 if every cell has a result and 1 if some have failed or the run was interrupted.
"""

import argparse
import signal
import sys
import threading
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from frri.cli.console import notes, say
from frri.cli.options import (
    Parser,
    add_column_options,
    add_reading_options,
    at_least,
    declared_columns,
    number_from_0,
    reading_options,
    whole_number,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frri.compare.datasets import Dataset
    from frri.compare.results import Results

EXAMPLES = """\
frri bench --quick --output quick            three data sets, three folds, all learners
frri bench --paper --output paper            the paper's experiment: 18 sets, ten folds, five learners
frri bench patients.csv --target risk     all learners on your own data"""

# The smallest of the paper's sets with two, three and six classes.
QUICK = ("wine", "heart", "glass")

DONE, FAILED = 0, 1


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    add = parser.add_argument
    add(
        "data",
        nargs="*",
        help="files in any form that frri fit reads, or directories of KEEL folds",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--quick", action="store_true", help=f"{', '.join(QUICK)}; three folds; all learners"
    )
    what.add_argument("--paper", action="store_true", help="the paper's data sets and learners")
    add(
        "--target",
        metavar="COLUMN",
        help="the column with the class, for files other than ARFF and KEEL",
    )
    add_column_options(parser)
    add_reading_options(parser)
    add("--datasets", metavar="A,B", help="names of data sets, or sklearn:iris and the like")
    add("--learners", metavar="A,B", help="names of learners, or full names of classifier classes")
    add("--folds", type=at_least(2), metavar="N", help="default 10; with --quick 3")
    add("--seed", type=whole_number, default=0, metavar="N", help="default 0")
    add(
        "--workers",
        type=whole_number,
        metavar="N",
        help="processes; default one per processor; 0 runs all in this one",
    )
    add(
        "--time-limit",
        type=number_from_0,
        metavar="SECONDS",
        help="per cell, default 600, 0 for none; longer counts as a failure",
    )
    add("-o", "--output", type=Path, default=Path("bench"), metavar="DIR", help="default bench")
    add(
        "--bookkeeping",
        action="store_true",
        help="also pooled recalls and models of all objects, as the paper counts its rivals",
    )
    add(
        "--docs",
        type=Path,
        metavar="FILE",
        help="write the paper's tables next to these, in Markdown",
    )
    add("--list", action="store_true", help="list data sets and learners, and end")
    add("--quiet", action="store_true", help="no progress")


def run(arguments: argparse.Namespace) -> int:
    """The means to standard output, everything else to a directory."""
    if arguments.list:
        return _list()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _interrupt)
    try:
        return _compare(arguments)
    except KeyboardInterrupt:
        say(
            f"interrupted; what is finished is stored in {arguments.output}, the same command goes on"
        )
        return FAILED


def _compare(arguments: argparse.Namespace) -> int:
    from frri.compare.page import make_report, overview, write_report  # noqa: PLC0415
    from frri.compare.run import (  # noqa: PLC0415 - slow to import
        Grid,
        run_grid,
    )

    paper = _experiments() if arguments.paper or arguments.docs is not None else None
    data = _data(arguments)
    learners = _learners(arguments, paper)
    folds = arguments.folds or _folds_of(data) or (3 if arguments.quick else 10)
    full = arguments.bookkeeping or arguments.docs is not None
    grid = Grid({d.name: d for d in data}, learners, folds, arguments.seed, full)
    _remark(grid)
    results = run_grid(
        grid,
        arguments.output,
        arguments.workers,
        arguments.time_limit,
        progress=not arguments.quiet,
    )
    remarks = {} if paper is None else paper.slips(results.data)
    page = write_report(make_report(results, bookkeeping=full, remarks=remarks), arguments.output)
    if paper is not None and arguments.docs is not None:
        arguments.docs.write_text(paper.reproduction_page(results), encoding="utf-8")
    sys.stdout.write(f"{overview(results).markdown()}\n\n{page}\n")
    return _verdict(results)


def _experiments() -> ModuleType:
    """The folder `experiments` of the repository, known by the paper's tables in it."""
    for start in (Path(__file__).resolve(), Path.cwd() / "here"):
        for folder in start.parents:
            package = folder / "experiments"
            if (package / "paper" / "balanced_accuracy.csv").is_file():
                return _imported(package)
    raise ValueError(
        "--paper and --docs need the folder experiments of frri's repository, which is not installed "
        "with the package; run the command inside a checkout of the repository."
    )


def _imported(package: Path) -> ModuleType:
    """The package in a folder, wherever that is."""
    name, file = package.name, package / "__init__.py"
    known = sys.modules.get(name)
    if known is not None and known.__file__ == str(file):
        return known
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ValueError(f"{file} cannot be imported.")
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _verdict(results: "Results") -> int:
    failures = results.failures
    for cell in failures[:5]:
        say(
            f"failed: {cell['learner']} on {cell['dataset']}, fold {cell['fold']}: {cell['failure']}"
        )
    if len(failures) > 5:
        say(f"and {len(failures) - 5} more failures, listed on the page")
    return FAILED if failures else DONE


def _data(arguments: argparse.Namespace) -> "list[Dataset]":
    from frri.compare.datasets import (  # noqa: PLC0415 - slow to import
        NAMES,
        dataset,
    )

    names: Sequence[str] = _split(arguments.datasets)
    kinds = declared_columns(arguments) | reading_options(arguments)
    if not arguments.data and (arguments.target is not None or any(kinds.values())):
        raise ValueError(
            "--target, --ignore, --nominal, --ordinal, --na-values and --date-format speak of files; name one."
        )
    if not names and not arguments.data:
        if not (arguments.quick or arguments.paper):
            raise ValueError(
                "What shall be compared? Name data sets or files, or ask for --quick or --paper."
            )
        names = QUICK if arguments.quick else NAMES
    found = [dataset(name) for name in names]
    with notes():
        found += [dataset(Path(path), target=arguments.target, **kinds) for path in arguments.data]
    twice = {d.name for d in found if sum(e.name == d.name for e in found) > 1}
    if twice:
        raise ValueError(f"Two data sets are called {min(twice)!r}; rename one of the files.")
    return found


def _learners(arguments: argparse.Namespace, paper: ModuleType | None) -> dict[str, Any]:
    """The learners asked for; by default those that can be had, with a remark on the others."""
    from frri.compare.evaluate import LEARNERS, learner  # noqa: PLC0415 - slow to import

    wanted = _split(arguments.learners)
    if wanted:
        return {name: learner(name) for name in wanted}
    found = {}
    for name in paper.LEARNERS if arguments.paper and paper is not None else LEARNERS:
        try:
            found[name] = learner(name)
        except ImportError as error:
            say(str(error))
    return found


def _folds_of(data: "list[Dataset]") -> int | None:
    """How many folds the data come with, if they do."""
    own = [d.folds for d in data if d.folds is not None]
    return int(own[0].max()) + 1 if own else None


def _remark(grid: Any) -> None:
    from frri.compare.run import small_classes  # noqa: PLC0415 - slow to import

    for d in grid.data.values():
        small = small_classes(d, grid.n_folds)
        if small and d.folds is None:
            say(small)
        for note in d.notes:
            say(f"{d.name}: {note}")
    for (name, _), reason in grid.not_run.items():
        say(f"{name}: {reason}")
    if not grid.tasks():
        raise ValueError("None of the learners can be run on these data; see above.")


def _list() -> int:
    from frri.compare.datasets import NAMES  # noqa: PLC0415 - slow to import
    from frri.compare.evaluate import LEARNERS  # noqa: PLC0415

    sys.stdout.write(f"data sets: {', '.join(NAMES)}\nlearners: {', '.join(LEARNERS)}\n")
    return DONE


def _split(names: str | None) -> list[str]:
    return [name.strip() for name in (names or "").split(",") if name.strip()]


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt

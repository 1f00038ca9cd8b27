"""The command `frri bench`: compare learners on data sets, and write tables, tests, figures and a page.

Results go to stdout, progress and remarks to stderr. It ends with 0 if every cell has a result, 1 if some
have failed or the run was interrupted, and 2 if it was asked for something that cannot be done.
"""

import argparse
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from frri.compare.datasets import Dataset
    from frri.compare.results import Results

# The smallest of the paper's sets with two, three and six classes.
QUICK = ("wine", "heart", "glass")

DONE, FAILED, USAGE = 0, 1, 2

_DESCRIPTION = """\
Compare rule learners by cross-validation on identical folds.

  frri bench --quick --out quick            three data sets, three folds, all learners
  frri bench --paper --out paper            the paper's experiment: 18 sets, ten folds, five learners
  frri bench patients.csv --target risk     all learners on your own data

A run that is interrupted or killed goes on where it stopped when the same command is given again."""


def parser(command: "argparse.ArgumentParser | None" = None) -> argparse.ArgumentParser:
    """The arguments of the command; given to a parser of a larger command line if there is one."""
    command = command or argparse.ArgumentParser(prog="frri bench")
    command.description = _DESCRIPTION
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    add = command.add_argument
    add("data", nargs="*", help="CSV, ARFF, KEEL or Parquet files, or directories of KEEL folds")
    what = command.add_mutually_exclusive_group()
    what.add_argument(
        "--quick", action="store_true", help=f"{', '.join(QUICK)}; three folds; all learners"
    )
    what.add_argument("--paper", action="store_true", help="the paper's data sets and learners")
    add("--target", metavar="COLUMN", help="the column with the class, for CSV and Parquet files")
    add("--datasets", metavar="A,B", help="names of data sets, or sklearn:iris and the like")
    add("--learners", metavar="A,B", help="names of learners, or full names of classifier classes")
    add("--folds", type=_at_least(2), metavar="N", help="default 10; with --quick 3")
    add("--seed", type=_at_least(0), default=0, metavar="N", help="default 0")
    add(
        "--workers",
        type=_at_least(0),
        metavar="N",
        help="processes; default one per processor; 0 runs all in this one",
    )
    add(
        "--time-limit",
        type=float,
        default=600.0,
        metavar="SECONDS",
        help="per cell, default 600; longer counts as a failure",
    )
    add("--out", type=Path, default=Path("bench"), metavar="DIR", help="default bench")
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
    return command


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        By default those of the process.

    Examples
    --------
    >>> main(["--list"])
    data sets: australian, bands, bupa, ...
    learners: frri, modlem, ...
    0
    """
    return execute(parser().parse_args(argv))


def execute(arguments: argparse.Namespace) -> int:
    """Do what parsed arguments ask for."""
    if arguments.list:
        return _list()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _interrupt)
    try:
        return _bench(arguments)
    except KeyboardInterrupt:
        _say(
            f"interrupted; what is finished is stored in {arguments.out}, the same command goes on"
        )
        return FAILED
    except (ValueError, OSError, ImportError) as error:
        _say(f"frri bench: {error}")
        return USAGE


def _bench(arguments: argparse.Namespace) -> int:
    from frri.compare.grid import Grid  # noqa: PLC0415 - slow to import
    from frri.compare.report import make_report, overview, write_report  # noqa: PLC0415 - slow to import
    from frri.compare.running import run_grid  # noqa: PLC0415

    data = _data(arguments)
    learners = _learners(arguments)
    folds = arguments.folds or _folds_of(data) or (3 if arguments.quick else 10)
    full = arguments.bookkeeping or arguments.docs is not None
    grid = Grid({d.name: d for d in data}, learners, folds, arguments.seed, full)
    _remark(data, folds)
    results = run_grid(
        grid, arguments.out, arguments.workers, arguments.time_limit, progress=not arguments.quiet
    )
    report = make_report(results, bookkeeping=full)
    page = write_report(report, arguments.out)
    if arguments.docs is not None:
        from frri.compare.reproduction import reproduction_page  # noqa: PLC0415

        arguments.docs.write_text(reproduction_page(results), encoding="utf-8")
    sys.stdout.write(f"{overview(results).markdown()}\n\n{page}\n")
    return _verdict(results)


def _verdict(results: "Results") -> int:
    failures = results.failures
    for cell in failures[:5]:
        _say(
            f"failed: {cell['learner']} on {cell['dataset']}, fold {cell['fold']}: {cell['failure']}"
        )
    if len(failures) > 5:
        _say(f"and {len(failures) - 5} more failures, listed on the page")
    return FAILED if failures else DONE


def _data(arguments: argparse.Namespace) -> "list[Dataset]":
    from frri.compare.datasets import NAMES  # noqa: PLC0415 - slow to import
    from frri.compare.sources import dataset  # noqa: PLC0415

    names: Sequence[str] = _split(arguments.datasets)
    if not names and not arguments.data:
        if not (arguments.quick or arguments.paper):
            raise ValueError(
                "what shall be compared? Name data sets or files, or ask for --quick or --paper"
            )
        names = QUICK if arguments.quick else NAMES
    found = [dataset(name) for name in names]
    found += [dataset(Path(path), target=arguments.target) for path in arguments.data]
    twice = {d.name for d in found if sum(e.name == d.name for e in found) > 1}
    if twice:
        raise ValueError(f"two data sets are called {min(twice)!r}; rename one of the files")
    return found


def _learners(arguments: argparse.Namespace) -> dict[str, Any]:
    """The learners asked for; by default those that can be had, with a remark on the others."""
    from frri.compare.learners import LEARNERS, PAPER_LEARNERS, learner  # noqa: PLC0415 - slow to import

    wanted = _split(arguments.learners)
    if wanted:
        return {name: learner(name) for name in wanted}
    found = {}
    for name in PAPER_LEARNERS if arguments.paper else LEARNERS:
        try:
            found[name] = learner(name)
        except ImportError as error:
            _say(str(error))
    return found


def _folds_of(data: "list[Dataset]") -> int | None:
    """How many folds the data come with, if they do."""
    own = [d.folds for d in data if d.folds is not None]
    return int(own[0].max()) + 1 if own else None


def _remark(data: "list[Dataset]", folds: int) -> None:
    from frri.compare.evaluation import small_classes  # noqa: PLC0415 - slow to import

    for d in data:
        small = small_classes(d, folds)
        if small and d.folds is None:
            _say(small)
        for note in d.notes:
            _say(f"{d.name}: {note}")


def _list() -> int:
    from frri.compare.datasets import NAMES  # noqa: PLC0415 - slow to import
    from frri.compare.learners import LEARNERS  # noqa: PLC0415

    sys.stdout.write(f"data sets: {', '.join(NAMES)}\nlearners: {', '.join(LEARNERS)}\n")
    return DONE


def _split(names: str | None) -> list[str]:
    return [name.strip() for name in (names or "").split(",") if name.strip()]


def _say(sentence: str) -> None:
    sys.stderr.write(sentence + "\n")


def _at_least(least: int) -> Any:
    def number(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"must be {least} or more, got {value}")
        return value

    number.__name__ = "whole number"
    return number


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt

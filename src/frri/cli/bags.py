"""Learning from files larger than memory: a sample of their rows, or bags that are checked against all rows."""

import argparse
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from frri.cli.parser import Parser, at_least
from frri.cli.tables import labels_of, reading
from frri.readers.batches import read_batches
from frri.rules import Label, RuleSet
from frri.table import Attribute

# Rows of a bag where nothing is said about it.
ROWS_OF_BAG = 10_000


def add_sampling_options(parser: Parser) -> None:
    """The options for files larger than memory."""
    parser.add_argument(
        "--sample",
        type=at_least(1),
        metavar="N",
        help="learn from N rows, drawn at random by --seed; with --bags, N rows for each bag",
    )
    parser.add_argument(
        "--bags",
        type=at_least(1),
        metavar="B",
        help=f"rules from B bags of rows drawn at random (--sample, else {ROWS_OF_BAG} each), checked "
        "against all rows of the files: the learner frri-bags",
    )


def settle_bags(arguments: argparse.Namespace) -> None:
    """What --bags says about the learner; it contradicts other learners and tasks."""
    if arguments.bags is None:
        return
    if arguments.task != "classification":
        raise ValueError(
            f"--bags learns classes; leave --task {arguments.task} out, or --bags, and take a --sample."
        )
    if arguments.learner not in {None, "frri-bags"}:
        raise ValueError(
            f"--bags is for the learner frri-bags; leave --learner {arguments.learner} out, or --bags, "
            "and take a --sample."
        )
    if "-" in arguments.data:
        raise ValueError(
            "--bags reads its files twice, and standard input (-) can be read once; name a file, or take "
            "a --sample."
        )
    arguments.learner = "frri-bags"
    rows = arguments.sample or ROWS_OF_BAG
    arguments.settings = [
        f"n_estimators={arguments.bags}",
        f"max_samples={rows}",
        *arguments.settings,
    ]


def sample_size(arguments: argparse.Namespace) -> int | None:
    """How many rows are drawn; None for all."""
    if arguments.bags is None:
        rows: int | None = arguments.sample
        return rows
    return int(arguments.bags * (arguments.sample or ROWS_OF_BAG))


def all_rows(
    arguments: argparse.Namespace, attributes: Sequence[Attribute], classes: Sequence[Label]
) -> Iterator[tuple[Any, Any]]:
    """All rows of the files that have a class and weigh anything, part by part, and their classes."""
    names = [attribute.name for attribute in attributes]
    known = RuleSet((), tuple(attributes), tuple(classes), arguments.target)
    texts: dict[str, Collection[str]] = {
        a.name: a.categories for a in attributes if a.categories is not None
    }
    texts[arguments.target] = tuple(map(str, classes))
    wanted = {*names, arguments.target, *filter(None, [arguments.weights])}
    for source in arguments.data:
        for batch in read_batches(source, texts, columns=wanted, **reading(arguments)):
            frame = batch.frame[batch.frame[arguments.target].notna()]
            if arguments.weights is not None:
                frame = frame[frame[arguments.weights] > 0]
            if len(frame):
                yield frame[names], labels_of(frame[arguments.target], known)

"""Learn rules from a table and save them as a model.

Kinds of columns are taken from the table and shown: numbers are numeric, ISO dates dates, texts and truth
values nominal. --nominal, --ordinal and --ignore say otherwise.
Without --learner the one is taken that is best on rows it was not learned from: compact, additive or frri;
--learner frri is always the paper's. --task regression predicts a number instead of a class, --task ordinal
classes that have an order: that of numbers, or the one that --order says. Ctrl-C during the search for the
fewest rules keeps the best found so far. At the end you are told how good such rules are on rows that they were not learned from, and which learner
would be clearly better.
"""

import argparse
import sys
from time import process_time
from typing import Any

import numpy as np

from frri._util import Progress
from frri.cli.bags import add_sampling_options, all_rows, sample_size, settle_bags
from frri.cli.check import add_check_options, check_fit
from frri.cli.console import notes, one_line, one_line_each, say
from frri.cli.files import check_inputs, check_output, write_output
from frri.cli.learners import SEARCH, limits_of, make_learner
from frri.cli.orders import given_order, order_of
from frri.cli.parser import (
    Parser,
    at_least,
    positive_number,
    share,
    size,
    whole_number,
)
from frri.cli.pick import pick
from frri.cli.rules import numbered
from frri.cli.tables import (
    add_column_options,
    add_reading_options,
    add_unlabelled_option,
    declared_columns,
    reading,
)
from frri.learners.registry import TASKS, rule_learners
from frri.readers.training import read_training
from frri.table import encode_frame
from frri.table.declare import summarize_table
from frri.table.targets import check_not_number

EXAMPLES = """\
frri fit patients.csv --target risk -o model.json
frri fit january.csv february.csv --target risk -o model.json
frri fit patients.csv --target risk -o model.json --learner ripper --seed 1 --ignore visit
frri fit huge.parquet --target risk -o model.json --sample 20000
frri fit huge.parquet --target risk -o model.json --bags 10
frri fit houses.csv --target price --task regression -o model.json
frri fit flats.csv --target rating --task ordinal --order 'poor<fair<good' -o model.json
frri fit cars.csv --target sold -o model.json --nominal year --ordinal 'size=small<mid<large'"""


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    add = parser.add_argument
    add(
        "data",
        nargs="+",
        help="a table (CSV, TSV, Excel, JSON, Parquet, ARFF, KEEL), - for standard input; "
        "several files with the same columns are one table",
    )
    add("--target", required=True, metavar="COLUMN", help="column to predict")
    add(
        "-o",
        "--output",
        metavar="FILE",
        help="the model, - for standard output; default: only show",
    )
    learners = ", ".join(rule_learners("classification"))
    others = "; ".join(
        f"with --task {task} {', '.join(rule_learners(task))}"
        for task in TASKS
        if task != "classification"
    )
    add(
        "--learner",
        metavar="NAME",
        help=f"{learners}; {others}; default: what suits the table best",
    )
    add_column_options(parser)
    add_reading_options(parser)
    add_unlabelled_option(parser)
    add_sampling_options(parser)
    add("--weights", metavar="COLUMN", help="how much every row counts")
    add(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="PARAMETER=VALUE",
        help="any parameter of the learner",
    )
    add(
        "--max-rules",
        type=size,
        metavar="N",
        help="the most rules; 1se: the fewest about as good as the best (compact, additive)",
    )
    add("--max-conditions", type=at_least(1), metavar="N", help="the most conditions of a rule")
    add("--min-support", type=share, metavar="SHARE", help="what a rule must cover of its class")
    add("--seed", type=whole_number, metavar="N", help="for learners that draw lots")
    add("--effort", type=whole_number, metavar="N", help="work of the search for the fewest rules")
    add("--gap", type=share, metavar="SHARE", help="of the rules that need not be proved necessary")
    add("--time-limit", type=positive_number, metavar="SECONDS", help="limit of that search")
    add("--memory-limit", metavar="SIZE", help="what learning may take, such as 2GB")
    add_check_options(parser)
    target = parser.add_mutually_exclusive_group()
    target.add_argument(
        "--bins", type=at_least(2), metavar="N", help="make N classes of a target that is a number"
    )
    target.add_argument(
        "--task",
        choices=list(TASKS),
        help="regression: predict the number that the target is; ordinal: classes that have an order; "
        "classification: take every number of it for a class, however many there are",
    )
    add("--order", metavar="LOW<...<HIGH", help="the classes of --task ordinal in their order")


def run(arguments: argparse.Namespace) -> int:
    """The model to a file, what it was made from and what came out to standard error."""
    kinds = declared_columns(arguments, arguments.weights)
    undecided = arguments.task is None and arguments.bins is None
    arguments.task = arguments.task or "classification"
    arguments.order = given_order(arguments.order, arguments.task)
    check_inputs(*arguments.data)
    if arguments.output is not None:
        check_output(arguments.output, arguments.data)
    if arguments.learner is None and (
        arguments.settings or any(getattr(arguments, name) is not None for name in SEARCH)
    ):
        # whose settings these are
        arguments.learner = "additive" if arguments.task == "regression" else "frri"
    settle_bags(arguments)
    learner = None if arguments.learner is None else _named(arguments)

    X, y, weights = _read(arguments, kinds)
    if undecided:
        check_not_number(y.to_numpy(), arguments.target)
    if arguments.task == "ordinal":
        arguments.order = order_of(y, arguments.order, arguments.target)
        learner = None if learner is None else learner.set_params(class_order=arguments.order)
    extra: dict[str, Any] = {} if weights is None else {"sample_weight": weights}
    table = encode_frame(X)
    say(one_line_each(summarize_table(table)))
    check, trial = None, None
    if learner is None:
        arguments.learner, learner, check, trial = pick(arguments, X, y, weights)

    if arguments.bags is not None:
        classes = np.unique(y.to_numpy()).tolist()
        extra["check_batches"] = all_rows(arguments, table.attributes, classes)
    # Rows without weight do not count, and what is left of the columns is described anew.
    start = process_time()
    proof = _learned(learner, table if weights is None else X, y, extra)
    seconds = process_time() - start
    place = _shown(arguments, learner, proof)
    if check is not None and trial is not None:
        say(check.line(trial))
    else:
        _checked(arguments, learner, X, y, weights, seconds)
    if place:
        say(f"Next: frri rules {arguments.output}")
    elif arguments.output is None:
        say("Next: the same with -o model.json saves the rules as a model")
    return 0


def _read(arguments: argparse.Namespace, kinds: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Table, target and weights."""
    names = ["standard input" if name == "-" else name for name in arguments.data]
    with notes(), Progress(f"reading {', '.join(names)}"):
        return read_training(
            arguments.data,
            arguments.target,
            weights=arguments.weights,
            drop_unlabelled=arguments.drop_unlabelled,
            bins=arguments.bins,
            numbers=arguments.task == "regression",
            sample=sample_size(arguments),
            seed=arguments.seed or 0,
            **kinds,
            **reading(arguments),
        )


def _shown(arguments: argparse.Namespace, learner: Any, proof: str) -> str:
    """The rules to where they belong, and what is known about them; where they are saved, as a phrase."""
    ruleset = learner.ruleset_
    conditions = sum(len(rule.conditions) for rule in ruleset)
    if arguments.output is None:
        sys.stdout.write(numbered(ruleset))
    else:
        write_output(arguments.output, ruleset.to_json() + "\n")
    place = f"; saved in {arguments.output}" if arguments.output not in {None, "-"} else ""
    rules = "1 rule" if len(ruleset) == 1 else f"{len(ruleset)} rules"
    tests = "1 condition" if conditions == 1 else f"{conditions} conditions"
    say(f"{rules} with {tests}{proof}{place}")
    if arguments.bags is not None:
        n_rows = learner.selection_.n_further
        say(f"All {n_rows} rows were looked at: no rule covers one of another class")
    if "monotone" in ruleset.about:
        say(one_line(ruleset.about["monotone"]))
    if getattr(learner, "path_", None) is not None:
        say(str(learner.path_))
    return place


def _named(arguments: argparse.Namespace) -> Any:
    """The learner that is asked for."""
    learner = make_learner(
        arguments.learner,
        arguments.settings,
        task=arguments.task,
        seed=arguments.seed,
        search={name: getattr(arguments, name) for name in SEARCH},
        limits=limits_of(arguments),
    )
    if arguments.weights is not None and not TASKS[arguments.task][arguments.learner].weights:
        raise ValueError(
            f"The learner {arguments.learner} takes no weights of rows; use another one."
        )
    return learner


def _checked(
    arguments: argparse.Namespace, learner: Any, X: Any, y: Any, weights: Any, seconds: float
) -> None:
    """The check, of which Ctrl-C makes an end: the model is there already."""
    if getattr(learner, "selection_", {}).get("stopped_by") == "interrupt":
        return
    try:
        check_fit(arguments, learner, X, y, weights, seconds)
    except KeyboardInterrupt:
        say("The check was interrupted; the model is complete.")


def _learned(learner: Any, X: Any, y: Any, extra: dict[str, Any]) -> str:
    """Learn the rules; what is proved about their number, as a phrase. Warnings become notes."""
    with notes(), Progress(f"learning rules from {len(X)} rows"):
        learner.fit(X, y, **extra)
    # Only learners that prove something about their rules have a status.
    selection = getattr(learner, "selection_", {})
    proved = selection.get("status") == "optimal"
    return f", proved to be {selection['claim']}" if proved else ""

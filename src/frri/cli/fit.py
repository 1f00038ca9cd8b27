"""Learn rules from a table and save them as a model.

Kinds of columns are taken from the table and shown: numbers are numeric, ISO dates dates, texts and truth
values nominal. --nominal, --ordinal and --ignore say otherwise; column names are repeated, not listed.
Ctrl-C during the search for the fewest rules keeps the best found so far.
"""

import argparse
import warnings
from typing import TYPE_CHECKING, Any

from frri._util.names import find_name
from frri.cli.console import Progress, one_line, say
from frri.cli.files import check_output, write_whole
from frri.cli.learners import make_learner
from frri.cli.parser import Parser, positive_number, whole_number
from frri.learners.registry import LEARNERS, RULE_LEARNERS
from frri.readers import read_table
from frri.readers.kinds import check_kinds, declare, kind_of, summary, texts
from frri.rules import RuleSet

if TYPE_CHECKING:
    import pandas as pd

EXAMPLES = """\
frri fit patients.csv --target risk -o model.json
frri fit patients.csv --target risk -o model.json --learner ripper --seed 1 --ignore id
frri fit cars.csv --target sold -o model.json --nominal year --ordinal 'size=small<mid<large'"""


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    add = parser.add_argument
    add("data", help="a table (CSV, TSV, Parquet, ARFF, KEEL), - for standard input")
    add("--target", required=True, metavar="COLUMN", help="column of the classes")
    add("-o", "--output", required=True, metavar="FILE", help="the model, - for standard output")
    learners = ", ".join(RULE_LEARNERS)
    add("--learner", default="frri", metavar="NAME", help=f"{learners}; default: frri")
    add("--ignore", action="append", default=[], metavar="COLUMN", help="leave a column out")
    add("--nominal", action="append", default=[], metavar="COLUMN", help="values without order")
    add(
        "--ordinal",
        action="append",
        default=[],
        metavar="COLUMN=A<B<C",
        help="values from low to high",
    )
    add("--weights", metavar="COLUMN", help=f"how much every row counts, for {_weighted()}")
    add(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="PARAMETER=VALUE",
        help="any parameter of the learner",
    )
    add("--seed", type=whole_number, metavar="N", help="for learners that draw lots")
    add("--effort", type=whole_number, metavar="N", help="work of the search for the fewest rules")
    add("--time-limit", type=positive_number, metavar="SECONDS", help="limit of that search")


def run(arguments: argparse.Namespace) -> int:
    """The model to a file, what it was made from and what came out to standard error."""
    ordinal = dict(_ordinal(text) for text in arguments.ordinal)
    _check_once(arguments, ordinal)
    check_output(arguments.output, [arguments.data])
    learner = make_learner(
        arguments.learner,
        arguments.settings,
        seed=arguments.seed,
        effort=arguments.effort,
        time_limit=arguments.time_limit,
    )
    if arguments.weights is not None and not LEARNERS[arguments.learner].weights:
        raise ValueError(
            f"The learner {arguments.learner} takes no weights of rows; use --learner {_weighted()}."
        )

    name = "standard input" if arguments.data == "-" else arguments.data
    with Progress(f"reading {name}"):
        frame = read_table(arguments.data, dict.fromkeys((*arguments.nominal, *ordinal), ()))
    for column in (arguments.target, arguments.weights):
        if column is not None:
            find_name(column, frame.columns, name)
    y = _classes(frame[arguments.target])
    extra = {}
    if arguments.weights is not None:
        extra["sample_weight"] = _weights(frame[arguments.weights])
    X = declare(
        frame.drop(columns=[c for c in (arguments.target, arguments.weights) if c is not None]),
        name,
        nominal=arguments.nominal,
        ordinal=ordinal,
        ignore=arguments.ignore,
    )
    if X.columns.empty:
        raise ValueError(f"{name} has no column left to learn from.")
    check_kinds(X, declared=(*arguments.nominal, *ordinal))
    say(one_line_each(summary(X)))

    ruleset, proof = _learned(learner, X, y, extra)
    write_whole(arguments.output, ruleset.to_json() + "\n")
    conditions = sum(len(rule.conditions) for rule in ruleset)
    place = "" if arguments.output == "-" else f"; saved in {arguments.output}"
    rules = "1 rule" if len(ruleset) == 1 else f"{len(ruleset)} rules"
    say(f"{rules} with {conditions} conditions{proof}{place}")
    if place:
        say(f"Next: frri rules {arguments.output}")
    return 0


def one_line_each(text: str) -> str:
    """Lines without control characters."""
    return "\n".join(one_line(line) for line in text.split("\n"))


def _weighted() -> str:
    """The learners that take weights of rows."""
    return " or ".join(name for name in RULE_LEARNERS if LEARNERS[name].weights)


def _learned(learner: Any, X: Any, y: Any, extra: dict[str, Any]) -> tuple[RuleSet, str]:
    """The rules, and what is proved about their number; warnings become notes."""
    with (
        warnings.catch_warnings(record=True) as caught,
        Progress(f"learning rules from {len(X)} rows"),
    ):
        warnings.simplefilter("always")
        learner.fit(X, y, **extra)
    for message in dict.fromkeys(str(w.message) for w in caught if w.category is UserWarning):
        say(f"note: {one_line(message)}")
    selection = getattr(learner, "selection_", None)
    proved = selection is not None and selection.status == "optimal"
    return learner.ruleset_, ", proved to be the fewest" if proved else ""


def _check_once(arguments: argparse.Namespace, ordinal: dict[str, list[str]]) -> None:
    """A column can only be used in one way."""
    uses = [
        *[(column, "--ignore") for column in arguments.ignore],
        *[(column, "--nominal") for column in arguments.nominal],
        *[(column, "--ordinal") for column in ordinal],
        (arguments.target, "--target"),
        (arguments.weights, "--weights"),
    ]
    seen: dict[str, str] = {}
    for column, option in uses:
        if column is not None and seen.setdefault(column, option) != option:
            raise ValueError(f"Column {column!r} is given both to {seen[column]} and {option}.")


def _ordinal(text: str) -> tuple[str, list[str]]:
    """A column and its values from low to high."""
    column, equals, order = text.partition("=")
    values = [value.strip() for value in order.split("<")]
    if not equals or not column or len(values) < 2 or "" in values:
        raise ValueError(f"--ordinal needs COLUMN=LOW<...<HIGH, got {text!r}.")
    if len(set(values)) < len(values):
        raise ValueError(f"--ordinal {column!r} names a value twice.")
    return column, values


def _classes(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """The target as whole numbers, truth values or texts."""
    name = column.name
    absent = column.isna()
    if absent.any():
        row = int(absent.to_numpy().argmax())
        raise ValueError(
            f"The target {name!r} has no value in row {row} ({absent.sum()} of {len(column)} rows); "
            "drop these rows."
        )
    if kind_of(column) == "date":
        raise ValueError(f"The target {name!r} holds dates; a classifier needs classes.")
    different = column.nunique()
    if different == len(column) > 2:
        raise ValueError(
            f"The target {name!r} has another value in every row; a classifier needs classes."
        )
    return column if column.dtype.kind in "iufb" else texts(column).rename(name)


def _weights(column: "pd.Series[Any]") -> Any:
    if kind_of(column) != "numeric":
        raise ValueError(f"The weights {column.name!r} are not numbers; choose another column.")
    values = column.to_numpy(dtype=float)
    wrong = ~((values >= 0) & (values < float("inf")))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"The weights {column.name!r} hold {values[row]:g} in row {row}; "
            "they must be 0 or more and finite."
        )
    if not values.any():
        raise ValueError(
            f"The weights {column.name!r} are all 0; at least one row must weigh something."
        )
    return values

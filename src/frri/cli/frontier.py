"""Find the K rules of a pool that make the fewest errors, proven optimal, for K = 1, 2, ...

The pool contains rules trained on the table: frri adds the candidate rules of all rows, trees the
leaves of a hundred trees of depth 3, any other name the rules of that model (random ones are
trained ten times), and a file of a saved model its rules. The best of the selected rules decides;
if none covers a row, the majority class is predicted. Errors are counted on this table; use
frri evaluate for held-out rows.

$ frri frontier patients.csv --target risk --ignore visit
$ frri frontier patients.csv --target risk --pool frri --max-rules 8
$ frri frontier patients.csv --target risk --pool trees,furia,model.json --rules 4 -o four.json
$ frri frontier patients.csv --target risk --json | jq '.points[].certificate'
"""

import sys
from pathlib import Path
from typing import Any

from frri import frontier, tree_rules
from frri._util import Progress, find_name
from frri.cli.console import Arguments, Parser, json_text, notes, one_line_each, say
from frri.cli.files import load_model, read_to_learn, write_output
from frri.cli.rules import numbered_rules
from frri.learners.registry import RULE_LEARNERS
from frri.rules import RuleSet
from frri.selection.auto import make_estimator
from frri.table import encode_frame
from frri.table.targets import check_not_number

# Seeds of random learners, and the trees whose leaves are a pool.
SEEDS, TREES, DEPTH = 10, 100, 3


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    add = parser.add
    table = "a table (CSV, TSV, Excel, JSON, Parquet, ARFF, KEEL), - for standard input"
    add("data", table, reads=True)
    add("--target COLUMN", "column with the class", required=True)
    pools = f"sources of rules: {', '.join(RULE_LEARNERS)}, trees, or files of models"
    default = ["ripper", "furia"]
    add("--pool A,B", f"{pools} (default: ripper,furia)", type="names", default=default, reads=True)
    add("--max-rules K", "maximum number of rules (default: 6)", type="from 1", default=6)
    add("--rules K", "number of rules to print or save (default for -o: maximum)", type="from 1")
    add("-o --output FILE", "model to write, - for standard output")
    add("--json", "print the results as JSON")
    limit = "time limit of the proofs (default: 60)"
    add("--time-limit SECONDS", limit, type="number", default=60.0)
    add("--seed N", "random seed", type="from 0", default=0)
    parser.add_column_options()
    parser.add_reading_options(labelled=True)


def run(arguments: Arguments) -> None:
    """Print a sentence for each number of rules."""
    for name in arguments.pool:
        if Path(name).suffix != ".json":
            find_name(name, (*RULE_LEARNERS, "trees"), "frri frontier", "pool")
    n_rules, most = arguments.rules, arguments.max_rules
    if n_rules is not None and n_rules > most:
        raise ValueError(f"--rules {n_rules} is more than --max-rules {most}.")
    if arguments.json and (arguments.output == "-" or (n_rules and not arguments.output)):
        raise ValueError(
            "--json and the rules would both go to standard output; write rules to a file with -o."
        )
    X, y, _ = read_to_learn(arguments)
    check_not_number(y.to_numpy(), arguments.target)
    limit = arguments.time_limit or None
    with notes():
        pool = [rules for name in arguments.pool for rules in _pool(name, X, y, arguments.seed)]
        with Progress("looking for the best rules, and for a proof"):
            found = frontier(pool, X, y, sizes=range(1, most + 1), time_limit=limit)
    best = found[n_rules or most].ruleset
    if arguments.json:
        sys.stdout.write(json_text(found.to_dict()))
    elif arguments.output != "-":
        sys.stdout.write(f"{one_line_each(str(found))}\n")
    if arguments.output is not None:
        write_output(arguments.output, best.to_json() + "\n")
        if arguments.output != "-":
            say(f"{len(best)} rules saved in {arguments.output}")
    elif n_rules is not None:
        sys.stdout.write(numbered_rules(best))


def _pool(name: str, X: Any, y: Any, seed: int) -> list[RuleSet]:
    """Return the rules that a name stands for."""
    if Path(name).suffix == ".json":
        return [load_model(name)]
    if name == "trees":
        return [_leaves(X, y, seed)]
    if name == "frri":
        with Progress("learning rules: frri"):
            return [make_estimator(name).fit(X, y).candidate_rules(X, y)]
    seeds = range(seed, seed + SEEDS) if name in {"ripper", "furia"} else [None]
    with Progress(f"learning rules: {name}"):
        return [make_estimator(name, random_state=one).fit(X, y).ruleset_ for one in seeds]


def _leaves(X: Any, y: Any, seed: int) -> RuleSet:
    """Return the leaves of trees, which take numbers only."""
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415 - slow to import

    for attribute in encode_frame(X).attributes:
        if attribute.kind != "numeric":
            raise ValueError(
                f"Trees take numbers, and {attribute.name!r} is {attribute.kind}; leave it out by "
                "--ignore, or take another --pool."
            )
    with Progress(f"growing {TREES} trees"):
        forest = RandomForestClassifier(TREES, max_depth=DEPTH, random_state=seed).fit(X, y)
    return tree_rules(forest, X, y)

"""Show the rules of a saved model, one line each, numbered from 1.

With --tree, rules of one class that are alike are merged into more general ones, step by step, by what they
cover in a table with the true classes: a tree to read from the top. --cut shows its most general rules
only, so many of them, and -o saves them as a model.

With --stability, the learner of the model sees as many of the rows of a table, drawn anew, again and again:
each rule is told in how many of these resamples it comes back, about the same.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from frri._util import Progress, find_name
from frri.cli.console import bold, json_text, one_line, one_line_each, say
from frri.cli.files import (
    check_inputs,
    check_output,
    load_model,
    read_labelled,
    stability_of,
    write_output,
)
from frri.cli.options import Parser, add_reading_options, at_least, whole_number
from frri.rules import Rule, RuleSet
from frri.rules.hierarchy import SUPPORTED, Hierarchy
from frri.rules.text import base_text, rule_text

# Resamples that tell a rule that comes back from one that does not.
RESAMPLES = 20

EXAMPLES = """\
frri rules model.json
frri rules model.json --class yes
frri rules model.json --json | jq '.rules[].text'
frri rules model.json --tree patients.csv --depth 1
frri rules model.json --tree patients.csv --cut 6 -o small.json
frri rules model.json --stability patients.csv"""


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    parser.add_argument("model", help="a saved model, - for standard input")
    parser.add_argument("--class", dest="label", metavar="LABEL", help="only rules for this class")
    parser.add_argument("--json", action="store_true", help="rules as JSON")
    parser.add_argument(
        "--tree", metavar="DATA", help="merge rules by a table (CSV, ...) with the true classes"
    )
    parser.add_argument(
        "--depth", type=whole_number, metavar="N", help="levels of the tree to show"
    )
    parser.add_argument("--cut", type=at_least(1), metavar="N", help="the tree cut to N rules")
    parser.add_argument("-o", "--output", metavar="FILE", help="save the rules of --cut as a model")
    parser.add_argument(
        "--stability",
        metavar="DATA",
        help="how often each rule comes back, by a table with the truth",
    )
    parser.add_argument(
        "--resamples",
        type=at_least(1),
        metavar="N",
        help=f"of --stability, how often rows are drawn; default: {RESAMPLES}",
    )
    parser.add_argument(
        "--target", metavar="COLUMN", help="the classes in DATA; default: the model's target"
    )
    add_reading_options(parser, labelled=True)


def run(arguments: argparse.Namespace) -> int:
    """Rules to standard output."""
    if arguments.tree is not None:
        if arguments.stability is not None:
            raise ValueError("--tree and --stability answer different questions; ask for one.")
        return _tree(arguments)
    _check_options(arguments)
    if arguments.stability is not None:
        check_inputs(arguments.model, arguments.stability)
    ruleset = load_model(arguments.model)
    if arguments.label is not None and ruleset.semantics.meaning.says == "number":
        raise ValueError(
            f"The rules for {ruleset.target!r} say numbers, not classes; leave --class out."
        )
    if arguments.label is not None:
        find_name(arguments.label, map(str, ruleset.classes), "The model", "class")
    chosen = [
        (number, rule)
        for number, rule in enumerate(ruleset, start=1)
        if arguments.label in {None, str(rule.consequent)}
    ]
    if arguments.json:
        written = ruleset.to_dict()["rules"]
        content = {
            "target": ruleset.target,
            "classes": list(ruleset.classes),
            "rules": [
                {"rule": number, "text": rule_text(ruleset, rule), **written[number - 1]}
                for number, rule in chosen
            ],
        }
        sys.stdout.write(json_text(content))
        return 0
    found = None if arguments.stability is None else _stability(ruleset, arguments)
    sys.stdout.write(numbered_rules(ruleset, chosen, () if found is None else found.returns))
    if found is not None:
        say(
            f"{found.n_resamples} resamples of {arguments.stability}; similarity of their conditions "
            f"{found.similarity:.2f}, of 1."
        )
    if "monotone" in ruleset.about:
        say(one_line(str(ruleset.about["monotone"])))
    if not chosen:
        say("No rules.")
    return 0


def _check_options(arguments: argparse.Namespace) -> None:
    """Options about a table need one."""
    reads = ("target", "na_values", "date_format", "drop_unlabelled")
    of_trees, of_both = ("depth", "cut", "output"), () if arguments.stability else reads
    for option in (*of_trees, *of_both):
        if getattr(arguments, option) not in (None, [], False):
            table = " or --stability DATA" if option in reads else ""
            raise ValueError(f"--{option.replace('_', '-')} belongs to --tree DATA{table}.")
    if arguments.resamples is not None and arguments.stability is None:
        raise ValueError("--resamples belongs to --stability DATA.")
    if arguments.json and arguments.stability is not None:
        raise ValueError("--stability is told as text; leave --json out.")


def _stability(ruleset: RuleSet, arguments: argparse.Namespace) -> Any:
    table = read_labelled(ruleset, arguments.stability, arguments)
    return stability_of(ruleset, *table, arguments.resamples or RESAMPLES)


def _tree(arguments: argparse.Namespace) -> int:
    """The rules merged: as a tree, or those of a cut."""
    if arguments.label is not None:
        raise ValueError("--class does not go together with --tree, which shows all classes.")
    if arguments.output is not None:
        if arguments.cut is None:
            raise ValueError("-o saves the rules of a cut; say --cut N as well.")
        check_output(arguments.output, [arguments.model, arguments.tree])
    tree = _merged(arguments)
    if arguments.cut is None:
        text = f"{one_line_each(tree.text(arguments.depth))}\n"
        sys.stdout.write(json_text(tree.to_dict()) if arguments.json else text)
        return 0
    smaller = tree.cut(arguments.cut)
    if arguments.output is not None:
        write_output(arguments.output, smaller.to_json() + "\n")
    if arguments.output != "-":
        sys.stdout.write(f"{smaller.to_json()}\n" if arguments.json else numbered_rules(smaller))
    return 0


def _merged(arguments: argparse.Namespace) -> Hierarchy:
    check_inputs(arguments.model, arguments.tree)
    ruleset = load_model(arguments.model)
    SUPPORTED.require(ruleset.semantics)
    table = read_labelled(ruleset, arguments.tree, arguments)
    with Progress("merging rules"):
        return ruleset.hierarchy(*table)


def numbered_rules(
    ruleset: RuleSet,
    chosen: Iterable[tuple[int, Rule]] | None = None,
    returns: Sequence[float] = (),
) -> str:
    """Rules with their numbers, by default all, as lines; with how often each comes back, if that is known."""
    width = len(str(len(ruleset)))
    rules = enumerate(ruleset, start=1) if chosen is None else chosen
    lines = [
        f"{number:>{width}}  {rule_text(ruleset, rule, bold, one_line)}"
        f"{f'   comes back in {returns[number - 1]:.0%}' if returns else ''}\n"
        for number, rule in rules
    ]
    base = base_text(ruleset)
    if base:
        lines.append(f"{'':>{width}}  {one_line(base)}\n")
    return "".join(lines)

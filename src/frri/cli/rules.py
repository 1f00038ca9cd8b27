"""Print the rules of a saved model, numbered from 1.

With --tree, similar rules of a class are merged step by step into more general ones, by their
coverage of a labelled table, and printed as a hierarchy. --cut N prints the N most general rules
only, and -o saves them as a model.

With --stability, the model is trained again on bootstrap samples of a labelled table; each rule is
printed with the percentage of samples in which a similar rule occurs.

$ frri rules model.json
$ frri rules model.json --class yes
$ frri rules model.json --json | jq '.rules[].text'
$ frri rules model.json --tree patients.csv --depth 1
$ frri rules model.json --tree patients.csv --cut 6 -o small.json
$ frri rules model.json --stability patients.csv
"""

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from frri._util import Progress, find_name
from frri.cli.console import Arguments, Parser, bold, json_text, one_line, one_line_each, say
from frri.cli.files import load_model, read_labelled, stability_of, write_output
from frri.rules import Rule, RuleSet
from frri.rules.hierarchy import check_mergeable
from frri.rules.measures import evaluation_of, evaluation_text
from frri.rules.text import rule_text, ruleset_lines

# Bootstrap samples that distinguish stable rules from others.
RESAMPLES = 20


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    add = parser.add
    parser.add_model()
    add("--class LABEL", "print only rules for this class", dest="label")
    add("--json", "print the rules as JSON")
    add("--tree DATA", "labelled table by which similar rules are merged", reads=True)
    add("--depth N", "number of levels of the hierarchy to print", type="from 0")
    add("--cut N", "cut the hierarchy to N rules", type="from 1")
    add("-o --output FILE", "save the rules of --cut as a model")
    stability = "labelled table for the stability of each rule under resampling"
    add("--stability DATA", stability, reads=True)
    resamples = f"number of bootstrap samples of --stability (default: {RESAMPLES})"
    add("--resamples N", resamples, type="from 2")
    add("--target COLUMN", "column of the classes in DATA (default: the model's target)")
    parser.add_reading_options(labelled=True)


def run(arguments: Arguments) -> None:
    """Print the rules."""
    _check_options(arguments)
    ruleset = load_model(arguments.model)
    if arguments.tree is not None:
        _write_tree(ruleset, arguments)
        return
    chosen = _choose(ruleset, arguments.label)
    if arguments.json:
        sys.stdout.write(json_text(rules_as_json(ruleset, chosen)))
        return
    found = None
    if arguments.stability is not None:
        table = read_labelled(ruleset, arguments.stability, arguments)
        found = stability_of(ruleset, *table, arguments.resamples or RESAMPLES)
    sys.stdout.write(numbered_rules(ruleset, chosen, () if found is None else found.returns))
    if found is not None:
        resamples = f"{found.n_resamples} resamples of {arguments.stability}"
        say(f"{resamples}; similarity of their conditions {found.similarity:.2f}, of 1.")
    if "monotone" in ruleset.about:
        say(str(ruleset.about["monotone"]))
    estimate = evaluation_of(ruleset)
    if estimate is not None:
        say(evaluation_text(estimate))
    if not chosen:
        say("No rules.")


def _check_options(arguments: Arguments) -> None:
    """Raise a ValueError for options that do not go together."""
    tree, stability = arguments.tree is not None, arguments.stability is not None
    reading = ("target", "na_values", "date_format", "drop_unlabelled")
    if not tree:
        arguments.refuse(("depth", "cut", "output"), "--tree DATA")
    if not tree and not stability:
        arguments.refuse(reading, "--tree DATA or --stability DATA")
        arguments.refuse(["resamples"], "--stability DATA")
    if tree and stability:
        raise ValueError("--tree and --stability answer different questions; ask for one.")
    if stability and arguments.json:
        raise ValueError("--stability is written as text only; leave --json out.")
    if tree and arguments.label is not None:
        raise ValueError("--class does not go together with --tree, which shows all classes.")
    if arguments.output is not None and arguments.cut is None:
        raise ValueError("-o saves the rules of a cut; say --cut N as well.")


def _choose(ruleset: RuleSet, label: str | None) -> list[tuple[int, Rule]]:
    """Return the rules for a class, by default all, with their numbers."""
    if label is not None:
        if ruleset.semantics.meaning.says == "number":
            raise ValueError(
                f"The rules for {ruleset.target!r} say numbers, not classes; leave --class out."
            )
        find_name(label, map(str, ruleset.classes), "The model", "class")
    rules = enumerate(ruleset, start=1)
    return [(number, rule) for number, rule in rules if label in {None, str(rule.consequent)}]


def _write_tree(ruleset: RuleSet, arguments: Arguments) -> None:
    """Print the merged rules as a tree, or print and save those of a cut."""
    check_mergeable(ruleset)
    table = read_labelled(ruleset, arguments.tree, arguments)
    with Progress("merging rules"):
        tree = ruleset.hierarchy(*table)
    if arguments.cut is None:
        text = f"{one_line_each(tree.text(arguments.depth))}\n"
        sys.stdout.write(json_text(tree.to_dict()) if arguments.json else text)
        return
    smaller = tree.cut(arguments.cut)
    if arguments.output is not None:
        write_output(arguments.output, smaller.to_json() + "\n")
    if arguments.output != "-":
        sys.stdout.write(f"{smaller.to_json()}\n" if arguments.json else numbered_rules(smaller))


def rules_as_json(
    ruleset: RuleSet, chosen: Iterable[tuple[int, Rule]] | None = None
) -> dict[str, Any]:
    """Return rules as plain values with their numbers and sentences, by default all."""
    written = ruleset.to_dict()["rules"]
    rules = [
        {"rule": number, "text": rule_text(ruleset, rule), **written[number - 1]}
        for number, rule in (enumerate(ruleset, start=1) if chosen is None else chosen)
    ]
    return {"target": ruleset.target, "classes": list(ruleset.classes), "rules": rules}


def numbered_rules(
    ruleset: RuleSet,
    chosen: Iterable[tuple[int, Rule]] | None = None,
    returns: Sequence[float] = (),
) -> str:
    """Return rules as numbered lines, by default all; with how often each comes back, if known."""
    width, lines = len(str(len(ruleset))), []
    for number, rule in enumerate(ruleset, start=1) if chosen is None else chosen:
        found = f"   recurs in {returns[number - 1]:.0%}" if returns else ""
        text = rule_text(ruleset, rule, bold, one_line)
        lines.append(f"{number:>{width}}  {text}{found}\n")
    more = ruleset_lines(ruleset)[len(ruleset) :]
    return "".join([*lines, *(f"{'':>{width}}  {line}\n" for line in more)])

"""Show the rules of a saved model, one line each, numbered from 1."""

import argparse
import json
import sys
from collections.abc import Iterable

from frri._util.names import find_name
from frri.cli.console import bold, one_line, say
from frri.cli.files import load_model
from frri.cli.parser import Parser
from frri.rules import Rule, RuleSet
from frri.rules.text import base_text, rule_text

EXAMPLES = """\
frri rules model.json
frri rules model.json --class yes
frri rules model.json --json | jq '.rules[].text'"""


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    parser.add_argument("model", help="a saved model, - for standard input")
    parser.add_argument("--class", dest="label", metavar="LABEL", help="only rules for this class")
    parser.add_argument("--json", action="store_true", help="rules as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Rules to standard output."""
    ruleset = load_model(arguments.model)
    if arguments.label is not None and ruleset.task == "regression":
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
        sys.stdout.write(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
        return 0
    sys.stdout.write(numbered(ruleset, chosen))
    if not chosen:
        say("No rules.")
    return 0


def numbered(ruleset: RuleSet, chosen: Iterable[tuple[int, Rule]] | None = None) -> str:
    """Rules with their numbers, by default all, as lines."""
    width = len(str(len(ruleset)))
    rules = enumerate(ruleset, start=1) if chosen is None else chosen
    lines = [
        f"{number:>{width}}  {rule_text(ruleset, rule, bold, one_line)}\n" for number, rule in rules
    ]
    base = base_text(ruleset)
    if base:
        lines.append(f"{'':>{width}}  {one_line(base)}\n")
    return "".join(lines)

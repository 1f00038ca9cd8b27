"""Show the rules of a saved model, one line each, numbered from 1."""

import argparse
import json
import sys

from frri._util.names import find_name
from frri.cli.console import bold, one_line, say
from frri.cli.files import load_model
from frri.cli.parser import Parser
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
    width = len(str(len(ruleset)))
    for number, rule in chosen:
        line = rule_text(ruleset, rule, bold, one_line)
        sys.stdout.write(f"{number:>{width}}  {line}\n")
    base = base_text(ruleset)
    if base:
        sys.stdout.write(f"{'':>{width}}  {one_line(base)}\n")
    if not chosen:
        say("No rules.")
    return 0

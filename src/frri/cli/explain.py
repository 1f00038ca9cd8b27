"""Explain a prediction, with the smallest change that would alter it (counterfactual).

The row is one of a table (--row, counted from 1) or given as NAME=VALUE; NAME=? is a missing value.

$ frri explain model.json patients.csv --row 12
$ frri explain model.json age=31 smoker=no
$ frri explain model.json age=31 smoker=no --fix age --json
$ frri explain flats.json rooms=3 noise=60 --at-least good
$ frri explain prices.json area=90 garden=small --at-least 300000
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from frri._util import Progress, find_name, join_names
from frri.cli.console import Arguments, Parser, json_text, one_line_each, say
from frri.cli.files import load_model, parse_number, read_for
from frri.readers.infer_types import clean_text
from frri.rules import RuleSet
from frri.table.encode import category_codes


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    add = parser.add
    parser.add_model()
    what = "a table with --row, or values of one row"
    add("row_or_table", what, nargs="+", metavar="DATA | NAME=VALUE", reads=True)
    add("--row N", "number of the row, from 1", type="from 0")
    parser.add_reading_options()
    add("--fix COLUMN", "column that must not change; repeatable", action="append", default=[])
    goal = parser.add_mutually_exclusive_group()
    for side in ("at least", "at most"):
        text = f"ordinal, regression: find the smallest change to {side} this value"
        add(f"--{side.replace(' ', '-')} VALUE", text, group=goal)
    add("--json", "print the explanation as JSON")


def run(arguments: Arguments) -> None:
    """Print the explanation."""
    given = arguments.row_or_table
    ruleset = load_model(arguments.model)
    names = [attribute.name for attribute in ruleset.attributes]
    for name in arguments.fix:
        find_name(name, names, "The model")
    if len(given) == 1 and ("=" not in given[0] or Path(given[0]).exists()):
        row = _row_of_table(ruleset, given[0], arguments)
    else:
        if arguments.row is not None:
            raise ValueError("--row belongs to a table; values are given as NAME=VALUE.")
        row = _row_of_values(ruleset, given)
    goal = find_goal(ruleset, at_least=arguments.at_least, at_most=arguments.at_most)
    with Progress("searching for the smallest change"):
        explanation = ruleset.explain(row, unchangeable=arguments.fix, **goal)
    _say_unseen(ruleset, row)
    text = f"{one_line_each(str(explanation))}\n"
    sys.stdout.write(json_text(explanation.to_dict()) if arguments.json else text)


def find_goal(ruleset: RuleSet, **wanted: Any) -> dict[str, Any]:
    """Return the goal of a change by its side; the text of a class or number becomes such."""
    labels: dict[str, Any] = {str(label): label for label in ruleset.classes}
    goal = {side: value for side, value in wanted.items() if value is not None}
    for side, value in goal.items():
        number = parse_number(str(value))
        goal[side] = labels.get(str(value), value if number is None else number)
    return goal


def _row_of_table(ruleset: RuleSet, source: str, arguments: Arguments) -> Any:
    frame = read_for(ruleset, source, **arguments.reading_options)
    if arguments.row is None and len(frame) > 1:
        raise ValueError(f"Which row of {source}? Say --row 1 to --row {len(frame)}.")
    number = 1 if arguments.row is None else arguments.row
    if not 1 <= number <= len(frame):
        raise ValueError(f"{source} has no row {number}; its rows are 1 to {len(frame)}.")
    row = frame.iloc[[number - 1]]
    # Columns that no rule uses may be left out of the table.
    unknown = [a.name for a in ruleset.attributes if a.name not in row.columns]
    return row.assign(**dict.fromkeys(unknown))


def _row_of_values(ruleset: RuleSet, given: list[str]) -> dict[str, Any]:
    """Parse values by name."""
    attributes = {attribute.name: attribute for attribute in ruleset.attributes}
    row: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"{text!r} is not of the form NAME=VALUE.")
        attribute = attributes[find_name(name, attributes, "The model")]
        if name in row:
            raise ValueError(f"{name} is given twice.")
        row[name] = clean_text(value, attribute.categories or ())
    return complete_row(ruleset, row, "give {0}=VALUE, or {0}=? if it is missing")


def complete_row(
    ruleset: RuleSet, row: Mapping[str, Any], remedy: str = "give null if it is missing"
) -> dict[str, Any]:
    """Return a row with all columns of a model; those that no rule uses may be left out."""
    names = [attribute.name for attribute in ruleset.attributes]
    for name in row:
        find_name(name, names, "The model")
    for name in ruleset.used_attributes:
        if name not in row:
            raise ValueError(f"The row has no value for {name!r}; {remedy.format(name)}.")
    return dict.fromkeys(names) | dict(row)


def _say_unseen(ruleset: RuleSet, row: Any) -> None:
    """Print a note for each category that training did not have, in columns that rules use."""
    for attribute in ruleset.attributes:
        if attribute.categories is None or attribute.name not in ruleset.used_attributes:
            continue
        value = np.ravel(row[attribute.name])[:1].astype(object)
        if category_codes(value, attribute.categories)[0] < 0:
            ordinal = attribute.kind == "ordinal"
            effect = "no condition on it holds, except != and not in"
            effect = "it counts as missing" if ordinal else effect
            had = join_names(attribute.categories)
            said = f"{attribute.name} = {value[0]} was never seen in training, which had {had}"
            say(f"note: {said}: {effect}.")

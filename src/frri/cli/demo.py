"""Try frri on built-in tables.

frri demo trains rules on wines of three cultivars, tests them and explains one prediction. frri
example writes an artificial table to try the other commands with: 200 patients with a high or low
risk, with numbers, categories, dates and outliers. An existing file is not overwritten.

$ frri demo
$ frri example patients.csv
$ frri example patients.csv -o - | head
"""

import sys
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np

from frri._util import find_name
from frri.cli.console import Arguments, Parser, bold, say
from frri.cli.files import check_files, write_output
from frri.rules.text import rule_text
from frri.table import EncodedTable, describe_columns

TABLES = ("patients.csv",)

_CULTIVARS = np.array(["Barolo", "Grignolino", "Barbera"])


def configure(parser: Parser) -> None:
    """Describe the arguments; frri demo has none."""
    if parser.prog == "frri example":
        parser.add("name", f"name of the table: {', '.join(TABLES)}")
        parser.add("-o --output FILE", "file to write (default: the name of the table)")


def run(arguments: Arguments) -> None:
    """Write the table, or print the rules of the wines."""
    if "name" in arguments:
        _write_table(arguments.name, arguments.output)
    else:
        _show_wines()


def _write_table(name: str, output: str | None) -> None:
    """Write a table to a file, unless another one is there, or to standard output."""
    content = (files("frri.cli") / find_name(name, TABLES, "frri", "example")).read_text("utf-8")
    output = name if output is None else output
    check_files([], output)
    if output == "-" or not Path(output).is_file():
        write_output(output, content)
    elif Path(output).read_bytes() != content.encode():
        raise ValueError(f"{output} is there already; name another file (-o FILE).")
    if output != "-":
        say(f"Wrote {output}, an artificial table. Next: frri fit {output} --target risk")


def _show_wines() -> None:
    """Print rules, their proof, their accuracy and one explanation."""
    from sklearn.datasets import load_wine  # noqa: PLC0415 - slow to import
    from sklearn.model_selection import train_test_split  # noqa: PLC0415

    from frri.learners.frri import FRRIClassifier  # noqa: PLC0415

    wine = load_wine()
    X, X_test, y, y_test = train_test_split(
        wine.data, _CULTIVARS[wine.target], test_size=0.3, random_state=0, stratify=wine.target
    )
    names = [name.replace("_", " ") for name in wine.feature_names]
    say(f"Training rules on {len(X)} wines with {X.shape[1]} measurements each ...")
    learner = FRRIClassifier().fit(EncodedTable(X, describe_columns(X, names)), y)
    ruleset = replace(learner.ruleset_, target="cultivar")
    selection = learner.selection_
    accuracy = float((ruleset.predict(X_test) == y_test).mean())
    rules = [f"{r}  {rule_text(ruleset, rule)}" for r, rule in enumerate(ruleset, start=1)]
    proof = (
        f"{selection.n_rules} rules ({selection.status}): at least {selection.lower_bound} such "
        f"rules are needed to cover all {len(X)} training wines."
    )
    test = f"Accuracy {accuracy:.1%} on {len(X_test)} held-out wines."
    parts = {"Rules": "\n".join(rules), "Minimum size": proof, "Test": test}
    parts["Explanation of the first test wine"] = str(ruleset.explain(X_test[0]))
    for title, content in parts.items():
        sys.stdout.write(f"\n{bold(title)}\n{content}\n")
    say("")
    say("Next: frri fit YOUR.csv --target COLUMN -o model.json")

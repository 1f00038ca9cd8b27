"""Learn rules from data that come with the program (wines of three cultivars), and explain one."""

import sys
from dataclasses import replace

import numpy as np

from frri.cli.console import bold, say
from frri.cli.options import Arguments, Parser
from frri.rules.text import rule_text
from frri.table import EncodedTable, describe_columns

EXAMPLES = "frri demo"

_CULTIVARS = np.array(["Barolo", "Grignolino", "Barbera"])


def configure(parser: Parser) -> None:
    """Describe no arguments."""
    del parser


def run(arguments: Arguments) -> int:
    """Print rules, their proof, their accuracy and one explanation."""
    del arguments
    from sklearn.datasets import load_wine  # noqa: PLC0415 - slow to import
    from sklearn.model_selection import train_test_split  # noqa: PLC0415

    from frri.learners.frri import FRRIClassifier  # noqa: PLC0415

    wine = load_wine()
    X, X_test, y, y_test = train_test_split(
        wine.data,
        _CULTIVARS[wine.target],
        test_size=0.3,
        random_state=0,
        stratify=wine.target,
    )
    names = [name.replace("_", " ") for name in wine.feature_names]
    say(f"Learning rules from {len(X)} wines, {X.shape[1]} measurements each ...")
    learner = FRRIClassifier().fit(EncodedTable(X, describe_columns(X, names)), y)
    ruleset = replace(learner.ruleset_, target="cultivar")
    selection = learner.selection_
    accuracy = float((ruleset.predict(X_test) == y_test).mean())
    _show(
        "Rules",
        "\n".join(f"{r}  {rule_text(ruleset, rule)}" for r, rule in enumerate(ruleset, start=1)),
    )
    _show(
        "Proof",
        f"{selection.n_rules} rules ({selection.status}): no smaller set of such rules covers all "
        f"{len(X)} wines; at least {selection.lower_bound} are needed.",
    )
    _show(
        "New wines", f"{accuracy:.1%} of {len(X_test)} wines not seen in training are recognised."
    )
    _show("Why is the first of them what it is?", str(ruleset.explain(X_test[0])))
    say("\nNext: frri fit YOUR.csv --target COLUMN -o model.json")
    return 0


def _show(title: str, content: str) -> None:
    sys.stdout.write(f"\n{bold(title)}\n{content}\n")

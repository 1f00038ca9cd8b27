"""How often the rules of a saved model come back when its learner sees rows drawn anew."""

from typing import Any

from frri._util import Progress, import_optional
from frri.cli.parser import Parser, whole_number
from frri.rules import RuleSet


def add_stability_option(parser: Parser) -> None:
    """The option --stability."""
    parser.add_argument(
        "--stability",
        type=whole_number,
        metavar="N",
        help="learn N times from as many of the rows, drawn anew, and tell how often each rule comes back",
    )


def stability_of(ruleset: RuleSet, table: Any, labels: Any, n_resamples: int) -> Any:
    """What `frri.compare.stability` finds out about the rules of a model, by a table with the truth."""
    if labels is None:
        raise ValueError(
            f"--stability learns from rows again: give a table with the column {ruleset.target!r}."
        )
    if n_resamples < 2:
        raise ValueError(f"--stability needs 2 resamples at least, got {n_resamples}.")
    from frri.compare.stability import stability  # noqa: PLC0415 - slow to import
    from frri.learners.registry import learner_of  # noqa: PLC0415

    pandas = import_optional("pandas", "Learning again", "tables")
    names = [attribute.name for attribute in ruleset.attributes]
    absent = [name for name in names if name not in table.columns]
    if absent:
        raise ValueError(
            f"--stability learns from rows again, with all columns of the model: there is no {absent[0]!r}."
        )
    columns = table[names].copy()
    for attribute in ruleset.attributes:
        if attribute.kind == "ordinal":
            # A file does not say which category comes first; the model does.
            order = list(attribute.categories or ())
            columns[attribute.name] = pandas.Categorical(columns[attribute.name], order, True)
    with Progress(f"learning {n_resamples} times"):
        return stability(
            learner_of(ruleset), columns, labels, n_resamples=n_resamples, ruleset=ruleset
        )

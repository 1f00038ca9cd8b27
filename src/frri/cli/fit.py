"""Train a model on a table and save it.

Types of columns are inferred and printed: numbers are numeric, ISO dates dates, strings and
booleans nominal; identifiers are ignored. --nominal, --numeric, --ordinal and --ignore override
this. Without --learner, ripper and additive are compared by cross-validation, and furia, compact
and frri as well if the table is small enough: additive is selected unless another one is clearly
better, or nearly as good with fewer conditions. --task regression predicts a number, --task ordinal
classes with an order: that of numbers, or that of --order. Ctrl-C during the search of frri for a
minimum-size rule set keeps the best one found. The score on held-out rows is printed and stored in
the model.

$ frri fit patients.csv --target risk -o model.json
$ frri fit january.csv february.csv --target risk -o model.json
$ frri fit patients.csv --target risk -o model.json --learner ripper --seed 1 --ignore visit
$ frri fit patients.csv --target risk -o model.json --metric balanced_accuracy --groups doctor
$ frri fit huge.parquet --target risk -o model.json --sample 20000
$ frri fit huge.parquet --target risk -o model.json --bags 10
$ frri fit houses.csv --target price --task regression -o model.json
$ frri fit flats.csv --target rating --task ordinal --order 'poor<fair<good' -o model.json
$ frri fit cars.csv --target sold -o model.json --nominal year --ordinal 'size=small<mid<large'
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from frri import selection
from frri._util import Progress, find_name, join_names, quote_name
from frri.cli.console import Arguments, Parser, json_text, notes, say
from frri.cli.files import category_values, labels_of, read_to_learn, write_output
from frri.cli.rules import numbered_rules, rules_as_json
from frri.learners.registry import TASKS, rule_learners
from frri.readers.files import read_batches
from frri.readers.infer_types import resolve_words
from frri.rules import RuleSet
from frri.rules.measures import evaluation_of
from frri.selection.auto import decision_parameters
from frri.selection.holdout import FOLDS, METRICS
from frri.table import Attribute, encode_frame
from frri.table.encode import summarize_table
from frri.table.targets import check_not_number

# Rows of a bag by default.
ROWS_OF_BAG = 10_000

# Columns that are named as possible leaks, at most.
MOST_LEAKS = 3

# Categories from which a column that occurs in rules is worth a note.
MANY_CATEGORIES = 100

# Estimators that choose a model, by task.
AUTO: dict[str, Any] = {
    "classification": selection.AutoRulesClassifier,
    "ordinal": selection.AutoRulesOrdinalClassifier,
    "regression": selection.AutoRulesRegressor,
}

# Options of parameters with other names.
OPTIONS = dict.fromkeys(("decision", "class_weight"), "--metric or --costs")
OPTIONS["class_order"] = "--order"

# Parameters that have options of their own: limits on rules, and those of FRRI's search.
LIMITS = ("max_rules", "max_conditions", "min_support")
SEARCH = ("work_limit", "optimality_gap", "memory_limit")


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    add = parser.add
    tables = "a table (CSV, TSV, Excel, JSON, Parquet, ARFF, KEEL), - for standard input"
    several = "several files with the same columns are one table"
    add("data", f"{tables}; {several}", nargs="+", reads=True)
    add("--target COLUMN", "column to predict", required=True)
    add("-o --output FILE", "model to write, - for standard output (default: only print the rules)")
    names = [f"with --task {task} {', '.join(rule_learners(task))}" for task in TASKS]
    names[0] = ", ".join(rule_learners("classification"))
    add("--learner NAME", f"{'; '.join(names)} (default: selected by cross-validation)")
    parser.add_column_options()
    parser.add_reading_options(labelled=True)
    rows = "train on a random sample of N rows (--seed); with --bags, N rows for each bag"
    add("--sample N", rows, type="from 1")
    bags = (
        f"train frri-bags on B random samples (--sample, else {ROWS_OF_BAG} rows each), and check "
        "its rules against all rows"
    )
    add("--bags B", bags, type="from 1")
    add("--weights COLUMN", "column of row weights")
    groups = "column of groups (patients, companies) whose rows are held out together"
    add("--groups COLUMN", f"{groups}; no rule uses it")
    settings = "any parameter of the model"
    many: dict[str, Any] = {"action": "append", "default": []}
    add("--set PARAMETER=VALUE", settings, dest="settings", type="setting", **many)
    add("--max-rules N", "maximum number of rules (default: auto)", type="size")
    add("--max-conditions N", "maximum number of conditions of a rule", type="from 1")
    add("--min-support FRACTION", "minimum coverage of a rule within its class", type="fraction")
    add("--seed N", "random seed", type="from 0")
    add("--work-limit N", "frri: work limit of the search for fewest rules", type="from 0")
    add("--optimality-gap FRACTION", "optimality gap at which this search stops", type="fraction")
    add("--memory-limit SIZE", "memory limit, such as 2GB")
    seconds = "time limit of the whole fit; rules may then depend on the speed of the machine"
    add("--time-limit SECONDS", f"{seconds} (default: about 20 CPU seconds)", type="number")
    check = parser.add_mutually_exclusive_group()
    test = "evaluate on a test set of this fraction of the rows, such as 0.3"
    add("--test FRACTION", test, group=check, type="test fraction")
    folds = "evaluate by cross-validation with N folds, however long it takes"
    add("--cv N", f"{folds} (default: up to {FOLDS})", group=check, type="from 2")
    add("--no-check", "do not evaluate on held-out rows", group=check)
    target = parser.add_mutually_exclusive_group()
    bins = "number of classes into which a numeric target is divided"
    add("--bins N", bins, group=target, type="from 2")
    task = (
        "regression: predict a number; ordinal: predict classes with an order; "
        "classification: every number is a class"
    )
    add("--task NAME", task, group=target, choices=list(TASKS))
    add("--order LOW<...<HIGH", "classes of --task ordinal in their order", type="order")
    metrics = list(METRICS["classification"])
    metric = f"metric of selection, decision and results: {', '.join(metrics)} (default: accuracy)"
    add("--metric NAME", metric, choices=metrics)
    each = "cost of misclassifying a row of each class (default: 1), such as yes=5,no=1"
    add("--costs CLASS=COST,...", f"{each}; the metric is then cost", type="costs")
    add("--json", "print learner, size and score as JSON; without -o also the rules")


def run(arguments: Arguments) -> None:
    """Write the model to a file, and to standard error what it was made from and how good it is."""
    if arguments.json and arguments.output == "-":
        raise ValueError(
            "--json and the model would both go to standard output; name a file by -o."
        )
    undecided = arguments.task is None and arguments.bins is None
    arguments.task = arguments.task or "classification"
    learner = _named_learner(arguments)

    sample, seed = arguments.sample, arguments.seed or 0
    if arguments.bags is not None:
        sample = arguments.bags * (sample or ROWS_OF_BAG)
    how = {"weights": arguments.weights, "bins": arguments.bins, "sample": sample, "seed": seed}
    X, y, weights = read_to_learn(arguments, numbers=arguments.task == "regression", **how)
    if undecided:
        check_not_number(y.to_numpy(), arguments.target)
    if arguments.task == "ordinal":
        _check_order(y.unique().tolist(), arguments.order, arguments.target)
    groups = None if arguments.groups is None else X.pop(arguments.groups)
    table = encode_frame(X)
    say(summarize_table(table))
    leaks = selection.find_leakage(table, y, task=arguments.task, groups=groups, random_state=seed)
    _say_leakage(leaks, arguments.task)
    extra: dict[str, Any] = {"sample_weight": weights, "groups": groups}
    if arguments.bags is not None:
        classes = np.unique(y.to_numpy()).tolist()
        extra["check_batches"] = _all_rows(arguments, table.attributes, classes)
    model = _make_auto(arguments, learner)
    with notes(), Progress(f"learning rules from {len(X)} rows"):
        model.fit(X, y, **extra)
    _write_rules(arguments, model)
    if arguments.json:
        sys.stdout.write(json_text(_facts(arguments, model)))
    _say_scores(arguments, model)


# ------------------------------------------------------------------ the table
def _say_leakage(scores: Mapping[str, float], task: str) -> None:
    """Print notes about columns that alone predict the target nearly perfectly, the first few."""
    measure = "R2" if task == "regression" else "accuracy"
    for name, score in islice(scores.items(), MOST_LEAKS):
        reached = f"{name!r} alone reaches {measure} {score:.2f}"
        remedy = f"is it known before the decision? --ignore {quote_name(name)} leaves it out"
        say(f"note: check for leakage: {reached}; {remedy}.")


def _all_rows(
    arguments: Arguments, attributes: Sequence[Attribute], classes: Sequence[Any]
) -> Iterator[tuple[Any, Any]]:
    """Yield all rows of the files with a class and a weight, part by part, and their classes."""
    target, weights = arguments.target, arguments.weights
    names = [attribute.name for attribute in attributes]
    numbers = [a.name for a in attributes if a.kind == "numeric" and not arguments.strict]
    known = RuleSet((), tuple(attributes), tuple(classes), target)
    strings = category_values(known, target)
    wanted = {*names, target, *([] if weights is None else [weights])}
    for source in arguments.data:
        for batch in read_batches(source, strings, columns=wanted, **arguments.reading_options):
            frame = batch.frame[batch.frame[target].notna()]
            if weights is not None:
                frame = frame[frame[weights] > 0]
            if len(frame):
                X = resolve_words(frame[names], nominal=strings, numeric=numbers)
                yield X, labels_of(frame[target], known)


def _check_order(labels: Sequence[Any], order: Sequence[str] | None, target: str) -> None:
    """Raise a ValueError for classes without an order, or that the given order lacks."""
    texts = sorted(map(str, labels))
    if order is None and any(isinstance(label, str) for label in labels):
        raise ValueError(
            f"The classes of {target!r} are strings: list them from lowest to highest, "
            f"such as --order 'LOW<HIGH' (found: {join_names(texts)})."
        )
    lacking = [repr(text) for text in texts if order is not None and text not in order]
    if lacking:
        raise ValueError(
            f"--order lacks {join_names(lacking)} of the column {target!r}; list all classes."
        )


# ------------------------------------------------------------------ the estimator
def _named_learner(arguments: Arguments) -> Any:
    """Return the estimator that the options name, None if they name none."""
    name, settings = arguments.learner, arguments.settings
    if arguments.order is not None and arguments.task != "ordinal":
        raise ValueError("--order is for classes that have an order; add --task ordinal.")
    for option in ("metric", "costs") if arguments.task != "classification" else ():
        if getattr(arguments, option) is not None:
            remedy = f"leave out --task {arguments.task}"
            raise ValueError(f"--{option} is for classes without an order; {remedy}.")
    if arguments.costs is not None and arguments.metric not in {None, "cost"}:
        raise ValueError(f"--costs is for --metric cost; leave out --metric {arguments.metric}.")
    options = {option: getattr(arguments, option) for option in (*SEARCH, *LIMITS, "seed")}
    options["class_order"] = arguments.order
    if arguments.bags is not None:
        _check_bags(arguments)
        rows = arguments.sample or ROWS_OF_BAG
        name = "frri-bags"
        settings = [("n_estimators", arguments.bags), ("max_samples", rows), *settings]
    elif name is None and (settings or any(options[option] is not None for option in SEARCH)):
        # These parameters belong to it.
        name = "additive" if arguments.task == "regression" else "frri"
    arguments.learner = name
    if name is None:
        return None
    follow = decision_parameters(name, arguments.metric or "accuracy", arguments.costs)
    learner = make_learner(name, settings, task=arguments.task, **options, **follow)
    if arguments.weights is not None and not TASKS[arguments.task][name].weights:
        raise ValueError(f"The learner {name} takes no weights of rows; use another one.")
    return learner


def _check_bags(arguments: Arguments) -> None:
    """Raise a ValueError for options that contradict --bags."""
    problem = None
    if arguments.task != "classification":
        problem = f"learns classes; leave --task {arguments.task} out, or --bags, and"
    elif arguments.learner not in {None, "frri-bags"}:
        other = f"--learner {arguments.learner}"
        problem = f"is for the learner frri-bags; leave {other} out, or --bags, and"
    elif "-" in arguments.data:
        problem = "reads its files twice, and standard input (-) can be read once; name a file, or"
    if problem is not None:
        raise ValueError(f"--bags {problem} take a --sample.")


def _make_auto(arguments: Arguments, learner: Any) -> Any:
    """Return the estimator that compares the candidates, or evaluates the one that is named."""
    options: dict[str, Any] = {
        "cv": 0 if arguments.no_check else arguments.cv,
        "test_size": arguments.test,
        "time_limit": arguments.time_limit,
        "random_state": arguments.seed or 0,
    }
    if arguments.task == "classification":
        options |= {"metric": arguments.metric or "accuracy", "costs": arguments.costs}
    elif arguments.task == "ordinal":
        options["class_order"] = arguments.order
    if learner is None:
        options |= {name: getattr(arguments, name) for name in LIMITS}
    else:
        options |= {"estimators": {arguments.learner: learner}, "references": False}
    return AUTO[arguments.task](**options)


def make_learner(
    name: str,
    settings: Iterable[tuple[str, Any]] = (),
    *,
    task: str = "classification",
    **options: Any,
) -> Any:
    """Return an estimator with its parameters.

    Parameters
    ----------
    name : str
        A name of `rule_learners(task)`.
    settings : iterable of (str, value)
        Parameters and their values.
    task : str
        A name of `frri.learners.registry.TASKS`.
    **options
        Values of options with a parameter of the same name, or of `seed`; None if not given.

    Examples
    --------
    >>> make_learner("frri", [("attribute_order", "random")], seed=1)
    FRRIClassifier(attribute_order='random', random_state=1)
    """
    whose = "frri" if task == "classification" else f"frri fit --task {task}"
    names = rule_learners(task)
    find_name(name, names, whose, "learner")
    learner = TASKS[task][name].make()
    known = learner.get_params()
    given = dict(settings)
    for parameter in given:
        find_name(parameter, known, f"The learner {name}", "parameter")
    for option, value in options.items():
        if value is None:
            continue
        parameter = "random_state" if option == "seed" else option
        spelled = OPTIONS.get(option, f"--{option.replace('_', '-')}")
        if parameter not in known:
            others = [n for n in names if parameter in TASKS[task][n].make().get_params()]
            supports = f"; {join_names(others)} support it"
            remedy = supports if others and parameter in LIMITS else ""
            raise ValueError(f"The learner {name} does not support {spelled}{remedy}.")
        if parameter in given:
            raise ValueError(f"{parameter} is given both by {spelled} and by --set.")
        given[parameter] = value
    return learner.set_params(**given)


# ------------------------------------------------------------------ results
def _write_rules(arguments: Arguments, model: Any) -> None:
    """Write the rules to the output, and their number to standard error."""
    output, ruleset, learner = arguments.output, model.ruleset_, model.best_estimator_
    if output is None and not arguments.json:
        sys.stdout.write(numbered_rules(ruleset))
    elif output is not None:
        write_output(output, ruleset.to_json() + "\n")
    rules, tests = len(ruleset), sum(len(rule.conditions) for rule in ruleset)
    size = f"{rules} rule{'s' * (rules != 1)} with {tests} condition{'s' * (tests != 1)}"
    # Only estimators that prove something about their rules have a status.
    selection = getattr(learner, "selection_", {})
    is_proven = selection.get("status") == "optimal"
    proof = f", proven optimal ({selection['claim']})" if is_proven else ""
    place = f"; saved in {output}" if output not in {None, "-"} else ""
    say(f"Model ({model.best_name_}): {size}{proof}{place}")
    if arguments.bags is not None:
        n_rows = learner.selection_.n_further
        say(f"All {n_rows} rows were looked at: no rule covers one of another class")
    if "monotone" in ruleset.about:
        say(ruleset.about["monotone"])
    for attribute in ruleset.attributes:
        n_categories = len(attribute.categories or ()) if attribute.kind == "nominal" else 0
        if n_categories >= MANY_CATEGORIES and attribute.name in ruleset.used_attributes:
            what = f"rules use {attribute.name!r}, which has {n_categories} categories"
            remedy = f"--ignore {quote_name(attribute.name)} leaves the column out"
            say(f"note: {what}; they do not transfer to new categories; {remedy}.")


def _facts(arguments: Arguments, model: Any) -> dict[str, Any]:
    """Return the result of the command for JSON; the rules unless they are saved as a model."""
    ruleset = model.ruleset_
    facts: dict[str, Any] = {
        "model": arguments.output,
        "target": ruleset.target,
        "task": ruleset.task,
        "learner": model.best_name_,
        "rows": ruleset.about["rows"],
        "n_rules": len(ruleset),
        "n_conditions": sum(len(rule.conditions) for rule in ruleset),
    }
    known = evaluation_of(ruleset) or {}
    names = ("measure", "score", "interval", "folds", "baseline", "leaderboard")
    facts |= {name: known[name] for name in names if name in known}
    return facts if arguments.output else facts | rules_as_json(ruleset)


def _say_scores(arguments: Arguments, model: Any) -> None:
    """Print the score on held-out rows, those of other models, and the next command."""
    result, reason = model.holdout_result_, model.reason_
    if result is not None:
        say(str(result))
    elif reason:
        forced = f" (force with --cv {FOLDS})" * reason.startswith("only")
        say(f"Not cross-validated: {reason}{forced}")
    scores = [
        f"{one['name']} {one['score']:.2f}"
        + (f" ({one['rules']:.0f} rules)" if "rules" in one else "")
        for one in model.leaderboard_
        if one["name"] != model.best_name_
    ]
    path = model.path_
    if path is not None and path.best > path.chosen:
        sizes = (path.chosen, path.best)
        scores[:0] = [f"{size} rules {path.score_of(size):.2f}" for size in sizes]
    if scores:
        say(f"Compared: {', '.join(scores)}")
    if result is not None and result.is_constant and result.metric == "accuracy":
        remedy = "to predict other classes, use --metric balanced_accuracy or --costs"
        say(f"note: all rows are predicted as {result.predictions[0]!s}; {remedy}.")
    if arguments.output is None:
        say("Next: the same with -o model.json saves the rules as a model")
    elif arguments.output != "-":
        say(f"Next: frri rules {arguments.output}")

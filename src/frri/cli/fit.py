"""Learn rules from a table and save them as a model.

Types of columns are inferred from the table and shown: numbers are numeric, ISO dates dates, texts
and truth values nominal; identifiers are left out. --nominal, --numeric, --ordinal and --ignore
declare otherwise. Without --learner, the best one on held-out rows is taken: ripper, additive,
compact or frri; --learner frri is always the paper's. --task regression predicts a number instead
of a class, --task ordinal classes that have an order: that of numbers, or that of --order. Ctrl-C
during the search for the fewest rules keeps the best found so far. The last line is the score of
such rules on held-out rows.

$ frri fit patients.csv --target risk -o model.json
$ frri fit january.csv february.csv --target risk -o model.json
$ frri fit patients.csv --target risk -o model.json --learner ripper --seed 1 --ignore visit
$ frri fit huge.parquet --target risk -o model.json --sample 20000
$ frri fit huge.parquet --target risk -o model.json --bags 10
$ frri fit houses.csv --target price --task regression -o model.json
$ frri fit flats.csv --target rating --task ordinal --order 'poor<fair<good' -o model.json
$ frri fit cars.csv --target sold -o model.json --nominal year --ordinal 'size=small<mid<large'
"""

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from time import process_time
from typing import Any

import numpy as np

from frri._util import Progress, find_name, join_names, quote_name
from frri.cli.console import (
    Arguments,
    Parser,
    json_text,
    notes,
    one_line,
    one_line_each,
    say,
    sentence,
)
from frri.cli.files import category_values, labels_of, read_to_learn, write_output
from frri.cli.rules import numbered_rules, rules_as_json
from frri.learners.registry import TASKS, rule_learners
from frri.readers.files import read_batches
from frri.readers.infer_types import resolve_words
from frri.rules import RuleSet
from frri.rules.conformal import half_widths
from frri.selection import Holdout, HoldoutResult, choose_estimator, find_leakage
from frri.selection.holdout import FOLDS, MANY_SAMPLES, TEST_SIZE
from frri.table import Attribute, encode_frame
from frri.table.columns import ordered_categories
from frri.table.encode import summarize_table
from frri.table.targets import check_not_number

# Rows of a bag by default.
ROWS_OF_BAG = 10_000

# Columns that are named as possible leaks, at most.
MOST_LEAKS = 3

# Seconds of computing that are spent on held-out rows without --cv and --test.
PATIENCE = 8.0

# Parameters that have options of their own: limits on rules, and those of FRRI's search.
LIMITS = ("max_rules", "max_conditions", "min_support")
SEARCH = ("work_limit", "optimality_gap", "time_limit", "memory_limit")


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    add = parser.add
    tables = "a table (CSV, TSV, Excel, JSON, Parquet, ARFF, KEEL), - for standard input"
    several = "several files with the same columns are one table"
    add("data", f"{tables}; {several}", nargs="+", reads=True)
    add("--target COLUMN", "column to predict", required=True)
    add("-o --output FILE", "model to write, - for standard output (default: only show the rules)")
    names = [f"with --task {task} {', '.join(rule_learners(task))}" for task in TASKS]
    names[0] = ", ".join(rule_learners("classification"))
    add("--learner NAME", f"{'; '.join(names)} (default: what suits the table best)")
    parser.add_column_options()
    parser.add_reading_options(labelled=True)
    rows = "learn from N rows, drawn at random by --seed; with --bags, N rows for each bag"
    add("--sample N", rows, type="from 1")
    bags = (
        f"rules from B bags of rows drawn at random (--sample, else {ROWS_OF_BAG} each), checked "
        "against all rows of the files: the learner frri-bags"
    )
    add("--bags B", bags, type="from 1")
    add("--weights COLUMN", "column of row weights")
    settings = "any parameter of the learner"
    add("--set PARAMETER=VALUE", settings, dest="settings", action="append", default=[])
    add("--max-rules N", "maximum number of rules (default: auto)", type="size")
    add("--max-conditions N", "maximum number of conditions of a rule", type="from 1")
    add("--min-support FRACTION", "fraction of its class that a rule must cover", type="fraction")
    add("--seed N", "random seed", type="from 0")
    add("--work-limit N", "work limit of the search for the fewest rules", type="from 0")
    add("--optimality-gap FRACTION", "optimality gap at which that search stops", type="fraction")
    add("--time-limit SECONDS", "time limit of that search", type="number")
    add("--memory-limit SIZE", "memory that learning may take, such as 2GB")
    check = parser.add_mutually_exclusive_group()
    test = "evaluate on a test set of this fraction of the rows, such as 0.3"
    add("--test FRACTION", test, group=check, type="test fraction")
    folds = (
        f"evaluate by cross-validation with N folds (default: {FOLDS} where that takes seconds, "
        f"or with more than {MANY_SAMPLES:,} rows --test {TEST_SIZE})"
    )
    add("--cv N", folds, group=check, type="from 2")
    add("--no-check", "do not evaluate on held-out rows", group=check)
    target = parser.add_mutually_exclusive_group()
    bins = "number of classes to make of a target that is a number"
    add("--bins N", bins, group=target, type="from 2")
    task = (
        "regression: predict the number that the target is; ordinal: classes that have an order; "
        "classification: take every number of it for a class, however many there are"
    )
    add("--task NAME", task, group=target, choices=list(TASKS))
    add("--order LOW<...<HIGH", "classes of --task ordinal in their order")
    costs = parser.add_mutually_exclusive_group()
    rare = "accuracy, or balanced: misclassifying a row costs more the rarer its class is"
    choices = ["accuracy", "balanced"]
    add("--decision NAME", f"{rare} (default: accuracy)", group=costs, choices=choices)
    each = "cost of misclassifying a row of each class (default: 1), such as yes=5,no=1"
    add("--costs CLASS=COST,...", each, group=costs)
    add("--json", "write learner, size, score, and without -o the rules, as JSON")


def run(arguments: Arguments) -> None:
    """Write the model to a file, and to standard error what it was made from and how good it is."""
    if arguments.json and arguments.output == "-":
        raise ValueError(
            "--json and the model would both go to standard output; name a file by -o."
        )
    undecided = arguments.task is None and arguments.bins is None
    arguments.task = arguments.task or "classification"
    order = parse_order(arguments.order, arguments.task)
    learner = _named_learner(arguments)

    sample, seed = arguments.sample, arguments.seed or 0
    if arguments.bags is not None:
        sample = arguments.bags * (sample or ROWS_OF_BAG)
    target = {"numbers": arguments.task == "regression", "bins": arguments.bins}
    drawn = {"sample": sample, "seed": seed}
    X, y, weights = read_to_learn(arguments, weights=arguments.weights, **target, **drawn)
    if undecided:
        check_not_number(y.to_numpy(), arguments.target)
    if arguments.task == "ordinal":
        order = find_order(y, order, arguments.target)
        if learner is not None:
            learner.set_params(class_order=order)
    table = encode_frame(X)
    say(one_line_each(summarize_table(table)))
    _say_leakage(find_leakage(table, y, task=arguments.task, random_state=seed), arguments.task)
    splits = {"cv": 0 if arguments.no_check else arguments.cv, "test_size": arguments.test}
    task = {"task": arguments.task, "class_order": order}
    holdout = Holdout(X, y, sample_weight=weights, random_state=seed, **task, **splits)
    result, leaderboard = None, list[dict[str, Any]]()
    if learner is None:
        learner, result, leaderboard = _choose(arguments, holdout)
    extra: dict[str, Any] = {} if weights is None else {"sample_weight": weights}
    if arguments.bags is not None:
        classes = np.unique(y.to_numpy()).tolist()
        extra["check_batches"] = _all_rows(arguments, table.attributes, classes)
    start = process_time()
    # Rows of weight 0 are dropped, and the ranges of columns with them.
    with notes(), Progress(f"learning rules from {len(X)} rows"):
        learner.fit(table if weights is None else X, y, **extra)
    seconds, reason = process_time() - start, ""
    if result is None:
        result, reason = _check(arguments, learner, holdout, seconds)
    ruleset = _with_evaluation(_with_intervals(learner.ruleset_, result), result, leaderboard)
    _write_rules(arguments, learner, ruleset)
    if arguments.json:
        sys.stdout.write(json_text(_facts(arguments, ruleset, result)))
    _say_score(arguments, result, reason)


# ------------------------------------------------------------------ the table


def _say_leakage(scores: Mapping[str, float], task: str) -> None:
    """Print notes about columns that alone predict the target nearly perfectly, the first few."""
    measure = "R2" if task == "regression" else "accuracy"
    for name, score in islice(scores.items(), MOST_LEAKS):
        reached = f"{name!r} alone reaches {measure} {score:.2f}"
        remedy = f"is it known before the decision? --ignore {quote_name(name)} leaves it out"
        say(one_line(f"note: check for leakage: {reached}; {remedy}."))


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


def parse_order(text: str | None, task: str) -> list[str] | None:
    """Return the classes that --order lists, separated by < or by commas.

    Examples
    --------
    >>> parse_order("poor<fair<good", "ordinal")
    ['poor', 'fair', 'good']
    """
    if text is None:
        return None
    if task != "ordinal":
        raise ValueError("--order is for classes that have an order; add --task ordinal.")
    labels = [part.strip() for part in text.split("<" if "<" in text else ",")]
    if "" in labels or len(set(labels)) < len(labels):
        raise ValueError(f"--order needs LOW<...<HIGH, every class once, got {text!r}.")
    return labels


def _parse_decision(name: str | None, costs: str | None, task: str) -> Any:
    """Return the parameter `decision` of --decision or --costs, None without these."""
    if task != "classification" and (name or costs):
        option = "--decision" if name else "--costs"
        raise ValueError(f"{option} is for classes without an order; leave out --task {task}.")
    if not costs:
        return name
    try:
        pairs = [part.rsplit("=", 1) for part in costs.split(",")]
        return {label.strip(): float(number) for label, number in pairs}
    except ValueError:
        example = "such as yes=5,no=1"
        raise ValueError(f"--costs needs CLASS=COST,..., {example}, got {costs!r}.") from None


def find_order(y: Any, given: Sequence[str] | None, target: str) -> list[Any]:
    """Return all classes of a column, the lowest first.

    Examples
    --------
    >>> import pandas as pd
    >>> find_order(pd.Series([3, 1, 2, 1]), None, "stars")
    [1, 2, 3]
    """
    labels = sorted(set(y.dropna().tolist()), key=lambda label: (str(type(label)), label))
    order = given or ordered_categories(y)
    if order is None and not any(isinstance(label, str) for label in labels):
        return labels
    texts = {str(label): label for label in labels}
    if order is None:
        raise ValueError(
            f"The classes of {target!r} are texts: say their order, such as --order "
            f"{'<'.join(texts)!r}, from the lowest."
        )
    lacking = [text for text in texts if text not in order]
    if lacking:
        raise ValueError(
            f"--order lacks {join_names(map(repr, lacking))} of the column {target!r}; "
            "add it in its place."
        )
    return [texts[text] for text in order if text in texts]


# ------------------------------------------------------------------ the estimator


def _named_learner(arguments: Arguments) -> Any:
    """Return the estimator that the options name, None if they name none."""
    name, settings = arguments.learner, arguments.settings
    arguments.decision = _parse_decision(arguments.decision, arguments.costs, arguments.task)
    names = (*SEARCH, *LIMITS, "seed", "decision")
    options = {option: getattr(arguments, option) for option in names}
    if arguments.bags is not None:
        _check_bags(arguments)
        rows = arguments.sample or ROWS_OF_BAG
        name = "frri-bags"
        settings = [f"n_estimators={arguments.bags}", f"max_samples={rows}", *settings]
    elif name is None and (settings or any(options[option] is not None for option in SEARCH)):
        # These parameters belong to it.
        name = "additive" if arguments.task == "regression" else "frri"
    arguments.learner = name
    if name is None:
        return None
    learner = make_learner(name, settings, task=arguments.task, **options)
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


def _choose(
    arguments: Arguments, holdout: Holdout
) -> tuple[Any, HoldoutResult | None, list[dict[str, Any]]]:
    """Return the estimator that suits the table, its result on held-out rows, and all scores."""
    limits = {name: getattr(arguments, name) for name in LIMITS}
    seed = arguments.seed or 0
    choice = choose_estimator(holdout, limits=limits, random_state=seed, verbose=True)
    arguments.learner = choice.name
    if choice.reason:
        say(one_line(choice.reason))
    if arguments.decision is not None:
        # The score by which it was chosen is that of other decisions.
        return choice.estimator.set_params(decision=arguments.decision), None, []
    return choice.estimator, choice.result, choice.leaderboard


def make_learner(
    name: str, settings: Sequence[str] = (), *, task: str = "classification", **options: Any
) -> Any:
    """Return an estimator with its parameters.

    Parameters
    ----------
    name : str
        A name of `rule_learners(task)`.
    settings : sequence of str
        PARAMETER=VALUE; values are numbers, true, false, none, lists, and otherwise strings.
    task : str
        A name of `frri.learners.registry.TASKS`.
    **options
        Values of options with a parameter of the same name, or of `seed`; None if not given.

    Examples
    --------
    >>> make_learner("frri", ["attribute_order=random"], seed=1)
    FRRIClassifier(attribute_order='random', random_state=1)
    """
    whose = "frri" if task == "classification" else f"frri fit --task {task}"
    find_name(name, rule_learners(task), whose, "learner")
    learner = TASKS[task][name].make()
    known = learner.get_params()
    given = dict(_parse_setting(text) for text in settings)
    for parameter in given:
        find_name(parameter, known, f"The learner {name}", "parameter")
    for option, value in options.items():
        if value is None:
            continue
        parameter = "random_state" if option == "seed" else option
        spelled = f"--{option.replace('_', '-')}"
        if parameter not in known:
            remedy = _others_with(parameter, task) if parameter in LIMITS else ""
            raise ValueError(f"The learner {name} takes no {spelled}{remedy}.")
        if parameter in given:
            raise ValueError(f"{parameter} is given both by {spelled} and by --set.")
        given[parameter] = value
    return learner.set_params(**given)


def _others_with(parameter: str, task: str) -> str:
    """Return the estimators that have a parameter, as the end of a sentence."""
    names = rule_learners(task)
    *others, last = [n for n in names if parameter in TASKS[task][n].make().get_params()] or [""]
    return f"; {', '.join(others)} and {last} do" if others else f"; {last} does" if last else ""


def _parse_setting(text: str) -> tuple[str, Any]:
    words = {"true": True, "false": False, "none": None}
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ValueError(f"--set needs PARAMETER=VALUE, got {text!r}.")
    if value.lower() in words:
        return name, words[value.lower()]
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return name, value


# ------------------------------------------------------------------ results


def _with_evaluation(
    ruleset: RuleSet, result: HoldoutResult | None, leaderboard: list[dict[str, Any]]
) -> RuleSet:
    """Return a rule set that states its score on held-out rows, and those of other estimators."""
    if result is None:
        return ruleset
    evaluation = result.plain() | ({"leaderboard": leaderboard} if leaderboard else {})
    return replace(ruleset, about={**ruleset.about, "evaluation": evaluation})


def _with_intervals(ruleset: RuleSet, result: HoldoutResult | None) -> RuleSet:
    """Return a regression model with intervals by its errors on held-out rows, if it has none."""
    if result is None or ruleset.task != "regression" or "intervals" in ruleset.about:
        return ruleset
    intervals = half_widths(result.truth - result.predictions)
    return replace(ruleset, about={**ruleset.about, "intervals": intervals})


def _write_rules(arguments: Arguments, learner: Any, ruleset: RuleSet) -> None:
    """Write the rules to the output, and what is known about them to standard error."""
    output = arguments.output
    if output is None and not arguments.json:
        sys.stdout.write(numbered_rules(ruleset))
    elif output is not None:
        write_output(output, ruleset.to_json() + "\n")
    rules, tests = len(ruleset), sum(len(rule.conditions) for rule in ruleset)
    size = f"{rules} rule{'s' * (rules != 1)} with {tests} condition{'s' * (tests != 1)}"
    # Only estimators that prove something about their rules have a status.
    selection = getattr(learner, "selection_", {})
    proof = f", proved to be {selection['claim']}" if selection.get("status") == "optimal" else ""
    place = f"; saved in {output}" if output not in {None, "-"} else ""
    say(f"{size}{proof}{place}")
    if arguments.bags is not None:
        n_rows = learner.selection_.n_further
        say(f"All {n_rows} rows were looked at: no rule covers one of another class")
    if "monotone" in ruleset.about:
        say(one_line(ruleset.about["monotone"]))
    if getattr(learner, "path_", None) is not None:
        say(str(learner.path_))


def _facts(arguments: Arguments, ruleset: RuleSet, result: HoldoutResult | None) -> dict[str, Any]:
    """Return the result of the command for JSON; the rules unless they are saved as a model."""
    facts: dict[str, Any] = {
        "model": arguments.output,
        "target": ruleset.target,
        "task": ruleset.task,
        "learner": arguments.learner,
        "rows": ruleset.about["rows"],
        "n_rules": len(ruleset),
        "n_conditions": sum(len(rule.conditions) for rule in ruleset),
    }
    if result is not None:
        baseline = dict(zip(("answer", "score"), result.baseline, strict=True))
        facts |= {"measure": result.measure, "score": result.score, "baseline": baseline}
    return facts if arguments.output else facts | rules_as_json(ruleset)


def _check(
    arguments: Arguments, learner: Any, holdout: Holdout, seconds: float
) -> tuple[HoldoutResult | None, str]:
    """Evaluate a fitted estimator on held-out rows; return the result, or why there is none.

    Fitting all rows took some seconds: if that is long, there is no check unless it is asked for.
    Ctrl-C ends the check, for the model is complete.
    """
    if getattr(learner, "selection_", {}).get("stopped_by") == "interrupt":
        return None, ""
    patience = PATIENCE if arguments.cv is None and arguments.test is None else float("inf")
    result, reason = None, holdout.reason
    if reason.endswith("too few"):
        reason += f" (--cv {FOLDS} insists)"
    if holdout.splits:
        reason = "it would take a while (--cv 5 or --test 0.3 insists)"
    if holdout.splits and seconds <= patience:
        try:
            with Progress("checking on rows not learned from", 5.0):
                result = holdout.evaluate(learner, time_limit=patience)
        except (ValueError, MemoryError) as error:
            reason = sentence(error)
        except KeyboardInterrupt:
            return None, "The check was interrupted; the model is complete."
    skipped = f"Not checked on rows that it was not learned from: {reason.rstrip('.')}."
    return result, skipped if reason else ""


def _say_score(arguments: Arguments, result: HoldoutResult | None, reason: str) -> None:
    """Print the score on held-out rows, or why there is none, and the next command."""
    if result is not None:
        reason = f"On rows that it was not learned from: {result}"
    if reason:
        say(one_line(reason))
    if arguments.output is None:
        say("Next: the same with -o model.json saves the rules as a model")
    elif arguments.output != "-":
        say(f"Next: frri rules {arguments.output}")

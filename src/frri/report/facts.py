"""Everything the page shows, as plain JSON values: what a model is and what it does on a table."""

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri import __version__
from frri._util import Flags, Floats, Positions
from frri.report.encode import pack_codes, pack_flags, pack_numbers
from frri.report.histograms import N_LEVELS, coloured_classes, histogram, levels_of, number_scale
from frri.report.pca import principal_plane
from frri.rules import RuleSet, RuleStatistics
from frri.rules.contributions import find_largest_contributor, permutation_importance
from frri.rules.drift import is_training_table
from frri.rules.hierarchy import SUPPORTED as MERGEABLE
from frri.rules.hierarchy import Hierarchy, RuleNode
from frri.rules.inference import Decision
from frri.rules.measures import accuracy, balanced_accuracy, confusion, measure_regression, wilson
from frri.rules.provenance import About
from frri.rules.rule import label_array
from frri.rules.rule_statistics import class_positions, measure_by_size
from frri.rules.ruleset import STATISTICS
from frri.rules.semantics import Support
from frri.rules.text import rule_sentence
from frri.table import EncodedTable, to_matrix
from frri.table.columns import Records, column_names, plain_table
from frri.table.targets import check_quantities

SUPPORTED = Support("The report", "print the rules instead")

# Rows embedded in a page, at most, and the characters that they and all else known may take together.
MAX_ROWS = 5_000
MAX_CHARACTERS = 1_550_000
# However large the model, as many rows are embedded as it takes to try something.
MIN_ROWS = 50
# Characters that a row takes beside its values and its covers: class, decision, rule, place on the map.
PER_ROW = 20
# Characters of a row's name.
LONGEST_NAME = 60
# Rows and repetitions that are enough to rank attributes, and rows x rules x attributes that may take.
ENOUGH_ROWS = 1_000
REPEATS = 3
EFFORT = 3_000_000


def facts(
    ruleset: RuleSet,
    X: Any = None,
    y: Any = None,
    *,
    max_rows: int = MAX_ROWS,
    names: Any = None,
    seed: int = 0,
    stability: Any = None,
) -> dict[str, Any]:
    """What a model is, what its rules cover and how well they decide.

    Parameters
    ----------
    ruleset : RuleSet
    X : array-like or data frame, optional
        Rows to show the rules on. Statistics are of all of them; when there are more than `max_rows`
        (or wide ones), a random sample of them is embedded.
    y : array-like, optional
        Their classes, or their numbers.
    max_rows : int, default=5000
    names : sequence, optional
        What the rows are called, one name per row; by default they are numbered.
    seed : int, default=0
        Decides the sample and the shuffling behind the importance of attributes.
    stability : Stability, optional
        What `frri.compare.stability` found out about these rules.

    Returns
    -------
    dict
        Plain JSON values: `model` (as `RuleSet.to_dict`), `overview`, `attributes`, `rules` and, with
        data, `data`, `performance`, `curve` and `merged`; these are None where nothing is known, and so are `path`
        (what so many rules are worth) and `stability`. Where numbers are predicted, `numbers` says where they begin and end, and their levels stand for classes.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a", 0, 9),), (0, 1))
    >>> found = facts(rules, [[1], [2], [4]], [0, 1, 1])
    >>> found["rules"][0]["support"], found["rules"][0]["precision"]
    ([1, 1], 0.5)
    >>> found["performance"]["accuracy"], found["data"]["sampled"]
    (0.3333333333333333, False)
    """
    SUPPORTED.require(ruleset.semantics)
    table = _read(ruleset, X, y)
    numbers = None
    coloured = coloured_classes(np.array(ruleset.class_counts))
    if ruleset.task == "regression":
        coloured = list(range(N_LEVELS))
        numbers = number_scale(ruleset, None) if table is None else table.predicted["scale"]
    result: dict[str, Any] = {
        "frri": __version__,
        "model": ruleset.to_dict(),
        "coloured": coloured,
        "numbers": numbers,
        "overview": _overview(ruleset, table),
        "attributes": _attributes(ruleset, table, coloured),
        "rules": [_known(rule.statistics) for rule in ruleset],
        "data": None,
        "performance": None,
        "curve": None,
        "merged": None,
        "path": size_path(ruleset.about),
        "stability": returning(ruleset, stability),
    }
    if table is None:
        return result
    room = MAX_CHARACTERS - len(json.dumps(result)) - len(str(ruleset))
    given = _names(names, len(table))
    if given is not None:
        room -= len(json.dumps(given)) * min(max_rows, len(table)) // len(table)
    sample = _sample(table, max_rows, room, len(ruleset), seed)
    rows = EncodedTable(table.matrix[sample], ruleset.attributes)
    covers = ruleset.covers(rows)
    result["rules"] = _rules(ruleset, table, sample, covers)
    result["data"] = _data(table, sample)
    plane = principal_plane(table.matrix[sample], ruleset.attributes)
    result["data"]["plane"] = (
        None if plane is None else [pack_numbers(column.round(4)) for column in plane.T]
    )
    result["data"]["names"] = None if given is None else [given[i] for i in sample]
    lost = None
    order = np.random.default_rng(seed).permutation(len(sample))
    shuffled = sample[order]
    _add_answers(ruleset, table, sample, result)
    truth = table.truth
    if truth is not None:
        result["curve"] = measure_by_size(
            ruleset, table.matrix[shuffled], truth[shuffled], covers[order]
        )
        mixed = _mixed(ruleset, shuffled)
        lost = _importances(ruleset, table.matrix[mixed], truth[mixed], seed)
        if numbers is None:
            result["merged"] = merged_rules(ruleset, rows, truth[sample])
    for attribute in result["attributes"]:
        attribute["importance"] = None if lost is None else lost[attribute["name"]]
    return result


@dataclass(frozen=True, eq=False)
class _Table:
    """Checked, encoded rows and the positions of their classes, or the levels of their numbers.

    Columns that no rule looks at need not be `there`. Of numbers, `predicted` has the `truth` (or None), the
    `answers` and the `scale` of both.
    """

    matrix: Floats
    there: Collection[str]
    classes: Positions | None
    statistics: tuple[RuleStatistics, ...] | None
    predicted: dict[str, Any] = field(default_factory=dict)

    @property
    def truth(self) -> NDArray[Any] | None:
        """The true numbers, or the positions of the true classes."""
        return self.predicted["truth"] if self.predicted else self.classes

    def __len__(self) -> int:
        return len(self.matrix)


def _read(ruleset: RuleSet, X: Any, y: Any) -> _Table | None:
    if X is None:
        if y is not None:
            raise ValueError("There are labels but no rows: give X as well.")
        return None
    names = column_names(Records.of(plain_table(X)))
    every = [attribute.name for attribute in ruleset.attributes]
    there = frozenset(every if names is None else names)
    matrix = to_matrix(X, ruleset.attributes, there.union(ruleset.used_attributes))
    if not len(matrix):
        raise ValueError("The table has no rows; give one with rows, or none at all.")
    if ruleset.task == "regression":
        return _read_numbers(ruleset, matrix, there, y)
    if y is None:
        return _Table(matrix, there, None, None)
    classes = class_positions(ruleset, y, len(matrix))
    known = None
    if STATISTICS.accepts(ruleset.semantics):
        known = ruleset.statistics(EncodedTable(matrix, ruleset.attributes), y)
    return _Table(matrix, there, classes, known)


def _read_numbers(ruleset: RuleSet, matrix: Floats, there: Collection[str], y: Any) -> _Table:
    answers = ruleset.predict(EncodedTable(matrix, ruleset.attributes))
    if y is None:
        scale = number_scale(ruleset, answers)
        known = {"truth": None, "answers": answers, "scale": scale}
        return _Table(matrix, there, None, None, known)
    truth = check_quantities(np.asarray(y), ruleset.target)
    if truth.shape != answers.shape:
        raise ValueError(f"Expected {len(matrix)} numbers, one per row, got {len(truth)}.")
    scale = number_scale(ruleset, truth)
    levels = levels_of(truth, scale["edges"])
    known = {"truth": truth, "answers": answers, "scale": scale}
    return _Table(matrix, there, levels, None, known)


def _overview(ruleset: RuleSet, table: _Table | None) -> dict[str, Any]:
    about = About(ruleset.about).plain()
    learner, version = about.pop("learner", None), about.pop("frri", None)
    proof = about.pop("selection", None)
    for said_elsewhere in ("rows", "columns", "log", "intervals", "path"):
        about.pop(said_elsewhere, None)
    return {
        "learner": None if learner is None else str(learner),
        "version": None if version is None else str(version),
        "settings": _flat(about),
        "proof": proof if isinstance(proof, dict) else None,
        "n_training": _n_training(ruleset),
        "n_rules": len(ruleset),
        "n_conditions": sum(len(rule.conditions) for rule in ruleset),
        "is_training": _is_training(ruleset, table),
    }


def _n_training(ruleset: RuleSet) -> float | None:
    """How many rows the rules were learned from; a count of 1 for every class stands for unknown."""
    if ruleset.task == "regression":
        rows = ruleset.about.get("rows")
        return rows if isinstance(rows, (int, float)) else None
    if all(count == 1 for count in ruleset.class_counts):
        return None
    return sum(ruleset.class_counts)


def _is_training(ruleset: RuleSet, table: _Table | None) -> bool | None:
    """Whether the rows are those of the training, None where there is no telling."""
    if table is None or table.classes is None or not ruleset.classes or not len(ruleset):
        return None
    if any(rule.statistics is None for rule in ruleset):
        return None
    labels = label_array(ruleset.classes)[table.classes]
    return is_training_table(ruleset, table.matrix, labels, table.statistics)


def _flat(settings: Mapping[str, Any], prefix: str = "") -> list[list[str]]:
    """Nested settings as pairs of texts; what was not set is left out."""
    pairs = []
    for key, value in settings.items():
        if isinstance(value, Mapping):
            # "parameters" is where learners keep what they were called with: not worth saying.
            inner = prefix if key in {"parameters", "settings"} else f"{prefix}{key} "
            pairs.extend(_flat(value, inner))
        elif value is not None:
            pairs.append([f"{prefix}{key}", value if isinstance(value, str) else json.dumps(value)])
    return pairs


def _attributes(
    ruleset: RuleSet, table: _Table | None, coloured: list[int]
) -> list[dict[str, Any]]:
    """In how many rules each attribute is used, and the distribution of its values."""
    used = [name for rule in ruleset for name in rule.attributes]
    described: list[dict[str, Any]] = [
        {
            "name": attribute.name,
            "n_rules": used.count(attribute.name),
            "missing": None,
            "importance": None,
            "histogram": None,
        }
        for attribute in ruleset.attributes
    ]
    if table is None:
        return described
    n_series = len(coloured) + (len(coloured) < len(ruleset.classes))
    series_of = np.full(max(len(ruleset.classes), n_series), n_series - 1)
    series_of[coloured] = np.arange(len(coloured))
    if table.classes is None:
        n_series, series = 1, np.zeros(len(table), dtype=np.intp)
    else:
        series = series_of[table.classes]
    for j, attribute in enumerate(ruleset.attributes):
        if attribute.name not in table.there:
            continue
        column = table.matrix[:, j]
        described[j]["missing"] = int(np.isnan(column).sum())
        described[j]["histogram"] = histogram(attribute, column, series, n_series)
    return described


def _rules(
    ruleset: RuleSet, table: _Table, sample: Positions, covers: Flags
) -> list[dict[str, Any]]:
    """Statistics of each rule on all rows, and what it covers among the embedded ones."""
    once = covers.sum(axis=1) == 1
    described = []
    for r in range(len(ruleset)):
        covered = covers[:, r]
        content = _known(None if table.statistics is None else table.statistics[r])
        content |= {"n_rows": len(table), "covers": pack_flags(covered)}
        if table.statistics is None:
            # Without labels: coverage in the embedded rows, nothing about classes.
            content["covered"] = int(covered.sum())
            content["n_rows"] = len(sample)
            content["alone"] = int((covered & once).sum())
        described.append(content)
    return described


def _known(known: RuleStatistics | None) -> dict[str, Any]:
    if known is None:
        return {"covered": None, "support": None, "precision": None, "lift": None, "alone": None}
    return {
        "covered": known.covered,
        "support": list(known.support),
        "precision": known.precision,
        "lift": known.lift,
        "alone": known.alone,
    }


def _mixed(ruleset: RuleSet, shuffled: Positions) -> Positions:
    """As many of the embedded rows as attributes can be ranked on within seconds."""
    used = {name for rule in ruleset for name in rule.attributes}
    affordable = EFFORT // max(len(ruleset) * len(used), 1)
    return shuffled[: min(ENOUGH_ROWS, max(affordable, 100))]


def _importances(
    ruleset: RuleSet, matrix: Floats, truth: NDArray[Any], seed: int
) -> dict[str, float]:
    """What the accuracy, or R squared, loses without each attribute."""
    labels = label_array(ruleset.classes)[truth] if ruleset.classes else truth
    table = EncodedTable(matrix, ruleset.attributes)
    found = permutation_importance(ruleset, table, labels, repeats=REPEATS, seed=seed)
    return {one.attribute: one.drop for one in found}


def _sample(table: _Table, max_rows: int, room: int, n_rules: int, seed: int) -> Positions:
    """The rows to embed, ascending: as many as allowed and as fit."""
    if max_rows < 1:
        raise ValueError(f"max_rows must be 1 or more, got {max_rows}.")
    random = np.random.default_rng(seed)
    n_rows = min(len(table), max_rows)
    chosen = np.sort(random.choice(len(table), n_rows, replace=False))
    packed = [pack_numbers(column) for column in table.matrix[chosen].T]
    # A rule's cover takes a bit per row at most, in characters of six bits.
    needed = n_rows * (n_rules / 6 + PER_ROW) + len(json.dumps(packed))
    if needed > room:
        n_rows = min(n_rows, max(MIN_ROWS, int(n_rows * max(room, 0) / needed)))
        chosen = np.sort(random.choice(chosen, n_rows, replace=False))
    return chosen


def _names(names: Any, n_rows: int) -> list[str] | None:
    """The names of all rows, cut where they are too long to be shown."""
    if names is None:
        return None
    given = [str(name)[:LONGEST_NAME] for name in names]
    if len(given) != n_rows:
        raise ValueError(f"Expected {n_rows} names, one per row, got {len(given)}.")
    return given


def _data(table: _Table, sample: Positions) -> dict[str, Any]:
    sampled = len(sample) < len(table)
    return {
        "n_rows": len(table),
        "n_embedded": len(sample),
        "sampled": sampled,
        "rows": pack_codes(sample) if sampled else None,
        "columns": [pack_numbers(column) for column in table.matrix[sample].T],
        "classes": None if table.classes is None else pack_codes(table.classes[sample]),
    }


def _add_answers(
    ruleset: RuleSet, table: _Table, sample: Positions, result: dict[str, Any]
) -> None:
    """What is decided or predicted about the rows, by which rules, and how well."""
    decision = ruleset.decide(EncodedTable(table.matrix, ruleset.attributes))
    deciding = deciding_rules(decision)
    # Rules from 1, so that 0 is left for "none".
    result["data"]["deciding"] = pack_codes(deciding[sample] + 1)
    right = None
    if table.predicted:
        _add_predicted(table, sample, result)
    else:
        _add_decided(ruleset, table, decision, sample, result)
        right = None if table.classes is None else decision.index == table.classes
    decides = decided_rows(len(ruleset), deciding, right)
    for known, rows in zip(result["rules"], decides, strict=True):
        known["decides"] = rows


def _add_decided(
    ruleset: RuleSet, table: _Table, decision: Decision, sample: Positions, result: dict[str, Any]
) -> None:
    classes, decided = table.classes, decision.index
    result["data"] |= {"class_counts": None, "decided": pack_codes(decided[sample])}
    if classes is not None:
        counts = np.bincount(classes, minlength=len(ruleset.classes))
        result["data"]["class_counts"] = counts.tolist()
        result["performance"] = {
            "accuracy": accuracy(classes, decided),
            "balanced_accuracy": balanced_accuracy(classes, decided),
            "confusion": confusion(classes, decided),
        } | beside(ruleset, classes, decided, int(decision.silent.sum()))


def _add_predicted(table: _Table, sample: Positions, result: dict[str, Any]) -> None:
    truth, answers = table.truth, table.predicted["answers"]
    result["data"] |= {
        "truth": None if truth is None else pack_numbers(truth[sample]),
        "answers": pack_numbers(answers[sample]),
        "decided": pack_codes(levels_of(answers[sample], table.predicted["scale"]["edges"])),
    }
    if truth is not None:
        result["performance"] = asdict(measure_regression(truth, answers))


# Merging compares all pairs of rules again and again, and more than this nobody opens one by one.
MOST_RULES = 60


def merged_rules(
    ruleset: RuleSet, table: EncodedTable, classes: Positions
) -> list[dict[str, Any]] | None:
    """The roots of `RuleSet.hierarchy`, each with what is below it; None where nothing can be merged.

    Parameters
    ----------
    ruleset : RuleSet
    table : EncodedTable
        Rows.
    classes : ndarray of int
        The positions of their classes.

    Returns
    -------
    list of dict or None
        Each with its sentence (`text`), the position of its class (`class`), how many rows it covers
        (`covered`) and which share of them rightly (`precision`), the positions of the `rules` that it
        stands for, and its `children`.

    Examples
    --------
    >>> import numpy as np
    >>> from frri import Attribute, NumericCondition, Rule
    >>> conditions = NumericCondition.below("a", 3), NumericCondition.below("a", 4)
    >>> rules = RuleSet(tuple(Rule((c,), 0) for c in conditions), (Attribute("a", 0, 9),), (0, 1))
    >>> table = EncodedTable(np.arange(9.0).reshape(-1, 1), rules.attributes)
    >>> (root,) = merged_rules(rules, table, (np.arange(9) > 3).astype(int))
    >>> root["text"], root["covered"], root["precision"], root["rules"]
    ('IF a < 4 THEN class = 0', 4, 1.0, [0, 1])
    """
    if len(ruleset) > MOST_RULES or not MERGEABLE.accepts(ruleset.semantics):
        return None
    tree = ruleset.hierarchy(table, label_array(ruleset.classes)[classes])
    if not any(root.children for root in tree.roots):
        return None
    return [_node(tree, root) for root in tree.roots]


def _node(tree: Hierarchy, node: RuleNode) -> dict[str, Any]:
    """What is shown, and no more of `Hierarchy.to_dict`: a page is mailed."""
    return {
        "text": rule_sentence(tree.ruleset, node.rule),
        "class": tree.ruleset.classes.index(node.rule.consequent),
        "covered": round(node.covered),
        "precision": node.precision,
        "rules": list(node.rules),
        "children": [_node(tree, child) for child in node.children],
    }


def size_path(about: Mapping[str, Any]) -> dict[str, Any] | None:
    """The sizes that were tried in cross-validation, if a model says so; a file may say anything.

    Examples
    --------
    >>> path = {"sizes": [2, 5], "scores": [0.7, 0.8], "errors": [0.02, 0.01], "chosen": 5, "measure": "R2"}
    >>> size_path({"path": path}) == path
    True
    >>> size_path({"path": {"sizes": [2]}}) is size_path({}) is None
    True
    """
    path = about.get("path")
    if not isinstance(path, Mapping):
        return None
    lists = [path.get(key) for key in ("sizes", "scores", "errors")]
    if not all(isinstance(one, list | tuple) and one for one in lists):
        return None
    numbers = [[one for one in each if _is_number(one)] for each in lists if each is not None]
    sizes, scores, errors = numbers
    if not len(sizes) == len(scores) == len(errors) == len(path["sizes"]):
        return None
    if path.get("chosen") not in sizes:
        return None
    return {
        "sizes": sizes,
        "scores": scores,
        "errors": errors,
        "chosen": path["chosen"],
        "measure": str(path.get("measure", "score")),
    }


def returning(ruleset: RuleSet, stability: Any) -> dict[str, Any] | None:
    """For each rule the share of the resamples in which it came back.

    Parameters
    ----------
    ruleset : RuleSet
    stability : Stability or None
        Of these very rules.

    Examples
    --------
    >>> returning(RuleSet((), (), (0, 1)), None)
    """
    if stability is None:
        return None
    if len(stability.returns) != len(ruleset) or stability.ruleset != ruleset:
        raise ValueError(
            f"stability is of other rules than the {len(ruleset)} of this page; "
            "find it out with ruleset= these rules."
        )
    return {
        "returns": list(stability.returns),
        "similarity": stability.similarity,
        "n_resamples": stability.n_resamples,
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and isfinite(value)


def deciding_rules(decision: Decision) -> Positions:
    """The rule that decides about each row or carries its answer, -1 where none does.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a", 0, 9),), (0, 1))
    >>> deciding_rules(rules.decide([[1.0], [4.0]]))
    array([ 0, -1])
    """
    carrying = find_largest_contributor(decision.ruleset, decision.matrix)
    return np.where(decision.silent, -1, decision.deciding) if carrying is None else carrying


def decided_rows(n_rules: int, deciding: Positions, right: Flags | None) -> list[dict[str, Any]]:
    """For each rule how many rows it decides, and how many of them rightly, with an interval.

    Examples
    --------
    >>> decided_rows(2, np.array([1, 1, -1]), np.array([True, False, True]))[0]
    {'rows': 0, 'right': 0, 'interval': None}
    """
    found: list[dict[str, Any]] = []
    for r in range(n_rules):
        own = deciding == r
        rows = int(own.sum())
        if right is None:
            found.append({"rows": rows, "right": None, "interval": None})
            continue
        hits = int(right[own].sum())
        found.append(
            {"rows": rows, "right": hits, "interval": list(wilson(hits, rows)) if rows else None}
        )
    return found


def beside(
    ruleset: RuleSet, classes: Positions, decided: Positions, uncovered: int
) -> dict[str, Any]:
    """How sure the accuracy is, what always answering the commonest class would reach, rows without a rule.

    Examples
    --------
    >>> rules = RuleSet((), (), ("no", "yes"), class_counts=(1, 2))
    >>> found = beside(rules, np.array([1, 1, 0]), np.array([1, 1, 1]), 3)
    >>> found["always"], [round(end, 2) for end in found["interval"]]
    ([1, 0.666...], [0.21, 0.94])
    """
    commonest = int(np.argmax(ruleset.class_counts))
    if len(set(ruleset.class_counts)) == 1:
        # Nothing is known about training, or the classes are level: the rows tell.
        commonest = int(np.bincount(classes, minlength=len(ruleset.classes)).argmax())
    hits = int((classes == decided).sum())
    return {
        "interval": list(wilson(hits, len(classes))),
        "always": [commonest, float((classes == commonest).mean())],
        "uncovered": uncovered,
    }

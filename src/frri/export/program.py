"""The scoring program: a rule set of any semantics as a list of named scalar assignments.

`frri.export.lowering` turns a `RuleSet` into a `Program` once; printers turn the program into
Python, JavaScript, SQL, ONNX, spreadsheets and so on, and know nothing about semantics. The order
of operations of a program is that of `frri.rules.inference`, so that every printer predicts what
the library predicts. The tests run programs in plain Python as the reference for printers.

A program is a list of *steps*, in an order in which every name is assigned before it is used:

- `Assignment(name, value)`: a name for the value of an expression.
- `Branch(test, holds, fails, results)`: two guarded lists of steps, of which one is needed. Names
  assigned inside are used inside only; `results` are names with their value in either case. An
  engine without control flow computes both sides and selects (`CASE`, `Where`, `IF`): the other
  side may then contain a division by zero, whose result is not selected.

An expression is a `Expr(op, args, value)`, a tree whose leaves are constants, columns and names:

=================== ============================================================================
op                  value of the node
=================== ============================================================================
const               `value`, a float; may be infinite
truth               `value`, a bool
place               `value`, an int: a position, or the number of a rule
label               `value`, a class label (str, int, float, bool)
text                `value`, a category of a nominal column
column              column `value` of the rule set, as read (see below)
name                what was assigned to the name `value`
missing             whether the value of a column is missing
among               whether a category is one of the tuple `value`; False if it is missing
add, sub, mul, div  arithmetic; add and mul of many from left to right, add of places too
min, max            smallest and largest of one or more numbers
compare             `a value b`, where `value` is < <= > >= == or !=; False if one is missing
all, any            whether all tests hold, whether one does
if                  `args[1]` where the test `args[0]` holds, otherwise `args[2]`
exp                 exponential of a number that is at most 700
first               position from 0 of the first test that holds; their number if none does
index               position of the first of `args[1:]` that equals `args[0]`, which one does
pick                `args[1 + i]` where `args[0]` is the position i, which is one of these
=================== ============================================================================

`Expr.kind` is the kind of a value: number, truth, place, label or text; `Program.comments` has what
names mean, for people.

Reading stays with the printer: a column is a number (dates in days since 1970, ordered categories
by position, words of booleans as 1 and 0 where `Attribute.is_flag`), or of nominal columns a
category by the texts of `frri.table.encode.category_texts`; a text that is no category is a value
of its own, but missing where categories are ordered. Imputation and clipping are steps.

Names of steps: `x1` column 1 as read, `y1` imputed and clipped; `c1` conditions, without repetition
(truths, or numbers where they have a slope); `d1` degree and `v1` strength of rule 1; `n1` its vote
where no rule fires; `u1` and `j1` are parts of these; `s1` score of class 1; `p1` probability of
class 1. The outputs are nodes:

- `prediction`: label or number, `score`: the score of the predicted class (0 where no rule fires
  and a fallback chooses the class), `rule`: number of the deciding rule from 1, 0 where there is
  none,
- `scores`, `degrees`: one per class (in regression the number) and one per rule,
- `probabilities`: one per class, empty in regression; only these need the steps `probability_steps`
  after `steps`.

Decisions never depend on `exp`, which engines round differently.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from frri.rules.condition import Condition
from frri.rules.ruleset import RuleSet
from frri.rules.text import condition_text, rule_text
from frri.table import Attribute


class Expr(NamedTuple):
    """An expression: see the table of this module; `leaf_kind` is that of a name or a column."""

    op: str
    args: tuple["Expr", ...] = ()
    value: Any = None
    leaf_kind: str = "number"

    @property
    def kind(self) -> str:
        """The kind of the value: number, truth, place, label or text."""
        op, args, _, leaf_kind = self
        return args[-1].kind if op in {"if", "pick", "add"} else _KINDS.get(op, leaf_kind)

    @property
    def names(self) -> list[str]:
        """The names in the expression, with repetition."""
        found, queue = list[str](), [self]
        while queue:
            node = queue.pop()
            queue += node.args
            found += [node.value] if node.op == "name" else []
        return found


class Assignment(NamedTuple):
    """A name for the value of an expression."""

    name: str
    value: Expr


class Branch(NamedTuple):
    """Two guarded lists of steps; `results` are names with their value in either case."""

    test: Expr
    holds: "tuple[Step, ...]"
    fails: "tuple[Step, ...]"
    results: tuple[tuple[str, Expr, Expr], ...]


Step = Assignment | Branch


@dataclass(frozen=True)
class Program:
    """A rule set as named scalar assignments: see the documentation of this module.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "no", 0.9)
    >>> ruleset = RuleSet((rule,), (Attribute("age"),), ("no", "yes"), fallback="priors")
    >>> from frri.export.lowering import lower
    >>> program = lower(ruleset)
    >>> for step in program.steps[:3]:
    ...     print(step.name, "=", step.value.op, "#", program.comments[step.name])
    x1 = column # age
    c1 = compare # age < 30
    d1 = if # IF age < 30 THEN class = no   [weight 0.90]
    """

    ruleset: RuleSet
    steps: tuple[Step, ...]
    probability_steps: tuple[Step, ...]
    prediction: Expr
    score: Expr
    rule: Expr
    scores: tuple[Expr, ...]
    degrees: tuple[Expr, ...]
    probabilities: tuple[Expr, ...]
    conditions: Mapping[Condition, Expr]

    @property
    def columns(self) -> list[tuple[str, int, Attribute]]:
        """Name of the step, position and attribute of every column that rules use."""
        used = self.ruleset.used_attributes
        columns = enumerate(self.ruleset.attributes)
        return [(f"x{j + 1}", j, a) for j, a in columns if a.name in used]

    @property
    def comments(self) -> dict[str, str]:
        """Columns, conditions, rules and classes by the names of their steps."""
        ruleset, attributes = self.ruleset, {a.name: a for a in self.ruleset.attributes}
        found = {x: attribute.name for x, _, attribute in self.columns}
        found |= {f"y{x[1:]}": f"{name}, imputed and clipped" for x, name in found.items()}
        for condition, node in self.conditions.items():
            attribute = attributes[condition.attribute]
            found[node.value] = condition_text(condition, attribute, ruleset.clip)
        found |= {f"d{r}": rule_text(ruleset, rule) for r, rule in enumerate(ruleset, start=1)}
        return found | {f"p{c}": str(label) for c, label in enumerate(ruleset.classes, start=1)}


def flatten(steps: Sequence[Step]) -> Iterator[Assignment]:
    """Yield assignments only: both sides of a branch, and then the choice of each result."""
    for step in steps:
        if isinstance(step, Assignment):
            yield step
            continue
        yield from flatten((*step.holds, *step.fails))
        for name, holds, fails in step.results:
            yield Assignment(name, Expr("if", (step.test, holds, fails)))


_KINDS = {
    **dict.fromkeys(("truth", "missing", "among", "compare", "all", "any"), "truth"),
    **dict.fromkeys(("place", "first", "index"), "place"),
    "label": "label",
    "text": "text",
}


def const(value: float) -> Expr:
    """Return a constant number."""
    return Expr("const", (), float(value))


def place(value: int) -> Expr:
    """Return a constant position, or the number of a rule."""
    return Expr("place", (), int(value))


ZERO, ONE, NO_RULE = const(0.0), const(1.0), place(0)

# ---------------------------------------------------------------- expressions as source code
# Binding strength of operators, the same in all languages; everything else is closed.
_LEVELS = {"if": 0, "any": 1, "all": 2, "compare": 3, "among": 3}
_LEVELS |= {"add": 4, "sub": 4, "mul": 5, "div": 5}
_CLOSED = 9
SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "all": "and", "any": "or"}


class ExpressionPrinter:
    """Expressions of a program as source code; a subclass per language.

    Attributes
    ----------
    signs : mapping
        Operators between arguments, and comparisons that are written in another way.
    functions : mapping
        Templates of calls of functions.
    missing : mapping
        Templates of tests whether a number or a text is missing.
    choice, sequence, find, pick, contains : str
        Templates of `if` (test, value, other value), of several values, of the position of a value
        (value, values), of the value at a position (position, values), and of the test whether a
        value is one of several (value, values).
    """

    signs: ClassVar[Mapping[str, str]] = SIGNS
    functions: ClassVar[Mapping[str, str]] = {"min": "min({})", "max": "max({})", "exp": "exp({})"}
    missing: ClassVar[Mapping[str, str]]
    choice: ClassVar[str]
    sequence: ClassVar[str] = "[{}]"
    contains: ClassVar[str]
    find: ClassVar[str]
    pick: ClassVar[str] = "{1}[{0}]"

    def __init__(self, program: Program) -> None:
        self.program = program

    def literal(self, value: Any) -> str:
        """Return a number, string or boolean as source code."""
        raise NotImplementedError

    def column(self, position: int) -> str:
        """Return the reading of a column."""
        raise NotImplementedError

    def name(self, name: str) -> str:
        """Return the name of a step."""
        return name

    def compare(self, node: Expr) -> str:
        """Return a comparison."""
        sign = self.signs.get(node.value, node.value)
        return f" {sign} ".join(self.expression(arg, _LEVELS["compare"] + 1) for arg in node.args)

    def among(self, value: str, categories: Sequence[str]) -> str:
        """Return whether a category is one of several."""
        texts = [self.literal(category) for category in categories]
        if len(texts) == 1:
            return f"{value} {self.signs.get('==', '==')} {texts[0]}"
        return self.contains.format(value, self.several(texts))

    def first(self, tests: Sequence[str]) -> str:
        """Return the position of the first test that holds."""
        true = self.literal(True)
        return self.find.format(true, self.several([*tests, true]))

    def index(self, value: str, values: Sequence[str]) -> str:
        """Return the position of a value."""
        return self.find.format(value, self.several(values))

    def several(self, values: Sequence[str]) -> str:
        """Return several values as one."""
        is_tuple = self.sequence[0] == "("
        return self.sequence.format(", ".join(values) + "," * (is_tuple and len(values) == 1))

    def expression(self, node: Expr, level: int = 0) -> str:
        """Return an expression, in parentheses if it binds more weakly than the level."""
        op, args, value, _ = node
        own = _LEVELS.get(op, _CLOSED)
        if not args:
            shown = self._leaf(op, value)
        elif op == "if":
            shown = self.choice.format(*(self.expression(a, k < 2) for k, a in enumerate(args)))
        elif op == "compare":
            shown = self.compare(node)
        elif op in self.signs:
            # From left to right: an equally strong argument needs parentheses unless it is first.
            parts = [self.expression(arg, own + (k > 0)) for k, arg in enumerate(args)]
            shown = f" {self.signs[op]} ".join(parts)
        else:
            shown = self._call(node)
        return f"({shown})" if own < level else shown

    def _leaf(self, op: str, value: Any) -> str:
        if op == "name":
            return self.name(value)
        return self.column(value) if op == "column" else self.literal(value)

    def _call(self, node: Expr) -> str:
        op, args, value, _ = node
        first, *others = texts = [self.expression(arg) for arg in args]
        special: Mapping[str, Callable[[], str]] = {
            "missing": lambda: self.missing[args[0].kind].format(first),
            "among": lambda: self.among(first, value),
            "pick": lambda: self.pick.format(first, self.several(others)),
            "index": lambda: self.index(first, others),
            "first": lambda: self.first(texts),
        }
        return special[op]() if op in special else self.functions[op].format(", ".join(texts))

"""Rule sets as ONNX models: label, probabilities, deciding rule and the degrees of all rules.

The scoring program becomes a flat graph of scalar nodes without repetition. Nodes of the same
operation and depth are computed together, as the columns of one matrix (samples x nodes), so that
the number of operators hardly depends on the number of rules. All operators are standard (opset
18, and LabelEncoder of ai.onnx.ml 2), and numbers are double.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import accumulate
from math import nan
from typing import Any, NamedTuple

import numpy as np

from frri._util import import_optional
from frri.export.lowering import lower
from frri.export.program import Expr, flatten
from frri.rules.ruleset import RuleSet
from frri.rules.text import rule_text
from frri.table import Attribute
from frri.table.encode import category_texts, folding

OPSET, ML_OPSET, IR_VERSION = 18, 2, 8
# Sums, minima and maxima of more terms are reduced along an axis.
FEW = 4
# Codes of strings: missing, no category, and from there on the categories of all columns.
MISSING, UNSEEN, KNOWN = 0, 1, 2
CONSTANTS = ("const", "truth", "place", "text")
TESTS = {"<": "Less", "<=": "LessOrEqual", ">": "Greater", ">=": "GreaterOrEqual", "==": "Equal"}
TESTS |= {"missing": "IsNaN", "not": "Not"}
PLAIN = {"sub": "Sub", "div": "Div", "exp": "Exp", "if": "Where", **TESTS}
CHAINS = {"add": "Add", "mul": "Mul", "all": "And", "any": "Or", "min": "Min", "max": "Max"}
REDUCTIONS = {"add": "CumSum", "min": "ReduceMin", "max": "ReduceMax"}


def to_onnx(ruleset: RuleSet) -> bytes:
    """Return an ONNX model with the predictions of a rule set.

    Each column that rules use is an input of shape (n, 1) with the name of the column: numbers as
    double (NaN is missing), dates as days since 1970, categories as strings (the empty string is
    missing). Outputs are `label`, in regression `prediction`, `probabilities` (n x classes),
    `rule` (number of the deciding rule from 1, 0 without one) and `degrees` (n x rules). The
    metadata contains the target, the classes and the rules as text.

    Examples
    --------
    >>> import onnxruntime
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "no", 0.9)
    >>> ruleset = RuleSet((rule,), (Attribute("age"),), ("no", "yes"), fallback="priors")
    >>> session = onnxruntime.InferenceSession(to_onnx(ruleset))
    >>> [found.tolist() for found in session.run(["label", "rule"], {"age": [[25.0], [40.0]]})]
    [['no', 'no'], [1, 0]]
    """
    model: bytes = _Graph(ruleset).model().SerializeToString()
    return model


class _Scalar(NamedTuple):
    """A node of the flat graph: an operation on earlier nodes, given by their positions."""

    op: str
    args: tuple[int, ...]
    value: Any
    kind: str
    level: int


class _Graph:
    """A model in the making."""

    def __init__(self, ruleset: RuleSet) -> None:
        # Matrices have any width: no blocks.
        self.ruleset, self.program = ruleset, lower(ruleset, len(ruleset) + 1)
        self.onnx: Any = import_optional("onnx", "An ONNX model", "onnx")
        nominal = [a.categories or () for a in ruleset.attributes if a.kind == "nominal"]
        texts = dict.fromkeys(text for categories in nominal for text in categories)
        self.codes = {text: code for code, text in enumerate(texts, start=KNOWN)}
        self.scalars: list[_Scalar] = []
        self.scope: dict[str, int] = {}
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}
        # Scalars and constants that exist already.
        self.known: dict[Any, int] = {}
        # Matrix and column of every computed scalar, and the columns of every matrix.
        self.places: dict[int, tuple[str, int]] = {}
        self.widths: dict[str, int] = {}

    def model(self) -> Any:
        """Flatten the program, compute its scalars level by level, and name the outputs."""
        program, helper, classes = self.program, self.onnx.helper, self.ruleset.classes
        for step in flatten((*program.steps, *program.probability_steps)):
            self.scope[step.name] = self._scalar(step.value)
        decided = program.prediction
        if classes:  # the position among the classes
            decided = decided.args[0] if decided.op == "pick" else Expr("place", (), 0)
        answer, rule = [self._scalar(decided)], [self._scalar(program.rule)]
        tables = {"probabilities": program.probabilities, "degrees": program.degrees}
        found = {name: [self._scalar(node) for node in nodes] for name, nodes in tables.items()}
        inputs = list(self._read_columns())
        self._compute()
        flat = self._columns(answer, full=True)
        if classes:
            integers = all(type(label) is int for label in classes)
            labels = np.array(
                classes if integers else [*map(str, classes)], None if integers else "O"
            )
            kind = "INT64" if integers else "STRING"
            flat = self._op("Gather", self._constant(labels), flat, axis=0)
            outputs = [self._output("label", kind, flat)]
        else:
            outputs = [self._output("prediction", "DOUBLE", flat)]
        outputs.append(self._output("rule", "INT64", self._columns(rule, full=True)))
        for name, members in found.items():
            if members:
                matrix = self._columns(members, full=True)
                outputs.append(self._output(name, "DOUBLE", matrix, len(members)))
        named = [self.onnx.numpy_helper.from_array(v, k) for k, v in self.constants.items()]
        graph = helper.make_graph(self.nodes, "rules", inputs, outputs, named)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
        rules = "\n".join(rule_text(self.ruleset, rule) for rule in self.ruleset)
        about = {"target": self.ruleset.target, "classes": "\n".join(map(str, classes))}
        helper.set_model_props(model, about | {"rules": rules})
        return model

    # ---------------------------------------------------------------- scalars

    def _scalar(self, node: Expr) -> int:
        """Return the position of an expression's scalar, the same one for the same value."""
        op, value, args = node.op, node.value, tuple(map(self._scalar, node.args))
        if op == "name":
            return self.scope[value]
        if op == "text":
            value = self.codes[value]
        elif op == "compare":
            op, value = value, None
        elif op == "missing" and self.scalars[args[0]].kind == "text":
            op, args = "==", (*args, self._add("place", (), MISSING))
        elif op == "among":  # a look-up in a table of all codes
            codes = {self.codes[category] for category in value}
            truths = [code in codes for code in range(KNOWN + len(self.codes))]
            op, args = "pick", (*args, *(self._add("truth", (), t) for t in truths))
            value = None
        elif op == "if" and self.scalars[args[1]].kind == "truth":
            holds = self._add("all", args[:2])
            fails = self._add("all", (self._add("not", args[:1]), args[2]))
            op, args = "any", (holds, fails)
        return self._add(op, args, value)

    def _add(self, op: str, args: tuple[int, ...], value: Any = None) -> int:
        key = op, args, type(value), value
        if key not in self.known:
            if op in {"if", "pick", "add"}:
                kind = self.scalars[args[-1]].kind
            else:
                is_text = op == "column" and self.ruleset.attributes[value].kind == "nominal"
                kind = "truth" if op in TESTS else "text" if is_text else Expr(op).kind
            level = 1 + max((self.scalars[a].level for a in args), default=-1)
            self.known[key] = len(self.scalars)
            self.scalars.append(_Scalar(op, args, value, kind, level))
        return self.known[key]

    def _compute(self) -> None:
        """Compute scalars of the same level and form together."""
        groups: dict[Any, list[int]] = {}
        for at, one in enumerate(self.scalars):
            forms = [(s.op in CONSTANTS, s.kind) for s in map(self.scalars.__getitem__, one.args)]
            groups.setdefault((one.level, one.op, *forms), []).append(at)
        for key in sorted((key for key in groups if key[0] > 0), key=lambda key: key[0]):
            op, several = key[1], [self.scalars[at].args for at in groups[key]]
            matrix = self._combine(op, several)
            self._place(groups[key], matrix)

    def _place(self, members: Sequence[int], matrix: str) -> None:
        self.widths[matrix] = len(members)
        self.places |= {at: (matrix, column) for column, at in enumerate(members)}

    # ---------------------------------------------------------------- matrices

    def _combine(self, op: str, several: list[tuple[int, ...]]) -> str:
        """Return the matrix of scalars with the same operation, a column for each."""
        if op in PLAIN or (op in CHAINS and (len(several[0]) <= FEW or op not in REDUCTIONS)):
            full = self._is_constant(several[0])
            columns = [self._columns(column, full=full) for column in zip(*several, strict=True)]
            if op in PLAIN:
                return self._op(PLAIN[op], *columns)
            return reduce(lambda a, b: self._op(CHAINS[op], a, b), columns)
        axis = self._constant(np.array([2]))
        if op in REDUCTIONS:
            found = self._op(REDUCTIONS[op], self._cube(several), axis)
            last = len(several[0]) - 1 if op == "add" else 0
            return self._op("Gather", found, self._constant(last), axis=2)
        if op == "pick":
            return self._pick([args[0] for args in several], [args[1:] for args in several])
        if op == "first":
            true = self._add("truth", (), True)
            tests = self._cube([(*args, true) for args in several])
        else:  # index
            value = self._columns([args[0] for args in several], full=True)
            value = self._op("Unsqueeze", value, axis)
            tests = self._op("Equal", value, self._cube([args[1:] for args in several]))
        numbers = self._op("Cast", tests, to=self.onnx.TensorProto.UINT8)
        return self._op("ArgMax", numbers, axis=2, keepdims=0)

    def _pick(self, places: Sequence[int], choices: list[tuple[int, ...]]) -> str:
        at = self._columns(places, full=True)
        every = [a for one in choices for a in one]
        if self._is_constant(every):
            starts = np.arange(len(choices)) * len(choices[0])
            at = self._op("Add", at, self._constant(starts[None, :]))
            return self._op("Gather", self._constant(self._values(every)), at, axis=0)
        axis = self._constant(np.array([2]))
        at = self._op("Unsqueeze", at, axis)
        found = self._op("GatherElements", self._cube(choices), at, axis=2)
        return self._op("Squeeze", found, axis)

    def _cube(self, several: list[tuple[int, ...]]) -> str:
        """Return samples x nodes x arguments."""
        flat = self._columns([a for args in several for a in args], full=True)
        shape = self._constant([0, len(several), len(several[0])])
        return self._op("Reshape", flat, shape)

    def _columns(self, members: Sequence[int], *, full: bool = False) -> str:
        """Return the matrix of some scalars; equal ones are one column, unless it must be full."""
        if self._is_constant(members) and not full:
            return self._constant(self._values(members)[None, :])
        fixed = [at for at in dict.fromkeys(members) if self._is_constant([at])]
        fixed = [at for at in fixed if at not in self.places]
        if fixed:
            [_, attribute] = next(self._inputs())
            n_samples = self._op("Shape", attribute.name, start=0, end=1)
            shape = self._op("Concat", n_samples, self._constant([len(fixed)]), axis=0)
            row = self._constant(self._values(fixed)[None, :])
            self._place(fixed, self._op("Expand", row, shape))
        sources = list(dict.fromkeys(self.places[at][0] for at in members))
        starts = [0, *accumulate(self.widths[matrix] for matrix in sources)]
        offsets = dict(zip(sources, starts, strict=False))
        columns = [offsets[self.places[at][0]] + self.places[at][1] for at in members]
        if not full and len(set(columns)) == 1:
            columns = columns[:1]
        whole = sources[0] if len(sources) == 1 else self._op("Concat", *sources, axis=1)
        if columns == list(range(starts[-1])):
            return whole
        return self._op("Gather", whole, self._constant(columns), axis=1)

    def _is_constant(self, members: Sequence[int]) -> bool:
        return all(self.scalars[at].op in CONSTANTS for at in members)

    def _values(self, members: Sequence[int]) -> Any:
        return np.array([self.scalars[at].value for at in members])

    # ---------------------------------------------------------------- inputs and outputs

    def _inputs(self) -> Iterator[tuple[int, Attribute]]:
        """Yield the columns that rules use; one column gives the number of samples in any case."""
        used = [(j, attribute) for _, j, attribute in self.program.columns]
        used = used or list(enumerate(self.ruleset.attributes))[:1]
        if not used:
            raise ValueError("An ONNX model needs an input; give the rule set an attribute.")
        yield from used

    def _read_columns(self) -> Iterator[Any]:
        """Yield the inputs, and encode their values."""
        for j, attribute in self._inputs():
            if attribute.name in {"label", "prediction", "rule", "probabilities", "degrees"}:
                problem = "has the name of an output of the ONNX model; rename it"
                raise ValueError(f"Column {attribute.name!r} {problem}.")
            matrix, categories = attribute.name, attribute.categories
            if attribute.kind == "nominal":
                matrix = self._encode(attribute, self.codes, {"": MISSING}, "int64", UNSEEN)
            elif categories is not None:
                places = {text: float(place) for place, text in enumerate(categories)}
                codes = self._encode(attribute, places, {"": nan}, "float", nan)
                matrix = self._op("Cast", codes, to=self.onnx.TensorProto.DOUBLE)
            self._place([self._add("column", (), j)], matrix)
            yield self._tensor(attribute.name, "DOUBLE" if categories is None else "STRING", 1)

    def _encode(
        self, attribute: Attribute, codes: Mapping[str, Any], keys: Any, kind: str, unseen: float
    ) -> str:
        """Return the codes of a column of strings; words of booleans have three spellings."""
        texts = category_texts(attribute.categories or ())
        folds = folding(attribute.categories or ())("T") == "t"
        for text, category in reversed(texts.items()):
            spellings = [text, text.upper(), text.title()][: 3 if folds else 1]
            keys = keys | dict.fromkeys(spellings, codes[category])
        settings = {f"values_{kind}s": list(keys.values()), f"default_{kind}": unseen}
        return self._op(
            "LabelEncoder", attribute.name, domain="ai.onnx.ml", keys_strings=list(keys), **settings
        )

    def _op(self, name: str, *inputs: str, domain: str = "", **settings: Any) -> str:
        """Append an operator and return the name of its result."""
        result = f"/{name}_{len(self.nodes)}"
        node = self.onnx.helper.make_node(name, inputs, [result], domain=domain, **settings)
        self.nodes.append(node)
        return result

    def _constant(self, value: Any) -> str:
        value = np.asarray(value)
        key = value.dtype.str, value.shape, repr(value.tolist())
        if key not in self.known:
            self.known[key] = len(self.constants)
            self.constants[f"/constant_{self.known[key]}"] = value
        return f"/constant_{self.known[key]}"

    def _output(self, name: str, kind: str, found: str, width: int | None = None) -> Any:
        """Name a result; without a width, it is a vector."""
        shape = self._constant([-1] if width is None else [-1, width])
        self.nodes.append(self.onnx.helper.make_node("Reshape", [found, shape], [name]))
        return self._tensor(name, kind, width)

    def _tensor(self, name: str, kind: str, width: int | None) -> Any:
        shape = ["n"] if width is None else ["n", width]
        element = getattr(self.onnx.TensorProto, kind)
        return self.onnx.helper.make_tensor_value_info(name, element, shape)

"""Rules as a JavaScript module without dependencies, printed from the scoring program."""

from typing import Any, ClassVar

from frri.export.lowering import lower
from frri.export.program import Branch
from frri.export.script import SIGNS, ScriptPrinter, escape_json, escape_text
from frri.rules.ruleset import RuleSet

_MODULE = """\
/**
 * Rules for {target}, as an ES module without dependencies.
 *
 * predict(row), scores(row), probabilities(row), degrees(row) and explain(row) take an object with
 * a property per column, a Map, or an array in the order of columns. null, undefined, NaN and empty
 * strings are missing. Dates are Date objects, strings like 2024-05-17T12:00:00Z, or days since
 * 1970. explain(row) returns prediction, deciding rule (from 1, null where no single rule decides),
 * its score (0 where a fallback decides) and all rules that fire.
 */

export const classes = {classes};
export const columns = {columns};
{tables}
export const predict = (row) => apply(row).prediction;
export const scores = (row) => apply(row).scores;
export const degrees = (row) => apply(row).degrees;

export function explain(row) {{
  const {{ prediction, rule, score, degrees }} = apply(row);
  const fired = degrees.flatMap((degree, r) => (degree > 0 ? [r + 1] : []));
  return {{ prediction, rule: rule || null, score, fired }};
}}

export function probabilities(row) {{
  if (!classes.length) {{
    throw new TypeError("These rules predict numbers and know no classes; use predict.");
  }}
  return apply(row, true);
}}

function apply(row, toProbabilities = false) {{
  if (Array.isArray(row) && row.length !== columns.length) {{
    throw new RangeError(`Expected ${{columns.length}} values, got ${{row.length}}.`);
  }}
{steps}
  if (!toProbabilities) {{
    return {{
      prediction: {prediction},
      rule: {rule},
      score: {score},
      scores: {scores},
      degrees: {degrees},
    }};
  }}
{probability_steps}
  return {probabilities};
}}

/** A value; null where it is missing. */
function read(row, name) {{
  let value;
  if (Array.isArray(row)) value = row[columns.indexOf(name)];
  else if (row instanceof Map ? row.has(name) : Object.prototype.hasOwnProperty.call(row, name)) {{
    value = row instanceof Map ? row.get(name) : row[name];
  }} else throw new RangeError(`The row has no column ${{JSON.stringify(name)}}.`);
  return value === undefined || Number.isNaN(value) ? null : value;
}}

function complain(name, value, wanted) {{
  const [column, shown] = [name, value].map((text) => JSON.stringify(text));
  throw new TypeError(`Column ${{column}} holds ${{shown}}, which is not ${{wanted}}.`);
}}
{readers}"""

_NUMBER = """
/** A number, NaN where it is missing; words may be 1 and 0. */
function readNumber(row, name, words = new Map()) {
  const value = read(row, name);
  if (typeof value === "number") return value;
  const text = typeof value === "string" ? value.trim() : value;
  if (text === null || text === "") return NaN;
  const number = words.get(String(text).toLowerCase()) ?? Number(text);
  if (Number.isNaN(number) && !/^[+-]?nan$/i.test(text)) complain(name, value, "a number");
  return number;
}
"""

_CATEGORY = """
/** The category that a value is written like; a text of its own if there is none. */
function readCategory(row, name, texts = new Map(), lower = false) {
  const value = read(row, name);
  if (value === null || (value === "" && !texts.has(""))) return null;
  const text = typeof value === "boolean" ? (value ? "True" : "False") : String(value);
  return texts.get(lower ? text.toLowerCase() : text) ?? text;
}
"""

_POSITION = """
/** The position of an ordered category, NaN if it has none. */
function readPosition(row, name, texts, lower = false) {
  const position = readCategory(row, name, texts, lower);
  return typeof position === "number" ? position : NaN;
}
"""

_DAYS = r"""
const DATE = new RegExp(
  "^(\\d{4})(?:-(\\d{2})(?:-(\\d{2})(?:[T ](\\d{2})(?::(\\d{2})(?::(\\d{2})" +
    "(?:\\.(\\d{1,6})\\d*)?)?)?(?:Z|([+-])(\\d{2})(?::?(\\d{2}))?)?)?)?)?$",
);

/** Days since 1970-01-01, in UTC. */
function readDays(row, name) {
  const value = read(row, name);
  if (value instanceof Date) return value.getTime() / 86400000;
  if (value === null || typeof value === "number") return value ?? NaN;
  const text = String(value).trim();
  if (text === "" || text === "NaT") return NaN;
  const found = DATE.exec(text);
  if (found === null) complain(name, value, "a date");
  const defaults = [0, 1, 1, 0, 0, 0];
  const parts = found.slice(1, 7).map((part, i) => (part ? Number(part) : defaults[i]));
  const [year, month, day, hour, minute, second] = parts;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCMonth() === month - 1 && hour < 24 && minute < 60 && second < 60;
  if (!exists) complain(name, value, "a date");
  const [sign, hours, minutes] = found.slice(8).map((part) => part ?? "0");
  const offset = Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes));
  const seconds = date.getTime() / 1000 + (hour * 60 + minute - offset) * 60 + second;
  // Beyond 2 ** 53 microseconds (the year 2255) only big integers are exact.
  return Number(BigInt(seconds) * 1000000n + BigInt((found[7] ?? "").padEnd(6, "0"))) / 86400000000;
}
"""

# Beyond this JavaScript's numbers are not exact integers.
_LARGEST_INTEGER = 2**53


class JavaScriptPrinter(ScriptPrinter):
    """ES2020 or later: browsers, Node, Deno."""

    signs: ClassVar = {**SIGNS, "all": "&&", "any": "||", "==": "===", "!=": "!=="}
    functions: ClassVar = {op: f"Math.{op}({{}})" for op in ("min", "max", "exp")}
    choice, find = "{0} ? {1} : {2}", "{1}.indexOf({0})"
    assign, result = "const {} = {};", "{} = {};"
    comment, contains = " // {}", "{1}.includes({0})"
    missing: ClassVar = {"text": "{} === null", "number": "Number.isNaN({})"}
    template, indent, table = _MODULE, "  ", "const {} = new Map({});\n"
    readers: ClassVar = {
        "numeric": ("readNumber", _NUMBER),
        "date": ("readDays", _DAYS),
        "ordinal": ("readPosition", _CATEGORY, _POSITION),
        "nominal": ("readCategory", _CATEGORY),
    }

    def literal(self, value: Any) -> str:
        """Return a value in ASCII; a mapping as a list of pairs."""
        if isinstance(value, float):
            return repr(value).replace("inf", "Infinity")
        return escape_json(list(value.items()) if isinstance(value, dict) else value)

    def branch(self, step: Branch, holds: list[str], fails: list[str]) -> list[str]:
        """Return declarations, if and else."""
        names = ", ".join(name for name, _, _ in step.results)
        test = self.expression(step.test)
        return [f"let {names};", f"if ({test}) {{", *holds, "} else {", *fails, "}"]


def to_javascript(ruleset: RuleSet) -> str:
    """Return an ES module with `predict(row)`, `scores(row)`, `explain(row)` and more.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "no", 0.9)
    >>> module = to_javascript(RuleSet((rule,), (Attribute("age"),), ("no", "yes")))
    >>> "export const predict" in module
    True
    """
    for label in ruleset.classes:
        if isinstance(label, int) and abs(label) > _LARGEST_INTEGER:
            raise ValueError(
                f"JavaScript cannot hold the class {label} exactly; make the classes strings."
            )
    target = escape_text(ruleset.target).replace("*/", "* /")
    return JavaScriptPrinter(lower(ruleset)).module(target)

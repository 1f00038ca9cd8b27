r"""Rules as a LaTeX table with the rules of the booktabs package."""

import re

from frri.export.quoting import one_line
from frri.export.rows import shown_rows
from frri.rules.ruleset import RuleSet

_COMMANDS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<=": r"$\leq$",
    ">=": r"$\geq$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    '"': r"{\symbol{34}}",
    "`": r"\textasciigrave{}",
    # Ligatures and the optional argument of a line's end.
    "--": "-{}-",
    "''": "'{}'",
    "[": "{[}",
    "]": "{]}",
}
_SPECIAL = re.compile("|".join(re.escape(text) for text in sorted(_COMMANDS, key=len)[::-1]))


def to_latex(ruleset: RuleSet, *, long: bool = False) -> str:
    r"""A `tabular` with a row per rule, for documents that use the package booktabs.

    Every character that LaTeX would act on is escaped. Letters beyond Latin ones need a document
    compiled by LuaLaTeX or XeLaTeX with a font that has them.

    Parameters
    ----------
    ruleset : RuleSet
    long : bool
        Make a `longtable` (a package of that name) instead, which may run over several pages.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "100%", 0.9)
    >>> print(to_latex(RuleSet((rule,), (Attribute("age"),), ("100%",))))
    \begin{tabular}{rp{0.5\linewidth}lr}
    \toprule
    rule & if & class & confidence \\
    \midrule
    1 & age \textless{} 30 & 100\% & 0.90 \\
    \bottomrule
    \end{tabular}
    """
    titles, rows = shown_rows(ruleset)
    name = "longtable" if long else "tabular"
    columns = "rp{0.5\\linewidth}l" + "r" * (len(titles) - 3)
    head = [rf"\begin{{{name}}}{{{columns}}}", r"\toprule", _line(titles), r"\midrule"]
    if long:
        head.append(r"\endhead")
    return "\n".join([*head, *map(_line, rows), r"\bottomrule", rf"\end{{{name}}}"])


def _line(cells: list[str]) -> str:
    return " & ".join(latex_text(cell) for cell in cells) + r" \\"


def latex_text(text: str) -> str:
    r"""A text on one line in which nothing acts as a command.

    Examples
    --------
    >>> print(latex_text("50% < 3 ± 1"))
    50\% \textless{} 3 $\pm$ 1
    """
    return _SPECIAL.sub(lambda found: _COMMANDS[found.group()], one_line(text))

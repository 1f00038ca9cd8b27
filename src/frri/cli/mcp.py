"""Serve saved models to assistants over the Model Context Protocol (MCP), on standard input.

The tools list models, print their rules, predict, explain, and find counterfactual explanations.
With --folder, two more tools evaluate models on tables in this folder and train new models on them;
no file outside the folder is read or written, and none is overwritten. The report of each model is
a resource, and an MCP App in hosts that support these. The server needs pip install 'frri[mcp]'.

$ frri mcp model.json
$ frri mcp risk.json price.json --folder data
"""

import json
import re
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import wraps
from io import StringIO
from pathlib import Path
from threading import Lock
from typing import Any, Literal
from urllib.parse import quote

from frri import __version__
from frri._util import find_name, import_optional, join_names
from frri.cli.console import Arguments, Parser, sentence
from frri.cli.explain import complete_row, find_goal
from frri.cli.files import load_model
from frri.cli.rules import rules_as_json
from frri.report.page import report_html
from frri.rules import RuleSet
from frri.rules.measures import evaluation_of
from frri.rules.text import rule_text

INSTRUCTIONS = """\
These tools apply interpretable rule-based models. Quote rules verbatim as the tools return them;
never round their bounds or paraphrase their conditions. Call `list_models` first: it names the
columns that a row needs. A missing value is null. A weight is no probability; `predict` returns
the probabilities. State the held-out score of a model when you report its predictions.
"""

Row = dict[str, str | float | bool | None]


def configure(parser: Parser) -> None:
    """Describe the arguments."""
    parser.add("models", "saved models, named by their files", nargs="*", metavar="MODEL")
    parser.add("--folder DIR", "folder of the tables and models that evaluate and fit may use")


def run(arguments: Arguments) -> None:
    """Answer requests until standard input ends."""
    if not arguments.models and arguments.folder is None:
        raise ValueError("Name a model to serve, or a --folder to train models from.")
    make_server(arguments.models, arguments.folder).run("stdio")


def make_server(sources: list[str], folder: str | None = None) -> Any:
    """Return the server of saved models, an `MCPServer`."""
    server, apps = (_sdk(f"mcp.server.{name}") for name in ("mcpserver", "apps"))
    models = ServedModels(sources, folder)
    pages = apps.Apps()
    for name in models.rulesets:
        _add_page(pages, models, name)
    service = server.MCPServer(
        "frri", instructions=INSTRUCTIONS, version=__version__, extensions=[pages]
    )
    tools: list[Callable[..., Any]] = [models.list_models, models.rules, models.predict]
    tools += [models.explain, models.counterfactual]
    if folder is not None:
        tools += [models.evaluate, models.fit]
    for tool in tools:
        service.add_tool(_answering(tool, models.lock))
    report = service.resource("frri://report/{model}", mime_type="text/html")
    report(_answering(models.report, models.lock))
    return service


class ServedModels:
    """Models by name, and the tools that assistants call; errors are ValueErrors.

    Parameters
    ----------
    sources : list of str
        Model files; their names without the ending name the models.
    folder : str, optional
        Folder of the files that `evaluate` and `fit` may use.
    """

    def __init__(self, sources: list[str], folder: str | None = None) -> None:
        self.lock = Lock()
        self.rulesets: dict[str, RuleSet] = {}
        self._paths: dict[str, str] = {}
        for source in sources:
            name = Path(source).stem
            if source == "-":
                raise ValueError("Requests come from standard input (-); name a model file.")
            if name in self.rulesets:
                raise ValueError(f"Two models are called {name!r}; rename the file {source}.")
            self._add(name, source)
        self._folder = None if folder is None else Path(folder).resolve()
        if self._folder is not None and not self._folder.is_dir():
            raise ValueError(f"There is no folder {folder}.")

    def list_models(self) -> list[dict[str, Any]]:
        """List the models: target, task, classes, columns that a row needs, held-out score."""
        return [
            {
                "model": name,
                "target": ruleset.target,
                "task": ruleset.task,
                "classes": list(ruleset.classes),
                "n_rules": len(ruleset),
                "columns": [
                    {"name": a.name, "kind": a.kind, "values": a.categories or [a.low, a.high]}
                    for a in ruleset.attributes
                    if a.name in ruleset.used_attributes
                ],
                "held_out": evaluation_of(ruleset),
            }
            for name, ruleset in self.rulesets.items()
        ]

    def rules(self, model: str) -> dict[str, Any]:
        """Return the rules of a model as sentences to quote verbatim, and their parts."""
        ruleset = self._find(model)
        return {"text": str(ruleset)} | rules_as_json(ruleset)

    def predict(self, model: str, rows: list[Row]) -> list[dict[str, Any]]:
        """Predict rows, given by column name; null is missing. Rule numbers start at 1."""
        ruleset = self._find(model)
        decision = ruleset.decide([complete_row(ruleset, row) for row in rows])
        found = []
        for i, answer in enumerate(decision.answers.tolist()):
            result = {"prediction": answer}
            if ruleset.classes:
                shares = decision.probabilities[i].tolist()
                result["probabilities"] = dict(zip(map(str, ruleset.classes), shares, strict=True))
            rule = int(decision.deciding[i])
            if rule >= 0:
                result |= {"rule": rule + 1, "rule_text": rule_text(ruleset, ruleset[rule])}
                result["fires"] = not bool(decision.silent[i])
            found.append(result)
        return found

    def explain(self, model: str, row: Row) -> dict[str, Any]:
        """Explain the prediction of a row: the rules that hold, and what other classes lack."""
        ruleset = self._find(model)
        found = ruleset.explain(complete_row(ruleset, row), effort=0)
        return {"text": str(found)} | found.to_dict()

    def counterfactual(
        self,
        model: str,
        row: Row,
        fixed: list[str] | None = None,
        at_least: str | float | None = None,
        at_most: str | float | None = None,
    ) -> dict[str, Any]:
        """Find the smallest change of a row that alters its prediction.

        `fixed` columns stay. `at_least` or `at_most` is the goal of an ordinal model or regression.
        """
        ruleset = self._find(model)
        goal = find_goal(ruleset, at_least=at_least, at_most=at_most)
        found = ruleset.explain(complete_row(ruleset, row), unchangeable=fixed or (), **goal)
        facts, shown = found.to_dict(), ("decision", "change", "unalterable", "goal")
        return {"text": str(found).splitlines()[-1]} | {name: facts[name] for name in shown}

    def evaluate(self, model: str, file: str, target: str | None = None) -> dict[str, Any]:
        """Evaluate a model on a labelled table of the folder, as `frri evaluate` does."""
        self._find(model)
        table = str(self._table(file))
        return _run_command("evaluate", self._paths[model], table, target=target)

    def fit(
        self,
        file: str,
        target: str,
        model: str,
        task: Literal["classification", "ordinal", "regression"] | None = None,
        learner: str | None = None,
        ignore: list[str] | None = None,
    ) -> dict[str, Any]:
        """Train a model on a table of the folder, save it there as MODEL.json and serve it.

        Without a learner, `frri fit` selects one by cross-validation.
        """
        table, output = self._table(file), self._inside(f"{model}.json")
        if Path(model).name != model:
            raise ValueError(f"The name of a model must have no folder, got {model!r}.")
        if model in self.rulesets or output.exists():
            raise ValueError(f"There is a model or file called {model!r}; choose another name.")
        options = {"target": target, "output": str(output), "task": task, "learner": learner}
        ignored = [f"--ignore={name}" for name in ignore or ()]
        facts = _run_command("fit", str(table), *ignored, **options) | {"model": model}
        self._add(model, str(output))
        return facts | {"rules": str(self.rulesets[model])}

    def report(self, model: str) -> str:
        """Return the report of a model as an HTML page."""
        return report_html(self._find(model))

    def _add(self, name: str, source: str) -> None:
        self.rulesets[name], self._paths[name] = load_model(source), source

    def _find(self, model: str) -> RuleSet:
        find_name(model, self.rulesets, "The server", "model")
        return self.rulesets[model]

    def _inside(self, file: str) -> Path:
        """Return a path of the folder; symbolic links are followed before it is compared."""
        folder = self._folder or Path()
        try:
            path = (folder / file).resolve()
        except (OSError, ValueError, RuntimeError):  # a loop of links, a null byte
            path = Path()
        if not path.is_relative_to(folder) or path == folder:
            raise ValueError(f"{file!r} is not in the folder of the server; {self._listing()}.")
        return path

    def _table(self, file: str) -> Path:
        path = self._inside(file)
        if not path.is_file():
            raise ValueError(f"There is no file {file!r} in the folder; {self._listing()}.")
        return path

    def _listing(self) -> str:
        folder = self._folder or Path()
        names = sorted(path.name for path in folder.iterdir() if path.is_file())
        return f"it has {join_names(names)}" if names else "it has no files"


def _run_command(*argv: str, **options: str | None) -> dict[str, Any]:
    """Run a command of `frri` in this process; return its JSON and its notes."""
    from frri.cli import main  # noqa: PLC0415 - imports this module

    output, messages = StringIO(), StringIO()
    given = [f"--{name}={value}" for name, value in options.items() if value is not None]
    with redirect_stdout(output), redirect_stderr(messages):
        code = main([*argv, *given, "--json"])
    lines = messages.getvalue().splitlines()
    if code:
        raise ValueError((lines or ["The command failed."])[-1].removeprefix("frri: "))
    facts: dict[str, Any] = json.loads(output.getvalue())
    return facts | {"notes": [line.removeprefix("note: ") for line in lines]}


def _sdk(module: str) -> Any:
    return import_optional(module, "frri mcp", "mcp")


def _answering(tool: Callable[..., Any], lock: Any) -> Callable[..., Any]:
    """Return a tool that answers one request at a time, and bad requests with one sentence."""
    failure = _sdk("mcp.server.mcpserver.exceptions")

    @wraps(tool)
    def answer(*args: Any, **arguments: Any) -> Any:
        with lock:
            try:  # infinite numbers are no JSON
                found = json.dumps(tool(*args, **arguments))
                return json.loads(found, parse_constant=lambda _: None)
            except (ValueError, ImportError, OSError) as error:
                kind = failure.ResourceError if tool.__name__ == "report" else failure.ToolError
                raise kind(sentence(error)) from None

    return answer


def _add_page(pages: Any, models: ServedModels, name: str) -> None:
    """Add the report of a model as an MCP App, and the tool that shows it."""
    resources, uri = _sdk("mcp.server.mcpserver.resources"), f"ui://frri/{quote(name, safe='')}"
    ruleset = models.rulesets[name]
    text = f"Show the report of {name}: {len(ruleset)} rules for {ruleset.target}."
    page = resources.FunctionResource(
        uri=uri, name=f"report of {name}", fn=lambda: models.report(name)
    )
    pages.add_resource(page)

    def show_report() -> str:
        return str(ruleset)

    tool = re.sub(r"[^\w-]", "_", f"report_{name}", flags=re.ASCII)
    pages.tool(resource_uri=uri, name=tool, description=text)(show_report)

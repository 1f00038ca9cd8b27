"""Speed and size of exported Python and JavaScript, compared with an earlier commit, and time of exports.

`python -m benchmarks.exports` fits models, exports them with the current code and with that of the earlier commit
(by `git archive`), and prints microseconds per row, bytes, and seconds to export 500 rules.
"""

import io
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.timing import best
from frri import (
    AdditiveRulesClassifier,
    Attribute,
    CompactFRRIClassifier,
    FRRIClassifier,
    NumericCondition,
    RIPPERClassifier,
    Rule,
    RuleSet,
)
from frri.compare.datasets import load
from frri.export import to_javascript, to_python, to_sql

ROOT = Path(__file__).parents[1]
OLD = "da99387"
EXPORT_OLD = """
import sys
from pathlib import Path
from frri import RuleSet
from frri.export import to_javascript, to_python
folder = Path(sys.argv[1])
for path in folder.glob("*.json"):
    ruleset = RuleSet.load(path)
    path.with_suffix(".old.py").write_text(to_python(ruleset), encoding="utf-8")
    path.with_suffix(".old.mjs").write_text(to_javascript(ruleset), encoding="utf-8")
"""
TIME_NODE = """
import { readFileSync } from "node:fs";
const [module, rows] = process.argv.slice(2);
const { predict } = await import(module);
const table = JSON.parse(readFileSync(rows));
for (let k = 0; k < 300; k += 1) for (const row of table) predict(row);
let best = Infinity;
for (let run = 0; run < 10; run += 1) {
  const start = performance.now();
  for (let k = 0; k < 20; k += 1) for (const row of table) predict(row);
  best = Math.min(best, performance.now() - start);
}
console.log((best * 1000) / 20 / table.length);
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        archive = subprocess.run(
            ["git", "archive", OLD, "src"], cwd=ROOT, check=True, stdout=subprocess.PIPE
        ).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        rows = {}
        for title, learner, dataset in (
            ("frri", FRRIClassifier(), "heart"),
            ("compact", CompactFRRIClassifier(), "wine"),
            ("ripper", RIPPERClassifier(), "pima"),
            ("additive", AdditiveRulesClassifier(), "ecoli"),
        ):
            data = load(dataset)
            ruleset = learner.fit(data.X, data.y).ruleset_
            ruleset.save(folder / f"{title}.json")
            frame = data.X.head(200)
            rows[title] = json.loads(frame.to_json(orient="records"))
            (folder / f"{title}.rows").write_text(json.dumps(rows[title]), encoding="utf-8")
        (folder / "time.mjs").write_text(TIME_NODE, encoding="utf-8")
        environment = {"PYTHONPATH": str(folder / "src")}
        subprocess.run([sys.executable, "-c", EXPORT_OLD, name], env=environment, check=True)
        print(
            "model      rules  Python us/row: old  new  ratio   bytes: old  new   JavaScript: old  new  ratio"
        )
        for title, table in rows.items():
            ruleset = RuleSet.load(folder / f"{title}.json")
            (folder / f"{title}.py").write_text(to_python(ruleset), encoding="utf-8")
            (folder / f"{title}.mjs").write_text(to_javascript(ruleset), encoding="utf-8")
            old, new = (time_python(folder / f"{title}{end}", table) for end in (".old.py", ".py"))
            sizes = [(folder / f"{title}{end}").stat().st_size for end in (".old.py", ".py")]
            scripts = [time_node(folder, title, end) for end in (".old.mjs", ".mjs")]
            print(
                f"{title:10} {len(ruleset):5} {old:19.1f} {new:4.1f} {old / new:6.1f} "
                f"{sizes[0]:12} {sizes[1]:5} {scripts[0]:17.2f} {scripts[1]:4.2f} "
                f"{scripts[0] / scripts[1]:6.1f}"
            )
    ruleset = many_rules(500)
    for export in (to_python, to_javascript, to_sql):
        seconds = best(lambda export=export: export(ruleset), repeats=3)
        print(f"{export.__name__}: 500 rules in {seconds:.2f} s, {len(export(ruleset))} bytes")


def time_python(path: Path, rows: list[dict]) -> float:
    """Return microseconds per row, the best of several runs."""
    module: dict = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module)
    seconds = best(lambda: [module["predict"](row) for row in rows], repeats=7)
    return seconds / len(rows) * 1e6


def time_node(folder: Path, title: str, end: str) -> float:
    """Return microseconds per row."""
    command = ["node", "time.mjs", f"./{title}{end}", f"{title}.rows"]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return float(done.stdout)


def many_rules(n_rules: int) -> RuleSet:
    """Return rules over six features, with slopes."""
    random = np.random.default_rng(1)
    rules = []
    for _ in range(n_rules):
        chosen = random.choice(6, 5, replace=False)
        ends = np.sort(random.random((5, 4)) * 1.6 - 0.3, axis=1).tolist()
        conditions = (NumericCondition(f"a{j}", *e) for j, e in zip(chosen, ends, strict=True))
        rules.append(Rule(tuple(conditions), "abc"[random.integers(3)], random.random()))
    table = tuple(Attribute(f"a{j}", 0.0, 1.0) for j in range(6))
    return RuleSet(tuple(rules), table, ("a", "b", "c"), clip=True)


if __name__ == "__main__":
    main()

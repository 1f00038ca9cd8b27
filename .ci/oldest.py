"""Print constraints for pip: the oldest version that pyproject.toml allows of everything `frri` runs with.

What only tests and documents the project (the extras `dev` and `docs`) is left as new as it comes.
"""

import re
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))[
    "project"
]
extras = PROJECT["optional-dependencies"]
needed = [*PROJECT["dependencies"]]
for name in extras.keys() - {"dev", "docs"}:
    needed += [line for line in extras[name] if not line.startswith("frri[")]
bounds = {re.match(r"([\w.-]+)(?:\[.*\])?>=([\w.]+)", line).groups() for line in needed}
print("\n".join(sorted(f"{name}=={version}" for name, version in bounds)))
# Later ones warn of how the oldest matplotlib and scikit-learn use them, or are unknown to these.
print("polars<1.40", "pyparsing<3.3", "pytest<9", sep="\n")

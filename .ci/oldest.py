"""Print constraints for pip: the oldest versions that pyproject.toml allows for dependencies of `frri`.

Dependencies of tests and documentation (the extras `dev` and `docs`) are not constrained.
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
# Later versions issue warnings with the oldest matplotlib and scikit-learn, or are not supported by them.
print("polars<1.40", "pyparsing<3.3", "pytest<9", sep="\n")

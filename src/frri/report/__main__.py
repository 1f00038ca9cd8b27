"""`python -m frri.report model.json [data.csv] -o report.html`."""

import sys

from frri.cli import main

if __name__ == "__main__":
    sys.exit(main(["report", *sys.argv[1:]]))

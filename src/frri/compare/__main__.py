"""`python -m frri.compare`: the same as `frri bench`."""

import sys

from frri.cli.bench import main

if __name__ == "__main__":
    sys.exit(main())

"""`python -m frri.bench`: the same as `frri bench`."""

import sys

from frri.bench.command import main

if __name__ == "__main__":
    sys.exit(main())

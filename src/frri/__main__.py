"""`python -m frri`: the same as `frri`."""

import sys

from frri.cli import main

if __name__ == "__main__":
    sys.exit(main())

"""Work counted instead of timed: the same on every machine."""

import sys


def calls(work):
    """How many functions are called, in Python and by it in C, while something is done."""
    count = 0

    def seen(_frame, event, _argument):
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count

"""Numbers of repetitions of tests on random data, which are larger with `make thorough`."""

import os

THOROUGH = bool(os.environ.get("FRRI_THOROUGH"))


def often(times):
    """Return `times` in a thorough run, a quarter of it in all others."""
    return times if THOROUGH else times // 4


def some(cases, *places):
    """Return all cases in a thorough run, otherwise those at some positions."""
    return list(cases) if THOROUGH else [cases[k] for k in places]

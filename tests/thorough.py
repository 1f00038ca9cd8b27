"""How often tests repeat themselves on random data: `make thorough` lets them take their time."""

import os

THOROUGH = bool(os.environ.get("FRRI_THOROUGH"))


def often(times):
    """So many times in a thorough run, a quarter as often in all others."""
    return times if THOROUGH else times // 4


def some(cases, *places):
    """All cases in a thorough run, otherwise those at some places."""
    return list(cases) if THOROUGH else [cases[k] for k in places]

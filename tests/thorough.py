"""How often tests repeat themselves on random data: `make thorough` lets them take their time."""

import os


def often(times):
    """So many times in a thorough run, a quarter as often in all others."""
    return times if os.environ.get("FRRI_THOROUGH") else times // 4

"""Time of the fastest of several runs, which other processes affect least."""

from time import perf_counter


def best(work, repeats=5):
    seconds = float("inf")
    for _ in range(repeats):
        start = perf_counter()
        work()
        seconds = min(seconds, perf_counter() - start)
    return seconds

"""Minimum number of errors of k candidates of which the best one decides, by trying every choice."""

from itertools import combinations


def decide(scores, consequents, chosen, i, default):
    """Return the class with the highest score among the chosen candidates, the first of ties, or the default."""
    covering = [(-scores[r][i], consequents[r]) for r in chosen if scores[r][i] > 0]
    return min(covering)[1] if covering else default


def errors(scores, consequents, classes, chosen, default):
    return sum(
        decide(scores, consequents, chosen, i, default) != own for i, own in enumerate(classes)
    )


def fewest(scores, consequents, classes, at_most, default):
    """Return the minimum number of errors of all choices of at most `at_most` candidates."""
    return min(
        errors(scores, consequents, classes, chosen, default)
        for size in range(at_most + 1)
        for chosen in combinations(range(len(consequents)), size)
    )

"""The fewest errors that so many candidates make when the best one decides, by trying every choice."""

from itertools import combinations


def decided(scores, says, chosen, i, default):
    """The class of the highest score of the chosen; of equal ones the first class; or the default."""
    speaking = [(-scores[r][i], says[r]) for r in chosen if scores[r][i] > 0]
    return min(speaking)[1] if speaking else default


def errors(scores, says, classes, chosen, default):
    return sum(decided(scores, says, chosen, i, default) != own for i, own in enumerate(classes))


def fewest(scores, says, classes, at_most, default):
    """The smallest number of errors of any choice of at most so many."""
    return min(
        errors(scores, says, classes, chosen, default)
        for size in range(at_most + 1)
        for chosen in combinations(range(len(says)), size)
    )

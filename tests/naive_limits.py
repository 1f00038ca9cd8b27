"""Reference implementation of limits on rules: everything is computed again for every removable rule."""

COVERS = 1e-6
STEPS = 2**40


def decided(chosen, degrees, weights, own, n_classes, kind):
    """Return the class that some rules predict for one object, or None if none of them covers it."""
    if kind == "first":
        return next((own[r] for r in chosen if degrees[r] > 0), None)
    scores = [0] * n_classes
    for r in chosen:
        amount = round(degrees[r] * weights[r] * STEPS)
        scores[own[r]] = scores[own[r]] + amount if kind == "sum" else max(scores[own[r]], amount)
    best = max(scores)
    return scores.index(best) if best > 0 else None


def kept(degrees, weights, own, classes, units, kind, max_rules, min_support, default):
    """Return the positions of the remaining rules; `degrees` has a list for each object."""
    n_classes = max([*own, *classes]) + 1
    objects = range(len(classes))

    def support(r):
        return sum(
            units[i]
            for i in objects
            if classes[i] == own[r] and degrees[i][r] * weights[r] > COVERS
        )

    def right(chosen):
        return sum(
            units[i]
            for i in objects
            if decided(chosen, degrees[i], weights, own, n_classes, kind) == classes[i]
        )

    size = [sum(units[i] for i in objects if classes[i] == c) for c in range(n_classes)]
    chosen = [
        r for r in range(len(own)) if r == default or support(r) >= min_support * size[own[r]]
    ]
    while max_rules is not None and len(chosen) > max_rules and chosen != [default]:
        candidates = [r for r in chosen if r != default]
        chosen.remove(
            max(
                candidates,
                key=lambda r: (right([k for k in chosen if k != r]), -support(r), r),
            )
        )
    return chosen

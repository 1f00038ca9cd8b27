"""Single steps of the induction, for tests that compare each of them with its definition."""

import numpy as np

from frri.induction import choose_backend


def confidences(values, classes, *, initial=None, compiled=None):
    """Return the membership of every sample in the lower approximation of its own class."""
    backend = choose_backend(values, classes, initial, compiled=compiled)
    return backend.layout.by_sample(backend.confidences())


def shorten(values, classes, confidence, order, *, initial=None, rigid=None, compiled=None):
    """Return the shortened conditions of every sample's rule."""
    backend = choose_backend(values, classes, initial, rigid, compiled=compiled)
    layout = backend.layout
    reach = layout.by_row(np.asarray(confidence, dtype=np.float64))
    return layout.by_sample(backend.shorten(reach, layout.orders(order)))


def covers(values, classes, confidence, types, *, compiled=None):
    """Return the samples that the rule of every sample covers, and the bit of each sample."""
    backend = choose_backend(values, classes, compiled=compiled)
    layout = backend.layout
    reach = layout.by_row(np.asarray(confidence, dtype=np.float64))
    kept = layout.by_row(np.asarray(types, dtype=np.int8))
    return backend.source(reach, kept)(None), layout.positions

"""What a learner warns of, although others may be warning in the same process at the same time."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

_lock = threading.Lock()
_said: dict[int, list[Warning]] = {}
_filters = ExitStack()


@contextmanager
def noted() -> Iterator[list[Warning]]:
    """The warnings of this thread, unshown; where no other thread is noting, those of all threads.

    `warnings.catch_warnings` is not for threads: who leaves it first ends it for all, and who leaves it
    last undoes it for ever. So the first to come enters it here, and the last to go leaves it. A learner
    that uses it itself, in threads, may still hide a warning of another.

    Examples
    --------
    >>> with noted() as said:
    ...     warnings.warn("too few objects")
    >>> said
    [UserWarning('too few objects')]
    """
    me = threading.get_ident()
    with _lock:
        if not _said:
            _filters.enter_context(warnings.catch_warnings())
            warnings.showwarning = _note
        warnings.simplefilter("always")
        outer = _said.get(me)
        said = _said[me] = []
    try:
        yield said
    finally:
        with _lock:
            if outer is None:
                del _said[me]
            else:
                _said[me] = outer
            if not _said:
                _filters.close()


def _note(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    said = _said.get(threading.get_ident())
    if said is None and len(_said) == 1:
        (said,) = _said.values()
    if said is not None:
        said.append(message if isinstance(message, Warning) else category(message))

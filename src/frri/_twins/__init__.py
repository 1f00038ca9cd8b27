"""Compiled twins of kernel modules, made only when they pay.

A kernel module is plain Python over numpy arrays whose functions carry `@kernel`. Imported as usual it
runs interpreted, so that a small job never waits for a compiler. `compiled(module)` loads the same
source a second time, under a name of its own, with every kernel compiled by numba (serial, without the
GIL, cached on disk where that is possible). One source, two speeds, the same results.

Kernels copy arrays by `np.positive(source, target)`. What `target[:] = source` would say of different
shapes takes the compiler longer than most kernels: two and a half seconds. And a kernel that is called with
True, False or 0 as they stand is compiled for each of them.

Which of the two a source is, is told by its module's name alone: any number of threads may load, use
and compile twins at the same time.
"""

import hashlib
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

# What the name of a compiled twin ends with.
TWIN = "_compiled"

# Twins that are whole, by name. The compiler finds them in sys.modules, which nobody else must do: there
# they are from the moment their sources begin to run.
_twins: dict[str, ModuleType] = {}
# Held while a twin is loaded; its source may load further ones.
_loading = threading.RLock()
# The modules whose kernels a twin calls, by the twin's name.
_companions: dict[str, list[ModuleType]] = {}
# What a thread wants to have asked before every compilation.
_questions = threading.local()


@cache
def numba_installed() -> bool:
    """Whether the compiler is there; finding out does not import it."""
    return importlib.util.find_spec("numba") is not None


def is_twin(name: str) -> bool:
    """Whether the module of this name is a compiled twin.

    Examples
    --------
    >>> is_twin("frri.induction._bitmap_kernels")
    False
    """
    return name.endswith(TWIN)


def kernel(function: Function) -> Function:
    """Mark a function of a kernel module: compiled in the compiled twin, plain otherwise."""
    return _twin(function) if is_twin(function.__module__) else function


def inner_kernel(function: Function) -> Function:
    """Mark a kernel that only other kernels call: a fifth less to compile, as Python has no way in."""
    if not is_twin(function.__module__):
        return function
    twin = _twin(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)
    if twin is not function:  # as it is where numba is told not to compile
        twin.__class__ = _without_entrance()
    return twin  # type: ignore[no-any-return]


def either(*, interpreted: Function, loops: Function, inner: bool = False) -> Function:
    """The form of a kernel that suits the module: array operations plain, loops in the compiled twin.

    For the few kernels where one source cannot be quick both ways. The two forms must agree bit for
    bit: elementwise operations in the same order, or sums that are exact. An inner one is called by
    other kernels only.
    """
    if not is_twin(loops.__module__):
        return interpreted
    return inner_kernel(loops) if inner else kernel(loops)


def companion(module: ModuleType, of: str) -> Any:
    """Another kernel module, compiled or plain as the module `of` (its name) that calls its kernels."""
    if not is_twin(of):
        return module
    _companions[of].append(module)
    return compiled(module)


def compiled(module: ModuleType) -> Any:
    """The numba twin of a kernel module; loaded once, each kernel compiled at its first call."""
    name = module.__name__ + TWIN
    if name not in _twins:
        with _loading:
            if name not in _twins:
                _twins[name] = _loaded(name, _source(module))
    return _twins[name]


def compiled_before(module: ModuleType) -> bool:
    """Whether this process has loaded the compiled twin already."""
    return module.__name__ + TWIN in _twins


@cache
def cached_on_disk(module: ModuleType, name: str = "*") -> bool:
    """Whether an earlier process seems to have left this source, or one of its kernels, compiled."""
    source = _source(module)
    folder, pattern = source.parent / "__pycache__", f"{source.stem}.{name}-*.nbi"
    elsewhere = os.environ.get("NUMBA_CACHE_DIR")
    if elsewhere:
        folder, pattern = Path(elsewhere), f"{source.parent.name}_*/{pattern}"
    try:
        written = source.stat().st_mtime
        return any(index.stat().st_mtime >= written for index in folder.glob(pattern))
    except OSError:
        return False


def pays(
    module: ModuleType,
    size: float,
    *,
    compiled_from: float,
    loaded_from: float,
    used_from: float = 0,
) -> bool:
    """Whether a job is worth the compiled twin of a kernel module.

    Parameters
    ----------
    module : module
    size : float
        Of the job, in any unit.
    compiled_from, loaded_from, used_from : float
        The sizes from which it is: if the twin has to be compiled, if an earlier process has left it
        compiled, and if this process has it.
    """
    if compiled_before(module):
        return size >= used_from
    return size >= (loaded_from if cached_on_disk(module) else compiled_from) and numba_installed()


@contextmanager
def asking(question: Callable[[], None]) -> Iterator[None]:
    """Have a question asked before every compilation that this thread waits for.

    One compilation calls for others, so that they take seconds together; a question that raises an
    exception ends them. What has been compiled until then is kept.
    """
    outer = getattr(_questions, "asked", None)
    _questions.asked = question
    try:
        yield
    finally:
        _questions.asked = outer


def _twin(function: Function, **further: bool) -> Any:
    import numba  # noqa: PLC0415 - half a second to import, wanted only here

    _ask_before_compiling()
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", **further}
    twin: Any = numba.njit(**options)(function)
    try:
        _keep_on_disk(twin, function.__module__)
    except (RuntimeError, AttributeError, OSError):  # no place to write to, or another numba
        twin = numba.njit(**options)(function)
    return twin


@cache
def _without_entrance() -> type:
    """What a compiled kernel is that says so when Python calls it, where numba would end the process."""
    from numba.core.registry import CPUDispatcher  # noqa: PLC0415 - as in `_twin`

    class InnerKernel(CPUDispatcher):
        def __call__(self, *_: Any) -> None:
            raise TypeError(f"{self.py_func.__name__} is called by other kernels only.")

    return InnerKernel


def _loaded(name: str, source: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, source)
    assert spec is not None  # noqa: S101
    assert spec.loader is not None  # noqa: S101
    twin = importlib.util.module_from_spec(spec)
    _companions[name] = []
    sys.modules[name] = twin
    try:
        spec.loader.exec_module(twin)
    except BaseException:
        del sys.modules[name]
        raise
    return twin


def _source(module: ModuleType) -> Path:
    assert module.__file__ is not None  # noqa: S101
    return Path(module.__file__)


def _keep_on_disk(twin: Any, name: str) -> None:
    """Let a kernel be kept on disk; what cannot be read or written there is compiled all the same.

    The compiler looks at the time and size of the file that a kernel stands in. What is in it, and in the
    files of the module's companions, whose kernels it has taken in, is made part of that.
    """
    twin.enable_caching()
    kept = twin._cache  # noqa: SLF001 - there is no other way
    kept._cache_file._source_stamp = kept._cache_file._source_stamp, *_digests(name)  # noqa: SLF001
    for step in ("load_overload", "save_overload"):
        setattr(kept, step, _if_possible(getattr(kept, step)))


def _digests(name: str) -> Iterator[str]:
    """The contents of a twin's source and of those it takes kernels from, and the forms these have."""
    yield hashlib.sha256(_source(sys.modules[name]).read_bytes()).hexdigest()
    for module in _companions[name]:
        twin = module.__name__ + TWIN
        yield str(getattr(_twins[twin], "FORM", ""))
        yield from _digests(twin)


def _if_possible(function: Callable[..., Any]) -> Callable[..., Any]:
    def attempt(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except OSError:
            return None

    return attempt


@cache
def _ask_before_compiling() -> None:
    """Ask what `asking` was told whenever the compiler starts."""
    from numba.core import event  # noqa: PLC0415 - as in `kernel`

    class Listener(event.Listener):
        def on_start(self, _: Any) -> None:
            question = getattr(_questions, "asked", None)
            if question is not None:
                question()

        def on_end(self, _: Any) -> None:
            """Nothing to ask."""

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]

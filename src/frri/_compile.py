"""Compile kernels with numba where that pays; the one place that chooses between numpy and numba.

A kernel is a plain Python function over numpy arrays that carries `@kernel`. Called as usual it
runs interpreted, so that a small job never waits for a compiler. `compiled(module)` gives the
kernels of a module compiled: serial, without the GIL, cached on disk by numba. The kernels that a
kernel calls, imported by name, are compiled with it. `either` joins the two forms of a kernel whose
array form is slow compiled, or whose loops are slow interpreted. All forms of a kernel give the
same results to the last bit.

Notes for writers of kernels: arrays are copied by `np.positive(source, target)`, because `target[:]
= source` takes two and a half seconds to compile. A literal argument (True, False, 0) compiles a
kernel once more.
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
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any, TypeVar

from frri._util import show_note

Function = TypeVar("Function", bound=Callable[..., Any])


# For each interpreted kernel: the function to compile, and whether only other kernels call it.
_forms: dict[Callable[..., Any], tuple[Any, bool]] = {}
# What numba has made of each interpreted kernel.
_dispatchers: dict[Callable[..., Any], Any] = {}
# Held while dispatchers are made; numba has a lock of its own for compiling them.
_compile_lock = threading.RLock()
# The check of a thread before every compilation.
_checks = threading.local()


@cache
def numba_installed() -> bool:
    """Return whether numba is there and not switched off, without importing it."""
    switched_off = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
    return not switched_off and importlib.util.find_spec("numba") is not None


def kernel(function: Function) -> Function:
    """Mark a function that can be compiled."""
    return either(interpreted=function, loops=function)


def inner_kernel(function: Function) -> Function:
    """Mark a kernel that only other kernels call: a fifth less to compile."""
    return either(interpreted=function, loops=function, inner=True)


def either(*, interpreted: Function, loops: Function, inner: bool = False) -> Function:
    """Join the two forms of a kernel: array operations when interpreted, loops when compiled.

    The two forms must agree bit for bit: elementwise operations in the same order, or sums that are
    exact.
    """
    _forms[interpreted] = loops, inner
    return interpreted


# The names of modules, with kernels compiled.
_modules: dict[str, SimpleNamespace] = {}


def compiled(module: ModuleType) -> Any:
    """Return the kernels of a module, each to be compiled at its first call, and its other names.

    Kernels that only other kernels call are left out.
    """
    with _compile_lock:
        if module.__name__ not in _modules:
            names = {name: value for name, value in vars(module).items() if not _is_inner(value)}
            kernels = {name: _dispatcher(f) for name, f in names.items() if _is_kernel(f)}
            _modules[module.__name__] = SimpleNamespace(**names | kernels)
        return _modules[module.__name__]


def compiled_before(module: ModuleType) -> bool:
    """Return whether this process has asked for the compiled kernels of a module."""
    return module.__name__ in _modules


@cache
def cached_on_disk(module: ModuleType) -> bool:
    """Return whether an earlier process has left compiled kernels of a module."""
    source = Path(str(module.__file__))
    folder, pattern = source.parent / "__pycache__", f"{source.stem}.*-{_digest(module)}-*.nbi"
    elsewhere = os.environ.get("NUMBA_CACHE_DIR")
    if elsewhere:
        folder, pattern = Path(elsewhere), f"{source.parent.name}_*/{pattern}"
    return any(folder.glob(pattern))


def pays(
    module: ModuleType,
    size: float,
    *,
    compiled_from: float,
    loaded_from: float,
    used_from: float = 0,
) -> bool:
    """Return whether a job is worth the compiled kernels of a module.

    Parameters
    ----------
    module : module
    size : float
        Size of the job, in any unit.
    compiled_from, loaded_from, used_from : float
        Sizes from which it is: if the kernels have to be compiled, if an earlier process has left
        them on disk, and if this process has them.
    """
    if compiled_before(module):
        return size >= used_from
    return numba_installed() and size >= (loaded_from if cached_on_disk(module) else compiled_from)


# CPU seconds for loading kernels that were compiled earlier, and for importing numba.
LOAD_SECONDS, IMPORT_SECONDS = 0.5, 1.0


def choose_kernels(
    module: ModuleType, seconds: float, *, compile_seconds: float, seconds_left: float | None = None
) -> Any:
    """Return the kernels of a module, interpreted or compiled, whichever should end sooner.

    Parameters
    ----------
    module : module
    seconds : float
        Interpreted seconds that were spent with the kernels so far, or are expected.
    compile_seconds : float
        CPU seconds for compiling the kernels.
    seconds_left : float, optional
        Time that is left; nothing is compiled that would come too late.
    """
    if not compiled_before(module):
        if not numba_installed():
            return module
        known = cached_on_disk(module)
        load = LOAD_SECONDS + (0.0 if "numba" in sys.modules else IMPORT_SECONDS)
        price = load if known else compile_seconds
        if seconds <= price or (seconds_left is not None and seconds_left <= price):
            return module
        if not known:
            show_note(f"compiling kernels, once per installation, about {price:.0f} s")
    return compiled(module)


@contextmanager
def check_before_compiling(check: Callable[[], None]) -> Iterator[None]:
    """Call a function before every compilation that this thread waits for.

    One compilation leads to others, so that they take seconds together; an exception ends them.
    What has been compiled by then is kept.
    """
    outer = getattr(_checks, "current", None)
    _checks.current = check
    try:
        yield
    finally:
        _checks.current = outer


def _dispatcher(function: Any) -> Any:
    """Return what numba makes of a kernel: a copy of its function that calls compiled kernels."""
    with _compile_lock:
        if function not in _dispatchers:
            loops, inner = _forms[function]
            space = dict(loops.__globals__)
            known = function.__name__, loops.__defaults__, loops.__closure__
            copy = FunctionType(loops.__code__, space, *known)
            # numba looks only at the file of a kernel for changes: the name tells those of its
            # callees.
            copy.__qualname__ = f"{function.__name__}-{_digest(sys.modules[function.__module__])}"
            _dispatchers[function] = _compile(copy, inner=inner)
            for name in _names(loops.__code__):
                if _is_kernel(space.get(name)):
                    space[name] = _dispatcher(space[name])
        return _dispatchers[function]


def _compile(function: FunctionType, *, inner: bool) -> Any:
    import numba  # noqa: PLC0415 - half a second to import, wanted only here

    _register_check()
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    if inner:
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder for the cache can be written to
        return numba.njit(**options)(function)


def _is_kernel(value: Any) -> bool:
    return isinstance(value, FunctionType) and value in _forms


def _is_inner(value: Any) -> bool:
    return _is_kernel(value) and _forms[value][1]


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that a function uses, and those that functions inside it use."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


@cache
def _digest(module: ModuleType) -> str:
    """Return a digest of a module's source and of those whose kernels it calls."""
    others = {value.__module__ for value in vars(module).values() if _is_kernel(value)}
    parts = [Path(str(module.__file__)).read_bytes()]
    parts += [_digest(sys.modules[name]).encode() for name in sorted(others - {module.__name__})]
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


@cache
def _register_check() -> None:
    """Have numba run the check of a thread whenever it starts to compile."""
    from numba.core import event  # noqa: PLC0415 - as in `_compile`

    class Listener(event.Listener):
        def on_start(self, _: Any) -> None:
            check = getattr(_checks, "current", None)
            if check is not None:
                check()

        def on_end(self, _: Any) -> None:
            """Check nothing."""

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]

"""Compiled twins of kernel modules, made only when they pay.

A kernel module is plain Python over numpy arrays whose functions carry `@kernel`. Imported as usual it
runs interpreted, so that a small job never waits for a compiler. `compiled(module)` loads the same
source a second time with every kernel compiled by numba (serial, without the GIL, cached on disk where
that is possible). One source, two speeds, the same results.
"""

import importlib.util
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_loading_compiled = False


@cache
def numba_installed() -> bool:
    """Whether the compiler is there; finding out does not import it."""
    return importlib.util.find_spec("numba") is not None


def loading_compiled() -> bool:
    """Whether the source that asks is being loaded as a compiled twin."""
    return _loading_compiled


def kernel(function: Function) -> Function:
    """Mark a function of a kernel module: compiled in the compiled twin, plain otherwise."""
    if not _loading_compiled:
        return function
    import numba  # noqa: PLC0415 - half a second to import, wanted only here

    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        twin: Any = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no writable place for the cache
        twin = numba.njit(**options)(function)
    return twin  # type: ignore[no-any-return]


def either(*, interpreted: Function, loops: Function) -> Function:
    """The form of a kernel that suits the module: array operations plain, loops in the compiled twin.

    For the few kernels where one source cannot be quick both ways. The two forms must agree bit for
    bit: elementwise operations in the same order, or sums that are exact.
    """
    return kernel(loops) if _loading_compiled else interpreted


def companion(module: ModuleType, of: str) -> Any:
    """Another kernel module, compiled or plain as the module `of` (its file) that calls its kernels.

    The compiler's cache on disk knows only the file a kernel stands in: what was compiled before the
    companion was last written is thrown away here.
    """
    if not _loading_compiled:
        return module
    assert module.__file__ is not None  # noqa: S101
    written = Path(module.__file__).stat().st_mtime
    for index in _cache_indexes(Path(of)):
        if index.stat().st_mtime < written:
            index.unlink(missing_ok=True)
    return compiled(module)


def compiled(module: ModuleType) -> Any:
    """The numba twin of a kernel module; loaded once, each kernel compiled at its first call."""
    global _loading_compiled  # noqa: PLW0603 - read by `kernel` while the twin's source runs
    name = f"{module.__name__}_compiled"
    if name not in sys.modules:
        assert module.__file__ is not None  # noqa: S101
        spec = importlib.util.spec_from_file_location(name, module.__file__)
        assert spec is not None  # noqa: S101
        assert spec.loader is not None  # noqa: S101
        twin = importlib.util.module_from_spec(spec)
        sys.modules[name] = twin
        outer, _loading_compiled = _loading_compiled, True
        try:
            spec.loader.exec_module(twin)
        except BaseException:
            del sys.modules[name]
            raise
        finally:
            _loading_compiled = outer
    return sys.modules[name]


def compiled_before(module: ModuleType) -> bool:
    """Whether this process has loaded the compiled twin already."""
    return f"{module.__name__}_compiled" in sys.modules


@cache
def cached_on_disk(module: ModuleType) -> bool:
    """Whether an earlier process seems to have left this source compiled beside it."""
    assert module.__file__ is not None  # noqa: S101
    source = Path(module.__file__)
    try:
        written = source.stat().st_mtime
        return any(index.stat().st_mtime >= written for index in _cache_indexes(source))
    except OSError:
        return False


def _cache_indexes(source: Path) -> list[Path]:
    """The indexes that numba has written for a source, beside it or in the folder it was told."""
    elsewhere = os.environ.get("NUMBA_CACHE_DIR")
    if elsewhere:
        return list(Path(elsewhere).rglob(f"{source.stem}.*.nbi"))
    return list(source.parent.joinpath("__pycache__").glob(f"{source.stem}.*.nbi"))

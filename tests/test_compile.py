"""Kernels: compilation by many threads, cache on disk, interruption between compilations."""

import importlib.util
import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from frri import _compile
from frri._compile import compiled, compiled_before
from frri.cover import matrix

numba = pytest.importorskip("numba")

SLOW = """
    import time
    from frri._compile import kernel

    @kernel
    def early(x):
        return x + 1

    time.sleep(0.3)

    @kernel
    def late(x):
        return early(x) + 1
    """


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a kernel module and import it."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(name, source):
        path = tmp_path / f"{name}.py"
        path.write_text(textwrap.dedent(source))
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    yield write
    for name in [name for name in _compile._modules if not name.startswith("frri.")]:
        del _compile._modules[name]


def at_once(*works):
    """Return the results of calls that start at the same time in separate threads."""
    barrier = threading.Barrier(len(works))

    def begin(work):
        barrier.wait()
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(begin, works))


def test_several_threads_compile_at_once(write):
    module = write("slow_kernels", SLOW)
    assert not compiled_before(module)
    found = at_once(*4 * [lambda: compiled(module).late(1)])
    assert found == [3] * 4
    assert compiled_before(module)
    assert compiled(module).late is not module.late
    assert module.late(1) == 3


def test_a_kernel_may_call_itself_and_use_constants(write):
    source = """
        from frri._compile import kernel
        ONE = 1

        @kernel
        def factorial(n):
            return ONE if n < 2 else n * factorial(n - 1)
        """
    module = write("recursive_kernels", source)
    assert compiled(module).ONE == 1
    assert compiled(module).factorial(5) == module.factorial(5) == 120
    with pytest.raises(AttributeError):
        compiled(module).nothing  # noqa: B018


def test_the_form_with_loops_is_compiled(write):
    source = """
        from frri._compile import either, kernel

        def _total_arrays(x): return x.sum()

        def _total_loops(x):
            total = 0
            for value in x:
                total += value
            return total + 1000

        total = either(interpreted=_total_arrays, loops=_total_loops)

        @kernel
        def twice(x):
            return 2 * total(x)
        """
    module = write("forms_of_kernels", source)
    x = np.arange(4)
    assert (module.twice(x), compiled(module).twice(x)) == (12, 2012)


def test_an_inner_kernel_is_called_by_kernels_only(write):
    module = write(
        "layers_of_kernels", SLOW.replace("import kernel", "import inner_kernel as kernel")
    )
    assert module.late(1) == 3
    with pytest.raises(AttributeError, match="late"):
        compiled(module).late  # noqa: B018
    around = """
        from layers_of_kernels import late
        from frri._compile import kernel

        @kernel
        def outer(x):
            return late(x) + 1
        """
    assert compiled(write("outer_kernels", around)).outer(1) == 4


USE = """
    import sys
    import numpy as np
    from concurrent.futures import ThreadPoolExecutor
    from sklearn.base import clone
    from sklearn.model_selection import cross_val_score
    from joblib import parallel_config
    from frri import FRRIClassifier, RIPPERClassifier, RuleSet
    from frri.learners.ripper import ripper
    from frri.rules import _predict_kernels

    ripper.COMPILED_FROM = ripper.LOADED_FROM = 0
    _predict_kernels.COLD = _predict_kernels.WARM = 0
    rng = np.random.default_rng(0)
    X = rng.random((300, 4))
    y = (X[:, 0] + X[:, 1] > 1).astype(int)
    with parallel_config(backend="threading"):
        scores = cross_val_score(RIPPERClassifier(random_state=0), X, y, cv=2, n_jobs=2)
    rules = FRRIClassifier().fit(X, y).ruleset_
    with ThreadPoolExecutor(4) as pool:
        for answers in pool.map(rules.predict, [X] * 4):
            assert (answers == y).all()
    print(len(scores))
    """


def run(source, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_first_use_from_several_threads():
    done = run(USE)
    assert (done.stdout.strip(), done.returncode) == ("2", 0), done.stderr


CALLER = """
    from helper_kernels import value
    from frri._compile import kernel

    @kernel
    def twice(x):
        return 2 * value(x)
    """
HELPER = """
    from frri._compile import kernel

    @kernel
    def value(x):
        return x + {number}
    """
CALL = """
    import caller_kernels
    from frri._compile import cached_on_disk, compiled
    twice = compiled(caller_kernels).twice
    print(cached_on_disk(caller_kernels), twice(1), sum(twice.stats.cache_hits.values()))
    """


def test_kernels_compiled_with_another_callee_are_neither_used_nor_deleted(tmp_path):
    sources, kept = tmp_path / "sources", tmp_path / "kept"
    sources.mkdir()
    (sources / "caller_kernels.py").write_text(textwrap.dedent(CALLER))
    helper = sources / "helper_kernels.py"
    helper.write_text(textwrap.dedent(HELPER.format(number=1)))
    others = kept / "of_somebody_else" / "caller_kernels.twice-1.py311.nbi"
    others.parent.mkdir(parents=True)
    others.write_bytes(b"")
    os.utime(others, (1, 1))
    places = os.pathsep.join([str(sources), *filter(None, [os.environ.get("PYTHONPATH")])])

    def call():
        # The cache of Python compares times and sizes only, and would hide the change.
        quiet = {"PYTHONDONTWRITEBYTECODE": "1"}
        done = run(CALL, NUMBA_CACHE_DIR=str(kept), PYTHONPATH=places, **quiet)
        assert not done.returncode, done.stderr
        return done.stdout.split()

    assert call() == ["False", "4", "0"]
    assert call() == ["True", "4", "1"]
    before = helper.stat()
    helper.write_text(textwrap.dedent(HELPER.format(number=5)))
    os.utime(helper, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert call() == ["False", "12", "0"]
    assert call() == ["True", "12", "1"]
    assert others.exists()


def test_no_place_on_disk_at_all(write, monkeypatch):
    from numba.core import caching

    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    assert compiled(write("homeless_kernels", SLOW)).late(1) == 3


# --- stopped between kernels


def test_a_callback_runs_before_every_compilation(write):
    fast, asked = compiled(write("asked_kernels", SLOW)), []
    with _compile.check_before_compiling(lambda: asked.append(1)):
        assert fast.late(1) == 3
    assert len(asked) == 2  # late, and early that it calls
    with _compile.check_before_compiling(lambda: asked.append(1)):
        assert fast.late(1) == 3
    assert len(asked) == 2


def test_a_callback_can_stop_compilations(write):
    fast, asked = compiled(write("stopped_kernels", SLOW)), []

    def stop_at_the_second():
        asked.append(1)
        if len(asked) == 2:
            raise TimeoutError

    with pytest.raises(TimeoutError), _compile.check_before_compiling(stop_at_the_second):
        fast.late(1)
    assert not fast.late.signatures
    assert fast.late(1) == 3


def test_the_callback_does_not_run_in_other_threads(write):
    fast, asked = compiled(write("free_kernels", SLOW)), []
    with _compile.check_before_compiling(lambda: asked.append(1)), ThreadPoolExecutor(1) as pool:
        assert pool.submit(fast.late, 1).result() == 3
    assert not asked


# --- without a compiler


@pytest.mark.parametrize(("value", "expected"), [("1", "False"), ("0", "True")])
def test_numba_may_be_switched_off(value, expected):
    done = run(
        "from frri._compile import numba_installed; print(numba_installed())",
        NUMBA_DISABLE_JIT=value,
    )
    assert done.stdout.strip() == expected, done.stderr


SMALL_FITS = """
    import sys
    import numpy as np
    from sklearn.datasets import load_iris, load_wine
    from frri import AdditiveRulesClassifier, FRRIClassifier, RIPPERClassifier

    X, y = load_wine(return_X_y=True)
    clf = FRRIClassifier().fit(X, y)
    clf.predict(X)
    assert clf.selection_.status == "optimal"
    print("frri", "numba" in sys.modules)
    AdditiveRulesClassifier().fit(*load_iris(return_X_y=True))
    print("additive", "numba" in sys.modules)
    X = np.random.RandomState(0).rand(200, 5)
    RIPPERClassifier(random_state=0).fit(X, X[:, 0] > 0.5)
    print("ripper", "numba" in sys.modules)
    """


def test_small_fits_do_not_import_the_compiler():
    done = run(SMALL_FITS)
    assert done.stdout.split() == ["frri", "False", "additive", "False", "ripper", "False"], (
        done.stderr
    )


# --- words


def test_bits_of_words_in_both_forms(write):
    source = """
        from frri._compile import kernel
        from frri.cover.matrix import lowest

        @kernel
        def place(word):
            return lowest(word)
        """
    module = write("kernels_of_words", source)
    values = [np.uint64(0), *(np.uint64(2**63 + 2**k) for k in range(63)), matrix.ALL]
    with np.errstate(over="ignore"):
        plain = [int(module.place(word)) for word in values]
    assert plain == [0, *range(63), 0]
    assert [compiled(module).place(word) for word in values] == plain

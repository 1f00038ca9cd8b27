"""Compiled twins: loaded by many threads, kept on disk where that can be done, stopped between kernels."""

import importlib.util
import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from frri import _twins
from frri._twins import compiled, compiled_before, vectors

numba = pytest.importorskip("numba")

SLOW = """
    import time
    from frri._twins import kernel

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
    for name in [name for name in _twins._twins if not name.startswith("frri.")]:
        del _twins._twins[name], sys.modules[name]


def at_once(*works):
    """Results of calls that begin together in threads of their own."""
    barrier = threading.Barrier(len(works))

    def begin(work):
        barrier.wait()
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(begin, works))


def test_a_twin_is_seen_only_when_it_is_whole(write):
    module = write("slow_kernels", SLOW)
    found = at_once(*4 * [lambda: compiled(module).late(1)])
    assert found == [3] * 4
    assert compiled(module).late is not module.late


GATED = """
    import gate
    from frri._twins import kernel

    if __name__ != "gated_kernels":
        gate.inside.set()
        gate.imported.wait(60)

    @kernel
    def same(x):
        return x
    """


def test_what_is_imported_while_a_twin_is_loaded_stays_interpreted(write):
    gate = write(
        "gate", "import threading\ninside, imported = threading.Event(), threading.Event()"
    )
    module = write("gated_kernels", GATED)

    def import_meanwhile():
        gate.inside.wait(60)
        found = write(
            "others_kernels", "from frri._twins import kernel\n@kernel\ndef same(x): pass"
        )
        gate.imported.set()
        return found

    twin, plain = at_once(lambda: compiled(module), import_meanwhile)
    assert twin.same is not module.same
    assert type(twin.same) is not type(plain.same) is type(lambda: None)


def test_an_inner_kernel_is_called_by_kernels_only(write):
    module = write(
        "layers_of_kernels", SLOW.replace("import kernel", "import inner_kernel as kernel")
    )
    assert module.late(1) == 3
    with pytest.raises(TypeError, match=r"late is called by other kernels only\."):
        compiled(module).late(1)
    around = """
        import layers_of_kernels
        from frri._twins import companion, kernel

        layers = companion(layers_of_kernels, __name__)

        @kernel
        def outer(x):
            return layers.late(x) + 1
        """
    assert compiled(write("outer_kernels", around)).outer(1) == 4


def test_a_twin_that_cannot_be_loaded_leaves_nothing_behind(write, tmp_path):
    module = write("failing_kernels", "from frri._twins import kernel, is_twin")
    source = tmp_path / "failing_kernels.py"
    source.write_text("1 / 0")
    with pytest.raises(ZeroDivisionError):
        compiled(module)
    assert not compiled_before(module)
    assert "failing_kernels_compiled" not in sys.modules
    again = write(
        "others_kernels", "from frri._twins import kernel\n@kernel\ndef same(x): return x"
    )
    assert type(again.same) is type(lambda: None)
    source.write_text("from frri._twins import kernel\n@kernel\ndef same(x): return x")
    assert compiled(module).same(2) == 2


USE = """
    import sys
    import numpy as np
    from concurrent.futures import ThreadPoolExecutor
    from sklearn.base import clone
    from sklearn.model_selection import cross_val_score
    from joblib import parallel_config
    from frri import FRRIClassifier, RIPPERClassifier, RuleSet
    from frri.learners.ripper import _sorted_columns
    from frri.rules import _prediction

    _sorted_columns.COMPILED_FROM = _sorted_columns.LOADED_FROM = 0
    _prediction.COLD = _prediction.WARM = 0
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
    import helper_kernels
    from frri._twins import companion, kernel

    helper = companion(helper_kernels, {of})
    value = helper.value

    @kernel
    def twice(x):
        return 2 * value(x)
    """
HELPER = """
    from frri._twins import kernel

    @kernel
    def value(x):
        return x + {number}
    """
CALL = """
    import caller_kernels
    from frri._twins import compiled
    twin = compiled(caller_kernels)
    print(twin.twice(1), sum(twin.twice.stats.cache_hits.values()))
    """


def test_what_was_compiled_with_another_companion_is_not_used_and_nothing_deleted(tmp_path):
    sources, kept = tmp_path / "sources", tmp_path / "kept"
    sources.mkdir()
    (sources / "caller_kernels.py").write_text(textwrap.dedent(CALLER.format(of="of=__name__")))
    helper = sources / "helper_kernels.py"
    helper.write_text(textwrap.dedent(HELPER.format(number=1)))
    others = kept / "of_somebody_else" / "caller_kernels.twice-1.py311.nbi"
    others.parent.mkdir(parents=True)
    others.write_bytes(b"")
    os.utime(others, (1, 1))
    places = os.pathsep.join([str(sources), *filter(None, [os.environ.get("PYTHONPATH")])])

    def call():
        # Python's own cache looks at times and sizes only, and would hide the change.
        quiet = {"PYTHONDONTWRITEBYTECODE": "1"}
        done = run(CALL, NUMBA_CACHE_DIR=str(kept), PYTHONPATH=places, **quiet)
        assert not done.returncode, done.stderr
        return done.stdout.split()

    assert call() == ["4", "0"]
    assert call() == ["4", "1"]
    before = helper.stat()
    helper.write_text(textwrap.dedent(HELPER.format(number=5)))
    os.utime(helper, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert call() == ["12", "0"]
    assert call() == ["12", "1"]
    assert others.exists()


@pytest.mark.parametrize("step", ["_open_for_write", "_load_index"])
def test_a_disk_that_cannot_be_used_does_no_harm(write, monkeypatch, step):
    from numba.core.caching import IndexDataCacheFile

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(IndexDataCacheFile, step, refuse)
    assert compiled(write("kept_kernels", SLOW)).late(1) == 3


def test_no_place_on_disk_at_all(write, monkeypatch):
    from numba.core import caching

    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    assert compiled(write("homeless_kernels", SLOW)).late(1) == 3


# --- stopped between kernels


def test_a_question_is_asked_before_every_compilation(write):
    twin, asked = compiled(write("asked_kernels", SLOW)), []
    with _twins.asking(lambda: asked.append(1)):
        assert twin.late(1) == 3
    assert len(asked) == 2  # late, and early that it calls
    with _twins.asking(lambda: asked.append(1)):
        assert twin.late(1) == 3
    assert len(asked) == 2


def test_compilations_end_where_the_question_says_so(write):
    twin, asked = compiled(write("stopped_kernels", SLOW)), []

    def stop_at_the_second():
        asked.append(1)
        if len(asked) == 2:
            raise TimeoutError

    with pytest.raises(TimeoutError), _twins.asking(stop_at_the_second):
        twin.late(1)
    assert not twin.late.signatures
    assert twin.late(1) == 3


def test_other_threads_are_not_asked(write):
    twin, asked = compiled(write("free_kernels", SLOW)), []
    with _twins.asking(lambda: asked.append(1)), ThreadPoolExecutor(1) as pool:
        assert pool.submit(twin.late, 1).result() == 3
    assert not asked


# --- vectors


def hide_llvm(monkeypatch):
    monkeypatch.setitem(sys.modules, "llvmlite", None)


def break_vectors(monkeypatch):
    from llvmlite import ir

    monkeypatch.delattr(ir.IRBuilder, "shuffle_vector")


def spoil_vectors(monkeypatch):
    from llvmlite import ir

    monkeypatch.setattr(ir.IRBuilder, "icmp_unsigned", ir.IRBuilder.icmp_signed)


@pytest.mark.parametrize("change", [hide_llvm, break_vectors, spoil_vectors])
def test_without_vector_instructions_there_are_loops(monkeypatch, change):
    from frri.rules import _lookup_kernels as sure
    from frri.rules import _predict_kernels as prediction
    from frri.rules import _quantize_kernels as cells_

    def nowhere(*_):
        raise RuntimeError

    monkeypatch.setattr(_twins, "_twins", {})
    monkeypatch.setattr(_twins, "_keep_on_disk", nowhere)
    for module in (vectors, cells_, sure, prediction):
        name = module.__name__ + _twins.TWIN
        monkeypatch.setitem(sys.modules, name, sys.modules.get(name))
    with monkeypatch.context() as changed:
        change(changed)
        twin = compiled(vectors)
    assert twin.FORM == "loops"
    rng = np.random.default_rng(13)
    sets = rng.integers(0, 2**63, (3, 8), dtype=np.uint64)
    cells = rng.integers(0, 255, (2, 128), endpoint=True, dtype=np.uint8)
    cells[0, :2] = 50, 99
    found, expected = np.zeros_like(sets), np.zeros_like(sets)
    narrow, beyond, within = twin.narrow, twin.beyond, twin.within
    for o in range(3):
        left = vectors.narrow(expected, o, sets, 0, sets, 1, 2)
        assert narrow(found, o, sets, 0, sets, 1, 2) == left
        np.testing.assert_array_equal(found, expected)
        sides = vectors.beyond(sets, o, sets, 1, sets, 0, 2)
        assert beyond(sets, o, sets, 1, sets, 0, 2) == sides
        word = vectors.within(cells, 1, o, *cells[0, :2])
        assert within(cells, 1, o, *cells[0, :2]) == word
    if change is hide_llvm:  # once through a kernel that uses them
        cells = rng.integers(0, 255, (2, prediction.BLOCK), endpoint=True, dtype=np.uint8)
        low, high = np.array([20, 90], dtype=np.uint8), np.array([200, 255], dtype=np.uint8)
        arguments = cells, 0, 2, np.arange(2), low, high
        slow, fast = np.zeros((2, prediction.BLOCK + 1), dtype=np.int64)
        with np.errstate(over="ignore"):
            expected = prediction.inside_supports(*arguments, slow)
        assert compiled(prediction).inside_supports(*arguments, fast) == expected
        np.testing.assert_array_equal(fast, slow)


def test_here_there_are_vector_instructions():
    assert compiled(vectors).FORM == "instructions"


def test_every_kernel_module_is_where_its_twin_expects_it():
    """Names that end like a twin's would be taken for one."""
    sources = Path(_twins.__file__).parents[1].rglob("*.py")
    assert not [source for source in sources if source.stem.endswith(_twins.TWIN)]


def test_lowest_bits_in_every_form():
    words = [np.uint64(0), *(np.uint64(2**63 + 2**k) for k in range(64 - 1)), np.uint64(2**63)]
    with np.errstate(over="ignore"):
        plain = [int(vectors.lowest(word)) for word in words]
    assert plain == [0, *range(63), 63]
    lowest = compiled(vectors).lowest

    @numba.njit
    def found(word):
        return lowest(word)

    assert [found(word) for word in words] == plain

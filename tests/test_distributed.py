"""FRRI on a local cluster of processes: identical rules, also after failures of workers."""

import os
import pickle
import signal
import sys
import time
from pathlib import Path

import cloudpickle
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import frri.distributed
from frri import induction
from frri.distributed import (
    DaskAdditiveRulesClassifier,
    DaskFRRIClassifier,
)
from frri.distributed import cluster as cluster_module
from frri.induction import bitmap_backend
from frri.learners.additive import blocks as additive_blocks
from frri.learners.frri import classifier as local_module
from thorough import THOROUGH, some

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pytest.importorskip("numba")

import dask.array as da  # noqa: E402 - it may not be there
import dask.dataframe as dd  # noqa: E402

# Warnings of Dask itself are ignored.
pytestmark = pytest.mark.filterwarnings("ignore:::(distributed|dask)", "ignore:Running on a single")
# Workers cannot import this file.
cloudpickle.register_pickle_by_value(sys.modules[__name__])
PHASES = ("confidences", "shortening", "covers", "selection")


class Trouble(distributed.WorkerPlugin):
    """A failure, once, of the first worker that begins a task of a phase; its file contains the kind."""

    name = "trouble"

    def __init__(self, folder, client):
        self.folder, self.client = Path(folder), client

    def setup(self, worker):
        """Do nothing."""

    def transition(self, key, _, finish, **__):
        if finish != "executing":
            return
        order = self.folder / str(key).removeprefix("frri-").partition("-")[0]
        try:
            what = order.read_text()
            order.unlink()  # one worker alone can
        except OSError:
            return
        (self.folder / "done").write_text(what)
        if what == "death":
            os.kill(os.getpid(), signal.SIGKILL)
        elif what == "interrupt":
            os.kill(self.client, signal.SIGINT)
        else:
            time.sleep(0.5)


def started(n_workers):
    # On a busy machine, a new worker takes more than half a minute to connect.
    dask.config.set({"distributed.comm.timeouts.connect": "300s"})
    if hasattr(os, "fork"):  # workers are copies of a process that has imported everything
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
        imported = ["distributed", "dask.array", "dask.dataframe", "frri.distributed"]
        distributed.utils.get_mp_context().set_forkserver_preload(imported)
    # Kernels are not compiled for such small tables; the interpreted source is the same.
    slow = {} if THOROUGH else {"env": {"NUMBA_DISABLE_JIT": "1"}}
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0", **slow
    )


@pytest.fixture(scope="module")
def cluster():
    with started(2) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def orders(tmp_path_factory):
    return tmp_path_factory.mktemp("orders")


@pytest.fixture(scope="module")
def client(cluster, orders):
    with distributed.Client(cluster) as client:
        client.register_plugin(Trouble(orders, os.getpid()))
        yield client


@pytest.fixture
def trouble(orders):
    """Order a failure in a phase, and check afterwards that it occurred."""
    ordered = []

    def order(phase, what):
        (orders / phase).write_text(what)
        ordered.append(what)

    yield order
    for what in ordered:
        assert (orders / "done").read_text() == what
        (orders / "done").unlink()


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Tables of a few hundred objects are divided into many blocks."""
    monkeypatch.setattr(induction, "DIVIDED_FROM", 0)
    monkeypatch.setattr(bitmap_backend, "BLOCK_ROWS", 50)


@pytest.fixture(autouse=True)
def _busy_machine(monkeypatch):
    """Allow more time for new workers on a busy machine."""
    monkeypatch.setattr(cluster_module, "PATIENCE", 300)


def scaled(cluster, client, n_workers):
    cluster.scale(n_workers)
    while len(client.scheduler_info()["workers"]) != n_workers:
        time.sleep(0.02)


def made(n, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 40, (n, 3)) / 8, columns=["a", "b", "c"])
    y = (X["a"] > 2).astype(int) + ((X["a"] > 2) & (X["c"] > 2.5))
    return X, pd.Series(np.array(["low", "middle", "high"])[y], name="kind")


@pytest.fixture(scope="module")
def table():
    return made(200)


@pytest.fixture(scope="module")
def here(table):
    return frri.FRRIClassifier(work_limit=500).fit(*table)


def assert_same(one, other):
    assert one.ruleset_ == other.ruleset_
    assert one.ruleset_.to_json() == other.ruleset_.to_json()  # dates are fixed in tests
    for name in ("confidence_", "condition_types_", "selected_", "uncovered_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), strict=True)


# --- the same rules


def test_rules_are_those_of_one_machine(client, table, here):
    there = DaskFRRIClassifier(client=client, work_limit=500).fit(*table)
    assert_same(there, here)
    assert there.selection_.status == "optimal"


@pytest.mark.parametrize(
    "settings",
    [
        {"work_limit": 0},
        {"max_rules": 5},
        {"coverage": 0.9},
        {"max_conditions": 2, "min_support": 0.02},
        {"attribute_order": "mutual-information"},
        {"candidates": "all-minimal", "max_candidates": 3},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_settings_mean_the_same(client, settings):
    X, y = made(100, seed=3)
    X.loc[:3], y.loc[:3] = X.loc[[0, 0, 2, 2]].to_numpy(), ["low", "high", "low", "middle"]
    settings = {"work_limit": 1000, **settings}
    there = DaskFRRIClassifier(client=client, **settings).fit(X, y)
    assert_same(there, frri.FRRIClassifier(**settings).fit(X, y))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_odd_tables(client):
    for X, y in (
        ([[1.0, 2.0]], ["only"]),
        ([[1.0], [1.0], [2.0]], [0, 1, 1]),
        (np.ones((130, 2)), ["a"] * 130),
        (np.ones((130, 2)), ["a"] * 60 + ["b"] * 70),
    ):
        assert_same(DaskFRRIClassifier(client=client).fit(X, y), frri.FRRIClassifier().fit(X, y))


@pytest.mark.parametrize("phase", some(PHASES, 1, 3))
def test_a_worker_that_dies_costs_time_only(client, cluster, trouble, table, here, phase):
    # The table is lost with the only worker, and sent again.
    scaled(cluster, client, 1 if phase == "selection" else 2)
    trouble(phase, "death")
    assert_same(DaskFRRIClassifier(client=client, work_limit=500).fit(*table), here)


@pytest.mark.parametrize("n_workers", [1, *([4] if os.environ.get("FRRI_THOROUGH") else [])])
def test_the_number_of_workers_does_not_matter(client, cluster, table, here, n_workers):
    scaled(cluster, client, n_workers)
    there = DaskFRRIClassifier(client=cluster.scheduler_address, work_limit=500).fit(*table)
    assert_same(there, here)


# --- an end in any phase


@pytest.fixture(scope="module")
def noisy():
    """Return a table whose minimum number of rules takes long to prove."""
    rng = np.random.default_rng(0)
    return rng.integers(0, 5, (200, 8)).astype(float), rng.integers(0, 2, 200)


def assert_idle(client):
    """Check that a fit leaves neither tasks nor data."""
    for _ in range(1000):
        left = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))
        if not left:
            return
        time.sleep(0.05)
    raise AssertionError(left)


@pytest.mark.parametrize("phase", some(("dtypes0", *PHASES), 0, 2))
def test_an_interrupt_before_there_are_rules_ends_the_fit(client, trouble, noisy, phase):
    trouble(phase, "interrupt")
    X = da.from_array(noisy[0], chunks=(50, 8))
    clf = DaskFRRIClassifier(client=client)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, noisy[1])
    assert not hasattr(clf, "ruleset_")
    assert_idle(client)


def assert_found(clf, X, reason):
    assert clf.selection_.stopped_by == reason
    assert 0 < clf.selection_.lower_bound <= clf.selection_.n_rules
    assert clf.ruleset_.covers(X).any(axis=1).all()


@pytest.mark.parametrize("phase", some(PHASES[:3], 1))
def test_time_that_is_over_before_the_search(client, trouble, noisy, phase):
    trouble(phase, "delay")
    clf = DaskFRRIClassifier(client=client, time_limit=0.4)
    with pytest.warns(UserWarning, match="stopped by `time_limit`"):
        clf.fit(*noisy)
    assert_found(clf, noisy[0], "time")
    assert_idle(client)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_time_that_is_over_in_the_search(client, noisy, monkeypatch):
    for module in (
        frri.FRRIClassifier.fit.__globals__,
        frri.FRRIClassifier._learn.__globals__,
        cluster_module.__dict__,
    ):
        monkeypatch.setitem(module, "perf_counter", lambda: 0.0)  # whatever comes before takes none
    clf = DaskFRRIClassifier(client=client, time_limit=1e-6).fit(
        *noisy
    )  # however quick the machine
    assert_found(clf, noisy[0], "time")


# --- covers that no worker can hold


@pytest.fixture
def _large_here(monkeypatch):
    """Limit the memory for covers of a fit in this process."""
    monkeypatch.setattr(local_module, "LEAST_BYTES", 100)
    monkeypatch.setattr(local_module, "BESIDES", 0)


@pytest.mark.usefixtures("_large_here")
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore:overflow")
def test_broad_rules_come_first_as_on_one_machine(client):
    X, y = made(200)
    base = 200 * (3 * local_module.PER_VALUE + local_module.PER_SAMPLE)
    limit = {"work_limit": 50, "memory_limit": base + 800}
    here = frri.FRRIClassifier(**limit).fit(X, y)
    there = DaskFRRIClassifier(client=client, **limit).fit(X, y)
    assert here.selection_.stopped_by == "memory"
    assert_same(there, here)
    with pytest.raises(MemoryError, match="but memory_limit is 0 MB: raise it"):
        DaskFRRIClassifier(client=client, memory_limit=base).fit(X, y)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_broad_rules_come_first_where_workers_have_less_memory_than_allowed(client, monkeypatch):
    X, _ = made(200)
    y = np.where(X["a"] + X["c"] > 5, "over", "under")
    here = frri.FRRIClassifier(work_limit=200).fit(X, y)
    monkeypatch.setattr(cluster_module.Cluster, "room", lambda _: 1000)
    little = {"work_limit": 200, "memory_limit": "1 GB"}  # more than workers have
    with pytest.warns(UserWarning, match="the memory that candidates may take"):
        there = DaskFRRIClassifier(client=client, **little).fit(X, y)
    proved = there.selection_
    assert proved.status == "feasible"
    assert proved.stopped_by == "memory"
    assert 0 < proved.lower_bound <= here.selection_.n_rules <= proved.n_rules
    np.testing.assert_array_equal(there.uncovered_, here.uncovered_)
    again = DaskFRRIClassifier(client=client, **little).fit(X, y)
    assert again.ruleset_ == there.ruleset_
    with pytest.raises(MemoryError, match="but there are only 0 MB free"):
        DaskFRRIClassifier(client=client).fit(X, y)


# --- tables of Dask


@pytest.mark.parametrize("kind", ["frame", "array"])
def test_dask_tables(client, table, here, kind):
    X, y = table
    if kind == "array":
        X, y = X.to_numpy(), y.to_numpy()
        here = frri.FRRIClassifier(work_limit=500).fit(X, y)
        there_X, there_y = da.from_array(X, chunks=(90, 1)), da.from_array(y, chunks=90)
    else:
        # One partition is empty, and the last lacks classes.
        last = y[y == "low"].index[-5:]
        rest = X.index.difference(last)
        parts = [rest[:50], rest[:0], rest[50:], last]
        X, y = (pd.concat([t.loc[p] for p in parts]) for t in (X, y))
        here = frri.FRRIClassifier(work_limit=500).fit(X, y)
        there_X, there_y = (dd.from_map(t.loc.__getitem__, parts, meta=t.iloc[:0]) for t in (X, y))
    clf = DaskFRRIClassifier(client=client, work_limit=500).fit(there_X, there_y)
    assert_same(clf, here)
    answers, shares = clf.predict(there_X), clf.predict_proba(there_X)
    assert dask.is_dask_collection(answers)
    assert dask.is_dask_collection(shares)
    np.testing.assert_array_equal(np.asarray(answers.compute()), here.predict(X))
    np.testing.assert_array_equal(shares.compute(), here.predict_proba(X))
    assert answers.dtype == here.classes_.dtype
    if kind == "frame":
        assert answers.compute().index.equals(X.index)
    np.testing.assert_array_equal(clf.predict(X), here.predict(X))
    np.testing.assert_array_equal(clf.predict_proba(X), here.predict_proba(X))


def of_parts(*parts):
    return dd.from_delayed(
        [dask.delayed(p) for p in parts], meta=parts[0].iloc[:0], verify_meta=False
    )


def test_partitions_that_differ(client):
    one = pd.DataFrame({"a": [1, 2], "b": [1.0, 2.0]})
    y = ["x", "y", "x", "y"]
    clf = DaskFRRIClassifier(client=client)
    with pytest.raises(
        ValueError, match=r"column 'a' is int64 in partition 0 and float64 in partition 1"
    ):
        clf.fit(of_parts(one, one.astype({"a": float})), y)
    with pytest.raises(
        ValueError, match=r"Partition 0 has the columns 'a', 'b' but partition 1 'a', 'z'"
    ):
        clf.fit(of_parts(one, one.rename(columns={"b": "z"})), y)
    with pytest.raises(
        ValueError, match=r"The target is .* in partition 0 and int64 in partition 1"
    ):
        clf.fit(of_parts(one, one), of_parts(pd.Series(["x", "y"]), pd.Series([1, 2])))
    with pytest.raises(ValueError, match="4 rows but there are 3 labels"):
        clf.fit(of_parts(one, one), y[:3])


# --- clients


def test_no_client(monkeypatch):
    def none():
        raise ValueError("No global client found and no address provided")

    monkeypatch.setattr(distributed, "get_client", none)
    with pytest.raises(ValueError, match="There is no Dask client: start one"):
        DaskFRRIClassifier().fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(TypeError, match=r"client must be a distributed.Client, .* got 3"):
        DaskFRRIClassifier(client=3).fit([[1.0], [2.0]], [0, 1])


def test_a_cluster_without_scheduler_or_workers(monkeypatch):
    monkeypatch.setattr(cluster_module, "PATIENCE", 0.2)
    with pytest.raises(ConnectionError, match=r"No scheduler answers at 'tcp://127.0.0.1:1'"):
        DaskFRRIClassifier(client="tcp://127.0.0.1:1").fit([[1.0], [2.0]], [0, 1])
    with started(0) as empty, distributed.Client(empty, set_as_default=False) as client:
        clf = DaskFRRIClassifier(client=client)
        with pytest.raises(ConnectionError, match=r"has had no worker for 0\.2 seconds"):
            clf.fit([[1.0], [2.0]], [0, 1])
        with pytest.raises(ConnectionError, match=r"has had no worker for 0\.2 seconds"):
            cluster_module.Cluster(client).send([1.0])
    with pytest.raises(ConnectionError, match=r"The client of .* is closed: start a new one"):
        clf.fit([[1.0], [2.0]], [0, 1])


def test_a_scheduler_lost_on_the_way(client):
    class Gone:
        status = "connecting"
        scheduler = client.scheduler

    def lost():
        raise distributed.client.FutureCancelledError("x", "scheduler-connection-lost")

    with pytest.raises(ConnectionError, match=r"The scheduler at .* no longer answers"):
        cluster_module.Cluster(Gone()).attempt(lost)
    with pytest.raises(RuntimeError, match="Workers died again and again"):
        cluster_module.Cluster(client).attempt(lost)


def test_estimators_are_copied_and_saved_without_their_client(client, table):
    clf = DaskFRRIClassifier(client=client, work_limit=7)
    copy = clone(clf)
    assert copy.client is client
    assert copy.get_params() == clf.get_params()
    clf.fit(*table)
    saved = pickle.loads(pickle.dumps(clf))
    assert saved.client is None
    assert saved.ruleset_ == clf.ruleset_
    with pytest.raises(TypeError, match="unexpected keyword argument 'efort'"):
        DaskFRRIClassifier(efort=3)


@pytest.mark.usefixtures("client")  # the one in use
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_joblib_hands_bags_to_the_cluster(table):
    from joblib import parallel_config

    settings = {"n_estimators": 2, "random_state": 0, "work_limit": 100}
    with parallel_config(backend="dask"):
        there = frri.FRRIBaggingClassifier(**settings).fit(*table)
    assert there.ruleset_ == frri.FRRIBaggingClassifier(**settings).fit(*table).ruleset_


@pytest.mark.usefixtures("client")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rules_of_some_rows_are_checked_against_all_partitions(table):
    X, y = (dd.from_pandas(part, npartitions=3) for part in table)
    few = [part.get_partition(0).compute() for part in (X, y)]
    parts = zip(X.to_delayed(), y.to_delayed(), strict=True)
    clf = frri.FRRIBaggingClassifier(n_estimators=2, random_state=0, work_limit=100)
    clf.fit(*few, check_batches=(dask.compute(*part) for part in parts))
    assert clf.selection_.n_further == len(table[0])
    consequents = np.array([rule.consequent for rule in clf.ruleset_])
    wrong = clf.ruleset_.covers(table[0]) & (table[1].to_numpy()[:, None] != consequents)
    assert not wrong.any()


# --- additive rules


def voting(**settings):
    return {"max_rules": 3, "max_conditions": 2, **settings}


@pytest.fixture(scope="module")
def blocky():
    """Return a table of four blocks with missing values and categories, and the rules of one machine."""
    X, y = made(190, seed=5)
    X["d"] = np.where(X["b"] > 2, "red", "green")
    X.loc[::9, "a"], X.loc[::11, "d"] = np.nan, None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(additive_blocks, "BLOCK", 50)
        return X, y, frri.AdditiveRulesClassifier(**voting()).fit(X, y)


@pytest.mark.parametrize("n_workers", [2, *([1, 4] if os.environ.get("FRRI_THOROUGH") else [])])
def test_additive_rules_are_those_of_one_machine(
    client, cluster, trouble, blocky, n_workers, monkeypatch
):
    X, y, here = blocky
    monkeypatch.setattr(additive_blocks, "BLOCK", 50)
    scaled(cluster, client, n_workers)
    trouble("curvature3", "death")  # of a worker, with its blocks
    given = (dd.from_pandas(X, npartitions=2), dd.from_pandas(y, npartitions=2))
    there = DaskAdditiveRulesClassifier(client=client, **voting()).fit(*given)
    assert there.ruleset_ == here.ruleset_
    assert there.ruleset_.to_json() == here.ruleset_.to_json()
    assert there.predict(given[0]).compute().tolist() == here.predict(X).tolist()
    copy = pickle.loads(pickle.dumps(clone(there).set_params(client=None)))
    assert copy.get_params() == there.get_params() | {"client": None}


def test_additive_rules_can_be_interrupted(client, trouble, blocky, monkeypatch):
    monkeypatch.setattr(additive_blocks, "BLOCK", 50)
    trouble("gradient2", "interrupt")
    clf = DaskAdditiveRulesClassifier(client=client, **voting())
    with pytest.raises(KeyboardInterrupt):
        clf.fit(*blocky[:2])
    assert_idle(client)


def test_blocks_are_sent_without_their_caches(blocky, monkeypatch):
    X, y, _ = blocky
    kept = []
    monkeypatch.setattr(additive_blocks, "BLOCK", 50)
    make = frri.AdditiveRulesClassifier._blocks
    monkeypatch.setattr(
        frri.AdditiveRulesClassifier,
        "_blocks",
        lambda *a, **arrays: kept.append(make(*a, **arrays)) or kept[-1],
    )
    frri.AdditiveRulesClassifier(max_rules=1, calibrate=False).fit(X, y)
    block = kept[0].blocks[0]
    sent = pickle.loads(pickle.dumps(block))
    assert block._degrees
    assert not sent._degrees
    model = block._last["_derivatives"][0]
    np.testing.assert_array_equal(sent.scan(model, (), (0,)), block.scan(model, (), (0,)))

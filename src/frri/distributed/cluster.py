"""A cluster for the time of one fit: tasks that survive their workers, complaints in one sentence."""

from __future__ import annotations

import os
import platform
import signal
import uuid
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

from frri._util import import_optional
from frri.cover.budget import stop_when

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Result = TypeVar("Result")

# How often everything is begun again after data were lost with the last worker that had them.
ATTEMPTS = 4
# Seconds to wait for a scheduler, and for the first worker of a cluster that starts them on demand.
PATIENCE = 30
# How many parts a task of a reduction takes.
FAN_IN = 16

# Bytes of a worker that has not been told how much it may take.
UNLIMITED = 1 << 62

Future = Any


class Cluster:
    """Tasks on the workers of a client, each named after its phase.

    A task that is lost with its worker is done again elsewhere, with all that it needs. Only what was sent
    from here cannot be made there: `attempt` begins again if the last copy is gone.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self.name = ""
        self.ending = False
        self._tasks: WeakSet[Any] = WeakSet()

    def attempt(self, work: Callable[[], Result]) -> Result:
        """What comes of the work, begun again while workers take their data with them."""
        distributed = import_optional("distributed", "Learning on a cluster", "dask")
        for _ in range(ATTEMPTS):
            self.name, self.ending = uuid.uuid4().hex[:8], False
            try:
                return work()
            except (CancelledError, distributed.comm.CommClosedError):
                self._check_scheduler()
                self.cancel()
            except distributed.KilledWorker as error:
                phase = str(error.task).removeprefix("frri-").partition("-")[0]
                break
            except BaseException:
                # Nobody waits for the rest: what an exception holds would keep the workers at it.
                self.cancel()
                self._check_scheduler()
                raise
        else:
            phase = "all"
        raise RuntimeError(
            f"Workers died again and again while they did the same task ({phase}): they may need more "
            "memory, or fewer threads each."
        )

    def end(self) -> None:
        """Let searches on the workers end with the best that they have found."""
        self.ending = True

    def cancel(self) -> None:
        """Forget all tasks; one that runs is not waited for."""
        tasks = [task for task in self._tasks if not task.cancelled()]
        if tasks and self.client.status == "running":
            with suppress(OSError):
                self.client.cancel(tasks, reason="the fit has ended")

    def send(self, data: Any) -> Future:
        """Data for all workers."""
        try:
            (sent,) = self.client.scatter([data], broadcast=True, hash=False)
            return self.known(sent)
        except TimeoutError:
            raise _no_workers(self.client) from None
        except ValueError as error:
            if "replicate" not in str(error):
                raise
            # The last worker has died since it got the data, before the copies of others were made.
            raise CancelledError from error

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Keep Ctrl-C, which a terminal tells all of its processes, from workers that would end of it."""
        if not hasattr(os, "getpgid"):
            yield
            return
        here = platform.node(), os.getpgid(0), os.getpid()
        try:
            self.client.run(_listening, False, *here, on_error="ignore")
        except OSError:
            raise _lost(self.client) from None
        try:
            yield
        finally:
            if self.client.status == "running":
                with suppress(OSError):  # nobody is there any more
                    self.client.run(_listening, True, *here, on_error="ignore")

    def submit(
        self, phase: str, number: int, work: Callable[..., Any], *known: Any, at: str | None = None
    ) -> Future:
        """One task of a phase, wherever there is a worker for it or at the address of one."""
        where = {} if at is None else {"workers": [at]}
        key = f"frri-{phase}-{self.name}-{number}"
        return self.known(self.client.submit(work, *known, key=key, **where))

    def known(self, task: Future) -> Future:
        """A task that is cancelled with the others."""
        self._tasks.add(task)
        return task

    def map(self, phase: str, work: Callable[..., Any], *known: Sequence[Any]) -> list[Future]:
        """A task for each set of arguments."""
        return [
            self.submit(phase, i, work, *each) for i, each in enumerate(zip(*known, strict=True))
        ]

    def reduce(self, phase: str, operation: Callable[..., Any], parts: Sequence[Future]) -> Any:
        """Arrays become one by an operation that asks for no order, on the workers."""
        step = 0
        while len(parts) > 1:
            groups = [list(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
            steps = [operation] * len(groups)
            parts, step = self.map(f"{phase}{step}", _reduced, steps, groups), step + 1
        return self.gather(parts[0])

    def gather(self, futures: Any) -> Any:
        """Results, here."""
        while self.ending:  # workers that have come since are told as well
            self.client.run(_end, self.name, on_error="ignore")
            with suppress(TimeoutError):
                import_optional("distributed", "Learning on a cluster", "dask").wait(
                    futures, timeout=1
                )
                break
        return self.client.gather(futures)

    def room(self) -> int:
        """The memory of the smallest worker, in bytes."""
        limits = [worker["memory_limit"] for worker in self._workers().values()]
        return min((int(limit or UNLIMITED) for limit in limits), default=UNLIMITED)

    def threads(self) -> dict[str, int]:
        """How many tasks each worker does at the same time, by its address; there is one at least."""
        try:
            self.client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise _no_workers(self.client) from None
        return {address: int(worker["nthreads"]) for address, worker in self._workers().items()}

    def _workers(self) -> dict[str, dict[str, Any]]:
        workers: dict[str, dict[str, Any]] = self.client.scheduler_info(n_workers=-1)["workers"]
        return workers

    def _check_scheduler(self) -> None:
        with suppress(OSError):
            if self.client.status == "running":
                self.client.ncores()  # it may be gone without being missed yet
                return
        raise _lost(self.client) from None


# --- On the workers

# Fits whose searches are to end.
_ended: set[str] = set()


def _end(name: str) -> None:
    _ended.add(name)


# What the worker does at Ctrl-C where nobody keeps it from that.
_usual: list[Any] = []


def _listening(wanted: bool, host: str, group: int, client: int) -> None:
    """Whether a worker of the same terminal as the client is to hear Ctrl-C."""
    if (platform.node(), os.getpgid(0)) != (host, group) or os.getpid() == client:
        return
    if not wanted:
        _usual.append(signal.signal(signal.SIGINT, signal.SIG_IGN))
    elif _usual:
        signal.signal(signal.SIGINT, _usual.pop())


def ended_with(name: str) -> AbstractContextManager[None]:
    """Searches of this thread end when those of a fit are to."""
    return stop_when(lambda: name in _ended)


def _reduced(operation: Callable[..., Any], parts: Sequence[Any]) -> Any:
    found = parts[0]
    for part in parts[1:]:
        found = operation(found, part)
    return found


# --- Clients


@contextmanager
def connected(client: Any) -> Iterator[Cluster]:
    """A cluster that answers: of a client, of the address of a scheduler, or of the client in use."""
    distributed = import_optional("distributed", "Learning on a cluster", "dask")
    if isinstance(client, str):
        try:
            own = distributed.Client(client, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError):
            raise ConnectionError(
                f"No scheduler answers at {client!r}: start one with `dask scheduler`, or give another "
                "address."
            ) from None
        with own:
            yield _answering(own)
    else:
        yield _answering(_given(client, distributed))


def _given(client: Any, distributed: Any) -> Any:
    if client is None:
        try:
            client = distributed.get_client()
        except ValueError:
            raise ValueError(
                "There is no Dask client: start one with `distributed.Client()`, or give one, or the "
                "address of a scheduler, as client=."
            ) from None
    if not isinstance(client, distributed.Client):
        raise TypeError(
            f"client must be a distributed.Client, the address of a scheduler or None, got {client!r}."
        )
    if client.asynchronous:
        raise ValueError("The client is asynchronous: give one made with asynchronous=False.")
    return client


def _answering(client: Any) -> Cluster:
    if client.status != "running":
        raise ConnectionError(
            f"The client of the scheduler at {_address(client)} is {client.status}: start a new one."
        )
    try:
        client.submit(int, pure=False).result(timeout=PATIENCE)
    except TimeoutError:
        raise _no_workers(client) from None
    except (CancelledError, OSError):
        raise _lost(client) from None
    return Cluster(client)


def _lost(client: Any) -> ConnectionError:
    return ConnectionError(
        f"The scheduler at {_address(client)} no longer answers: start it again, and a new client for it."
    )


def _no_workers(client: Any) -> ConnectionError:
    return ConnectionError(
        f"The scheduler at {_address(client)} has had no worker for {PATIENCE} seconds: start some with "
        "`dask worker`."
    )


def _address(client: Any) -> str:
    scheduler = getattr(client, "scheduler", None)
    return str(getattr(scheduler, "address", None) or "an unknown address")

"""A Dask cluster for the time of one fit: tasks that survive their workers, clear errors."""

from __future__ import annotations

import os
import platform
import signal
import uuid
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

from frri._util import import_optional
from frri.cover.budget import stop_when

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Result = TypeVar("Result")

# Attempts of a fit, after data were lost with the last worker that had them.
ATTEMPTS = 4
# Seconds to wait for a scheduler, and for the first worker of a cluster that starts them on demand.
PATIENCE = 30
# Bytes of a worker without a memory limit.
UNLIMITED = 1 << 62

Future = Any


class Cluster:
    """Tasks on the workers of a client, each named after its phase.

    A task that is lost with its worker is repeated elsewhere, with all that it needs. Data that
    were sent from here cannot be made there: `attempt` begins again if the last copy is gone.

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
        """Return the result of a function, which begins again if workers die with their data."""
        distributed = _import_distributed()
        phase = "all"
        for _ in range(ATTEMPTS):
            self.name, self.ending = uuid.uuid4().hex[:8], False
            try:
                with ExitStack() as stack:
                    stack.callback(self.cancel)  # if an error leaves tasks that nobody waits for
                    result = work()
                    stack.pop_all()
                    return result
            except (CancelledError, distributed.comm.CommClosedError):
                self._check_scheduler()
            except OSError:
                self._check_scheduler()
                raise
            except distributed.KilledWorker as error:
                phase = str(error.task).removeprefix("frri-").partition("-")[0]
                break
        raise RuntimeError(
            f"Workers died again and again while they did the same task ({phase}): they may need "
            "more memory, or fewer threads each."
        )

    def end(self) -> None:
        """Let searches on the workers end with the best that they have found."""
        self.ending = True

    def cancel(self) -> None:
        """Cancel all tasks; one that runs is not waited for."""
        tasks = [task for task in self._tasks if not task.cancelled()]
        if tasks and self.client.status == "running":
            with suppress(OSError):
                self.client.cancel(tasks, reason="the fit has ended")

    def send(self, data: Any) -> Future:
        """Send data to all workers."""
        try:
            (sent,) = self.client.scatter([data], broadcast=True, hash=False)
            return self.track(sent)
        except TimeoutError:
            raise _no_workers(self.client) from None
        except ValueError as error:
            if "replicate" not in str(error):
                raise
            # The last worker has died since it got the data, before others had copies.
            raise CancelledError from error

    @contextmanager
    def ignoring_interrupts(self) -> Iterator[None]:
        """Keep Ctrl-C, which a terminal sends to all of its processes, from the workers."""
        if not hasattr(os, "getpgid"):
            yield
            return
        here = platform.node(), os.getpgid(0), os.getpid()
        try:
            self.client.run(_handle_interrupts, False, *here, on_error="ignore")
        except OSError:
            raise _lost(self.client) from None
        try:
            yield
        finally:
            if self.client.status == "running":
                with suppress(OSError):  # the scheduler is gone
                    self.client.run(_handle_interrupts, True, *here, on_error="ignore")

    def submit(
        self, phase: str, number: int, work: Callable[..., Any], *known: Any, at: str | None = None
    ) -> Future:
        """Submit one task of a phase, to any worker or to the one at an address."""
        where = {} if at is None else {"workers": [at]}
        key = f"frri-{phase}-{self.name}-{number}"
        return self.track(self.client.submit(work, *known, key=key, **where))

    def track(self, task: Future) -> Future:
        """Return a task that will be cancelled with the others."""
        self._tasks.add(task)
        return task

    def map(self, phase: str, work: Callable[..., Any], *known: Sequence[Any]) -> list[Future]:
        """Submit a task for each tuple of arguments."""
        return [
            self.submit(phase, i, work, *each) for i, each in enumerate(zip(*known, strict=True))
        ]

    def gather(self, futures: Any) -> Any:
        """Return the results of tasks, here."""
        while self.ending:  # workers that have come since have to end as well
            self.client.run(_end, self.name, on_error="ignore")
            with suppress(TimeoutError):
                _import_distributed().wait(futures, timeout=1)
                break
        return self.client.gather(futures)

    def room(self) -> int:
        """Return the memory of the smallest worker, in bytes."""
        limits = [worker["memory_limit"] for worker in self._workers().values()]
        return min((int(limit or UNLIMITED) for limit in limits), default=UNLIMITED)

    def threads(self) -> dict[str, int]:
        """Return the number of threads of each worker by address, after waiting for the first."""
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


@contextmanager
def connect(client: Any) -> Iterator[Cluster]:
    """Connect to a client, the address of a scheduler, or the client in use (None)."""
    distributed = _import_distributed()
    if isinstance(client, str):
        try:
            own = distributed.Client(client, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError):
            raise ConnectionError(
                f"No scheduler answers at {client!r}: start one with `dask scheduler`, or give "
                "another address."
            ) from None
        with own:
            yield _check_client(own)
        return
    if client is None:
        try:
            client = distributed.get_client()
        except ValueError:
            raise ValueError(
                "There is no Dask client: start one with `distributed.Client()`, or give one, or "
                "the address of a scheduler, as client=."
            ) from None
    if not isinstance(client, distributed.Client):
        raise TypeError(
            "client must be a distributed.Client, the address of a scheduler or None, "
            f"got {client!r}."
        )
    if client.asynchronous:
        raise ValueError("The client is asynchronous: give one made with asynchronous=False.")
    yield _check_client(client)


def _check_client(client: Any) -> Cluster:
    if client.status != "running":
        raise ConnectionError(
            f"The client of {_scheduler(client)} is {client.status}: start a new one."
        )
    try:
        client.submit(int, pure=False).result(timeout=PATIENCE)
    except TimeoutError:
        raise _no_workers(client) from None
    except (CancelledError, OSError):
        raise _lost(client) from None
    return Cluster(client)


def _import_distributed() -> Any:
    return import_optional("distributed", "Learning on a cluster", "dask")


def _lost(client: Any) -> ConnectionError:
    return ConnectionError(
        f"The {_scheduler(client)} no longer answers: start it again, and a new client for it."
    )


def _no_workers(client: Any) -> ConnectionError:
    return ConnectionError(
        f"The {_scheduler(client)} has had no worker for {PATIENCE} seconds: start some with "
        "`dask worker`."
    )


def _scheduler(client: Any) -> str:
    address = getattr(getattr(client, "scheduler", None), "address", None)
    return f"scheduler at {address or 'an unknown address'}"


# --- On the workers

# Fits whose searches are to end.
_ended: set[str] = set()
# Handlers of Ctrl-C that are replaced while a fit runs.
_handlers: list[Any] = []


def ended_with(name: str) -> AbstractContextManager[None]:
    """Let searches of this thread end when those of a fit are to."""
    return stop_when(lambda: name in _ended)


def _end(name: str) -> None:
    _ended.add(name)


def _handle_interrupts(wanted: bool, host: str, group: int, client: int) -> None:
    """Restore or ignore Ctrl-C in a worker of the same terminal as the client."""
    if (platform.node(), os.getpgid(0)) != (host, group) or os.getpid() == client:
        return
    if not wanted:
        _handlers.append(signal.signal(signal.SIGINT, signal.SIG_IGN))
    elif _handlers:
        signal.signal(signal.SIGINT, _handlers.pop())

"""A worker process: reads tasks from its input, writes finished cells to its output.

It is started as ``python -m frri.compare.worker`` and needs nothing of the program that started it, so
learners and metrics may be defined anywhere, also in a notebook: they arrive pickled by value.
"""

import os
import pickle
import queue
import signal
import struct
import sys
import threading
import traceback
from typing import IO, Any

READY = b"ready"
"""The first answer: everything is imported, time counts from here."""

_LENGTH = struct.Struct(">Q")


def send(stream: IO[bytes], message: bytes) -> None:
    """Write a message, its length first."""
    stream.write(_LENGTH.pack(len(message)) + message)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """Read a message; None if the other side is gone."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    message = stream.read(length)
    return message if len(message) == length else None


def main() -> None:
    """Work until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what learners print must not get between the answers
    inbox: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_listen, args=(inbox,), daemon=True).start()
    try:
        _work(inbox, answers)
    except BaseException:  # noqa: BLE001 - the last words of this process
        traceback.print_exc()
        sys.stderr.flush()
    # Without the usual farewell, which would wait for the thread that listens, and abort.
    os._exit(1)


def _work(inbox: "queue.Queue[bytes]", answers: IO[bytes]) -> None:
    first: dict[str, Any] = pickle.loads(inbox.get())  # noqa: S301 - from the parent process
    sys.path[:] = first["path"]
    work = _Work(pickle.loads(first["shared"]))  # noqa: S301
    send(answers, READY)
    while True:
        send(answers, pickle.dumps(work.do(pickle.loads(inbox.get()))))  # noqa: S301


def _listen(inbox: "queue.Queue[bytes]") -> None:
    """Pass messages on; when the parent is gone, so is this process, in the midst of a fit."""
    while (message := receive(sys.stdin.buffer)) is not None:
        inbox.put(message)
    os._exit(0)


class _Work:
    """What is the same for all tasks, and the data sets seen so far."""

    def __init__(self, shared: dict[str, Any]) -> None:
        from frri.compare.evaluation import evaluate  # noqa: PLC0415 - the caller's path comes first

        self._evaluate = evaluate
        self._shared = shared
        self._data: dict[str, Any] = {}

    def do(self, message: dict[str, Any]) -> Any:
        task = message["task"]
        if "data" in message:
            self._data[task.dataset] = message["data"]
        data, folds = self._data[task.dataset]
        shared = self._shared
        return self._evaluate(
            data, folds, shared["learners"][task.learner], task, shared["metrics"], shared["seed"]
        )


if __name__ == "__main__":
    main()

"""What differs between threads and asyncio: waiting, and work in the background."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, BinaryIO, Callable, Deque, Dict, Generic, Iterator, Mapping, Optional, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

    import httpx

    from .questions import AskedQuestion

    Answer = Optional[Mapping[str, Any]]

T = TypeVar("T")

OnAsk = Callable[["AskedQuestion"], "Answer"]
OnError = Callable[[Exception, "AskedQuestion"], None]


def handled(given: "Answer") -> "Answer":
    return given


def settled(future: "Future[T]") -> T:
    return future.result()


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def in_thread(work: "Callable[[], T]") -> "T":
    return work()


def chunks(file: BinaryIO) -> Iterator[bytes]:
    return iter(lambda: file.read(65_536), b"")


class Local(Generic[T]):
    """A value for each process: after a fork, the connections are shared with the parent, and its threads are missing."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: "Dict[int, T]" = {os.getpid(): make()}

    def get(self) -> T:
        found = self.made()
        # All threads get the one that is first in.
        return self._made.setdefault(os.getpid(), self._make()) if found is None else found

    def made(self) -> Optional[T]:
        return self._made.get(os.getpid())


class Signal:
    """Wakes one waiting thread. A ``set`` before the ``wait`` counts."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        self._event.set()

    def wait(self, timeout: Optional[float]) -> None:
        """Returns when it is set, or after the timeout."""
        self._event.wait(timeout)
        self._event.clear()


class Places:
    """As many as may do something at a time. Threads get a place in the order in which they came."""

    def __init__(self, count: int) -> None:
        self._lock = threading.Lock()
        self._free = count
        self._line: "Deque[threading.Event]" = deque()

    def try_take(self) -> bool:
        with self._lock:
            if self._free == 0:
                return False
            self._free -= 1
            return True

    def leave(self) -> None:
        with self._lock:
            if self._line:
                # It has the place now: a thread that comes meanwhile cannot take it.
                self._line.popleft().set()
            else:
                self._free += 1

    def __enter__(self) -> None:
        with self._lock:
            if self._free > 0:
                self._free -= 1
                return
            turn = threading.Event()
            self._line.append(turn)
        try:
            turn.wait()
        except BaseException:
            # Interrupted from the keyboard.
            self._give_up(turn)
            raise

    def __exit__(self, *_: object) -> None:
        self.leave()

    def _give_up(self, turn: threading.Event) -> None:
        with self._lock:
            if turn in self._line:
                self._line.remove(turn)
                return
        self.leave()


class Background:
    """Work in a thread that does not keep the process alive."""

    def __init__(self, work: Callable[["Background"], None]) -> None:
        self.stopped = False
        self._stopping = threading.Event()
        self._response: "Optional[httpx.Response]" = None
        threading.Thread(target=work, args=(self,), name="methods-events", daemon=True).start()

    def stop(self) -> None:
        self.stopped = True
        self._stopping.set()
        self._hang_up()

    def reads(self, response: "httpx.Response") -> None:
        """``stop`` ends the connection of this response, which wakes the thread that reads it."""
        self._response = response
        if self.stopped:
            self._hang_up()

    def pause(self, seconds: float) -> None:
        self._stopping.wait(seconds)

    def _hang_up(self) -> None:
        import socket

        stream: Any = self._response and self._response.extensions.get("network_stream")
        found = stream and stream.get_extra_info("socket")
        try:
            if found:
                found.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

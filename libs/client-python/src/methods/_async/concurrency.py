"""What differs between asyncio and threads: waiting, and work in the background. Its sync twin is written by hand."""

from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterator,
    Awaitable,
    BinaryIO,
    Callable,
    Coroutine,
    Dict,
    Generic,
    Mapping,
    Optional,
    TypeVar,
    Union,
)

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future

    import httpx

    from .questions import AsyncAskedQuestion

    Answer = Optional[Mapping[str, Any]]

T = TypeVar("T")

# asyncio is imported by the first call: it takes half the time that the import of this library may take.

AsyncOnAsk = Callable[["AsyncAskedQuestion"], "Union[Answer, Awaitable[Answer]]"]
AsyncOnError = Callable[[Exception, "AsyncAskedQuestion"], None]


async def handled(given: "Union[Answer, Awaitable[Answer]]") -> "Answer":
    return await given if isinstance(given, Awaitable) else given


async def settled(future: "Future[T]") -> T:
    import asyncio

    return await asyncio.wrap_future(future)


async def sleep(seconds: float) -> None:
    import asyncio

    await asyncio.sleep(seconds)


async def in_thread(work: "Callable[[], T]") -> "T":
    """For what blocks: the loop serves other tasks meanwhile."""
    import asyncio

    return await asyncio.to_thread(work)


def chunks(file: BinaryIO) -> AsyncIterator[bytes]:
    async def read() -> AsyncIterator[bytes]:
        while True:
            chunk = file.read(65_536)
            if not chunk:
                return
            yield chunk

    return read()


class AsyncLocal(Generic[T]):
    """A value for each event loop: connections, tasks and places of one are of no use in another."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: "Dict[asyncio.AbstractEventLoop, T]" = {}

    def get(self) -> T:
        import asyncio

        loop = asyncio.get_running_loop()
        found = self._made.get(loop)
        if found is None:
            for other in list(self._made):
                if other.is_closed():
                    self._made.pop(other, None)
            found = self._made[loop] = self._make()
        return found

    def made(self) -> Optional[T]:
        import asyncio

        return self._made.get(asyncio.get_running_loop())


class AsyncSignal:
    """Wakes one waiting task. A ``set`` before the ``wait`` counts."""

    def __init__(self) -> None:
        self._set = False
        self._woken: "Optional[asyncio.Future[None]]" = None

    def set(self) -> None:
        self._set = True
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)

    async def wait(self, timeout: Optional[float]) -> None:
        """Returns when it is set, or after the timeout."""
        import asyncio

        if not self._set:
            self._woken = asyncio.get_running_loop().create_future()
            try:
                # Without a timeout there is no timer.
                await (self._woken if timeout is None else asyncio.wait([self._woken], timeout=timeout))
            finally:
                self._woken = None
        self._set = False


class AsyncPlaces:
    """As many as may do something at a time."""

    def __init__(self, count: int) -> None:
        import asyncio

        self._free = count
        self._places = asyncio.Semaphore(count)

    def try_take(self) -> bool:
        if self._free == 0:
            return False
        self._free -= 1
        return True

    def leave(self) -> None:
        self._free += 1

    async def __aenter__(self) -> None:
        await self._places.acquire()

    async def __aexit__(self, *_: object) -> None:
        self._places.release()


class AsyncBackground:
    """Work that nothing waits for."""

    def __init__(self, work: Callable[["AsyncBackground"], Coroutine[Any, Any, None]]) -> None:
        import asyncio

        self.stopped = False
        self._task = asyncio.ensure_future(work(self))

    def stop(self) -> None:
        self.stopped = True
        self._task.cancel()

    def reads(self, response: "httpx.Response") -> None:
        """The work is cancelled while it reads."""

    async def pause(self, seconds: float) -> None:
        await sleep(seconds)

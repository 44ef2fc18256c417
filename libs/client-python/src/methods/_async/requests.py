"""Sends requests, and repeats those that failed in passing. Every request of the library is safe to repeat."""

from __future__ import annotations

import time
from math import inf
from typing import TYPE_CHECKING, Any, Callable, Coroutine, List, Optional, Tuple, TypeVar

from .._credentials import Credential
from .._errors import AuthenticationError, ConnectionFailed, MethodsError
from .._exchange import OUTAGE_S, REPLY_BYTES_MAX, USER_AGENT, Send, authorities, client_closed, connection_error
from .._exchange import log_reply, pause_after, read_reply, refusal, timed_out, unexpected
from .concurrency import AsyncLocal, AsyncPlaces, chunks, in_thread, sleep

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

#: Requests at a time, a connection each. Those that wait for a run, and streams, are counted by their callers.
_PLACES = 8
#: Connections that stay open for the next request: those, and the ones that wait.
_KEPT = 16
#: A request that waited this long had reached the service.
_REACHED_S = 1.0
#: Even a request that is late is tried for this long.
_MOMENT_S = 0.05


class Presented:
    """The token of one attempt: a refusal counts for it."""

    bearer = ""


class AsyncRequests:
    def __init__(self, credential: Credential, timeout: float, max_retries: int) -> None:
        self.credential = credential
        self.max_retries = max_retries
        self._timeout = timeout
        self._closed = False
        self._places = AsyncLocal(lambda: AsyncPlaces(_PLACES))
        self._http = AsyncLocal(lambda: _connections(credential.base_url))

    async def close(self) -> None:
        self._closed = True
        http = self._http.made()
        if http is not None:
            await http.aclose()

    async def send(self, request: Send, read: Callable[[Any], T]) -> T:
        """The reply as ``read`` understands it. Raises MethodsError."""

        async def once(presented: Presented) -> T:
            return read_reply(*await self._whole(request, presented, REPLY_BYTES_MAX), read)

        return await self._repeated(request, once)

    async def bytes_of(self, request: Send) -> bytes:
        """A reply of any size, as long as no part of it is late."""

        async def once(presented: Presented) -> bytes:
            return (await self._whole(request, presented, None))[1]

        return await self._repeated(request, once)

    async def open(self, request: Send, silence_s: float) -> "httpx.Response":
        """The reply as it arrives; the caller closes it. ``silence_s``: the longest time between two parts of it."""

        async def once(presented: Presented) -> "httpx.Response":
            return await self._attempt(request, presented, silence_s)

        return await self._repeated(request, once)

    def broken(self, error: Exception) -> ConnectionFailed:
        """The error of a reply that ended while it was read."""
        import httpx

        base_url = self.credential.base_url
        return timed_out(base_url) if isinstance(error, httpx.TimeoutException) else connection_error(error, base_url)

    async def _whole(
        self, request: Send, presented: Presented, bytes_max: Optional[int]
    ) -> "Tuple[httpx.Response, bytes]":
        async def read(timeout_s: float) -> "Tuple[httpx.Response, bytes]":
            response = await self._attempt(request, presented, timeout_s)
            return response, await self._rest(request, response, bytes_max)

        if request.wait_s > 0:
            return await read(self._timeout + request.wait_s)
        async with self._places.get():
            return await read(self._timeout)

    async def _rest(self, request: Send, response: "httpx.Response", bytes_max: Optional[int]) -> bytes:
        """``bytes_max``: of a reply that is whole soon after its head; None: of one that may take longer."""
        import httpx

        # A service that sends byte by byte is never silent.
        until = time.monotonic() + min(self._timeout, _left_s(request))
        parts: List[bytes] = []
        size = 0
        try:
            async for part in response.aiter_bytes():
                parts.append(part)
                size += len(part)
                if bytes_max is not None and size > bytes_max:
                    raise unexpected(response)
                if bytes_max is not None and time.monotonic() > until:
                    raise timed_out(self.credential.base_url)
        except httpx.RequestError as error:
            raise self.broken(error) from error
        finally:
            await response.aclose()
        return b"".join(parts)

    async def _repeated(self, request: Send, once: Callable[[Presented], Coroutine[Any, Any, T]]) -> T:
        retries = self.max_retries if request.max_retries is None else request.max_retries
        attempt = 0
        renewed = False
        underway = request.underway
        failing_since: Optional[float] = None
        while True:
            presented = Presented()
            began = time.monotonic()
            try:
                return await once(presented)
            except MethodsError as error:
                fault: MethodsError = error
                if isinstance(error, AuthenticationError) and not renewed and request.repeatable:
                    try:
                        renewed = await in_thread(lambda: self.credential.renew(presented.bearer))
                    except ConnectionFailed as away:
                        # The issuer may be reachable a moment later.
                        fault = away
                    if renewed:
                        continue
                now = time.monotonic()
                failing_since = failing_since or now
                underway = underway or (request.wait_s > 0 and now - began >= _REACHED_S)
                outlasts = underway and retries > 0 and now - failing_since < OUTAGE_S
                pause = pause_after(fault, attempt)
                if pause is None or not request.repeatable or _is_over(request, pause):
                    raise fault
                if attempt >= retries and not outlasts:
                    raise fault
                await sleep(pause)
                attempt += 1

    async def _attempt(self, request: Send, presented: Presented, read_s: float) -> "httpx.Response":
        import httpx

        fresh = self.credential.fresh()
        presented.bearer = await in_thread(self.credential.bearer) if fresh is None else fresh
        content: Any = request.body
        if request.file is not None:
            if request.repeatable:
                request.file.seek(0)
            content = chunks(request.file)
        left_s = _left_s(request)
        timeout = httpx.Timeout(min(self._timeout, left_s), read=min(read_s, left_s), pool=None)
        if self._closed:
            raise client_closed()
        http = self._http.get()
        url = self.credential.base_url + request.path
        params = request.params or None
        began = time.monotonic()
        try:
            headers = {"authorization": f"Bearer {presented.bearer}", **request.headers}
            sent = http.build_request(
                request.method, url, params=params, content=content, headers=headers, timeout=timeout
            )
            response = await http.send(sent, stream=True)
            log_reply(request, response, time.monotonic() - began)
        except httpx.RequestError as error:
            log_reply(request, error, time.monotonic() - began)
            raise self.broken(error) from error
        if not response.is_success:
            raise refusal(response, await self._rest(request, response, REPLY_BYTES_MAX))
        return response


def _connections(base_url: str) -> "httpx.AsyncClient":
    import httpx

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=_KEPT)
    return httpx.AsyncClient(headers={"user-agent": USER_AGENT}, limits=limits, verify=authorities(base_url))


def _left_s(request: Send) -> float:
    return inf if request.deadline is None else max(_MOMENT_S, request.deadline - time.monotonic())


def _is_over(request: Send, pause_s: float) -> bool:
    return request.deadline is not None and time.monotonic() + pause_s >= request.deadline

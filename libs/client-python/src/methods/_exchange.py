"""One request with its retries, without doing it: what is to be done is yielded to a driver, sync or async.

So both clients share every rule, and rules can be read without I/O between them.
"""

from __future__ import annotations

import json
import platform
import random
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from time import time
from typing import TYPE_CHECKING, Any, Callable, Dict, Generator, Optional, TypeVar, Union, cast

from ._errors import ApiError, ConnectionFailed, MethodsError, RequestTimeout, UnexpectedReply, api_error
from ._models import Question
from ._version import __version__

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

REPEATED = frozenset({429, 502, 503, 504})
PAUSE_S_MAX = 60.0
USER_AGENT = f"methods-client-python/{__version__} python/{platform.python_version()}"


@dataclass(frozen=True)
class Send:
    """A request that may be repeated: it reads, or carries a key or a question's id."""

    method: str
    path: str
    params: Dict[str, str] = field(default_factory=lambda: {})
    body: Optional[Dict[str, Any]] = None
    content: Optional[bytes] = None
    headers: Dict[str, str] = field(default_factory=lambda: {})
    #: How long the service may hold the reply back, on top of the client's timeout.
    wait_s: float = 0


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Handle:
    """The app's ``on_ask`` is called."""

    handler: Callable[[Any], Any]
    run_id: str
    question: Question
    problems: "list[Dict[str, Any]]"


@dataclass(frozen=True)
class Handled:
    answer: Any
    error: Optional[Exception]


Flow = Generator[Union[Send, Pause, Handle], Any, T]


def exchange(request: Send, retries: int) -> "Flow[httpx.Response]":
    """Sends until a reply is not worth a repetition. Raises the error of a refusal."""
    for attempt in range(retries + 1):
        outcome: Union[httpx.Response, ConnectionFailed] = yield request
        last = attempt == retries
        if isinstance(outcome, ConnectionFailed):
            if last:
                raise outcome
            yield Pause(backoff_s(attempt))
        elif outcome.status_code in REPEATED and not last:
            yield Pause(_retry_after_s(outcome.headers.get("retry-after")) or backoff_s(attempt))
        elif outcome.status_code >= 400:
            raise refusal(outcome)
        else:
            return outcome
    raise AssertionError("unreachable")


def call(request: Send, retries: int, read: Callable[[Any], T]) -> Flow[T]:
    """An exchange whose reply is JSON that ``read`` understands."""
    response = yield from exchange(request, retries)
    try:
        return read(response.json())
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _unexpected(response) from None


def refusal(response: "httpx.Response") -> MethodsError:
    try:
        body: Any = response.json()
    except ValueError:
        body = None
    refused: Dict[str, Any] = cast(Dict[str, Any], body) if isinstance(body, dict) else {}
    if not isinstance(refused.get("error"), str):
        return _unexpected(response)
    error: ApiError = api_error(response.status_code, refused, response.headers.get("x-request-id"))
    return error


def connection_error(error: Exception, timed_out: bool, base_url: str) -> ConnectionFailed:
    if timed_out:
        return RequestTimeout(f"{base_url} did not answer in time.", code="timeout")
    return ConnectionFailed(
        f"The connection to {base_url} failed ({type(error).__name__}): is the address right, and the service up?",
        code="connection_failed",
    )


def _unexpected(response: "httpx.Response") -> UnexpectedReply:
    return UnexpectedReply(
        f"The reply (status {response.status_code}) is not one of this service: check the address, and whether a "
        "proxy or another version answers there.",
        code="unexpected_reply",
        status=response.status_code,
        request_id=response.headers.get("x-request-id"),
    )


def backoff_s(attempt: int) -> float:
    """0.25 s, 0.5 s, 1 s ... up to 8 s, each less up to half of it, so that callers do not come back together."""
    return min(0.25 * 2.0**attempt, 8.0) * random.uniform(0.5, 1.0)


def _retry_after_s(header: Optional[str]) -> Optional[float]:
    if not header:
        return None
    if header.isascii() and header.isdigit():
        return min(float(header), PAUSE_S_MAX)
    try:
        return min(max(parsedate_to_datetime(header).timestamp() - time(), 0.0), PAUSE_S_MAX)
    except (TypeError, ValueError):
        return None


def encoded(body: Dict[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()

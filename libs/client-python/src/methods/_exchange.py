"""How a request is written and its reply is read, and when it is sent again. Without I/O: both clients share it."""

from __future__ import annotations

import json
import logging
import platform
import random
import re
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from time import time
from typing import TYPE_CHECKING, Any, BinaryIO, Callable, Dict, Optional, TypeVar, Union, cast
from urllib.parse import quote

from ._errors import ApiError, ConnectionFailed, InvalidRequest, MethodsError, RequestTimeout, UnexpectedReply, api_error
from ._models import File
from ._version import __version__

if TYPE_CHECKING:
    import ssl

    import httpx

T = TypeVar("T")

logger = logging.getLogger("methods")
USER_AGENT = f"methods-client-python/{__version__} python/{platform.python_version()}"
#: How long the service holds back the reply of a call that waits for a run.
WAIT_S = 30.0
#: The service sends a comment into a stream every 15 s.
SILENCE_S = 45.0
#: How long the service may be unavailable to a call that waits for a run: the run itself continues meanwhile.
OUTAGE_S = 60.0
_PASSING = frozenset({408, 429, 500, 502, 503, 504})
#: Several times that of a run with all its steps. A server that sends more is another program.
REPLY_BYTES_MAX = 64 * 1024 * 1024
#: A service that asks for more is reported as it is.
_RETRY_AFTER_S_MAX = 60.0


@dataclass(frozen=True)
class Send:
    """A request that may be repeated: it reads, or carries a key or a question's id."""

    method: str
    path: str
    params: Dict[str, str] = field(default_factory=lambda: {})
    body: Optional[bytes] = None
    headers: Dict[str, str] = field(default_factory=lambda: {})
    #: How long the service may hold the reply back, on top of the client's timeout.
    wait_s: float = 0
    #: Sent in place of ``body``. What cannot be sought is sent once.
    file: Optional[BinaryIO] = None
    #: Default: the client's.
    max_retries: Optional[int] = None
    #: Its run has started: it is repeated for a minute, unless the client repeats nothing.
    underway: bool = False
    #: Of ``time.monotonic``. No attempt lasts longer, and none begins later.
    deadline: Optional[float] = None

    @property
    def repeatable(self) -> bool:
        return self.file is None or self.file.seekable()


def posted(
    path: str,
    body: Dict[str, Any],
    *,
    params: Optional[Dict[str, str]] = None,
    wait_s: float = 0,
    deadline: Optional[float] = None,
    underway: bool = False,
) -> Send:
    return Send(
        "POST",
        path,
        params or {},
        body=encoded(body),
        headers={"content-type": "application/json"},
        wait_s=wait_s,
        deadline=deadline,
        underway=underway,
    )


def run_path(run_id: str) -> str:
    return f"/v1/runs/{quote(run_id, safe='')}"


def encoded(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_as_input).encode()


def _as_input(value: Any) -> Any:
    if isinstance(value, File):
        return value.as_input()
    raise TypeError(f"{type(value).__name__} is not a value of JSON")


def check_upload(name: str, media_type: str, idempotency_key: str) -> None:
    """httpx reports such a header as a failed connection. Raises InvalidRequest."""
    for field_name, text in (("media_type", media_type), ("idempotency_key", idempotency_key)):
        if re.search(r"[^\t\x20-\x7e]", text):
            raise _unsendable(field_name, "holds characters that a header of HTTP does not take")
    # For example, that of a file whose name on the disk is not UTF-8.
    if re.search("[\ud800-\udfff]", name):
        raise _unsendable("name", "is not text of Unicode")


def _unsendable(field_name: str, fault: str) -> InvalidRequest:
    message = f"The {field_name} of the file {fault}."
    details = [{"path": f"/{field_name}", "code": field_name, "message": message}]
    return InvalidRequest(message, code="invalid_request", status=400, details=details)


#: What reading a reply or an event raises that has another shape, as of a later version of the service.
MISREAD = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


def read_reply(response: "httpx.Response", content: bytes, read: Callable[[Any], T]) -> T:
    """``read`` fails for a reply that it does not understand. Raises ConnectionFailed or UnexpectedReply."""
    try:
        return read(json.loads(content))
    except MISREAD:
        if content[:1] in (b"{", b"[") and not _is_json(content):
            raise ConnectionFailed(
                "The reply was cut: it is not whole.", code="bad_reply", status=response.status_code
            ) from None
        raise unexpected(response) from None


def refusal(response: "httpx.Response", content: bytes) -> MethodsError:
    try:
        body: Any = json.loads(content)
    except MISREAD:
        body = None
    refused: Dict[str, Any] = cast(Dict[str, Any], body) if isinstance(body, dict) else {}
    retry_after = _retry_after_s(response.headers.get("retry-after"))
    if not isinstance(refused.get("error"), str):
        # A proxy whose service is down.
        if response.status_code in _PASSING:
            refused = {"error": "unavailable", "message": f"The service is unavailable ({response.status_code})."}
        else:
            return unexpected(response)
    error: ApiError = api_error(response.status_code, refused, response.headers.get("x-request-id"), retry_after)
    return error


def authorities(url: str) -> "Union[bool, ssl.SSLContext]":
    """httpx's ``verify`` for ``url``. Without TLS no certificate is checked: the authorities take 50 ms of CPU to read."""
    if not url.startswith("http:"):
        return True
    import ssl

    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def timed_out(base_url: str) -> RequestTimeout:
    return RequestTimeout(f"{base_url} did not answer in time.", code="timeout")


def connection_error(error: Exception, base_url: str) -> ConnectionFailed:
    return ConnectionFailed(
        f"The connection to {base_url} failed ({type(error).__name__}): is the address right, and the service up?",
        code="connection_failed",
    )


def client_closed() -> MethodsError:
    return MethodsError("The client was closed.", code="client_closed")


def is_passing(error: MethodsError) -> bool:
    """Whether the same request may succeed later."""
    return isinstance(error, ConnectionFailed) or error.status in _PASSING


def pause_after(error: MethodsError, attempt: int) -> Optional[float]:
    """Seconds; None: a repetition would fail too, or the service asks for a longer pause than a call should make."""
    if not is_passing(error):
        return None
    pause = backoff_s(attempt) if error.retry_after is None else error.retry_after
    return None if pause > _RETRY_AFTER_S_MAX else pause


def backoff_s(attempt: int) -> float:
    """0.25 s, 0.5 s, 1 s ... up to 8 s, each less up to half of it, so that callers do not come back together."""
    return min(0.25 * 2.0 ** min(attempt, 10), 8.0) * random.uniform(0.5, 1.0)


def log_reply(request: Send, outcome: Union["httpx.Response", Exception], seconds: float) -> None:
    """Neither keys nor content; parameters may hold metadata."""
    if isinstance(outcome, Exception):
        logger.debug("%s %s: %s after %.0f ms", request.method, request.path, type(outcome).__name__, seconds * 1000)
        return
    request_id = outcome.headers.get("x-request-id")
    status, ms = outcome.status_code, seconds * 1000
    logger.debug("%s %s: %d in %.0f ms, %s", request.method, request.path, status, ms, request_id)


def unexpected(response: "httpx.Response") -> UnexpectedReply:
    return UnexpectedReply(
        f"The reply (status {response.status_code}) is not one of this service: check the address, and whether a "
        "proxy or another version answers there.",
        code="unexpected_reply",
        status=response.status_code,
        request_id=response.headers.get("x-request-id"),
    )


def _is_json(content: bytes) -> bool:
    try:
        json.loads(content)
        return True
    except RecursionError:
        return True
    except ValueError:
        return False


def _retry_after_s(header: Optional[str]) -> Optional[float]:
    if not header:
        return None
    if header.isascii() and header.isdigit():
        return float(header)
    try:
        return max(parsedate_to_datetime(header).timestamp() - time(), 0.0)
    except (TypeError, ValueError):
        return None

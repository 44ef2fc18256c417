"""The errors that the library raises: one base class, and a class for each thing a caller may do about it."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Type, cast


class MethodsError(Exception):
    """Base of all errors of this library.

    ``code`` is stable and meant for programs; the message is a sentence for people.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: Optional[int] = None,
        request_id: Optional[str] = None,
        details: Optional[List[Dict[str, Any]]] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        self.request_id = request_id
        self.details: List[Dict[str, Any]] = details or []
        #: The pause in seconds that the service asks for.
        self.retry_after = retry_after

    def __str__(self) -> str:
        suffix = f" (request {self.request_id})" if self.request_id else ""
        return f"{self.message}{suffix}"


class CredentialError(MethodsError):
    """There is no usable key, secret or address, or not for this call: its content was not sent."""


class ConnectionFailed(MethodsError):
    """The service could not be reached, or the connection broke. The same call may be repeated with its key."""


class RequestTimeout(ConnectionFailed):
    """The service did not answer in time. The same call may be repeated with its key."""


class UnexpectedReply(MethodsError):
    """What answered does not speak this interface: a proxy, or another version of the service."""


class RunTimeout(MethodsError):
    """The run did not end within ``timeout``. It continues: ``run_id`` reads or cancels it."""

    def __init__(self, run_id: str, seconds: float) -> None:
        super().__init__(f"The run {run_id} did not end within {seconds:g} s; it continues.", code="wait_timeout")
        self.run_id = run_id


class SealedValueError(MethodsError):
    """A sealed value does not open: ``content_key_missing`` or ``sealed_value_damaged``."""


class SignatureError(MethodsError):
    """A webhook is forged, damaged or too old."""


class ApiError(MethodsError):
    """The service refused a request."""


class AuthenticationError(ApiError):
    """401: the key is revoked or unknown here."""


class PermissionDenied(ApiError):
    """403"""


class NotFound(ApiError):
    """404"""


class Conflict(ApiError):
    """409: the state of the run, or an idempotency key that was used with other values."""


class InvalidRequest(ApiError):
    """400, 413 or 422: ``details`` has the findings."""


class RateLimited(ApiError):
    """429, after all retries."""


class ServerError(ApiError):
    """5xx, after all retries."""


_CLASSES: Dict[int, Type[ApiError]] = {
    400: InvalidRequest,
    401: AuthenticationError,
    403: PermissionDenied,
    404: NotFound,
    409: Conflict,
    413: InvalidRequest,
    422: InvalidRequest,
    429: RateLimited,
}


def api_error(
    status: int, body: Mapping[str, Any], request_id: Optional[str] = None, retry_after: Optional[float] = None
) -> ApiError:
    """The error of a refused request, whose body is ``{error, message?, details?, request_id?}``."""
    code = str(body["error"])
    message = _plain(status, code) if status == 401 else str(body.get("message") or _plain(status, code))
    found = body.get("details")
    details: List[Dict[str, Any]] = cast(List[Dict[str, Any]], found) if isinstance(found, list) else []
    kind = _CLASSES.get(status, ServerError if status >= 500 else ApiError)
    request_id = body.get("request_id") or request_id
    return kind(message, code=code, status=status, request_id=request_id, details=details, retry_after=retry_after)


def _plain(status: int, code: str) -> str:
    if status == 401:
        return "The service does not accept the key: it was revoked, or belongs to another service."
    return f"The service refused the request: {code}."

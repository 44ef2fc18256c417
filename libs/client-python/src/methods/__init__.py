"""Starts runs of Methods from Python, answers their questions, and verifies their webhooks.

What costs time to load (httpx, asyncio) is loaded by the first client.
"""

from __future__ import annotations

from ._async_client import AsyncAskedQuestion, AsyncMethods
from ._client import AskedQuestion, Methods
from ._errors import (
    ApiError,
    AuthenticationError,
    Conflict,
    ConnectionFailed,
    CredentialError,
    InvalidRequest,
    MethodsError,
    NotFound,
    PermissionDenied,
    RateLimited,
    RequestTimeout,
    RunTimeout,
    ServerError,
    SignatureError,
    UnexpectedReply,
)
from ._models import BatchItem, Event, File, Page, Question, Run, RunFailure, Step
from ._version import __version__
from ._webhooks import Webhooks
from ._worker import MethodsWarning, WorkerMissing

webhooks = Webhooks()

__all__ = [
    "ApiError",
    "AskedQuestion",
    "AsyncAskedQuestion",
    "AsyncMethods",
    "AuthenticationError",
    "BatchItem",
    "Conflict",
    "ConnectionFailed",
    "MethodsWarning",
    "WorkerMissing",
    "CredentialError",
    "Event",
    "File",
    "InvalidRequest",
    "Methods",
    "MethodsError",
    "NotFound",
    "Page",
    "PermissionDenied",
    "Question",
    "RateLimited",
    "RequestTimeout",
    "Run",
    "RunFailure",
    "RunTimeout",
    "ServerError",
    "SignatureError",
    "Step",
    "UnexpectedReply",
    "Webhooks",
    "__version__",
    "webhooks",
]

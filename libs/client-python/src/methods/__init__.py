"""Starts runs of Methods from Python, answers their questions, and verifies their webhooks.

What costs time to load (httpx, asyncio) is loaded by the first client.
"""

from __future__ import annotations

from ._async.client import AsyncMethods
from ._async.questions import AsyncAskedQuestion
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
    SealedValueError,
    ServerError,
    SignatureError,
    UnexpectedReply,
)
from ._models import BatchItem, Event, File, Question, Run, RunFailure, RunFile, Step
from ._starts import Start
from ._sync.client import Methods
from ._sync.questions import AskedQuestion
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
    "CredentialError",
    "Event",
    "File",
    "InvalidRequest",
    "Methods",
    "MethodsError",
    "MethodsWarning",
    "NotFound",
    "PermissionDenied",
    "Question",
    "RateLimited",
    "RequestTimeout",
    "Run",
    "RunFailure",
    "RunFile",
    "RunTimeout",
    "SealedValueError",
    "ServerError",
    "SignatureError",
    "Start",
    "Step",
    "UnexpectedReply",
    "Webhooks",
    "WorkerMissing",
    "__version__",
    "webhooks",
]

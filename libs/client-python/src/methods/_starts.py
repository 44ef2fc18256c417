"""Starts of runs: what a caller gives, the bodies that are sent, and the outcomes of many."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, cast

from ._errors import CredentialError, api_error
from ._models import BatchItem, Json, run_of

#: Of one request.
_RUNS_MAX = 1_000
_BODY_BYTES_MAX = 4 * 1024 * 1024 - 1_024


def new_key() -> str:
    return str(uuid.uuid4())


def key_or_new(given: Optional[str]) -> str:
    """An empty key, as of a variable that is set to nothing, is the service's to refuse: its caller relies on it."""
    return new_key() if given is None else given


@dataclass(frozen=True)
class Start:
    """One of ``start_many``. The key is made here if the caller has none: a repetition starts nothing twice."""

    method_id: str
    inputs: Optional[Mapping[str, Any]] = None
    idempotency_key: str = field(default_factory=new_key)
    version: Optional[str] = None
    webhook_url: Optional[str] = None
    metadata: Optional[Mapping[str, str]] = None

    def __post_init__(self) -> None:
        # A caller may have None where it has no key.
        object.__setattr__(self, "idempotency_key", key_or_new(self.idempotency_key))


def start_body(start: Start, *, is_key: bool, answered_here: bool = False) -> Json:
    if start.webhook_url is not None and not is_key:
        raise CredentialError(
            "A webhook needs a service key, and this client uses the sign-in of the command line: set SERVICE_API_KEY.",
            code="webhook_needs_key",
        )
    body: Json = {
        "method": start.method_id,
        "inputs": dict(start.inputs or {}),
        "idempotency_key": start.idempotency_key,
        "version": start.version,
        "webhook_url": start.webhook_url,
        "metadata": None if start.metadata is None else dict(start.metadata),
        "answer_by": "application" if answered_here else None,
    }
    return {name: value for name, value in body.items() if value is not None}


def batches(starts: Mapping[int, bytes]) -> Iterator[Tuple[List[int], bytes]]:
    """The bodies of as few requests as the sizes allow, each with the places of its starts."""
    places: List[int] = []
    parts: List[bytes] = []
    size = 0
    for place, part in starts.items():
        if places and (len(places) == _RUNS_MAX or size + len(part) > _BODY_BYTES_MAX):
            yield places, b'{"runs":[' + b",".join(parts) + b"]}"
            places, parts, size = [], [], 0
        places.append(place)
        parts.append(part)
        size += len(part) + 1
    if places:
        yield places, b'{"runs":[' + b",".join(parts) + b"]}"


def outcomes_of(body: Mapping[str, Any]) -> List[BatchItem]:
    return [_outcome_of(each) for each in body["items"]]


def _outcome_of(item: Mapping[str, Any]) -> BatchItem:
    if item.get("run"):
        return BatchItem(run_of(item["run"]), None)
    found, after = item.get("error"), item.get("retry_after")
    error: Dict[str, Any] = cast(Dict[str, Any], found) if isinstance(found, dict) else {"error": str(found)}
    return BatchItem(None, api_error(item["status"], error, retry_after=None if after is None else float(after)))

"""What the service returns, as dataclasses. Unknown fields are kept in ``raw``: a newer service adds some."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional

from ._errors import MethodsError

Json = Dict[str, Any]

FINISHED = frozenset({"succeeded", "failed", "cancelled"})
STATUSES = FINISHED | {"queued", "running", "waiting"}


@dataclass(frozen=True)
class Question:
    """A question of a run. ``form`` is the JSON Schema of its answer.

    ``sealed``: another key sealed it, so the prompt and the form are empty.
    """

    id: str
    step: str
    prompt: str
    details: Optional[str]
    show: List[Json]
    form: Json
    asked_at: str
    deadline_at: Optional[str]
    sealed: Optional[Json]
    raw: Json = field(repr=False)


@dataclass(frozen=True)
class Step:
    name: str
    kind: str
    status: str
    attempt: int
    timing: Json
    error: Optional[Json]
    raw: Json = field(repr=False)


@dataclass(frozen=True)
class RunFailure:
    code: str
    message: str
    kind: Optional[str]
    step: Optional[str]


@dataclass(frozen=True)
class Run:
    """A run as it was when it was read. ``result`` is None unless it succeeded.

    In device mode it has a ``content_id``, and its result stays on its worker: ``result_at`` is ``worker``.
    ``rerun_of``: the run that it repeats.
    """

    run_id: str
    version_id: str
    status: str
    method: Optional[str]
    attempts: int
    metadata: Dict[str, str]
    timing: Json
    steps: List[Step]
    question: Optional[Question]
    result: Optional[Json]
    result_at: Optional[str]
    error: Optional[RunFailure]
    content_id: Optional[str]
    rerun_of: Optional[str]
    raw: Json = field(repr=False)

    @property
    def finished(self) -> bool:
        return self.status in FINISHED


@dataclass(frozen=True)
class BatchItem:
    """The outcome of one start of many: ``run``, or the ``error`` that refused it."""

    run: Optional[Run]
    error: Optional[MethodsError]


@dataclass(frozen=True)
class Page:
    items: List[Run]
    next_cursor: Optional[str]


@dataclass(frozen=True)
class Whoami:
    """What the service knows of the caller. ``key_id`` is None for a person."""

    org_id: str
    key_id: Optional[str]
    content_on_devices: bool
    content_grants: List[Json]


@dataclass(frozen=True)
class RunFile:
    """A file of a run. ``path`` is what ``runs.files.download`` takes."""

    path: str
    bytes: int


@dataclass(frozen=True)
class File:
    """An uploaded file, which is a value of inputs.

    With a ``content_id`` it was sealed: the other fields are of the plain file, and known only here.
    """

    file_id: str
    name: str
    bytes: int
    sha256: str
    media_type: str
    expires_at: Optional[str]
    raw: Json = field(repr=False)
    content_id: Optional[str] = None

    def as_input(self) -> Json:
        """As inputs name it, also after this process: in JSON."""
        if self.content_id is None:
            return {"file_id": self.file_id}
        names = ("file_id", "content_id", "name", "bytes", "sha256", "media_type")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Event:
    event: str
    id: Optional[str]
    data: Json


def question_of(body: Mapping[str, Any]) -> Question:
    return Question(
        id=body["id"],
        step=body["step"],
        prompt=body.get("prompt", ""),
        details=body.get("details"),
        show=body.get("show") or [],
        form=body.get("form") or {},
        asked_at=body["asked_at"],
        deadline_at=body.get("deadline_at"),
        sealed=body.get("sealed"),
        raw=dict(body),
    )


def run_of(body: Mapping[str, Any]) -> Run:
    """A reply. A status of a later version is an error: a call would wait for its end without knowing it."""
    if body["status"] not in STATUSES:
        raise ValueError("unknown status")
    return run_in(body)


def run_in(body: Mapping[str, Any]) -> Run:
    """A run as an event or a webhook shows it, of any status."""
    question, error = body.get("question"), body.get("error")
    steps: List[Json] = body.get("steps") or []
    return Run(
        run_id=body["run_id"],
        version_id=body.get("version_id", ""),
        status=body["status"],
        method=body.get("method"),
        attempts=body.get("attempts", 0),
        metadata=body.get("metadata") or {},
        timing=body.get("timing") or {},
        steps=[_step_of(each) for each in steps],
        question=question_of(question) if question else None,
        result=body.get("result"),
        result_at=body.get("result_at"),
        error=RunFailure(error["code"], error.get("message", ""), error.get("kind"), error.get("step"))
        if error
        else None,
        content_id=body.get("content_id"),
        rerun_of=body.get("rerun_of"),
        raw=dict(body),
    )


def _step_of(body: Mapping[str, Any]) -> Step:
    return Step(
        name=body["name"],
        kind=body.get("kind", ""),
        status=body["status"],
        attempt=body.get("attempt", 0),
        timing=body.get("timing") or {},
        error=body.get("error"),
        raw=dict(body),
    )


def page_of(body: Mapping[str, Any]) -> Page:
    return Page([run_of(each) for each in body["items"]], body["next_cursor"])


def whoami_of(body: Mapping[str, Any]) -> Whoami:
    return Whoami(body["org_id"], body["key_id"], body["content_on_devices"], body["content_grants"])


def file_of(body: Mapping[str, Any]) -> File:
    return File(
        file_id=body["file_id"],
        name=body.get("name", ""),
        bytes=body["bytes"],
        sha256=body["sha256"],
        media_type=body["media_type"],
        expires_at=body.get("expires_at"),
        raw=dict(body),
    )

"""What the service returns, as dataclasses. Unknown fields are kept in ``raw``: a newer service adds some."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Generic, List, Mapping, Optional, TypeVar

T = TypeVar("T")
Json = Dict[str, Any]

FINISHED = frozenset({"succeeded", "failed", "cancelled"})


@dataclass(frozen=True)
class Question:
    """A question of a run. ``form`` is the JSON Schema of its answer."""

    id: str
    step: str
    prompt: str
    details: Optional[str]
    show: List[Json]
    form: Json
    asked_at: str
    deadline_at: Optional[str]
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
    """A run as it was when it was read. ``result`` is None unless it succeeded."""

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
    error: Optional[RunFailure]
    raw: Json = field(repr=False)

    @property
    def finished(self) -> bool:
        return self.status in FINISHED


@dataclass(frozen=True)
class BatchItem:
    """The outcome of one start of a batch: ``run``, or ``error`` as the service gives it."""

    status: int
    run: Optional[Run]
    error: Optional[Json]


@dataclass(frozen=True)
class Page(Generic[T]):
    items: List[T]
    next_cursor: Optional[str]


@dataclass(frozen=True)
class File:
    """An uploaded file. ``as_input`` is its value in the inputs of a run."""

    file_id: str
    bytes: int
    sha256: str
    media_type: str
    expires_at: Optional[str]
    raw: Json = field(repr=False)

    @property
    def as_input(self) -> Dict[str, str]:
        return {"file_id": self.file_id}


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
        raw=dict(body),
    )


def run_of(body: Mapping[str, Any]) -> Run:
    question, error = body.get("question"), body.get("error")
    steps: List[Json] = body.get("steps") or []
    return Run(
        run_id=body["run_id"],
        version_id=body["version_id"],
        status=body["status"],
        method=body.get("method"),
        attempts=body.get("attempts", 0),
        metadata=body.get("metadata") or {},
        timing=body.get("timing") or {},
        steps=[_step_of(each) for each in steps],
        question=question_of(question) if question else None,
        result=body.get("result"),
        error=RunFailure(error["code"], error.get("message", ""), error.get("kind"), error.get("step"))
        if error
        else None,
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


def page_of(body: Mapping[str, Any]) -> "Page[Run]":
    return Page([run_of(each) for each in body["items"]], body.get("next_cursor"))


def batch_of(body: Mapping[str, Any]) -> List[BatchItem]:
    return [
        BatchItem(each["status"], run_of(each["run"]) if each.get("run") else None, each.get("error"))
        for each in body["items"]
    ]


def file_of(body: Mapping[str, Any]) -> File:
    return File(
        body["file_id"], body["bytes"], body["sha256"], body["media_type"], body.get("expires_at"), raw=dict(body)
    )

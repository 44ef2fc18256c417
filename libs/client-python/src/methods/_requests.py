"""The requests of the interface, and the loop of ``run``: start, wait, have questions answered, until it has ended."""

from __future__ import annotations

import logging
import time
import uuid
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence
from urllib.parse import quote

from ._errors import Conflict, CredentialError, InvalidRequest, RunTimeout
from ._exchange import Flow, Handle, Handled, Pause, Send, backoff_s, call
from ._models import BatchItem, Json, Question, Run, batch_of, run_of

logger = logging.getLogger("methods")

WAIT_MS = 30_000
#: A handler whose answers never fit must not be asked forever.
MISFITS_MAX = 10


def start_body(
    method_id: str,
    inputs: Optional[Mapping[str, Any]],
    *,
    idempotency_key: Optional[str],
    version: Optional[str],
    webhook_url: Optional[str],
    metadata: Optional[Mapping[str, str]],
    answered_here: bool = False,
) -> Json:
    """The key is made here if the caller has none, so that a repetition after a lost reply starts nothing twice."""
    body: Json = {
        "method": method_id,
        "inputs": dict(inputs or {}),
        "idempotency_key": idempotency_key or new_key(),
    }
    if version is not None:
        body["version"] = version
    if webhook_url is not None:
        body["webhook_url"] = webhook_url
    if metadata is not None:
        body["metadata"] = dict(metadata)
    if answered_here:
        body["answer_by"] = "application"
    return body


def check_webhook(webhook_url: Optional[str], is_key: bool) -> None:
    if webhook_url is not None and not is_key:
        raise CredentialError(
            "A webhook needs a service key, and this client uses the sign-in of the command line: set SERVICE_API_KEY.",
            code="webhook_needs_key",
        )


def start_many(starts: Sequence[Json], retries: int) -> Flow[List[BatchItem]]:
    runs = [{**each, "idempotency_key": each.get("idempotency_key") or new_key()} for each in starts]
    return (yield from call(Send("POST", "/v1/runs/batch", body={"runs": runs}), retries, batch_of))


def answer(run_id: str, value: Any, question_id: Optional[str], retries: int) -> Flow[Run]:
    """With a question's id a late repetition never answers the next question; without one it is read first."""
    if question_id is None:
        run = yield from call(Send("GET", f"/v1/runs/{run_id}"), retries, run_of)
        question_id = run.question.id if run.question else None
    body: Json = {"answer": value}
    if question_id is not None:
        body["question_id"] = question_id
    return (yield from call(Send("POST", f"/v1/runs/{run_id}/answer", body=body), retries, run_of))


def run_to_end(
    body: Json, on_ask: Optional[Callable[[Any], Any]], timeout: Optional[float], retries: int
) -> Flow[Run]:
    deadline = None if timeout is None else time.monotonic() + timeout
    asked: Optional[str] = None
    run = yield from call(_waiting("POST", "/v1/runs", None, deadline, body), retries, run_of)
    while not run.finished:
        if run.question is not None and run.question.id != asked:
            asked = run.question.id
            if on_ask is not None:
                yield from _ask(on_ask, run.run_id, run.question, retries)
        if deadline is not None and time.monotonic() >= deadline:
            raise RunTimeout(run.run_id, timeout or 0)
        run = yield from call(_waiting("GET", f"/v1/runs/{run.run_id}", asked, deadline), retries, run_of)
    return run


def _waiting(
    method: str, path: str, after_question: Optional[str], deadline: Optional[float], body: Optional[Json] = None
) -> Send:
    left_ms = WAIT_MS if deadline is None else int((deadline - time.monotonic()) * 1000)
    wait_ms = max(1, min(WAIT_MS, left_ms))
    params = {"wait_ms": str(wait_ms)}
    if after_question is not None:
        params["after_question"] = after_question
    return Send(method, path, params=params, body=body, wait_s=wait_ms / 1000)


def _ask(on_ask: Callable[[Any], Any], run_id: str, question: Question, retries: int) -> Flow[None]:
    """Has the handler answer; what does not fit is asked again, with the reasons. An error leaves the question open."""
    problems: List[Dict[str, Any]] = []
    for _ in range(MISFITS_MAX):
        handled: Handled = yield Handle(on_ask, run_id, question, problems)
        if handled.error is not None:
            logger.error(
                "on_ask failed; question %s of run %s stays open", question.id, run_id, exc_info=handled.error
            )
            return
        if handled.answer is None:
            return
        try:
            yield from answer(run_id, handled.answer, question.id, retries)
            return
        except InvalidRequest as error:
            if error.code != "invalid_answer":
                raise
            problems = error.details
        except Conflict as error:
            logger.warning("question %s of run %s was no longer open: %s", question.id, run_id, error.code)
            return
    logger.error("on_ask gave %d answers that do not fit; question %s stays open", MISFITS_MAX, question.id)


def new_key() -> str:
    return str(uuid.uuid4())


def quoted(path: str) -> str:
    return quote(path)


def upload(content: bytes, name: str, media_type: str) -> Send:
    """A repeated upload leaves at most a file that no run uses, which the service deletes after a day."""
    headers = {"content-type": media_type, "x-file-name": quote(name, safe=" !#$&'()+,;=@[]^_`{}~")}
    return Send("POST", "/v1/files", content=content, headers=headers)


def pause(failures: int) -> Flow[None]:
    yield Pause(backoff_s(failures))

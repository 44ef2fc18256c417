"""``AsyncMethods.runs``: what an application does with the runs it started."""

from __future__ import annotations

from typing import Any, AsyncIterator, Dict, List, Mapping, Optional

from .._errors import Conflict, InvalidRequest
from .._event_stream import EventStream, ends, run_event
from .._exchange import SILENCE_S, Send, backoff_s, posted, run_path
from .._models import Event, Json, Question, Run, page_of, run_of
from .._starts import key_or_new
from .concurrency import sleep
from .content import AsyncContent
from .requests import AsyncRequests
from .run_files import AsyncRunFiles

_PAGE = 100


class AsyncRuns:
    def __init__(self, requests: AsyncRequests, content: AsyncContent) -> None:
        self._requests = requests
        self._content = content
        self.files = AsyncRunFiles(requests, content)

    async def get(self, run_id: str) -> Run:
        return await self._content.opened(await self._read(run_id))

    async def list(
        self,
        *,
        status: Optional[str] = None,
        method: Optional[str] = None,
        metadata: Optional[Mapping[str, str]] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
        page_size: int = _PAGE,
    ) -> AsyncIterator[Run]:
        """All such runs, the newest first. Pages are read as the loop comes to them."""
        given = {"status": status, "method": method, "created_after": created_after, "created_before": created_before}
        params = {name: value for name, value in given.items() if value is not None}
        params.update({f"metadata.{name}": value for name, value in (metadata or {}).items()})
        params["limit"] = str(page_size)
        while True:
            page = await self._requests.send(Send("GET", "/v1/runs", params=dict(params)), page_of)
            for run in page.items:
                yield run
            if page.next_cursor is None:
                return
            params["cursor"] = page.next_cursor

    async def cancel(self, run_id: str) -> Run:
        """A run that a worker has is cancelled a moment later."""
        return await self._requests.send(Send("POST", f"{run_path(run_id)}/cancel"), run_of)

    async def answer(self, run_id: str, answer: Mapping[str, Any], *, question_id: Optional[str] = None) -> Run:
        """Always names a question, by default the open one: a late repetition never answers the next."""
        run = await self._read(run_id)
        answered: List[Dict[str, Any]] = run.raw.get("answers") or []
        if question_id is None and run.question is not None:
            question_id = run.question.id
        elif question_id is None and answered:
            question_id = str(answered[-1]["question_id"])
        if question_id is None:
            raise Conflict("The run has no open question.", code="run_not_waiting", status=409)
        return await self._give(run, question_id, answer)

    async def rerun(
        self, run_id: str, *, from_step: Optional[str] = None, idempotency_key: Optional[str] = None
    ) -> Run:
        """A new run of the same version with the same inputs. In device mode they are opened and sealed again."""
        body: Json = {"idempotency_key": key_or_new(idempotency_key)}
        if from_step is not None:
            body["from_step"] = from_step
        try:
            return await self._requests.send(posted(f"{run_path(run_id)}/rerun", body), run_of)
        except InvalidRequest as error:
            if error.code != "device_mode_required" or from_step is not None:
                raise
        start = {**(await self._content.of_rerun(run_id)), "idempotency_key": body["idempotency_key"]}
        return await self._requests.send(posted("/v1/runs", start), run_of)

    async def events(self, run_id: str) -> AsyncIterator[Event]:
        """Every change of a run until it has ended; a broken connection is continued where it was.

        In device mode what the key here does not open stays sealed.
        """
        import httpx

        stream, failures = EventStream(), 0
        while True:
            headers = {} if stream.last_id is None else {"last-event-id": stream.last_id}
            request = Send("GET", f"{run_path(run_id)}/events", headers=headers, underway=failures > 0)
            response = await self._requests.open(request, SILENCE_S)
            try:
                if response.status_code == 204:
                    return
                async for chunk in response.aiter_bytes():
                    for raw in stream.feed(chunk):
                        event = run_event(raw)
                        if event is None:
                            continue
                        failures = 0
                        yield await self._content.opened_event(event)
                        if ends(event):
                            return
            except httpx.RequestError as error:
                if failures >= self._requests.max_retries:
                    raise self._requests.broken(error) from error
            finally:
                await response.aclose()
            stream.cut()
            await sleep(backoff_s(failures))
            failures += 1

    async def _read(self, run_id: str) -> Run:
        return await self._requests.send(Send("GET", run_path(run_id)), run_of)

    async def _opened_question(self, run_id: str, question: Question) -> Question:
        opened, _ = await self._content.question_of(await self._read(run_id), question)
        return opened

    async def _give(self, run: Run, question_id: str, answer: Mapping[str, Any], underway: bool = False) -> Run:
        body: Json = {"answer": dict(await self._content.of_answer(run, question_id, answer))}
        body["question_id"] = question_id
        return await self._requests.send(posted(f"{run_path(run.run_id)}/answer", body, underway=underway), run_of)

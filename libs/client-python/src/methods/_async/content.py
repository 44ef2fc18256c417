"""Decides what leaves the process: content as it is, or in device mode sealed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple

from .._errors import Conflict, CredentialError, NotFound, SealedValueError
from .._exchange import Send, run_path
from .._models import Event, Json, Question, Run, Whoami, whoami_of
from .concurrency import AsyncLocal, AsyncPlaces
from .requests import AsyncRequests

if TYPE_CHECKING:
    from .._sealed import FileContentKey
    from .._sealed_content import SealedContent
    from .._sealed_stream import StreamOpener

_FRESH_S = 30.0
#: What a service without device mode would say.
_UNKNOWN = Whoami("", None, False, [])


class AsyncContent:
    def __init__(self, requests: AsyncRequests, sealed: bool) -> None:
        self._requests = requests
        #: Sealed whatever the organization has.
        self._always = sealed
        self._reading = AsyncLocal(lambda: AsyncPlaces(1))
        self._whoami: Optional[Tuple[Whoami, float]] = None
        self._sealing: Optional[Tuple[Whoami, SealedContent]] = None

    async def whoami(self) -> Whoami:
        """Read before the first start, and again at most every 30 s."""
        if self._whoami is not None and time.monotonic() - self._whoami[1] < _FRESH_S:
            return self._whoami[0]
        # One reply serves all calls that need it.
        async with self._reading.get():
            began = time.monotonic()
            if self._whoami is not None and began - self._whoami[1] < _FRESH_S:
                return self._whoami[0]
            try:
                facts = await self._requests.send(Send("GET", "/v1/whoami"), whoami_of)
            except NotFound:
                facts = _UNKNOWN
            self._whoami = (facts, began)
            return facts

    async def of_start(self, body: Json) -> Json:
        """The body of a start as it may be sent. Raises CredentialError ``device_key_required``."""
        if not await self.is_sealed():
            return body
        return {**body, "run_data": "device", **(await self._sealed()).seal_inputs(body["inputs"])}

    def refuse_other(self, body: Json, is_new: bool, run: Run) -> None:
        """A service that others control may show another run in place of the one that was started.

        ``is_new``: no earlier start can have had its key. Raises SealedValueError.
        """
        if body.get("run_data") != "device":
            return
        if run.content_id is None or (is_new and run.content_id != body["content_id"]):
            raise _not_sealed_here()

    async def of_rerun(self, run_id: str) -> Json:
        """The body of a start like that of a run in device mode. Raises NotFound for any other run."""
        start = await self._start_of(run_id)
        sealed = await self._sealed()
        inputs = sealed.open_inputs(start["content_id"], start["inputs"])
        kept = {name: start[name] for name in ("method", "answer_by", "metadata", "webhook_url") if name in start}
        again = sealed.seal_inputs(inputs)
        # The run keeps the files of the first one, which another key may have sent.
        if again.pop("files", None):
            again["files_of"] = run_id
        return {**kept, "version": start["version_id"], "rerun_of": run_id, "run_data": "device", **again}

    async def of_file(self, idempotency_key: str) -> "Optional[FileContentKey]":
        """How the bytes of a file leave the process. None: as they are."""
        return (await self._sealed()).of_file(idempotency_key) if await self.is_sealed() else None

    async def archive_opener(self, run: Run) -> "Optional[StreamOpener]":
        """Opens the archive of a run's files. None: the run is not in device mode."""
        if run.content_id is not None:
            return (await self._sealed()).folder_opener(run.content_id)
        if self._always:
            raise _not_sealed_here()
        return None

    async def input_file(self, run_id: str, path: str) -> "Optional[Tuple[Json, StreamOpener]]":
        """The file that the inputs of a run in device mode name by this path, and what opens it."""
        return (await self._sealed()).input_file(await self._start_of(run_id), path)

    async def opened(self, run: Run) -> Run:
        """The run with its question and messages opened; what does not open stays sealed."""
        if run.content_id is None or self._requests.credential.content_part is None:
            return run
        return (await self._sealed()).open_run(run)

    async def opened_event(self, event: Event) -> Event:
        """A change of a run with its question and messages opened; what does not open stays sealed."""
        has_content = event.event != "step" and event.data.get("content_id") is not None
        if not has_content or self._requests.credential.content_part is None:
            return event
        return Event(event.event, event.id, (await self._sealed()).open_data(event.data))

    async def question_of(self, run: Run, question: Question) -> Tuple[Question, List[Json]]:
        """The question opened, and why the answer to the one before it did not fit. Raises SealedValueError."""
        if run.content_id is None:
            return question, []
        if question.sealed is None:
            raise _not_sealed_here()
        return (await self._sealed()).open_question(run.content_id, question)

    async def of_answer(self, run: Run, question_id: str, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        """An answer as it may be sent. Raises InvalidRequest if it does not fit its form."""
        if run.content_id is None:
            if not self._always:
                return answer
            raise CredentialError(
                "This client seals all content, and the run has plain content.", code="device_mode_required"
            )
        sealed = await self._sealed()
        if run.question is not None and run.question.id == question_id:
            if run.question.sealed is None:
                raise _not_sealed_here()
            return sealed.seal_answer(run.content_id, run.question, answer)
        answered: List[Dict[str, Any]] = run.raw.get("answers") or []
        for each in answered:
            if each.get("question_id") == question_id:
                # The question is no longer here; its run's inputs were sealed with the same key.
                by = (await self._start_of(run.run_id))["inputs"] if sealed.grants else None
                return sealed.seal_again(run.content_id, question_id, each["step"], by, answer)
        raise Conflict("The question is no longer open.", code="question_changed", status=409)

    async def as_granted(self, body: Json, sent: Json, grant: int) -> Optional[Json]:
        """The start as the holder of a key would have sent it whose content part was granted to this one; None: no more.

        An earlier start of the same idempotency key may be of a key that was rotated since.
        """
        if sent.get("run_data") != "device":
            return None
        sealed = await self._sealed()
        if grant >= sealed.grants:
            return None
        return {**sent, **sealed.seal_inputs_as_granted(body["inputs"], grant)}

    async def _start_of(self, run_id: str) -> Json:
        return await self._requests.send(Send("GET", f"{run_path(run_id)}/start"), dict)

    async def is_sealed(self) -> bool:
        return self._always or (await self.whoami()).content_on_devices

    def forget(self) -> None:
        """The service has refused what the last answer allowed."""
        self._whoami = None

    async def _sealed(self) -> "SealedContent":
        part = self._requests.credential.content_part
        if part is None:
            raise CredentialError(
                "Runs in device mode need a whole service key, whose content part seals what leaves this process: "
                "set SERVICE_API_KEY.",
                code="device_key_required",
            )
        facts = await self.whoami()
        if self._sealing is None or self._sealing[0] is not facts:
            from .._sealed_content import SealedContent

            self._sealing = (facts, SealedContent(part, facts))
        return self._sealing[1]


def _not_sealed_here() -> SealedValueError:
    return SealedValueError(
        "The service shows something that the key of this run has not sealed.", code="sealed_value_damaged"
    )

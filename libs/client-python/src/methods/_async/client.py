"""``AsyncMethods``: starts runs, waits for their ends, and has their questions answered."""

from __future__ import annotations

import time
from contextlib import nullcontext
from functools import partial
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from .._credentials import find_credential
from .._errors import InvalidRequest, RunTimeout
from .._exchange import WAIT_S, Send, pause_after, posted, run_path
from .._models import BatchItem, Json, Run, run_of
from .._starts import Start, batches, new_key, outcomes_of, start_body
from .._worker import AppWorker, app_worker
from .concurrency import AsyncOnAsk, AsyncOnError, AsyncPlaces, sleep
from .content import AsyncContent
from .files import AsyncFiles, AsyncMethodReader
from .followed_runs import AsyncFollowedRuns
from .questions import AsyncAsking
from .requests import AsyncRequests
from .runs import AsyncRuns
from .webhooks import AsyncClientWebhooks

#: Calls of ``run`` that wait on a connection of their own, which is quickest. All others share one.
_WAITING_CONNECTIONS = 4
#: A reply without news is not asked for again before this time.
_EARLY_S = 1.0


class AsyncMethods:
    """A client of one service with one key. Close it, or use it with ``async with``."""

    def __init__(
        self,
        api_key: Optional[str] = None,
        *,
        base_url: Optional[str] = None,
        timeout: float = 30.0,
        max_retries: int = 3,
        worker: bool = True,
        device: bool = False,
        on_ask: Optional[AsyncOnAsk] = None,
        on_error: Optional[AsyncOnError] = None,
    ) -> None:
        """``device``: seals the content of every run, also where the organization does not require it."""
        credential = find_credential(api_key, base_url)
        self.base_url = credential.base_url
        self._is_key = credential.is_key
        #: Before the first ``run``: whether it starts a worker.
        self._worker: Union[bool, Optional[AppWorker]] = worker
        self._on_ask = on_ask
        self._on_error = on_error
        self._requests = AsyncRequests(credential, timeout, max_retries)
        self._content = AsyncContent(self._requests, device)
        self._followed = AsyncFollowedRuns(self._requests)
        self._waiting = AsyncPlaces(_WAITING_CONNECTIONS)
        self.runs = AsyncRuns(self._requests, self._content)
        self.files = AsyncFiles(self._requests, self._content)
        self.methods = AsyncMethodReader(self._requests)
        self.webhooks = AsyncClientWebhooks(self.runs)

    async def __aenter__(self) -> "AsyncMethods":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        if isinstance(self._worker, AppWorker):
            self._worker.close()
        self._followed.close()
        await self._requests.close()

    async def run(
        self,
        method_id: str,
        inputs: Optional[Mapping[str, Any]] = None,
        *,
        idempotency_key: Optional[str] = None,
        on_ask: Optional[AsyncOnAsk] = None,
        version: Optional[str] = None,
        webhook_url: Optional[str] = None,
        metadata: Optional[Mapping[str, str]] = None,
        timeout: Optional[float] = None,
    ) -> Run:
        """Starts a run and waits until it has ended, with any status. ``timeout`` ends the waiting, not the run."""
        start = Start(method_id, inputs, idempotency_key or new_key(), version, webhook_url, metadata)
        handler = on_ask or self._on_ask
        body = start_body(start, is_key=self._is_key, answered_here=handler is not None)
        deadline = None if timeout is None else time.monotonic() + timeout
        asking = AsyncAsking(self.runs, handler, self._on_error)
        worker = self._ensure_worker()
        with worker.during(method_id) if worker is not None else nullcontext():
            run = await self._run(body, asking, idempotency_key is None, deadline, timeout)
        return await self._content.opened(run)

    async def start(
        self,
        method_id: str,
        inputs: Optional[Mapping[str, Any]] = None,
        *,
        idempotency_key: Optional[str] = None,
        version: Optional[str] = None,
        webhook_url: Optional[str] = None,
        metadata: Optional[Mapping[str, str]] = None,
    ) -> Run:
        """Starts a run and returns at once."""
        start = Start(method_id, inputs, idempotency_key or new_key(), version, webhook_url, metadata)
        body = start_body(start, is_key=self._is_key)
        for is_repeat in (False, True):
            sent = await self._content.of_start(body)
            try:
                return await self._requests.send(posted("/v1/runs", sent), run_of)
            except InvalidRequest as error:
                self._check_mode(error, sent, is_repeat)
        raise AssertionError("unreachable")

    async def start_many(self, starts: Sequence[Start]) -> List[BatchItem]:
        """Any number of starts in few requests. Each of them succeeds or is refused by itself."""
        bodies = [start_body(start, is_key=self._is_key) for start in starts]
        left: Dict[int, Json] = {place: await self._content.of_start(body) for place, body in enumerate(bodies)}
        outcomes: Dict[int, BatchItem] = {}
        attempt = 0
        while left:
            again: Dict[int, Json] = {}
            pause = 0.0
            for places, content in batches(left):
                headers = {"content-type": "application/json"}
                request = Send("POST", "/v1/runs/batch", body=content, headers=headers)
                for place, outcome in zip(places, await self._requests.send(request, outcomes_of)):
                    outcomes[place] = outcome
                    after = None if outcome.error is None else pause_after(outcome.error, attempt)
                    if after is not None and attempt < self._requests.max_retries:
                        again[place] = left[place]
                        pause = max(pause, after)
            left = again
            if left:
                await sleep(pause)
                attempt += 1
        return [outcomes[place] for place in range(len(starts))]

    def _ensure_worker(self) -> Optional[AppWorker]:
        if isinstance(self._worker, bool):
            self._worker = app_worker(self._requests.credential) if self._worker else None
        return self._worker

    async def _run(
        self, body: Json, asking: AsyncAsking, is_new: bool, deadline: Optional[float], timeout: Optional[float]
    ) -> Run:
        for is_repeat in (False, True):
            sent = await self._content.of_start(body)
            asking.check = partial(self._content.refuse_other, sent, is_new)
            try:
                if not self._waiting.try_take():
                    return await self._run_followed(sent, asking, deadline, timeout)
                try:
                    return await self._run_waiting(sent, asking, deadline, timeout)
                finally:
                    self._waiting.leave()
            except InvalidRequest as error:
                self._check_mode(error, sent, is_repeat)
        raise AssertionError("unreachable")

    def _check_mode(self, error: InvalidRequest, sent: Json, is_repeat: bool) -> None:
        """The organization has begun to keep content on devices: the start is sealed, and sent again once."""
        if error.code != "device_mode_required" or is_repeat or "run_data" in sent:
            raise error
        self._content.forget()

    async def _run_waiting(
        self, body: Json, asking: AsyncAsking, deadline: Optional[float], timeout: Optional[float]
    ) -> Run:
        """Each request waits for the run."""
        wait = _wait(deadline)
        request = posted("/v1/runs", body, params={"wait_ms": _ms(wait)}, wait_s=wait)
        run = await self._requests.send(request, run_of)
        while True:
            await asking.see(run)
            if run.finished:
                return run
            if deadline is not None and time.monotonic() >= deadline:
                raise RunTimeout(run.run_id, timeout or 0)
            wait = _wait(deadline)
            params = {"wait_ms": _ms(wait)}
            known = None if run.question is None else run.question.id
            if known is not None:
                params["after_question"] = known
            began = time.monotonic()
            run = await self._requests.send(Send("GET", run_path(run.run_id), params=params, wait_s=wait), run_of)
            seen = None if run.question is None else run.question.id
            # Of a service, or a proxy, that does not wait.
            if not run.finished and seen == known and time.monotonic() - began < min(wait, _EARLY_S):
                await sleep(_EARLY_S)

    async def _run_followed(
        self, body: Json, asking: AsyncAsking, deadline: Optional[float], timeout: Optional[float]
    ) -> Run:
        followed = await self._followed.start(posted("/v1/runs", body), deadline)
        try:
            asked: Optional[str] = None
            while True:
                run = await followed.next(asked, deadline)
                if run is None:
                    raise RunTimeout(followed.run_id, timeout or 0)
                await asking.see(run)
                if run.finished:
                    return run
                asked = run.question.id if run.question is not None else asked
        finally:
            followed.leave()


def _wait(deadline: Optional[float]) -> float:
    return WAIT_S if deadline is None else max(0.001, min(WAIT_S, deadline - time.monotonic()))


def _ms(seconds: float) -> str:
    return str(max(1, int(seconds * 1000)))

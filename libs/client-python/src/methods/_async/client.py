"""``AsyncMethods``: starts runs, waits for their ends, and has their questions answered."""

from __future__ import annotations

import dataclasses
import threading
import time
from functools import partial
from typing import Any, Callable, Coroutine, Dict, List, Mapping, Optional, Sequence, Union

from .._credentials import find_credential
from .._errors import Conflict, ConnectionFailed, InvalidRequest, MethodsError, RunTimeout
from .._exchange import WAIT_S, Send, encoded, pause_after, posted, run_path
from .._models import BatchItem, Json, Run, run_of
from .._starts import Start, batches, key_or_new, outcomes_of, start_body
from .._worker import AppWorker, app_worker
from .concurrency import AsyncLocal, AsyncOnAsk, AsyncOnError, AsyncPlaces, settled, sleep
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
#: The time in which a reply arrives that was held back until the deadline.
_ARRIVES_S = 1.0


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
        self._making_worker = threading.Lock()
        self._on_ask = on_ask
        self._on_error = on_error
        self._requests = AsyncRequests(credential, timeout, max_retries)
        self._content = AsyncContent(self._requests, device)
        self._followed = AsyncLocal(lambda: AsyncFollowedRuns(self._requests))
        self._waiting = AsyncLocal(lambda: AsyncPlaces(_WAITING_CONNECTIONS))
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
        followed = self._followed.made()
        if followed is not None:
            followed.close()
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
        start = Start(method_id, inputs, key_or_new(idempotency_key), version, webhook_url, metadata)
        handler = on_ask or self._on_ask
        body = start_body(start, is_key=self._is_key, answered_here=handler is not None)
        deadline = None if timeout is None else time.monotonic() + timeout
        asking = AsyncAsking(self.runs, handler, self._on_error)
        worker = self._ensure_worker()
        if worker is None:
            return await self._run(body, asking, idempotency_key is None, deadline, timeout)
        with worker.during(method_id):
            run = await self._run(body, asking, idempotency_key is None, deadline, timeout)
            if run.status != "succeeded" or run.result_at != "worker" or run.content_id is None:
                return run
            # It stayed on this machine, if the worker of this process made it.
            result = await settled(worker.result_of(run.content_id, run.attempts))
            return dataclasses.replace(run, result=result)

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
        start = Start(method_id, inputs, key_or_new(idempotency_key), version, webhook_url, metadata)
        body = start_body(start, is_key=self._is_key)
        return await self._started(body, lambda sent: self._requests.send(posted("/v1/runs", sent), run_of))

    async def start_many(self, starts: Sequence[Start]) -> List[BatchItem]:
        """Any number of starts in few requests. Each of them succeeds or is refused by itself."""
        bodies = [start_body(start, is_key=self._is_key) for start in starts]
        sent = {place: await self._content.of_start(body) for place, body in enumerate(bodies)}
        outcomes = await self._sent_many(sent)
        grant = 0
        while True:
            again: Dict[int, Json] = {}
            for place, outcome in outcomes.items():
                if not _is_other_start(outcome.error):
                    continue
                earlier = await self._content.as_granted(bodies[place], sent[place], grant)
                if earlier is not None:
                    again[place] = earlier
            if not again:
                return [outcomes[place] for place in range(len(bodies))]
            for place, outcome in (await self._sent_many(again)).items():
                if not _is_other_start(outcome.error):
                    outcomes[place] = outcome
            grant += 1

    async def _sent_many(self, bodies: Mapping[int, Json]) -> Dict[int, BatchItem]:
        # A request that fails after another was replied to is the outcome of its starts and of those after it: without
        # the outcomes that are known, a caller would start all again.
        # Likewise a value that is no JSON has to be found before the first request.
        left = {place: encoded(body) for place, body in bodies.items()}
        outcomes: Dict[int, BatchItem] = {}
        fault: Optional[MethodsError] = None
        attempt = 0
        while left:
            again: Dict[int, bytes] = {}
            pause = 0.0
            for places, content in batches(left):
                headers = {"content-type": "application/json"}
                request = Send("POST", "/v1/runs/batch", body=content, headers=headers)
                replied: List[BatchItem] = []
                if fault is None:
                    try:
                        replied = await self._requests.send(request, outcomes_of)
                    except MethodsError as error:
                        if not outcomes:
                            raise
                        fault = error
                if fault is not None:
                    replied = [BatchItem(None, fault) for _ in places]
                for place, outcome in zip(places, replied):
                    outcomes[place] = outcome
                    after = None if outcome.error is None else pause_after(outcome.error, attempt)
                    if after is not None and attempt < self._requests.max_retries:
                        again[place] = left[place]
                        pause = max(pause, after)
            # Under a rate limit each request starts a part of them.
            attempt = 0 if len(again) < len(left) else attempt + 1
            left = again if fault is None else {}
            if left:
                await sleep(pause)
        return outcomes

    def _ensure_worker(self) -> Optional[AppWorker]:
        with self._making_worker:
            if isinstance(self._worker, bool):
                self._worker = app_worker(self._requests.credential) if self._worker else None
            return self._worker

    async def _run(
        self, body: Json, asking: AsyncAsking, is_new: bool, deadline: Optional[float], timeout: Optional[float]
    ) -> Run:
        async def waited(sent: Json) -> Run:
            waiting = self._waiting.get()
            if not waiting.try_take():
                return await self._run_followed(sent, asking, deadline, timeout)
            try:
                return await self._run_waiting(sent, asking, deadline, timeout)
            finally:
                waiting.leave()

        return await self._content.opened(await self._started(body, waited, asking, is_new))

    async def _started(
        self,
        body: Json,
        send: Callable[[Json], Coroutine[Any, Any, Run]],
        asking: Optional[AsyncAsking] = None,
        is_new: bool = False,
    ) -> Run:
        for is_repeat in (False, True):
            sent = await self._content.of_start(body)
            if asking is not None:
                asking.check = partial(self._content.refuse_other, sent, is_new)
            try:
                return await send(sent)
            except InvalidRequest as error:
                self._check_mode(error, sent, is_repeat)
            except Conflict as error:
                found = await self._found(body, sent, send, error)
                if found is None:
                    raise
                return found
        raise AssertionError("unreachable")

    async def _found(
        self, body: Json, sent: Json, send: Callable[[Json], Coroutine[Any, Any, Run]], error: Conflict
    ) -> Optional[Run]:
        """The run that a key started which was rotated since; None: another start had the idempotency key."""
        grant = 0
        while _is_other_start(error):
            earlier = await self._content.as_granted(body, sent, grant)
            if earlier is None:
                return None
            try:
                return await send(earlier)
            except Conflict as again:
                error, grant = again, grant + 1
        raise error

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
        params = {"wait_ms": _ms(wait)}
        start = posted("/v1/runs", body, params=params, wait_s=wait, deadline=_latest(deadline))
        run = await self._requests.send(start, run_of)
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
            until = _latest(deadline)
            read = Send("GET", run_path(run.run_id), params=params, wait_s=wait, deadline=until, underway=True)
            try:
                run = await self._requests.send(read, run_of)
            except ConnectionFailed:
                if deadline is None or time.monotonic() < deadline:
                    raise
                raise RunTimeout(run.run_id, timeout or 0) from None
            seen = None if run.question is None else run.question.id
            # Of a service, or a proxy, that does not wait.
            if not run.finished and seen == known and time.monotonic() - began < min(wait, _EARLY_S):
                await sleep(_EARLY_S)

    async def _run_followed(
        self, body: Json, asking: AsyncAsking, deadline: Optional[float], timeout: Optional[float]
    ) -> Run:
        start = posted("/v1/runs", body, deadline=_latest(deadline))
        followed = await self._followed.get().start(start, deadline)
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


def _is_other_start(error: Optional[Exception]) -> bool:
    return isinstance(error, Conflict) and error.code == "idempotency_conflict"


def _wait(deadline: Optional[float]) -> float:
    return WAIT_S if deadline is None else max(0.001, min(WAIT_S, deadline - time.monotonic()))


def _latest(deadline: Optional[float]) -> Optional[float]:
    """The deadline of a request whose reply may be held back until then."""
    return None if deadline is None else deadline + _ARRIVES_S


def _ms(seconds: float) -> str:
    return str(max(1, int(seconds * 1000)))

"""``Methods``: the client for ordinary, synchronous programs."""

# The classes of this file share their internals.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence
from typing import TypeVar, Union

from . import _requests as requests
from ._credentials import find_credential
from ._errors import ConnectionFailed
from ._event_stream import EventStream
from ._exchange import USER_AGENT, Flow, Handle, Handled, Pause, Send, call, connection_error, encoded, exchange
from ._exchange import refusal
from ._models import BatchItem, Event, File, Json, Page, Question, Run, file_of, page_of, run_of
from ._webhooks import Webhooks
from ._worker import AppWorker, app_worker

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
logger = logging.getLogger("methods")


class AskedQuestion:
    """What ``on_ask`` gets. It returns the answer; or None, and ``answer`` is called later."""

    def __init__(self, client: "Methods", run_id: str, question: Question, problems: List[Json]) -> None:
        self._client = client
        self.run_id = run_id
        self.question = question
        self.step = question.step
        self.form = question.form
        #: Why the previous answer to this question did not fit; empty at first.
        self.problems = problems

    def answer(self, value: Mapping[str, Any]) -> Run:
        return self._client.runs.answer(self.run_id, value, question_id=self.question.id)


OnAsk = Callable[[AskedQuestion], Optional[Mapping[str, Any]]]


class Methods:
    """A client of one service with one key. Close it, or use it with ``with``."""

    webhooks = Webhooks()

    def __init__(
        self,
        api_key: Optional[str] = None,
        *,
        base_url: Optional[str] = None,
        timeout: float = 30.0,
        max_retries: int = 3,
        worker: bool = True,
    ) -> None:
        import httpx

        credential = find_credential(api_key, base_url)
        self.base_url = credential.base_url
        self.timeout = timeout
        self._is_key = credential.is_key
        self._bearer = credential.bearer
        #: Before the first ``run``: whether it starts a worker.
        self._worker: Union[bool, Optional[AppWorker]] = worker
        self._retries = max_retries
        self._http = httpx.Client(
            headers={"authorization": f"Bearer {credential.bearer}", "user-agent": USER_AGENT}
        )
        self.runs = Runs(self)
        self.files = Files(self)
        self.methods = MethodReader(self)

    def __enter__(self) -> "Methods":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if isinstance(self._worker, AppWorker):
            self._worker.close()
        self._http.close()

    def run(
        self,
        method_id: str,
        inputs: Optional[Mapping[str, Any]] = None,
        *,
        idempotency_key: Optional[str] = None,
        on_ask: Optional[OnAsk] = None,
        version: Optional[str] = None,
        webhook_url: Optional[str] = None,
        metadata: Optional[Mapping[str, str]] = None,
        timeout: Optional[float] = None,
    ) -> Run:
        """Starts a run and waits until it has ended, with any status."""
        requests.check_webhook(webhook_url, self._is_key)
        body = requests.start_body(
            method_id,
            inputs,
            idempotency_key=idempotency_key,
            version=version,
            webhook_url=webhook_url,
            metadata=metadata,
            answered_here=on_ask is not None,
        )
        flow = requests.run_to_end(body, on_ask, timeout, self._retries)
        worker = self._ensure_worker()
        if worker is None:
            return self._do(flow)
        with worker.during(method_id):
            return self._do(flow)

    def _ensure_worker(self) -> Optional[AppWorker]:
        if isinstance(self._worker, bool):
            self._worker = app_worker(self.base_url, lambda: self._bearer) if self._worker else None
        return self._worker

    def start(
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
        requests.check_webhook(webhook_url, self._is_key)
        body = requests.start_body(
            method_id,
            inputs,
            idempotency_key=idempotency_key,
            version=version,
            webhook_url=webhook_url,
            metadata=metadata,
        )
        return self._do(call(Send("POST", "/v1/runs", body=body), self._retries, run_of))

    def start_many(self, starts: Sequence[Json]) -> List[BatchItem]:
        """Up to 1,000 starts, each as the body of ``POST /v1/runs``. Each is judged by itself."""
        for each in starts:
            requests.check_webhook(each.get("webhook_url"), self._is_key)
        return self._do(requests.start_many(starts, self._retries))

    def _do(self, flow: Flow[T]) -> T:
        try:
            step = next(flow)
            while True:
                outcome: Any = None
                if isinstance(step, Send):
                    outcome = self._send(step)
                elif isinstance(step, Pause):
                    time.sleep(step.seconds)
                else:
                    outcome = self._handle(step)
                step = flow.send(outcome)
        except StopIteration as end:
            result: T = end.value
            return result

    def _send(self, request: Send) -> "Union[httpx.Response, ConnectionFailed]":
        import httpx

        began = time.monotonic()
        headers: Dict[str, str] = dict(request.headers)
        content = request.content
        if request.body is not None:
            content = encoded(request.body)
            headers["content-type"] = "application/json"
        try:
            response = self._http.request(
                request.method,
                self.base_url + request.path,
                params=request.params or None,
                content=content,
                headers=headers,
                timeout=httpx.Timeout(self.timeout + request.wait_s, pool=None),
            )
        except httpx.TransportError as error:
            logger.debug("%s %s: %s", request.method, request.path, type(error).__name__)
            return connection_error(error, isinstance(error, httpx.TimeoutException), self.base_url)
        ms = (time.monotonic() - began) * 1000
        request_id = response.headers.get("x-request-id")
        logger.debug("%s %s: %d in %.0f ms, %s", request.method, request.path, response.status_code, ms, request_id)
        return response

    def _handle(self, ask: Handle) -> Handled:
        try:
            given = ask.handler(AskedQuestion(self, ask.run_id, ask.question, ask.problems))
            return Handled(given, None)
        except Exception as error:
            return Handled(None, error)


class Runs:
    """``Methods.runs``"""

    def __init__(self, client: Methods) -> None:
        self._client = client

    def _call(self, request: Send) -> Run:
        return self._client._do(call(request, self._client._retries, run_of))

    def get(self, run_id: str) -> Run:
        return self._call(Send("GET", f"/v1/runs/{run_id}"))

    def list(
        self,
        *,
        status: Optional[str] = None,
        method: Optional[str] = None,
        metadata: Optional[Mapping[str, str]] = None,
        created_after: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> "Page[Run]":
        """One page, newest first; ``next_cursor`` of it is the ``cursor`` of the next."""
        given = {"status": status, "method": method, "created_after": created_after, "cursor": cursor}
        params = {name: value for name, value in given.items() if value is not None}
        params.update({f"metadata.{name}": value for name, value in (metadata or {}).items()})
        if limit is not None:
            params["limit"] = str(limit)
        request = Send("GET", "/v1/runs", params=params)
        return self._client._do(call(request, self._client._retries, page_of))

    def cancel(self, run_id: str) -> Run:
        return self._call(Send("POST", f"/v1/runs/{run_id}/cancel"))

    def answer(self, run_id: str, answer: Mapping[str, Any], *, question_id: Optional[str] = None) -> Run:
        return self._client._do(requests.answer(run_id, dict(answer), question_id, self._client._retries))

    def rerun(
        self, run_id: str, *, from_step: Optional[str] = None, idempotency_key: Optional[str] = None
    ) -> Run:
        """A new run of the same version with the same inputs."""
        body: Json = {"idempotency_key": idempotency_key or requests.new_key()}
        if from_step is not None:
            body["from_step"] = from_step
        return self._call(Send("POST", f"/v1/runs/{run_id}/rerun", body=body))

    def files(self, run_id: str, path: Optional[str] = None) -> bytes:
        """The bytes of one file of the run, or its whole folder as a gzipped tar."""
        request = Send("GET", f"/v1/runs/{run_id}/files" + ("" if path is None else f"/{requests.quoted(path)}"))
        return self._client._do(exchange(request, self._client._retries)).content

    def events(self, run_id: str) -> Iterator[Event]:
        """Every change of a run until it has ended; a broken connection is continued where it was."""
        import httpx

        client, stream, failures = self._client, EventStream(), 0
        while not stream.over:
            headers = {} if stream.last_id is None else {"last-event-id": stream.last_id}
            # A comment comes every 15 s.
            timeout = httpx.Timeout(client.timeout, read=45.0, pool=None)
            url = f"{client.base_url}/v1/runs/{run_id}/events"
            try:
                with client._http.stream("GET", url, headers=headers, timeout=timeout) as response:
                    if response.status_code == 204:
                        return
                    if response.status_code >= 400:
                        response.read()
                        raise refusal(response)
                    for line in response.iter_lines():
                        event = stream.feed(line.rstrip("\r\n"))
                        if event is not None:
                            failures = 0
                            yield event
            except httpx.TransportError as error:
                if failures >= client._retries:
                    raise connection_error(error, isinstance(error, httpx.TimeoutException), client.base_url) from error
            stream.cut()
            failures += 1
            if not stream.over:
                client._do(requests.pause(failures))


class Files:
    """``Methods.files``"""

    def __init__(self, client: Methods) -> None:
        self._client = client

    def upload(self, content: bytes, *, name: str, media_type: str = "application/octet-stream") -> File:
        """A file for inputs of type ``file``; used within 24 hours, it is kept as long as the run."""
        request = requests.upload(content, name, media_type)
        return self._client._do(call(request, self._client._retries, file_of))


class MethodReader:
    """``Methods.methods``"""

    def __init__(self, client: Methods) -> None:
        self._client = client

    def get(self, method_id: str) -> Json:
        """What a program needs to call a method: its names and versions, the schema of its inputs."""
        return self._client._do(call(Send("GET", f"/v1/methods/{method_id}"), self._client._retries, dict))

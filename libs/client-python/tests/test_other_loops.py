"""What a client does not carry into another process or event loop, and what its end does to those who wait."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Iterator, List, Set

import pytest
from loopback import Handler, LoopbackServer

from methods import AsyncMethods, Methods, MethodsError

KEY = "sk_" + "A" * 43
RUN = {"run_id": "run_1", "version_id": "ver_1", "status": "queued"}
WHOAMI = {"org_id": "org_1", "key_id": "key_1", "content_on_devices": False, "content_grants": []}
WITHIN_S = 30


class Service(LoopbackServer):
    """Keeps its connections open, and its runs queued."""

    def __init__(self) -> None:
        #: The port of the client, of each request.
        self.ports: List[int] = []
        service = self

        class Each(Handler):
            protocol_version = "HTTP/1.1"

            def handle_request(self, body: bytes) -> None:
                service.ports.append(self.client_address[1])
                if self.path == "/v1/events":
                    self.send_response(200)
                    self.send_header("content-type", "text/event-stream")
                    self.end_headers()
                    self.wfile.write(b"event: ready\ndata: {}\n\n")
                    service.over.wait(WITHIN_S)
                    self.close_connection = True
                    return
                self.reply(200, json.dumps(WHOAMI if self.path == "/v1/whoami" else RUN).encode())

        super().__init__(Each)


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.close()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_has_connections_of_its_own(service: Service) -> None:
    with Methods(KEY, base_url=service.url, worker=False) as client:
        client.runs.get("run_1")
        child = os.fork()
        if child == 0:
            status = 1
            try:
                status = 0 if client.runs.get("run_1").run_id == "run_1" else 1
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        client.runs.get("run_1")
    of_parent, of_child, of_parent_again = service.ports
    assert of_parent == of_parent_again != of_child


async def read_often(client: AsyncMethods) -> Set[str]:
    """More at a time than there are places."""
    return {run.run_id for run in await asyncio.gather(*(client.runs.get("run_1") for _ in range(12)))}


def test_a_client_serves_one_event_loop_after_another(service: Service) -> None:
    client = AsyncMethods(KEY, base_url=service.url, worker=False)
    for _ in range(3):
        assert asyncio.run(read_often(client)) == {"run_1"}
    assert len(client._requests._http._made) == 1, "what closed loops had is not kept"


def test_a_client_serves_event_loops_of_several_threads(service: Service) -> None:
    client = AsyncMethods(KEY, base_url=service.url, worker=False)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: asyncio.run(read_often(client)), range(4)))
    assert found == [{"run_1"}] * 4


def test_a_call_that_follows_its_run_ends_when_the_client_is_closed(service: Service) -> None:
    client = Methods(KEY, base_url=service.url, worker=False)
    while client._waiting.get().try_take():
        pass
    ended: "queue.Queue[MethodsError]" = queue.Queue()

    def run() -> None:
        try:
            client.run("wf_1")
        except MethodsError as error:
            ended.put(error)

    threading.Thread(target=run, daemon=True).start()
    began = time.monotonic()
    while not client._followed.get()._runs:
        assert time.monotonic() - began < WITHIN_S
        time.sleep(0.005)
    client.close()
    assert ended.get(timeout=WITHIN_S).code == "client_closed"
    with pytest.raises(MethodsError) as refused:
        client.runs.get("run_1")
    assert refused.value.code == "client_closed"


def test_a_task_that_follows_its_run_ends_when_the_client_is_closed(service: Service) -> None:
    async def main() -> None:
        client = AsyncMethods(KEY, base_url=service.url, worker=False)
        while client._waiting.get().try_take():
            pass
        running = asyncio.ensure_future(client.run("wf_1"))
        began = time.monotonic()
        while not client._followed.get()._runs:
            assert time.monotonic() - began < WITHIN_S
            await asyncio.sleep(0.005)
        await client.close()
        with pytest.raises(MethodsError) as ended:
            await asyncio.wait_for(running, WITHIN_S)
        assert ended.value.code == "client_closed"

    asyncio.run(main())

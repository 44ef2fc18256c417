"""An application of the Python library: measures ``run`` one after the other, or many that wait; prints JSON."""

import asyncio
import json
import os
import time

from methods import AsyncMethods, Methods

METHOD, RUNS, MODE = os.environ["METHOD"], int(os.environ["RUNS"]), os.environ["MODE"]


def latencies(client):
    times = []
    for n in range(RUNS):
        began = time.perf_counter()
        # A run that no worker takes, such as a sealed one, fails the measurement.
        run = client.run(METHOD, {"n": n}, timeout=60)
        times.append((time.perf_counter() - began) * 1000)
        assert run.status == "succeeded", run
    return times[RUNS // 2 :]


def sockets():
    folder = "/proc/self/fd"
    return sum(os.path.realpath(f"{folder}/{name}").find("socket:") >= 0 for name in os.listdir(folder))


async def waiting():
    async with AsyncMethods(worker=False) as client:
        before = sockets()
        metadata = {"bench": str(os.getpid())}
        began = time.perf_counter()
        calls = [asyncio.ensure_future(client.run(METHOD, {"n": n}, metadata=metadata)) for n in range(RUNS)]
        ids = []
        while len(ids) < RUNS:
            ids = [run.run_id async for run in client.runs.list(metadata=metadata, page_size=200)]
        found = {"sockets": sockets() - before, "ms": (time.perf_counter() - began) * 1000}
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await asyncio.gather(*(client.runs.cancel(run_id) for run_id in ids))
        return found


if MODE == "waiting":
    print(json.dumps(asyncio.run(waiting())))
else:
    with Methods(device=MODE == "device") as client:
        print(json.dumps(latencies(client)))

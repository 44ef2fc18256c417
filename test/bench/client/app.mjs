// An application of the Node library, in the folder where the library is installed: measures what its argument names,
// and prints it as one line of JSON.
import { Methods } from '@methods/client';

const { METHOD, RUNS, MODE } = process.env;
const runs = Number(RUNS);
/** A run that no worker takes, such as a sealed one, fails the measurement. */
const PATIENCE_MS = 60_000;

async function latencies(client) {
  const times = [];
  for (let n = 0; n < runs; n++) {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const beganMs = performance.now();
    const { status, error } = await client.run({ method: METHOD, inputs: { n }, signal });
    times.push(performance.now() - beganMs);
    if (status !== 'succeeded') throw new Error(`${status} ${error?.message}`);
  }
  // The first ones start the worker and warm it up.
  return times.slice(Math.floor(runs / 2));
}

function open() {
  const kinds = process.getActiveResourcesInfo();
  const count = (name) => kinds.filter((kind) => kind === name).length;
  return { sockets: count('TCPSocketWrap'), timers: count('Timeout') };
}

async function waiting() {
  const client = new Methods({ worker: false });
  const leaving = new AbortController();
  const metadata = { bench: `${process.pid}` };
  const calls = Array.from({ length: runs }, (_, n) =>
    client.run({ method: METHOD, inputs: { n }, metadata, signal: leaving.signal }).catch(() => {}),
  );
  const beganMs = performance.now();
  const started = async () => {
    const ids = [];
    for await (const { run_id: id } of client.runs.list({ metadata, pageSize: 200 })) ids.push(id);
    return ids;
  };
  let ids = [];
  while (ids.length < runs) ids = await started();
  const found = { ...open(), ms: performance.now() - beganMs };
  leaving.abort();
  await Promise.all(calls);
  await Promise.all(ids.map((id) => client.runs.cancel(id)));
  return found;
}

const measured =
  MODE === 'waiting' ? await waiting() : await latencies(new Methods(MODE === 'device' ? { runData: 'device' } : {}));
console.log(JSON.stringify(measured));

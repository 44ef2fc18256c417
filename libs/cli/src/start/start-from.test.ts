import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { after, before, beforeEach, test } from 'node:test';
import { until } from '@methods/test/harness/until';
import type { CommandContext } from '../command/command.ts';
import { NO_CREDENTIAL } from '../server/credential.ts';
import { ServerApi } from '../server/server-api.ts';
import { type InputLine, inputLines, LineKeys } from './input-lines.ts';
import { startFrom } from './start-from.ts';

const FACTS = { mcpUrl: null, grpcUrl: null, issuer: null, cliClientId: null, machineAudience: null, sendsMail: null };

interface Start {
  readonly inputs: { readonly n: number };
  readonly idempotency_key: string;
}

let server: Server;
let api: ServerApi;
let dir: string;
let asked: Start[][];
/** The outcome of a start. */
let outcome: (start: Start) => object;
let told: { out: string[]; err: string[]; json: object[] };

before(async () => {
  server = createServer(async (request, response) => {
    const { runs } = JSON.parse(await textOf(request)) as { runs: Start[] };
    asked.push(runs);
    const items = runs.map((run) => outcome(run));
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ items }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  api = new ServerApi({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    facts: FACTS,
    credentials: { forRuns: NO_CREDENTIAL, forPeople: NO_CREDENTIAL },
    interrupted: new AbortController().signal,
  });
  dir = await mkdtemp(join(tmpdir(), 'start-'));
});
after(async () => {
  server.closeAllConnections();
  server.close();
  await rm(dir, { recursive: true, force: true });
});
beforeEach(() => {
  asked = [];
  told = { out: [], err: [], json: [] };
  outcome = ({ inputs }) => ({ status: 201, run: { run_id: `run_${inputs.n}`, status: 'queued' } });
});

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += part;
  return text;
}

async function start(text: string, key = '', file = 'inputs.ndjson'): Promise<number> {
  if (file !== '-') await writeFile(join(dir, file), text);
  return startWith(Readable.from([Buffer.from(text.slice(0, 11)), Buffer.from(text.slice(11))]), { key, file });
}

async function startWith(
  stdin: Readable,
  { key = '', file = '-', interrupted = new AbortController().signal },
): Promise<number> {
  const output = {
    streams: { stdin },
    result: (line: string) => told.out.push(line),
    complaint: (line: string) => told.err.push(line),
    note: (line: string) => told.err.push(line),
    jsonLine: (value: object) => told.json.push(value),
  };
  const context = { cwd: dir, output, interrupted } as unknown as CommandContext;
  return startFrom(api, { file, method: 'wf_a', version: undefined, key }, context);
}

const uninterrupted = () => ({ cwd: dir, interrupted: new AbortController().signal });

async function linesOf(text: string | Buffer): Promise<InputLine[]> {
  await writeFile(join(dir, 'lines'), text);
  const lines: InputLine[] = [];
  for await (const line of inputLines('lines', uninterrupted())) lines.push(line);
  return lines;
}

test('each line is the inputs of a run; a line that is not an object is reported by its number, and empty lines are skipped', async () => {
  const long = JSON.stringify({ x: 'x'.repeat(1_100_000) });
  const lines = await linesOf(`\uFEFF{"n":1}\r\n\n[2]\n{"n":\n${long}\n {"n":6}`);
  deepEqual(
    lines.map((line) => [line.line, line.ok ? line.inputs : line.message]),
    [
      [1, { n: 1 }],
      [3, 'it is not a JSON object'],
      [4, 'it is not JSON'],
      [5, 'it is longer than 1 MiB'],
      [6, { n: 6 }],
    ],
  );
  await rejects(async () => {
    for await (const _ of inputLines('none', uninterrupted()));
  }, /cannot read none: there is no such file/);
});

test('a line that is not UTF-8 is refused, and starts no run with other letters', async () => {
  const lines = await linesOf(Buffer.from('{"name":"Müller"}\n{"name":"Miller"}\n', 'latin1'));
  deepEqual(
    lines.map((line) => (line.ok ? line.inputs : line.message)),
    ['it is not UTF-8', { name: 'Miller' }],
  );
});

test('a key is the same for the same inputs in every command, at any line; equal lines have separate keys', () => {
  const keys = (name: string, inputs: readonly { n: number; m: number }[]) => {
    const made = new LineKeys(name, 'wf_a', 'published');
    return inputs.map((each) => made.keyOf(each));
  };
  const [one, two] = [
    { n: 1, m: 1 },
    { m: 2, n: 2 },
  ];
  const [first, other, again] = keys('', [one, two, one]);
  equal(new Set([first, other, again]).size, 3);
  deepEqual(keys('', [{ n: 2, m: 2 }, { m: 1, n: 1 }, one, one]).slice(0, 3), [other, first, again]);
  equal(new Set([...keys('may', [one]), ...keys('june', [one]), first]).size, 3);
  equal((first ?? '').length <= 200, true);
});

test('a thousand lines are one request; ids are printed in their order, and refusals by their line', async () => {
  outcome = ({ inputs: { n } }) =>
    n % 700 === 0
      ? {
          status: 422,
          error: { error: 'invalid_inputs', message: 'No.', details: [{ path: '/n', message: 'is odd' }] },
        }
      : { status: n === 1 ? 200 : 201, run: { run_id: `run_${n}`, status: 'queued' } };
  const code = await start(Array.from({ length: 1_200 }, (_, n) => `{"n":${n + 1}}\n`).join(''));
  deepEqual([code, asked.map(({ length }) => length)], [1, [1_000, 200]]);
  equal(told.out.length, 1_199);
  deepEqual([told.out[0], told.out[698], told.out[699]], ['run_1', 'run_699', 'run_701']);
  deepEqual(told.err, ['line 700: No; /n is odd\n', '1198 runs started, 1 started before, 1 line refused']);
  equal(told.json.length, 1_200);
});

test('starts that a busy server did not accept are sent again, and nothing else', async () => {
  let tries = 0;
  outcome = ({ inputs: { n } }) =>
    n === 2 && tries++ < 2
      ? { status: tries === 1 ? 429 : 503, error: { error: 'rate_limited' }, retry_after: 0 }
      : { status: 201, run: { run_id: `run_${n}`, status: 'queued' } };
  equal(await start('{"n":1}\n{"n":2}\n{"n":3}\n'), 0);
  deepEqual(
    asked.map((runs) => runs.map(({ inputs }) => inputs.n)),
    [[1, 2, 3], [2], [2]],
  );
  equal(new Set(asked.flat().map((run) => run.idempotency_key)).size, 3);
  deepEqual(told.out, ['run_1', 'run_2', 'run_3']);
});

test('a command whose reply was lost says that it may be repeated', async () => {
  outcome = () => {
    server.closeAllConnections();
    return {};
  };
  await rejects(start('{"n":1}\n'), ({ code, hint }: { code: string; hint: string }) => {
    match(hint, /repeat the command/);
    return code === 'unreachable';
  });
});

test('standard input is read like a file, in pieces of any size', async () => {
  equal(await start('{"n":1}\n{"n":2}\n{"n":', '', '-'), 1);
  deepEqual(
    asked.flat().map(({ inputs }) => inputs.n),
    [1, 2],
  );
  deepEqual(told.out, ['run_1', 'run_2']);
  const keys = asked.flat().map(({ idempotency_key }) => idempotency_key);
  asked = [];
  equal(await start('{"n":1}\n{"n":2}\n'), 0);
  deepEqual(
    asked.flat().map(({ idempotency_key }) => idempotency_key),
    keys,
  );
});

test('a slow pipe does not delay the runs of the lines that have come', async () => {
  async function* slow() {
    for (let n = 1; n <= 3; n++) {
      yield Buffer.from(`{"n":${n}}\n{"n":${n}0}\n{"n"`);
      await until('the lines before are sent', () => asked.length === n);
      yield Buffer.from(`:${n}00}\n`);
    }
  }
  equal(await startWith(Readable.from(slow()), {}), 0);
  deepEqual(
    asked.map((runs) => runs.map(({ inputs }) => inputs.n)),
    [[1, 10], [100, 2, 20], [200, 3, 30], [300]],
  );
});

test('an interrupt ends the wait for the next line', async () => {
  const interrupt = new AbortController();
  const stdin = new PassThrough();
  stdin.write('{"n":1}\n');
  const ended = rejects(startWith(stdin, { interrupted: interrupt.signal }));
  await until('the first run is reported', () => told.out.length === 1);
  interrupt.abort();
  await ended;
});

test('standard input is read even if it cannot be opened by name', async () => {
  const text = (code: string) => `import { ${code} } from '${new URL('./input-lines.ts', import.meta.url)}';`;
  const child = spawn(
    process.execPath,
    [
      '--import',
      'tsx',
      '--input-type=module',
      '-e',
      `${text('inputLines')} const context = { cwd: '.', interrupted: new AbortController().signal };` +
        `for await (const { line, inputs } of inputLines('-', context)) console.log(line, inputs.n)`,
    ],
    // A socket.
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  child.stdin.end('{"n":7}\n');
  let said = '';
  for await (const part of child.stdout) said += part;
  equal(said, '1 7\n');
});

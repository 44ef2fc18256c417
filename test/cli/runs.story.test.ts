// What people do with runs from the command line: start, list, watch, cancel, answer, run again, and send the record of a
// run on their own computer.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { METHODS } from '@methods/cli/cli.fixture';
import { TerminalProcess } from '@methods/cli/terminal/terminal-process.fixture';
import { signIn } from '@methods/local-stack/identity/testing/running-provider.fixture';
import type { RunBody } from '../e2e/api-client.ts';
import type { Stack } from '../e2e/stack.ts';
import { until } from '../harness/until.ts';
import { commonStack } from './common-stack.ts';
import { Desk } from './desk.ts';
import { GatedRuns } from './gated-runs.ts';
import { heldAddress } from './held-address.ts';
import { LossyServer } from './lossy-server.ts';
import { SeveredServer } from './severed-server.ts';
import { type StackDesk, stackDesk } from './stack-desk.ts';
import { StartedWorker } from './started-worker.ts';

let stack: Stack;
let desk: StackDesk;
let worker: StartedWorker;
let gated: GatedRuns;
const terminals: TerminalProcess[] = [];
const methods = (...args: string[]) => desk.folder.quick(args, desk.env);
const json = async <T>(...args: string[]) => (await desk.folder.quickJson<T>(args, desk.env)).document;

function onTerminal(...args: string[]): TerminalProcess {
  const env = { HOME: desk.folder.dir, ...desk.env };
  const terminal = new TerminalProcess(process.execPath, [METHODS, ...args], { cwd: desk.folder.dir, env });
  terminals.push(terminal);
  return terminal;
}

before(async () => {
  stack = await commonStack();
  desk = await stackDesk(stack);
  gated = await GatedRuns.publish(desk);
  worker = new StartedWorker(desk, '--method', 'held.method', '--concurrency', '3');
  await worker.says('it is ready', ({ event }) => event === 'ready');
});
afterEach(() => {
  for (const terminal of terminals.splice(0)) terminal.stop();
});
after(async () => {
  worker?.signal('SIGKILL');
  await desk?.folder.remove();
});

test('a run is started and waited for, and the same key starts it once', async () => {
  const greet = stack.method('greet');
  const end = await methods('start', greet, '--inputs', '{"name": "Ann"}', '--wait', '--key', 'greet-ann-1');
  assert.equal(end.code, 0, end.stderr);
  assert.match(end.stdout, /^succeeded compose .*s$/m);
  assert.match(end.stdout, /"greeting": "Hello, Ann!"/);
  const run = await json<RunBody>('start', greet, '--inputs', '{"name": "Ann"}', '--wait', '--key', 'greet-ann-1');
  const [runId] = /run_\w{26}/.exec(end.stdout) ?? [];
  if (runId !== undefined) assert.equal(run.run_id, runId);
  assert.deepEqual(run.result, { greeting: 'Hello, Ann!' });
  const wrong = await methods('start', greet, '--inputs', '{"times": 99}');
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /^error: .*times/m);
});

test('a start whose reply is lost names its key, with which a repeat starts it once', async (t) => {
  const lossy = await LossyServer.start(stack.ready.base_url);
  const here = await stackDesk(stack, lossy.url);
  t.after(async () => {
    await lossy.stop();
    await here.folder.remove();
  });
  const start = ['start', stack.method('greet'), '--inputs', '{"name": "Lost"}'];
  lossy.fate = 'broken';
  const lost = await here.folder.quick(start, here.env);
  assert.equal(lost.code, 1);
  const [, key = ''] = /^hint: the run may have started: .* --key (\S{36}), /m.exec(lost.stderr) ?? [];
  assert.notEqual(key, '', lost.stderr);
  const list = ['runs', 'list', '--method', stack.method('greet'), '--limit', '1'];
  const [newest] = (await here.folder.quickJson<{ items: RunBody[] }>(list, here.env)).document.items;
  const keyed = await here.folder.quick([...start, '--key', key], here.env);
  assert.match(keyed.stderr, /^hint: the run may have started: repeat the command whose --key/m);
  lossy.fate = 'answered';
  const found = (await here.folder.quickJson<RunBody>([...start, '--key', key], here.env)).document;
  assert.equal(found.run_id, newest?.run_id);
  lossy.fate = 'broken';
  const rerun = await here.folder.quick(['runs', 'rerun', found.run_id], here.env);
  assert.match(rerun.stderr, /^hint: the run may have started: look for it/m);
});

test('a file of inputs starts a run a line, and none when the command is repeated', async () => {
  const greet = stack.method('greet');
  await desk.folder.write('people.ndjson', '{"name": "Ann"}\n{"name": "Bob"}\n{"name": "Ann"}\n{"times": 99}\n');
  const first = await methods('start', greet, '--from', 'people.ndjson', '--key', 'people-1');
  assert.equal(first.code, 1);
  assert.match(first.stderr, /^line 4: .*times.*$/m);
  const ids = first.stdout.trim().split('\n');
  assert.equal(new Set(ids).size, 3);
  await desk.folder.write('people.ndjson', '{"name": "Eve"}\n{"name": "Ann"}\n{"name": "Bob"}\n{"name": "Ann"}\n');
  const again = await methods('start', greet, '--from', 'people.ndjson', '--key', 'people-1');
  assert.equal(again.code, 0, again.stderr);
  assert.match(again.stderr, /1 run started, 3 started before/);
  assert.deepEqual(again.stdout.trim().split('\n').slice(1), ids);
  const wrong = await methods('start', greet, '--from', 'people.ndjson', '--wait');
  assert.equal(wrong.code, 2);
});

test('files are sent with a start, and one that is too large is refused before any of them', async () => {
  const digest = stack.method('digest-files');
  await desk.folder.write('Größe 1.txt', 'one');
  await desk.folder.write('two.txt', 'two');
  const given = ['--inputs', 'a=@Größe 1.txt', '--inputs', 'list=@two.txt', '--inputs', 'list=@Größe 1.txt'];
  const { status, result } = await json<RunBody>('start', digest, ...given, '--wait');
  assert.equal(status, 'succeeded');
  const [one, two] = ['one', 'two'].map((text) => createHash('sha256').update(text).digest('hex'));
  assert.deepEqual([result?.first, result?.name, result?.list], [one, 'Größe 1.txt', [two, one]]);
  const count = async () => (await stack.sql`select from scheduler.files`).length;
  const before = await count();
  await desk.folder.write('large.bin', '');
  await truncate(join(desk.folder.dir, 'large.bin'), 300 * 1024 ** 2);
  const refused = await methods('start', digest, '--inputs', 'a=@two.txt', '--inputs', 'list=@large.bin');
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  assert.match(refused.stderr, /^error: large.bin has 300 MiB; a file among the inputs has at most 100 MiB$/m);
  const twice = await methods('start', digest, '--inputs', '{"a": 1}', '--inputs', 'a=@two.txt');
  assert.deepEqual([twice.code, twice.stdout], [2, '']);
  assert.match(twice.stderr, /^error: the input a is given twice/m);
  assert.equal(await count(), before);
});

test('a start with files is repeated as one run, and not with another file', async () => {
  const digest = stack.method('digest-files');
  await desk.folder.write('kept.txt', 'kept');
  const start = ['start', digest, '--inputs', 'a=@kept.txt', '--key', 'digest-kept-1'];
  const { run_id: first } = await json<RunBody>(...start);
  assert.equal((await json<RunBody>(...start)).run_id, first);
  await desk.folder.write('kept.txt', 'changed');
  const other = await methods(...start);
  assert.equal(other.code, 1);
  assert.match(other.stderr, /idempotency_key was used with other values/);
});

test('runs are listed by status and method, and shown', async () => {
  const greet = stack.method('greet');
  const started = await json<RunBody>('start', greet, '--wait');
  const page = await json<{ items: RunBody[]; next_cursor: string | null }>('runs', 'list', '--method', greet);
  assert.equal(page.items[0]?.run_id, started.run_id);
  const failed = await json<{ items: RunBody[] }>('runs', 'list', '--method', greet, '--status', 'failed');
  assert.deepEqual(failed.items, []);
  const listed = await methods('runs', 'list');
  assert.match(listed.stdout, new RegExp(`^ID +STATUS +CREATED +RAN +METHOD\n[^]*${started.run_id} +succeeded`, 'm'));
  const shown = await methods('runs', 'show', started.run_id);
  assert.deepEqual([shown.code, shown.stderr], [0, '']);
  assert.match(shown.stdout, /✓ compose/);
  const nothing = await methods('runs', 'show', 'run_00000000000000000000000000');
  assert.equal(nothing.code, 1);
  for (const words of [['runs', 'show'], ['runs', 'watch'], ['runs', 'cancel'], ['runs', 'rerun'], ['answer']]) {
    const malformed = await methods(...words, 'run_1');
    assert.deepEqual([malformed.code, malformed.stdout], [2, ''], words.join(' '));
    assert.match(malformed.stderr, /^error: "run_1" is not a run id$/m);
  }
  const usage = await methods('runs', 'list', '--status', 'done');
  assert.deepEqual([usage.code, usage.stdout], [2, '']);
});

test('a method of a local stack is named as the stack names it when it is ready', async () => {
  const shown = await methods('show', 'two-questions');
  assert.deepEqual([shown.code, shown.stderr], [0, '']);
  assert.ok(shown.stdout.includes(stack.method('two-questions')), shown.stdout);
  assert.equal((await methods('show', 'constructor')).code, 1);
});

test('a watched run is drawn over, cleanly where the terminal is resized, and is shown once at the end', async () => {
  const runId = await gated.start('watched');
  const terminal = onTerminal('runs', 'watch', runId);
  await terminal.until('the steps', ({ lines }) => lines.some((line) => /^. hold \d/.test(line)));
  await terminal.until('the spinner turned', () => new Set(terminal.output.match(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏](?= hold)/g)).size > 2);
  for (const columns of [24, 80]) {
    // A resize in the middle of a frame moves the lines that the frame counts on; the last sequence of a frame ends it.
    await terminal.until('a frame is whole', () => terminal.output.endsWith('\u001b[?7h'));
    terminal.resize(columns);
    const before = terminal.output.length;
    await terminal.until('it is drawn again', () => terminal.output.slice(before).split('\u001b[J').length > 3);
    const { lines } = terminal.screen;
    assert.equal(lines.length, 4, terminal.screen.text);
    assert.ok(lines[0]?.startsWith(runId.slice(0, columns - 1)), terminal.screen.text);
    assert.ok(lines.every((line) => line.length < columns));
  }
  await gated.open('watched');
  assert.equal(await terminal.exited, 0);
  const { lines, cursorVisible } = terminal.screen;
  assert.equal(lines.filter((line) => line.includes('hold')).length, 1, terminal.screen.text);
  assert.deepEqual(
    lines.slice(1, 4).map((line) => line.replace(/[\d.]+ s/, 'TIME')),
    ['✓ begin TIME', '✓ hold TIME', '✓ last TIME'],
  );
  assert.ok(lines[0]?.includes('succeeded') && cursorVisible, terminal.screen.text);
});

test('an interrupted watch does not affect the run, and a cancelled run says so', async () => {
  const runId = await gated.start('cancelled');
  const terminal = onTerminal('runs', 'watch', runId);
  await terminal.until('the steps', ({ text }) => text.includes('hold'));
  terminal.type('\u0003');
  assert.equal(await terminal.exited, 130);
  assert.ok(terminal.screen.cursorVisible);
  assert.equal((await stack.api.get(runId)).run.status, 'running');
  const end = await methods('runs', 'cancel', runId);
  assert.equal(end.code, 0, end.stderr);
  const watched = await methods('runs', 'watch', runId);
  assert.equal(watched.code, 1);
  assert.match(watched.stderr, /^error: the run was cancelled$/m);
  assert.equal((await methods('runs', 'cancel', runId)).code, 0, 'a repeat');
});

test('questions are answered on a terminal and by --answer, and the exit code says that a run waits', async () => {
  const waiting = await methods('start', stack.method('two-questions'), '--wait');
  assert.equal(waiting.code, 4, waiting.stderr);
  const [, runId = ''] = /methods answer (run_\w{26})/.exec(waiting.stdout) ?? [];
  const shown = await methods('answer', runId);
  assert.equal(shown.code, 4);
  const terminal = onTerminal('answer', runId);
  await terminal.shows('Go on?');
  await terminal.until('the prompt', ({ cursorLine }) => cursorLine.includes('›'));
  terminal.type('maybe');
  await terminal.shows('must be');
  terminal.type('\u0015yes\r');
  assert.equal(await terminal.exited, 0);
  assert.equal((await methods('runs', 'watch', runId)).code, 4);
  const wrong = await methods('answer', runId, '--answer', '{"go": "perhaps"}');
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /go must be/);
  const comment = ['--comment', 'Not this time.'];
  const end = await json<RunBody>('answer', runId, '--answer', '{"go": false}', ...comment, '--wait');
  assert.deepEqual(end.result, { first: true, second: false });
  const receipts = (await methods('runs', 'show', runId)).stdout;
  assert.match(receipts, /^first: answered by .* on the command line, .*, \{"go":true\}$/m);
  assert.match(receipts, /^second: answered by .* on the command line, .*, \{"go":false\}\n {4}Not this time\.$/m);
  const repeated = await methods('answer', runId, '--answer', '{"go": false}');
  assert.deepEqual([repeated.code, repeated.stderr], [0, '']);
  assert.match(repeated.stdout, /^Already answered: run_\w{26} is succeeded\.$/m);
  assert.deepEqual(await json<RunBody>('answer', runId, '--answer', '{"go": false}', '--wait'), end);
  const late = await methods('answer', runId, '--answer', '{"go": true}');
  assert.equal(late.code, 1);
  assert.match(late.stderr, /is already succeeded/);
});

test('a run is run again with its inputs, or from a later step', async () => {
  const greeting = await json<RunBody>('start', stack.method('greet'), '--inputs', '{"name": "Bo"}', '--wait');
  const again = await json<RunBody>('runs', 'rerun', greeting.run_id, '--wait');
  assert.notEqual(again.run_id, greeting.run_id);
  assert.deepEqual(again.result, greeting.result);
  const first = await json<RunBody>('start', stack.method('draw-and-tell'), '--wait');
  const later = await json<RunBody>('runs', 'rerun', first.run_id, '--from-step', 'tell', '--wait');
  assert.deepEqual([later.status, later.result], ['succeeded', first.result]);
});

test('the record of a local run goes to the server, and only of a saved version', async () => {
  const held = await heldAddress();
  held.open();
  await desk.folder.write('local.method', held.source);
  assert.equal((await methods('save', 'local.method')).code, 0);
  const run = await json<RunBody>('run', 'local.method', '--upload');
  const { items } = await json<{ items: RunBody[] }>('runs', 'list', '--kind', 'local');
  assert.equal(items.find(({ run_id: id }) => id === run.run_id)?.status, 'succeeded');
  const shown = await json<{ version_id: string; inspection: { version_id: string; actions: object[] } }>(
    'runs',
    'show',
    run.run_id,
  );
  assert.equal(shown.inspection.actions.length, 1);
  assert.match(shown.version_id, /^ver_/);
  assert.equal(shown.inspection.version_id, shown.version_id);
  await desk.folder.write('changed.method', held.source);
  const refused = await methods('run', 'changed.method', '--upload');
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  assert.match(refused.stderr, /hint: methods save changed\.method/);
  held.close();
});

test('an unavailable server does not delay a local run, and its record follows', async () => {
  const way = await SeveredServer.before(stack.ready.base_url);
  const own = await stackDesk(stack, way.address);
  const held = await heldAddress();
  try {
    await own.folder.write('local.method', held.source);
    const saved = await own.folder.quick(['save', 'local.method'], own.env);
    assert.equal(saved.code, 0, saved.stderr);
    const child = own.folder.spawn(['run', 'local.method', '--upload'], own.env);
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
    }
    const exited = new Promise<number | null>((resolve) => child.on('close', resolve));
    await held.isAsked;
    const [runId = ''] = await own.folder.runs();
    const record = () => json<{ status: string }>('runs', 'show', runId).catch(() => null);
    await until('a first record is there', async () => (await record())?.status === 'running');
    await way.cut();
    held.open();
    await until('it says so', () => said.includes('its record follows'));
    await way.join();
    assert.equal(await exited, 0, said);
    assert.match(said, /The record of the run has been sent\./);
    assert.equal((await record())?.status, 'succeeded');
  } finally {
    held.close();
    await way.cut();
    await own.folder.remove();
  }
});

test('signed in, the record of a local run goes to the server without being asked for', async () => {
  const own = await Desk.make();
  const held = await heldAddress();
  held.open();
  try {
    const login = await own.signIn(stack.ready.base_url, (address) => signIn(address));
    assert.equal(login.code, 0, login.stderr);
    await own.folder.write('local.method', held.source);
    const ran = async (...args: string[]) => {
      const { stdout, stderr } = await own.run(['run', 'local.method', '--json', ...args]);
      assert.equal(stderr, '');
      return (JSON.parse(stdout) as RunBody).run_id;
    };
    const unsaved = await ran();
    assert.equal((await own.run(['save', 'local.method'])).code, 0);
    const kept = await ran('--no-upload');
    const uploaded = await ran();
    const known = (await json<{ items: RunBody[] }>('runs', 'list', '--kind', 'local')).items.map((run) => run.run_id);
    assert.deepEqual([known.includes(uploaded), known.includes(kept), known.includes(unsaved)], [true, false, false]);
    assert.equal((await own.run(['logout'])).code, 0);
    const after = await ran();
    assert.equal((await methods('runs', 'show', after)).code, 1, 'signed out, nothing is sent');
  } finally {
    held.close();
    await own.remove();
  }
});

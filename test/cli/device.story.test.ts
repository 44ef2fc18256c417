// An organization that keeps content on devices: the command line seals starts with the service key on this machine,
// opens questions with it, and lets nothing leave in the plain.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { newId } from '@methods/base/ids';
import { uploadFacts } from '@methods/cli/server/send-file';
import { LineKeys } from '@methods/cli/start/input-lines';
import type { ApiClient } from '../e2e/api-client.ts';
import { person } from '../e2e/people.ts';
import type { Stack } from '../e2e/stack.ts';
import { tablesHolding } from '../e2e/stored-traces.ts';
import { until } from '../harness/until.ts';
import { commonStack } from './common-stack.ts';
import { type StackDesk, stackDesk } from './stack-desk.ts';

interface Started {
  readonly run_id: string;
}

const SECRET = 'canarysealed';
let stack: Stack;
let desk: StackDesk;
let admin: ApiClient;
let method: string;
/** A run that was started before the setting. */
let earlier: string;

const quick = (...args: string[]) => desk.folder.quick(args, desk.env);
const json = <T>(args: readonly string[], env = desk.env) => desk.folder.quickJson<T>([...args], env);
async function refusalOf(args: readonly string[], env = desk.env): Promise<string> {
  const { code, stderr } = await desk.folder.quick([...args, '--json'], env);
  assert.equal(code, 1, stderr);
  return JSON.parse(stderr).error;
}
const keepsContent = async (content_on_devices: boolean) => {
  const { status } = await admin.request('PATCH', '/api/settings', { body: { content_on_devices } });
  assert.equal(status, 200);
};

async function started(args: readonly string[], env = desk.env): Promise<string> {
  const { code, document, stderr } = await json<Started>(['start', method, ...args], env);
  assert.equal(code, 0, stderr);
  return document.run_id;
}

describe('an organization that keeps content on devices', () => {
  before(async () => {
    stack = await commonStack();
    desk = await stackDesk(stack);
    method = stack.method('keep-private');
    admin = await person(stack, { email: 'developer@example.com', role: 'admin' });
    earlier = (await stack.api.start({ method, inputs: { word: 'plain' } })).run.run_id;
    await keepsContent(true);
    await until('the gateway knows the setting', async () => {
      const { status } = await stack.api.start({ method, inputs: { word: 'plain' } });
      return status === 422;
    });
  });
  after(async () => {
    await keepsContent(false);
    await desk?.folder.remove();
  });

  test('a start is sealed with its files, is repeated as one run, and its questions are answered', async () => {
    await desk.folder.write('letter.txt', `letter of ${SECRET}`);
    const inputs = JSON.stringify({ word: SECRET });
    const runId = await started(['--inputs', inputs, '--inputs', 'letter=@letter.txt']);
    const waiting = await stack.api.settled(runId);
    assert.deepEqual([waiting.status, waiting.run_data], ['waiting', 'device'], JSON.stringify(waiting.error));
    const questionId = waiting.question?.id ?? '';

    const shown = await quick('inbox', 'show', questionId);
    assert.ok(shown.stdout.includes(`Go on with out of ${SECRET}?`), shown.stdout + shown.stderr);
    assert.ok(!(await quick('inbox')).stdout.includes(SECRET));
    const misfit = await quick('inbox', 'answer', questionId, '--answer', '{"go": "perhaps", "note": "n"}');
    assert.equal(misfit.code, 1);
    assert.match(misfit.stderr, /go/);
    const fitting = JSON.stringify({ go: true, note: `fine ${SECRET}` });
    const answered = await quick('inbox', 'answer', questionId, '--answer', fitting);
    assert.equal(answered.code, 0, answered.stderr);
    const ended = await stack.api.settled(runId);
    assert.deepEqual([ended.status, ended.result_at], ['succeeded', 'worker'], JSON.stringify(ended.error));

    const again = await json<Started>(['runs', 'rerun', runId]);
    assert.equal(again.code, 0, again.stderr);
    const repeated = await stack.api.settled(again.document.run_id);
    assert.deepEqual([repeated.status, repeated.run_data], ['waiting', 'device']);
    const watched = await quick('runs', 'show', again.document.run_id);
    assert.ok(watched.stdout.includes(`Go on with out of ${SECRET}?`), watched.stdout + watched.stderr);
    assert.equal(await refusalOf(['runs', 'rerun', runId, '--from-step', 'decide']), 'device_mode_unsupported');
    assert.deepEqual(await tablesHolding(stack.sql, [SECRET]), []);
  });

  test('a run that was started before the setting stays an account run to its end', async () => {
    assert.equal((await stack.api.settled(earlier)).status, 'waiting');
    const answered = await quick('answer', earlier, '--answer', '{"go": true, "note": "fine"}');
    assert.equal(answered.code, 0, answered.stderr);
    const ended = await stack.api.settled(earlier);
    assert.deepEqual([ended.status, ended.run_data, ended.result_at], ['succeeded', 'account', undefined]);
    assert.ok(ended.result !== undefined);
  });

  test('an idempotency key names one run, also after its service key was rotated', async () => {
    const made = await json<{ key: { id: string }; service_key: string }>(['keys', 'create', '--name', 'old']);
    const old = { ...desk.env, SERVICE_API_KEY: made.document.service_key };
    const key = ['--key', `order-${newId('run')}`];
    const first = await started(['--inputs', '{"word":"one"}', ...key], old);
    assert.equal(await started(['--inputs', '{"word":"one"}', ...key], old), first);
    assert.equal(await refusalOf(['start', method, '--inputs', '{"word":"two"}', ...key], old), 'idempotency_conflict');

    await desk.folder.write('note.txt', 'guessed');
    const keyOfFile = `order-${newId('run')}`;
    const withFile = ['--inputs', '{"word":"one"}', '--inputs', 'letter=@note.txt', '--key', keyOfFile];
    assert.equal(await started(withFile, old), await started(withFile, old));
    // Who guesses the file cannot check it with what the service has.
    const upload = await uploadFacts(keyOfFile, {
      path: join(desk.folder.dir, 'note.txt'),
      name: 'note.txt',
      bytes: 7,
    });
    const uploadKey = createHash('sha256').update(JSON.stringify(upload)).digest('base64url');
    const uploadHash = createHash('sha256').update(uploadKey).digest();
    assert.equal((await stack.sql`select 1 from scheduler.files where idempotency_hash = ${uploadHash}`).length, 0);

    const rotated = await json<{ service_key: string }>(['keys', 'rotate', made.document.key.id], old);
    assert.equal(rotated.code, 0, rotated.stderr);
    const now = { ...desk.env, SERVICE_API_KEY: rotated.document.service_key };
    assert.equal(await started(['--inputs', '{"word":"one"}', ...key], now), first);

    await desk.folder.write('words.ndjson', ['{"word":"a"}', '{"word":"b"}', ''].join('\n'));
    const many = ['start', method, '--from', 'words.ndjson', ...key];
    const [byOld, byNew] = [await desk.folder.quick(many, old), await desk.folder.quick(many, now)];
    assert.deepEqual([byOld.code, byOld.stdout.trim().split('\n').length], [0, 2], byOld.stderr);
    assert.equal(byNew.stdout, byOld.stdout, byNew.stderr);
    const { run } = await stack.api.get(byOld.stdout.split('\n')[0] ?? '');
    assert.equal(run.run_data, 'device');

    // Who guesses the inputs cannot check it with what the service has.
    const guess = new LineKeys(key[1] ?? '', method, 'published').keyOf({ word: 'a' });
    const hash = createHash('sha256').update(guess).digest();
    assert.equal((await stack.sql`select 1 from scheduler.runs where idempotency_hash = ${hash}`).length, 0);

    const large = JSON.stringify({ word: 'x'.repeat(300_000) });
    await desk.folder.write('words.ndjson', ['{"word":"c"}', large, '{"word":"d"}', ''].join('\n'));
    const mixed = await desk.folder.quick(many, now);
    assert.deepEqual([mixed.code, mixed.stdout.trim().split('\n').length], [1, 2], mixed.stderr);
    assert.match(mixed.stderr, /line 2: The inputs have 3\d{5} bytes of JSON/);
  });
});

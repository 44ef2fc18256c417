// The Node library of applications, against a running stack.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import type { KeyId } from '@methods/base/ids';
import { type AnyAsked, Methods, type Run } from '@methods/client/index';
import { TEST_DOER } from '../harness/test-doer.ts';
import { until } from '../harness/until.ts';
import { commonStack } from './common-stack.ts';
import { countingSource, SavedMethod } from './saved-method.ts';
import type { Stack } from './stack.ts';

describe('client library', () => {
  let stack: Stack;
  let methods: Methods;
  before(async () => {
    stack = await commonStack();
    methods = new Methods({ apiKey: stack.ready.api_key, baseUrl: stack.ready.base_url });
  });

  const method = (name: string) => stack.ready.methods[name] ?? assert.fail(Object.keys(stack.ready.methods).join());

  test('a run returns its result, and the same key returns the same run', async () => {
    const start = {
      method: method('greet'),
      inputs: { name: 'Ada' },
      idempotencyKey: `client-${process.pid}-${Date.now()}`,
    };
    const run = await methods.run(start);
    assert.equal(run.status, 'succeeded', JSON.stringify(run));
    assert.equal((await methods.start(start)).run_id, run.run_id);
    assert.deepEqual((await methods.runs.get(run.run_id)).result, run.result);
    const changed = { ...start, metadata: { other: 'value' } };
    await assert.rejects(methods.start(changed), { name: 'ConflictError', code: 'idempotency_conflict' });
  });

  test('a run that asks returns after its question was answered', async () => {
    const metadata = { of: 'client-library' };
    const running = methods.run({
      method: method('approve'),
      inputs: { order_id: 'ord_client', amount: 250 },
      metadata,
    });
    const runId = await until('the run waits', async () => {
      const reply = await stack.api.request('GET', '/v1/runs?status=waiting&metadata.of=client-library');
      return (JSON.parse(reply.text) as { items: { run_id: string }[] }).items[0]?.run_id;
    });
    await methods.runs.answer(runId, { decision: 'approve' });
    const run = await running;
    assert.deepEqual([run.run_id, run.status], [runId, 'succeeded']);
  });

  test('two questions in a row are answered, and a misfit is asked again with the reasons', async () => {
    const asked: [string, string[]][] = [];
    const run = await methods.run({
      method: method('two-questions'),
      onAsk: ({ step, problems, form }) => {
        asked.push([step, problems.map(({ path }) => path)]);
        assert.deepEqual(form.required, ['go']);
        return asked.length === 1 ? { go: 'yes' } : { go: true };
      },
    });
    assert.deepEqual([run.status, run.result], ['succeeded', { first: true, second: true }]);
    assert.deepEqual(asked, [
      ['first', []],
      ['first', ['/go']],
      ['second', []],
    ]);
  });

  test('a handler answers later, and one that throws is reported and leaves the question open', async () => {
    const open: AnyAsked[] = [];
    const errors: unknown[] = [];
    const client = new Methods({
      apiKey: stack.ready.api_key,
      baseUrl: stack.ready.base_url,
      onError: (error) => void errors.push(error),
      onAsk: (asked) => {
        open.push(asked);
        if (asked.step === 'second') throw new Error('the desk is closed');
        return undefined;
      },
    });
    const running = client.run({ method: method('two-questions') });
    await until('the handler was called', () => open.length === 1);
    await assert.rejects(open[0]?.answer({ go: 'yes' }) ?? Promise.resolve(), { code: 'invalid_answer' });
    await open[0]?.answer({ go: false });
    await until('the error is reported', () => errors.length === 1);
    const { runId = '', question } = open[1] ?? assert.fail();
    assert.equal((await client.runs.get(runId)).question?.id, question.id);
    // A late repeat of the first answer is refused: it is no answer to the second question.
    await assert.rejects(client.runs.answer(runId, { go: true }, { questionId: open[0]?.question.id ?? '' }), {
      code: 'question_changed',
    });
    await client.runs.answer(runId, { go: true });
    assert.deepEqual((await running).result, { first: false, second: true });
    // Nothing is open: the same answer is a repeat, and no other one goes anywhere.
    await client.runs.answer(runId, { go: true });
    await assert.rejects(client.runs.answer(runId, { go: false }), { name: 'ConflictError' });
  });

  test('a handler slower than the deadline does not delay the end of the run', async () => {
    const lines: string[] = [];
    const logger = { debug: (line: string) => void lines.push(line) };
    const client = new Methods({ apiKey: stack.ready.api_key, baseUrl: stack.ready.base_url, logger });
    let decide = () => {};
    const decided = new Promise<void>((resolve) => {
      decide = resolve;
    });
    const onAsk = () => decided.then(() => ({ go: true }));
    const run = await client.run({ method: method('short-question'), onAsk });
    assert.deepEqual([run.status, run.error?.code], ['failed', 'no_answer']);
    decide();
    await until('the answer was refused', () => lines.some((line) => / was not answered: run_not_waiting$/.test(line)));
  });

  test('many runs are waited for on few connections, with questions among them', async () => {
    const runs = await Promise.all(
      Array.from({ length: 24 }, (_, n) =>
        n % 4 === 3
          ? methods.run({ method: method('two-questions'), onAsk: () => ({ go: true }) })
          : methods.run({ method: method('greet'), inputs: { name: `${n}` } }),
      ),
    );
    assert.deepEqual(
      runs.map(({ result }) => result),
      runs.map((_, n) => (n % 4 === 3 ? { first: true, second: true } : { greeting: `Hello, ${n}!` })),
    );
  });

  test('events follow a run to its end, and lists select by metadata over their pages', async () => {
    const metadata = { of: `client-${process.pid}-${Date.now()}` };
    const starts = Array.from({ length: 3 }, () => ({ method: method('greet'), metadata }));
    const outcomes = await methods.startMany([
      ...starts,
      { ...starts[0], method: method('greet'), inputs: { name: 7 } },
    ]);
    assert.deepEqual(
      outcomes.map(({ run, error }) => run?.status ?? error?.code),
      ['queued', 'queued', 'queued', 'invalid_inputs'],
    );
    const ids = outcomes.flatMap(({ run }) => (run === undefined ? [] : [run.run_id]));
    for (const id of ids) {
      const events: string[] = [];
      let last: Partial<Run> = {};
      for await (const { event, data } of methods.runs.events(id)) {
        events.push(event);
        if (event !== 'step') last = data;
      }
      assert.equal(events[0], 'run');
      assert.equal(last.status, 'succeeded');
    }
    const listed: string[] = [];
    for await (const run of methods.runs.list({ metadata, pageSize: 2, status: 'succeeded' })) listed.push(run.run_id);
    assert.deepEqual(listed.sort(), [...ids].sort());
    const facts = await methods.methods.get(method('greet'));
    assert.ok(facts.inputs !== undefined && facts.method === method('greet'));
  });

  test('files go in and come out', async () => {
    const bytes = Buffer.from('a,b\n1,2\n');
    const sent = await methods.files.upload(bytes, { name: 'jänner 1.csv', mediaType: 'text/csv' });
    assert.deepEqual((await methods.files.get(sent.file_id)).name, 'jänner 1.csv');
    const streamed = await methods.files.upload(new Blob([bytes]).stream(), { name: 'b.csv' });
    const run = await methods.run({ method: method('digest-files'), inputs: { a: sent, list: [streamed] } });
    assert.equal(run.status, 'succeeded', JSON.stringify(run));
    assert.deepEqual([run.result?.first, run.result?.list], [sent.sha256, [sent.sha256]]);
    const { path } = (run.result ?? assert.fail()).file as { path: string };
    const download = await methods.runs.files.download(run.run_id, path);
    assert.deepEqual(Buffer.concat(await download.toArray()), bytes);
    const files = await methods.runs.files.list(run.run_id);
    assert.ok(
      files.every((file) => file.path.startsWith('steps/')),
      JSON.stringify(files),
    );
    await methods.files.delete(streamed.file_id);
    await assert.rejects(methods.files.get(streamed.file_id), { name: 'NotFoundError' });
    await assert.rejects(methods.runs.files.download(run.run_id, 'steps/none/files/x'), { code: 'not_found' });
  });

  test('a run is cancelled and repeated', async () => {
    const saved = await SavedMethod.create(stack, countingSource(0));
    await saved.publish();
    const { run_id } = await methods.start({ method: saved.id, inputs: { n: 1 } });
    assert.equal((await methods.runs.cancel(run_id)).status, 'cancelled');
    const again = await methods.runs.rerun(run_id);
    assert.notEqual(again.run_id, run_id);
    await methods.runs.cancel(again.run_id);
  });

  test('a key that was revoked meanwhile ends in a sentence that says so', async () => {
    const { key, authSha256 } = createServiceKey();
    const orgId = stack.ready.org_id;
    const made = await stack.registry.createServiceKey({ orgId, name: 'revoked', authSha256, doer: TEST_DOER });
    const revoked = new Methods({ apiKey: key, baseUrl: stack.ready.base_url });
    const { run_id: runId } = await revoked.run({ method: method('greet') });
    await stack.registry.revokeServiceKey({ orgId, keyId: (made.key?.keyId ?? '') as KeyId, doer: TEST_DOER });
    const error = await until('it is refused', () =>
      revoked.runs.get(runId).then(
        () => null,
        (reason) => reason,
      ),
    );
    assert.deepEqual([error.name, error.status], ['AuthenticationError', 401]);
    assert.match(error.message, /has been revoked/);
    await assert.rejects(revoked.run({ method: method('greet') }), { name: 'AuthenticationError' });
  });

  test('an unknown key and an unknown run are typed errors', async () => {
    const stranger = new Methods({ apiKey: createServiceKey().key, baseUrl: stack.ready.base_url });
    await assert.rejects(stranger.runs.get('run_1'), { name: 'AuthenticationError', status: 401 });
    await assert.rejects(methods.runs.get('run_none'), { name: 'NotFoundError', code: 'not_found' });
  });
});

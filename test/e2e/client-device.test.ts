// The Node library in device mode, against a running stack: what it sends, seals and opens. The worker here opens and
// seals by the same content key, and runs no code.
import assert from 'node:assert/strict';
import { hkdfSync } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createServiceKey, parseBearerKey } from '@methods/auth/service-key';
import type { KeyId } from '@methods/base/ids';
import { type AnyAsked, Methods, type MethodsOptions } from '@methods/client/index';
import { ContentKey } from '@methods/content/device/content-key';
import { RunStatus } from '@methods/proto/run/v1/run_pb';
import { TEST_DOER } from '../harness/test-doer.ts';
import { until } from '../harness/until.ts';
import { commonStack } from './common-stack.ts';
import { DeviceWorker } from './device-worker.ts';
import type { Stack } from './stack.ts';

const CANARY = 'canary-7f3a91';
const FORM = {
  type: 'object',
  properties: { decision: { type: 'string', enum: ['approve', 'reject'] }, note: { type: 'string' } },
  required: ['decision'],
  additionalProperties: false,
};
const QUESTION = { prompt: `Refund ${CANARY}?`, details: 'Above the limit.', show: [], form: FORM };

/** Forwards connections to the stack, and keeps all that was sent to it. */
class Wire {
  readonly sent: Buffer[] = [];
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((socket) => {
    const target = connect(Number(this.target.port), this.target.hostname);
    for (const each of [socket, target]) {
      this.sockets.add(each);
      each.on('error', () => {});
    }
    socket.on('data', (bytes: Buffer) => this.sent.push(bytes)).pipe(target);
    target.pipe(socket);
  });

  constructor(private readonly target: URL) {}

  async open(): Promise<string> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.server.address() as { port: number }).port}`;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}

describe('client library in device mode', () => {
  let stack: Stack;
  let wire: Wire;
  let baseUrl: string;
  let method: string;
  const workers: DeviceWorker[] = [];
  const secrets: string[] = [];

  before(async () => {
    stack = await commonStack();
    wire = new Wire(new URL(stack.ready.base_url));
    baseUrl = await wire.open();
    method = stack.method('approve');
  });
  after(() => {
    for (const worker of workers) worker.close();
    wire?.close();
  });

  async function newKey() {
    const { key, authPart, authSha256 } = createServiceKey();
    const orgId = stack.ready.org_id;
    const made = await stack.registry.createServiceKey({ orgId, name: 'device', authSha256, doer: TEST_DOER });
    const contentPart = parseBearerKey(key)?.contentPart ?? assert.fail();
    secrets.push(contentPart);
    const content = new ContentKey(contentPart, orgId);
    return { key, authPart, contentPart, content, keyId: (made.key?.keyId ?? '') as KeyId };
  }
  type Key = Awaited<ReturnType<typeof newKey>>;

  function client({ key }: Key, options: MethodsOptions = {}): Methods {
    return new Methods({ apiKey: key, baseUrl, runData: 'device', ...options });
  }

  function worker({ authPart, keyId, content }: Key): DeviceWorker {
    const named = { keyId, fingerprint: content.fingerprint.toString('hex') };
    const made = new DeviceWorker(stack.ready.grpc_url, authPart, [method], [named]);
    workers.push(made);
    return made;
  }

  /** Asks in the newest run of the worker. */
  function ask(of: DeviceWorker, { content }: Key, question: object = QUESTION): void {
    const run = content.ofRun(of.grants.at(-1)?.contentId ?? '');
    const { $sealed } = run.sealJson({ kind: 'question', step: 'approval' }, question);
    const sealed = Buffer.from($sealed, 'base64url');
    of.report('ask', 1, { question: { step: 'approval', sealed }, timeoutMs: 60_000, timeoutText: '1m' });
  }

  test('inputs, questions and answers are sealed on their way, and misfits are found before they are sent', async () => {
    const key = await newKey();
    const mine = worker(key);
    const asked: AnyAsked[] = [];
    const answers = [{ decision: CANARY }, { decision: 'approve', note: CANARY }, { decision: 'reject' }];
    const inputs = { order_id: CANARY, amount: 250 };
    const running = client(key).run({
      method,
      inputs,
      onAsk: (question) => {
        asked.push(question);
        return answers[asked.length - 1];
      },
    });
    const first = await mine.granted(1);
    const run = key.content.ofRun(first.contentId);
    assert.deepEqual(run.openJson({ kind: 'inputs', step: '' }, JSON.parse(first.inputsJson)), inputs);
    ask(mine, key);

    const second = await mine.granted(2);
    assert.deepEqual(
      asked.map(({ question, problems }) => [question.prompt, problems.map(({ path }) => path)]),
      [
        [QUESTION.prompt, []],
        [QUESTION.prompt, ['/decision']],
      ],
    );
    const { questionId = '', answerJson = '' } = second.answer ?? {};
    const place = { kind: 'answer', step: `${questionId} approval` } as const;
    assert.deepEqual(run.openJson(place, JSON.parse(answerJson)), answers[1]);

    // The worker refuses it, and asks again.
    ask(mine, key, { ...QUESTION, problems: [{ path: '/note', code: 'check', message: 'No.' }] });
    await mine.granted(3);
    assert.deepEqual([asked[2]?.problems[0]?.path, asked[2]?.question.id === questionId], ['/note', false]);
    mine.report('finish', 1, { status: RunStatus.SUCCEEDED });
    const ended = await running;
    assert.deepEqual([ended.status, ended.result_at, 'result' in ended], ['succeeded', 'worker', false]);
  });

  test('a run is started again with the same inputs, sealed again, and once for the same key', async () => {
    const key = await newKey();
    const methods = client(key);
    const inputs = { order_id: CANARY, amount: 1 };
    const [{ run: started } = assert.fail()] = await methods.startMany([{ method, inputs, metadata: { of: 'first' } }]);
    const { run_id: runId } = started ?? assert.fail();
    const again = await methods.runs.rerun(runId, { idempotencyKey: `again-${runId}` });
    assert.equal((await methods.runs.rerun(runId, { idempotencyKey: `again-${runId}` })).run_id, again.run_id);
    const mine = worker(key);
    await mine.granted(2);
    const [one, two] = mine.grants;
    assert.notEqual(one?.contentId, two?.contentId);
    for (const { contentId, inputsJson } of mine.grants) {
      const opened = key.content.ofRun(contentId).openJson({ kind: 'inputs', step: '' }, JSON.parse(inputsJson));
      assert.deepEqual(opened, inputs);
    }
    assert.deepEqual((await methods.runs.get(again.run_id)).metadata, { of: 'first' });
    const refused = methods.runs.rerun(runId, { fromStep: 'approval' });
    await assert.rejects(refused, { name: 'InvalidRequestError', code: 'device_mode_unsupported' });
    await assert.rejects(methods.start({ method, inputs: { order_id: 'x'.repeat(256 * 1024) } }), {
      code: 'too_large',
    });
    await methods.files.upload(Buffer.from(CANARY), { name: `${CANARY}.csv` });
    for (const id of [runId, again.run_id]) await methods.runs.cancel(id);
  });

  test('another key opens a question only once the content part is granted to it', async () => {
    const [old, next] = [await newKey(), await newKey()];
    const mine = worker(old);
    const { run_id: runId } = await client(old).start({ method, inputs: { order_id: CANARY } });
    await mine.granted(1);
    ask(mine, old);
    const waits = async () => (await client(old).runs.get(runId)).question;
    const question = await until('the run waits', waits);
    assert.equal(question.prompt, QUESTION.prompt);

    const stranger = client(next);
    const sealed = (await stranger.runs.get(runId)).question;
    assert.ok(sealed?.sealed !== undefined && sealed.prompt === undefined);
    const missing = { name: 'SealedValueError', code: 'content_key_missing' };
    await assert.rejects(stranger.runs.answer(runId, { decision: 'approve' }), missing);
    const event = { run_id: runId, status: 'waiting', question: sealed } as const;
    await assert.rejects(stranger.webhooks.open(event), missing);
    // A key without its content part, as a proxy would see it.
    const authOnly = new Methods({ apiKey: next.authPart, baseUrl });
    await assert.rejects(authOnly.runs.answer(runId, {}), { name: 'ConfigurationError', code: 'device_key_required' });

    const wrapped = next.content.wrap(old.keyId, old.contentPart);
    const grant = { orgId: stack.ready.org_id, keyId: next.keyId, fromKeyId: old.keyId, wrapped, doer: TEST_DOER };
    await stack.registry.grantContent(grant);
    const holder = await until('its grant is known', async () => {
      const methods = client(next);
      return (await methods.runs.get(runId)).question?.prompt === undefined ? null : methods;
    });
    assert.equal((await holder.webhooks.open(event)).question?.prompt, QUESTION.prompt);
    await holder.runs.answer(runId, { decision: 'approve' });
    await mine.granted(2);
    // The same answer again is a repeat, and another one is refused.
    await client(old).runs.answer(runId, { decision: 'approve' }, { questionId: question.id });
    const other = client(old).runs.answer(runId, { decision: 'reject' }, { questionId: question.id });
    await assert.rejects(other, { name: 'ConflictError' });
    const { $sealed } = old.content
      .ofRun(mine.grants[0]?.contentId ?? '')
      .sealJson({ kind: 'text', step: 'refund' }, `No refund of ${CANARY}.`);
    const error = { code: 'step_failed', kind: 'code', message: JSON.stringify({ $sealed }), step: 'refund' };
    mine.report('finish', 1, { status: RunStatus.FAILED, error });
    const failed = await until('it has failed', async () => {
      const run = await holder.runs.get(runId);
      return run.status === 'failed' && run;
    });
    assert.equal(failed.error?.message, `No refund of ${CANARY}.`);
    assert.equal((await stranger.runs.get(runId)).error?.message, '');
  });

  test('nothing that was sent has content, a content part or what is derived from it', () => {
    const sent = Buffer.concat(wire.sent);
    assert.ok(sent.includes('authorization: Bearer sk_') && sent.includes('"run_data":"device"'));
    const contentIds = [...sent.toString('latin1').matchAll(/"content_id":"([0-9a-f]{32})"/g)].map(([, id]) => id);
    assert.ok(contentIds.length >= 4);
    const infos = ['methods/1 digest', ...contentIds.map((id) => `methods/1 run ${id}`)];
    const derived = secrets.flatMap((part) =>
      infos.map((info) => Buffer.from(hkdfSync('sha256', part, stack.ready.org_id, info, 32))),
    );
    for (const secret of [CANARY, ...secrets].map((text) => Buffer.from(text)).concat(derived)) {
      assert.ok(!sent.includes(secret));
      for (const form of ['base64', 'base64url', 'hex'] as const) {
        // Of base64, what does not depend on the bytes around it.
        const text = secret.toString(form).slice(form === 'hex' ? 0 : 4, -4);
        assert.ok(!sent.includes(text), `${form} of a secret`);
      }
    }
  });
});

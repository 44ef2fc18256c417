// A method's way from its first source to a person's answer, by people's tokens and a key of their own making, and its
// lines in the audit log.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import type { ServerProcess } from '@methods/local-stack/embedded/server-process';
import { until } from '../../harness/until.ts';
import type { RunBody } from '../api-client.ts';
import { type AccountWorld, type MethodBody, onBothGateways } from './account-world.ts';
import { startedWorker } from './started-worker.ts';

const CONTENT = 'canary-of-a-source';
const ANSWER = 'canary-of-an-answer';

const source = (question: string) => `format: method/2
name: ask-once
steps:
  - name: approval
    ask: ${question} ${CONTENT}
    out: { note: string }
result: { note: =steps.approval.note }
`;

interface SavedBody {
  readonly method_id: string;
  readonly version_id: string;
}

interface AuditLine {
  readonly at: string;
  readonly by: { readonly kind: string; readonly name: string };
  readonly ip: string;
  readonly request_id: string;
  readonly action: string;
  readonly target: { readonly kind: string; readonly id: string };
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

export function methodLife(world: () => AccountWorld): void {
  describe('the life of a method', () => {
    const key = createServiceKey();
    let keyId = '';
    let webhookSecret = '';
    let method: MethodBody;
    let second = '';
    let runId = '';
    let worker: ServerProcess | undefined;
    after(() => worker?.stop('SIGTERM', 10_000));

    test('begins with a source that a member saves, once for its key', async () => {
      const { member } = world();
      const body = { idempotency_key: randomUUID(), display_name: 'Ask once', source: source('Go?') };
      const headers = { 'x-request-id': 'life-create' };
      const first = await member.request('POST', '/api/methods', { body, headers });
      assert.equal(first.status, 201);
      method = first.read<{ method: MethodBody }>().method;
      assert.deepEqual([method.display_name, method.status, method.published_version], ['Ask once', 'ready', null]);
      const again = await member.request('POST', '/api/methods', { body: { ...body, source: source('Never?') } });
      assert.deepEqual([again.status, again.read<{ method: MethodBody }>().method.id], [200, method.id]);
    });

    test('continues with a version upon the one that was read; a second one upon it is a conflict', async () => {
      const { member } = world();
      const save = (text: string) =>
        member.request('POST', `/api/cli/methods/${method.id}`, {
          body: { workflow: text, base_version: method.current_version, reason: 'asked better' },
          headers: { 'x-request-id': 'life-save' },
        });
      const saved = await save(source('Go on?'));
      assert.equal(saved.status, 201);
      second = saved.read<SavedBody>().version_id;
      const late = await save(source('Stop?'));
      assert.equal(late.status, 409);
      const { error, current_version: current } = JSON.parse(late.text);
      assert.deepEqual([error, current], ['version_conflict', second]);
      const read = await member.request('GET', `/api/cli/methods/${method.id}`);
      assert.equal(read.read<{ source: string }>().source, source('Go on?'));
    });

    test('may be started once it is published', async () => {
      const { member } = world();
      const start = { method: method.production_id };
      const early = await member.request('POST', '/api/runs', { body: start });
      assert.deepEqual([early.status, early.refusal.error], [409, 'not_published']);
      const headers = { 'x-request-id': 'life-publish' };
      const body = { version_id: second };
      const published = await member.request('POST', `/api/methods/${method.id}/publish`, { body, headers });
      assert.equal(published.read<MethodBody>().published_version, second);
    });

    test('is served by a worker with a key that an admin makes from a hash', async () => {
      const { admin, stack } = world();
      const body = { name: 'Order desk', auth_sha256: key.authSha256.toString('hex') };
      const made = await admin.request('POST', '/api/keys', { body, headers: { 'x-request-id': 'life-key' } });
      assert.equal(made.status, 201);
      const told = made.read<{ key: { id: string }; webhook_secret: string }>();
      keyId = told.key.id;
      webhookSecret = told.webhook_secret;
      assert.match(webhookSecret, /^whsec_[0-9A-Za-z]{43}$/);
      const listed = await admin.request('GET', '/api/keys');
      assert.ok(listed.text.includes(keyId) && !listed.text.includes(webhookSecret), 'the secret is shown once');
      worker = await startedWorker(stack, 'worker-of-a-key', key.key, method.production_id);
    });

    test('comes to a run that asks, and ends with the answer of a person', async () => {
      const { member, stack } = world();
      const headers = { 'x-request-id': 'life-run' };
      const started = await member.request('POST', '/api/runs?wait_ms=60000', {
        body: { method: method.production_id },
        headers,
      });
      assert.deepEqual([started.run.status, started.run.version_id], ['waiting', second]);
      runId = started.run.run_id;
      const { question } = started.run;
      const body = { answer: { note: ANSWER }, question_id: question?.id };
      const answered = await member.request('POST', `/api/runs/${runId}/answer`, { body, headers });
      assert.equal(answered.status, 200);
      const end = await member.request('GET', `/api/runs/${runId}?wait_ms=60000`, { headers });
      assert.deepEqual([end.run.status, end.run.result], ['succeeded', { note: ANSWER }]);
      assert.equal((await stack.api.as(key.authPart).get(runId)).run.status, 'succeeded', 'programs see it too');
      const page = await member.request('GET', `/api/runs?method=${method.id}`);
      assert.deepEqual(
        page.read<{ items: RunBody[] }>().items.map((run) => run.run_id),
        [runId],
      );
    });

    test('loses its worker and its program at once when the key is revoked', async () => {
      const { admin, stack } = world();
      const ask = (baseUrl: string) => stack.api.as(key.key).at(baseUrl).get(runId);
      for (const url of stack.gateways) assert.equal((await ask(url)).status, 200);
      const before = worker?.logTail().split('"not connected"').length ?? 0;
      const headers = { 'x-request-id': 'life-revoke' };
      assert.equal((await admin.request('POST', `/api/keys/${keyId}/revoke`, { headers })).status, 200);
      const cut = until(
        'the worker is cut off',
        () => (worker?.logTail().split('"not connected"').length ?? 0) > before,
        25_000,
      );
      await Promise.all([cut, onBothGateways(world(), 'the key is refused', ask, ({ status }) => status === 401)]);
      await until('the worker is refused', () =>
        /"code":"unauthorized"[^\n]*"not connected"/.test(worker?.logTail() ?? ''),
      );
    });

    test('is in the audit log with who, from where, before and after, and without content', async () => {
      const { admin, viewer, member } = world();
      for (const other of [viewer, member]) assert.equal((await other.request('GET', '/api/audit')).status, 403);
      const log = await admin.request('GET', '/api/audit?limit=200');
      const lines = log.read<{ items: AuditLine[] }>().items.toReversed();
      assert.deepEqual(
        [...lines].sort((a, b) => a.at.localeCompare(b.at)),
        lines,
        'in order',
      );
      // People join at their first sight; what they read has an order of its own.
      const reads = lines.filter(({ action, target }) => action === 'run.read' && target.id === runId);
      assert.ok(reads.length >= 2, 'what people see of a run is written down');
      const life = lines.filter(
        ({ request_id: id, action }) => id.startsWith('life-') && !['member.join', 'run.read'].includes(action),
      );
      const told = life.map((line) => [line.request_id, line.action, line.by.name, line.target.id]);
      assert.deepEqual(told, [
        ['life-create', 'method.create', 'Mo', method.id],
        ['life-save', 'version.save', 'Mo', method.id],
        ['life-publish', 'method.publish', 'Mo', method.id],
        ['life-key', 'key.create', 'Ada', keyId],
        ['life-run', 'run.start', 'Mo', runId],
        ['life-run', 'run.answer', 'Mo', runId],
        ['life-revoke', 'key.revoke', 'Ada', keyId],
      ]);
      for (const { by, ip } of life) assert.deepEqual([by.kind, ip], ['user', '127.0.0.1']);
      const published = life.find(({ action }) => action === 'method.publish');
      assert.ok(JSON.stringify(published?.after).includes(second));
      for (const secret of [CONTENT, ANSWER, key.authPart, webhookSecret]) assert.ok(!log.text.includes(secret));
    });
  });
}

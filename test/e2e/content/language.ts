// What the language is made of beyond single steps, on real parts: loops, branches, three code languages, calls.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MethodId, ProductionId } from '@methods/base/ids';
import { TEST_DOER } from '../../harness/test-doer.ts';
import type { RunBody } from '../api-client.ts';
import type { Stack } from '../stack.ts';

const statuses = (run: RunBody) => Object.fromEntries(run.steps.map(({ name, status }) => [name, status]));

export function language(stack: () => Stack): void {
  describe('a method of many kinds', () => {
    const start = (inputs: object) => stack().api.startSettled({ method: stack().method('count-words'), inputs });

    test('runs to its result, with a record for every round and branch', async () => {
      const run = await start({ texts: ['One two', 'Three', 'seventeen is LONG'] });
      assert.equal(run.status, 'succeeded', JSON.stringify(run.error));
      const expected = { words: [2, 1, 3], lines: 3, longest: 'seventeen', rounds: 2, right: null };
      assert.deepEqual(run.result, expected);
      assert.deepEqual(statuses(run), {
        '@require': 'succeeded',
        words: 'succeeded',
        'words[0]': 'succeeded',
        'words[1]': 'succeeded',
        'words[2]': 'succeeded',
        totals: 'succeeded',
        'totals/lines': 'succeeded',
        'totals/longest': 'succeeded',
        pause: 'succeeded',
        countdown: 'succeeded',
        'countdown[0]': 'succeeded',
        'countdown[1]': 'succeeded',
        review: 'skipped',
        sane: 'succeeded',
      });
      assert.equal(run.steps[0]?.name, '@require');
    });

    test('waits for an answer in the middle, and continues with what was finished', async () => {
      const waiting = await start({ texts: ['a bb'], reviewer: 'Ann' });
      assert.equal(waiting.question?.prompt, 'Is "bb" the longest word?');
      await stack().api.answer(waiting.run_id, { right: true });
      const run = await stack().api.settled(waiting.run_id, waiting.question?.id);
      assert.deepEqual(run.result, { words: [2], lines: 1, longest: 'bb', rounds: 2, right: true });
    });

    test('is refused at its start by its own requirement, and makes no run', async () => {
      const body = { method: stack().method('count-words'), inputs: { texts: ['classified'] } };
      const { status, refusal } = await stack().api.request('POST', '/v1/runs', { body });
      assert.equal(status, 422);
      assert.deepEqual(refusal.details, [{ path: '', code: 'check_failed', message: 'No text is a secret' }]);
    });
  });

  test('datetimes are compared by the moment they mean, not as texts', async () => {
    const compare = (one: string, other: string) =>
      stack().api.startSettled({ method: stack().method('moments'), inputs: { one, other } });
    const earlier = await compare('2026-01-01T00:30:00+02:00', '2025-12-31T23:00:00Z');
    assert.deepEqual(earlier.result, { later: false, same: false, text: 'a\u{1f600}' }, JSON.stringify(earlier.error));
    const same = await compare('2026-01-01T00:30:00+02:00', '2025-12-31T22:30:00Z');
    assert.deepEqual(same.result, { later: false, same: true, text: 'a\u{1f600}' });
  });

  test('half of a character from a step fails it, and every reply stays readable', async () => {
    const inputs = { one: '2026-01-01T00:00:00Z', other: '2026-01-01T00:00:00Z', half: true };
    const run = await stack().api.startSettled({ method: stack().method('moments'), inputs });
    assert.deepEqual([run.error?.code, run.error?.kind, run.error?.step], ['step_failed', 'out', 'cut']);
    assert.match(run.error?.message ?? '', /half of a character at \/text/);
    assert.doesNotMatch((await stack().api.get(run.run_id)).text, /\\ud[89ab]/i);
  });

  test('a run that needs what no worker has stays queued and says why', async () => {
    const { run } = await stack().api.start({ method: stack().method('browse') });
    const seen = (await stack().api.get(run.run_id)).run;
    assert.equal(seen.status, 'queued');
    assert.equal(seen.queued_reason, 'feature_missing');
    await stack().api.cancel(run.run_id);
  });

  test('a method calls another one, whose steps are recorded below the call', async () => {
    const { registry, ready } = stack();
    const orgId = ready.org_id;
    const methodId = stack().method('calls-another').replace('wf_', '');
    const { method } = await registry.getMethod({ orgId, methodId: methodId as ProductionId });
    const source = `format: method/2
name: calls-another
inputs: { name: string }
steps:
  - name: greeting
    call: ${stack().method('greet')}
    in: { name: =inputs.name }
    out: { greeting: string }
result: { greeting: =steps.greeting.greeting }
`;
    const saved = await registry.saveVersion({
      doer: TEST_DOER,
      orgId,
      methodId: methodId as MethodId,
      baseVersion: method?.currentVersion ?? 'ver_none',
      source: Buffer.from(source),
    });
    const versionId = saved.version?.versionId ?? 'ver_none';
    const run = await stack().api.startSettled({
      method: stack().method('calls-another'),
      version: versionId,
      inputs: { name: 'Ada' },
    });
    assert.deepEqual(run.result, { greeting: 'Hello, Ada!' }, JSON.stringify(run.error));
    assert.deepEqual(statuses(run), { greeting: 'succeeded', 'greeting/compose': 'succeeded' });
  });
}

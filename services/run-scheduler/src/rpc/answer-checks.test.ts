import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceError } from '@methods/errors/service-error';
import { silentLogger } from '@methods/logging/logger';
import { judgedAnswer } from '../worker-stream/derived-form.ts';
import type { SavedVersion } from '../worker-stream/question-forms.ts';
import { AnswerChecks } from './answer-run.ts';

const SOURCE = Buffer.from(`format: method/2
name: ab
steps:
  - name: q
    ask: Sure?
    out: { ok: boolean }
    ensure: [It is a yes: out.ok]
`);
const WHERE = { method: 'wf_1' as const, versionId: 'ver_1' as const, path: 'q', scopeJson: '{}' };

function checks(
  versionOf: () => Promise<SavedVersion>,
  judge = async (job: Parameters<typeof judgedAnswer>[0]) => judgedAnswer(job),
) {
  const threads = { judge: (_orgId: string, job: Parameters<typeof judgedAnswer>[0]) => judge(job) };
  return new AnswerChecks({ versionOf, threads, logger: silentLogger });
}

const saved = async () => ({ versionId: 'ver_1' as const, source: SOURCE, calls: {} });

test('an answer that a check refuses gets the sentence of the check', async () => {
  assert.deepEqual(await checks(saved).refusals('org_a', WHERE, '{"ok":false}'), ['It is a yes']);
  assert.deepEqual(await checks(saved).refusals('org_a', WHERE, '{"ok":true}'), []);
});

test('without the registry, or with full threads, an answer is left to its worker, which asks again', async () => {
  const away = async () => {
    throw new ServiceError('unavailable', 'The registry cannot be reached.');
  };
  assert.deepEqual(await checks(away).refusals('org_a', WHERE, '{"ok":false}'), []);
  const full = async () => {
    throw new ServiceError('rate_limited', 'Too many.');
  };
  assert.deepEqual(await checks(saved, full).refusals('org_a', WHERE, '{"ok":false}'), []);
});

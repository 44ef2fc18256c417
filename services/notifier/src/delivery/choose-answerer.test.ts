import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseAnswerer } from './plan-delivery.ts';
import type { RunChange, RunEvent } from './run-event.ts';

const asked = {
  event: 'needs_input',
  question: { id: 'q', step: 's', prompt: 'p', details: '', show: [], formJson: '{}', askedAtMs: 1, deadlineAtMs: 0 },
} as const;

// [webhook, answered by, change, application notified, team notified]
const rules = { to: [], escalateTo: [], notStarter: false, forPeople: true, answersItself: false, voters: [] };
const byPeople: RunChange = { ...asked, question: { ...asked.question, rules } };
const person = { userId: '', email: 'ben@example.com' } as const;
const assigned: RunChange = { ...asked, event: 'question.assigned', to: person, by: 'Ann' };
const table: readonly (readonly [string, RunEvent['answerBy'], RunChange, boolean, boolean])[] = [
  ['https://example.com/', 'application', asked, true, false],
  ['https://example.com/', 'team', asked, true, true],
  ['', 'application', asked, false, false],
  ['', 'team', asked, false, true],
  ['https://example.com/', 'team', { event: 'cancelled' }, true, false],
  ['', 'team', { event: 'cancelled' }, false, false],
  ['', 'application', { event: 'succeeded', resultJson: '1' }, false, false],
  ['https://example.com/', 'application', byPeople, true, true],
  ['https://example.com/', 'team', { ...asked, event: 'question.reminded' }, false, true],
  ['', 'application', { ...asked, event: 'question.reminded' }, false, false],
  ['', 'application', { ...asked, event: 'question.escalated' }, false, true],
  ['https://example.com/', 'application', assigned, false, true],
  ['', 'team', { event: 'question.closed', questionId: 'q', reason: 'answered', askedPeople: false }, false, false],
];

for (const [webhookUrl, answerBy, change, application, team] of table) {
  test(`${change.event} answered by ${answerBy} ${webhookUrl ? 'with' : 'without'} a webhook`, () => {
    const event: RunEvent = {
      orgId: 'org_o',
      runId: 'run_r',
      seq: 1,
      method: 'wf_1',
      versionId: 'ver_v',
      contentLeftOut: false,
      webhookUrl,
      keyId: 'key_k',
      answerBy,
      createdAtMs: 1,
      change,
      follows: null,
    };
    assert.deepEqual(chooseAnswerer(event), { application, team });
  });
}

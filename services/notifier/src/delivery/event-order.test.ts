import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventName, tooEarly } from './event-order.ts';
import type { RunEvent } from './run-event.ts';

const NOW_MS = 1_800_000_000_000;
const HOUR_MS = 3_600_000;

function event(seq: number, follows: number | null, more: Partial<RunEvent> & { askedAgoMs?: number } = {}): RunEvent {
  const { askedAgoMs = 1_000, ...fields } = more;
  return {
    orgId: 'org_a',
    runId: 'run_a',
    seq,
    method: 'wf_a',
    versionId: 'ver_a',
    webhookUrl: 'https://hook.example/',
    keyId: 'key_a',
    answerBy: 'application',
    createdAtMs: NOW_MS,
    contentLeftOut: false,
    change: { event: 'cancelled' },
    follows: follows === null ? null : { seq: follows, atMs: NOW_MS - askedAgoMs },
    ...fields,
  };
}

const cases: Readonly<Record<string, [events: RunEvent[], stored: RunEvent[], early: number[]]>> = {
  'a first event is never early': [[event(2, null)], [], []],
  'an event whose earlier one is stored': [[event(6, 2)], [event(2, null)], []],
  'an event whose earlier one is missing': [[event(6, 2)], [], [6]],
  'an event that came in one batch with its earlier one, in any order': [[event(6, 2), event(2, null)], [], []],
  'all events behind a missing one': [[event(9, 6), event(6, 2)], [], [6, 9]],
  'an earlier event of another run does not count': [[event(6, 2)], [event(2, null, { runId: 'run_b' })], [6]],
  'nor one of another organization': [[event(6, 2)], [event(2, null, { orgId: 'org_b' })], [6]],
  'an earlier event that retention may have removed': [[event(6, 2, { askedAgoMs: 13 * HOUR_MS })], [], []],
  'an event that waited long enough': [[event(6, 2, { createdAtMs: NOW_MS - HOUR_MS })], [], []],
};

for (const [name, [events, stored, early]] of Object.entries(cases)) {
  test(`${name}: ${early.length === 0 ? 'stored' : 'held'}`, () => {
    const found = tooEarly(events, new Set(events), new Set(stored.map(eventName)), NOW_MS);
    assert.deepEqual([...found].sort(), early.map((seq) => eventName(event(seq, null))).sort());
  });
}

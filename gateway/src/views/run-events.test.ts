import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { RunStatus, type RunView, RunViewSchema, StepStatus } from '@methods/proto/run/v1/run_pb';
import { atOnce } from '../turns/steps.ts';
import { runEvents as eventsInParts, type ToldRun, toldRun } from './run-events.ts';

const STEPS = [{ name: 'fetch', kind: 'http' }];
const NOW = Date.UTC(2026, 0, 2);

const runEvents = (before: ToldRun | null, run: RunView, steps: typeof STEPS, nowMs: number) =>
  atOnce(eventsInParts(before, run, steps, nowMs));

function running(revision: number, changes: Partial<RunView> = {}): RunView {
  const timing = { createdAtMs: NOW - 9_000, stateSinceMs: NOW - 5_000 };
  return Object.assign(create(RunViewSchema, { runId: 'run_0', status: RunStatus.RUNNING, revision, timing }), changes);
}

const step = (path: string, status = StepStatus.RUNNING) =>
  create(RunViewSchema, { steps: [{ path, kind: 'http', status, startedAtMs: NOW - 1_000 }] }).steps;

const names = (text: string) => [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);

test('the passing of time is not a change', () => {
  const { told } = runEvents(null, running(1, { steps: step('fetch') }), STEPS, NOW);
  assert.equal(runEvents(told, running(2, { steps: step('fetch') }), STEPS, NOW + 60_000).text, '');
});

test('changes are sent with their current state and times', () => {
  const { told } = runEvents(null, running(1, { steps: step('fetch') }), STEPS, NOW);
  const { text } = runEvents(told, running(2, { steps: step('fetch', StepStatus.WAITING) }), STEPS, NOW + 4_000);
  assert.deepEqual(names(text), ['step']);
  assert.match(text, /^id: 2$/m);
  assert.match(text, /"waiting_ms":5000/);
});

test('when a step was removed the whole run is sent', () => {
  const { told } = runEvents(null, running(1, { steps: step('fetch/inner') }), STEPS, NOW);
  assert.deepEqual(names(runEvents(told, running(2), STEPS, NOW).text), ['run']);
});

test('a reader that reconnects with a revision gets only newer changes', () => {
  const before = running(1);
  const next = running(2, { status: RunStatus.SUCCEEDED, resultJson: '{"text":"a\\nb"}' });
  const { text } = runEvents(atOnce(toldRun(before, STEPS)), next, STEPS, NOW);
  assert.deepEqual(names(text), ['step', 'status']);
  // Every event ends with its one empty line, for any result.
  assert.equal(text.split('\n\n').length, 3);
});

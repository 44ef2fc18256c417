// Invariants that hold for any commands in any order: those of two workers, people and clocks, at random.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  answer,
  ask,
  cancel,
  claim,
  expireQuestion,
  fail,
  giveBack,
  heartbeat,
  loseLease,
  recordStep,
  returnGrant,
  sleep,
  start,
  succeed,
  T0,
  wake,
} from './run.fixture.ts';
import { isFinished, type Run } from './run.ts';
import type { RunCommand } from './run-command.ts';
import { transition } from './transition.ts';

/** The meaning of `seq` and `token` depends on the run so far, so that most reports are admitted. */
interface Report {
  readonly build: (token: string, seq: number) => RunCommand;
  readonly token: 'own' | 'returned' | 'other';
  readonly ahead: number;
}
type Told = { readonly afterMs: number } & ({ readonly command: RunCommand } | { readonly report: Report });

const questionId = fc.constantFrom('q_1', 'q_2');
const reportKind = fc.constantFrom<Report['build']>(
  recordStep,
  (token, seq) => recordStep(token, seq, 'second'),
  (token, seq) => ask(token, seq, 'q_1'),
  (token, seq) => ask(token, seq, 'q_2'),
  succeed,
  fail,
  giveBack,
  sleep,
  returnGrant,
  heartbeat,
  loseLease,
  loseLease,
);
const token = fc.oneof(
  { weight: 4, arbitrary: fc.constant('own' as const) },
  fc.constantFrom('returned' as const, 'other' as const),
);
const ahead = fc.oneof({ weight: 6, arbitrary: fc.constant(1) }, fc.constantFrom(0, 2));
const report = fc.record({ build: reportKind, token, ahead }).map((r) => ({ report: r as Report }));
const command = fc
  .oneof(
    { weight: 6, arbitrary: fc.constant(claim('numbered when it is played')) },
    fc.tuple(fc.option(questionId), fc.constantFrom('yes', 'no')).map(([id, digest]) => answer(id, digest)),
    questionId.map(expireQuestion),
    fc.constant(cancel),
    fc.constant(wake),
    fc.constant(start),
  )
  .map((c) => ({ command: c }));
const told: fc.Arbitrary<Told> = fc
  .tuple(
    fc.oneof({ weight: 9, arbitrary: fc.integer({ min: -50, max: 3_000 }) }, fc.constant(100_000)),
    fc.oneof({ weight: 2, arbitrary: report }, command),
  )
  .map(([afterMs, what]) => ({ afterMs, ...what }));

interface Step {
  readonly before: Run | null;
  readonly command: RunCommand;
  readonly after: Run | null;
}

function play(stories: readonly Told[]): Step[] {
  let run: Run | null = null;
  let nowMs = T0;
  const steps: Step[] = [];
  for (const one of [{ afterMs: 0, command: start }, ...stories]) {
    nowMs += one.afterMs;
    const given: RunCommand = 'command' in one ? one.command : reportOn(run, one.report);
    // No two claims have the same token.
    const next: RunCommand = given.type === 'claim' ? { ...given, token: `t${steps.length}` } : given;
    const decision = transition(run, next, nowMs);
    const after: Run | null = decision.kind === 'changed' ? decision.run : run;
    steps.push({ before: run, command: next, after });
    run = after;
  }
  return steps;
}

function reportOn(run: Run | null, { build, token: whose, ahead: by }: Report): RunCommand {
  if (whose === 'returned') return build(run?.returnedToken ?? 'stale', by);
  return build(whose === 'own' ? (run?.token ?? 'none') : 'stale', (run?.lastSeq ?? 0) + by);
}

function always(holds: (step: Step) => void): void {
  const stories = fc.array(told, { maxLength: 60 });
  fc.assert(
    fc.property(stories, (story) => {
      for (const step of play(story)) holds(step);
    }),
    { numRuns: 1_000 },
  );
}

test('a finished run never changes', () => {
  always(({ before, after }) => {
    if (before !== null && isFinished(before)) assert.equal(after, before);
  });
});

test('a worker with another token changes nothing', () => {
  always(({ before, command: { type, ...rest }, after }) => {
    const isForeign = 'token' in rest && rest.token !== before?.token && rest.token !== before?.returnedToken;
    if (type !== 'claim' && isForeign) assert.equal(after, before);
  });
});

test('attempts never fall, never pass the maximum, and grow only with a claim or a report of a returned grant', () => {
  always(({ before, command, after }) => {
    const { type } = command;
    const isReturned = 'token' in command && command.token === before?.returnedToken;
    const [was, is] = [before?.attempts ?? 0, after?.attempts ?? 0];
    assert.ok(is <= (after?.facts.maxAttempts ?? 0));
    assert.ok(is === was || (is === was + 1 && (type === 'claim' || isReturned)), `${was} -> ${is} by ${type}`);
  });
});

test('attempts equal the leases lost, plus one if the run was claimed since', () => {
  let returned = 0;
  const stories = fc.array(told, { maxLength: 60, size: 'max' });
  fc.assert(
    fc.property(stories, (story) => {
      let lost = 0;
      for (const {
        before,
        command: { type, ...rest },
        after,
      } of play(story)) {
        const isReturned = type !== 'claim' && 'token' in rest && rest.token === before?.returnedToken;
        if (isReturned && after !== before) {
          lost++;
          returned++;
          continue;
        }
        if (type === 'expire_lease' && after !== before && after?.status !== 'cancelled') lost++;
        // A report of a grant that counted as undelivered.
        if (type !== 'cancel' && before?.status === 'queued' && after !== before && after?.status !== 'running') lost++;
        if (after?.status === 'queued' && !after.attemptOpen) assert.equal(after.attempts, lost);
        if (after?.status === 'running' || after?.status === 'waiting') assert.equal(after.attempts, lost + 1);
      }
    }),
    { numRuns: 1_000 },
  );
  assert.ok(returned > 0, 'No story has a report of a returned grant.');
});

test('the rules leave the revision to the commit', () => {
  always(({ before, after }) => {
    if (before !== null) assert.equal(after?.revision, before.revision);
  });
});

test('spans never fall', () => {
  always(({ before, after }) => {
    if (before === null || after === null) return;
    for (const span of ['queuedMs', 'runningMs', 'waitingMs'] as const) {
      assert.ok(after.spans[span] >= before.spans[span], span);
    }
  });
});

test('an accepted cancel is never withdrawn: the run stays running or is cancelled', () => {
  always(({ before, after }) => {
    if (before?.status !== 'running' || !before.cancelRequested) return;
    const stillAsked = after?.status === 'running' && after.cancelRequested;
    assert.ok(stillAsked || after?.status === 'cancelled', after?.status);
  });
});

test('a recorded step is never lost', () => {
  always(({ before, after }) => {
    const paths = new Set(after?.steps.map((s) => s.path));
    for (const { path } of before?.steps ?? []) assert.ok(paths.has(path));
    assert.equal(paths.size, after?.steps.length);
  });
});

test('the random stories reach every state, so that the rules above are tested', () => {
  const seen = new Set<string>();
  const stories = fc.sample(fc.array(told, { maxLength: 60 }), { numRuns: 2_000, seed: 1 });
  for (const story of stories) for (const { after } of play(story)) if (after !== null) seen.add(after.status);
  assert.deepEqual([...seen].sort(), ['cancelled', 'failed', 'queued', 'running', 'sleeping', 'succeeded', 'waiting']);
});

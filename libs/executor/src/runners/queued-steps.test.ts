import { deepEqual, equal } from 'node:assert/strict';
import { readSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { QueuedSteps } from './queued-steps.ts';
import type { WaitingStep } from './runner-job.ts';

describe('steps queued at a runner', () => {
  let folder: string;
  let queued: QueuedSteps;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'queued-'));
    queued = new QueuedSteps(folder);
  });
  afterEach(async () => {
    queued.close();
    await rm(folder, { recursive: true });
  });

  const steps = new Map<number, WaitingStep>();
  function add(...numbers: number[]): void {
    for (const n of numbers) {
      const step = { job: { step: `step ${n}` }, plain: false, sinceMs: 0, done: () => {} } as unknown as WaitingStep;
      steps.set(n, step);
      queued.add({ n, step, done: step.done, isStopped: false });
    }
  }
  /** Reads as the runner does, which shares the open file. */
  function ticket(): number | null {
    const bytes = Buffer.alloc(4);
    return readSync(queued.descriptor, bytes, 0, 4, null) === 4 ? bytes.readUInt32LE() : null;
  }
  const numbers = (taken: readonly (WaitingStep | null)[]) =>
    taken.map((it) => [...steps].find(([, step]) => step === it)?.[0] ?? null);
  function takenBack(): (number | null)[] {
    const { present, steps: back } = queued.takeBack();
    return numbers([present, ...back]);
  }

  it('are taken back in order while the runner reads nothing, and no ticket remains for it', () => {
    add(1, 2, 3);
    deepEqual(takenBack(), [null, 1, 2, 3]);
    equal(ticket(), null);
    equal(queued.size, 0);
  });

  it('belong to the runner once it has their ticket', () => {
    add(1, 2, 3);
    equal(ticket(), 1);
    deepEqual(takenBack(), [null, 2, 3]);
    equal(queued.size, 1);
    equal(queued.next(0)?.n, 1);
  });

  it('are taken back even if one of them is the present step and has not begun', () => {
    add(1, 2);
    equal(queued.next(0)?.n, 1);
    deepEqual(takenBack(), [1, 2]);
    add(3);
    equal(queued.next(3)?.n, 3);
    equal(ticket(), 3);
    deepEqual(takenBack(), [null]);
  });

  it('cannot be queued when no ticket can be written', async () => {
    const full = new QueuedSteps(await mkdtemp(join(folder, 'full-')));
    const step = { job: { step: 'none' } } as unknown as WaitingStep;
    full.close();
    equal(full.add({ n: 1, step, done: () => {}, isStopped: false }), false);
    deepEqual([full.hasRoom, full.size], [false, 0]);
  });

  it('have no room until the runner has passed those taken back', () => {
    add(1, 2);
    takenBack();
    equal(queued.hasRoom, false);
    queued.next(2);
    equal(queued.hasRoom, false);
    queued.next(3);
    equal(queued.hasRoom, true);
  });

  it('that are queued later have tickets of their own', () => {
    add(1, 2);
    takenBack();
    add(3);
    equal(ticket(), 3);
    equal(queued.find(steps.get(3)?.job as WaitingStep['job']), steps.get(3));
    equal(queued.stop(steps.get(3) as WaitingStep), true);
    equal(queued.next(3)?.isStopped, true);
  });
});

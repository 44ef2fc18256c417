// Steps that contain steps: a group runs them in order, a parallel step side by side, and a loop repeatedly.
import type { CompiledStep, EachLoop, GroupStep, ParallelStep, RepeatLoop } from '@methods/method/compiled-method';
import { evaluate } from '@methods/method/evaluate';
import { isJsonList, type JsonValue, objectOf } from '@methods/method/json';
import { failedCheck } from '../records/checks.ts';
import { boundedOut, stepOut } from '../records/step-out.ts';
import type { Begun } from '../records/step-record.ts';
import type { RunFolder } from '../run-folder.ts';
import { StepFailure } from '../step-failure.ts';
import { type Place, placeInside, type Turn } from './place.ts';
import { delayUntil, isDelay } from './wait.ts';
import type { Walk } from './walk.ts';
import { atRest, DONE_NULL, type Walked } from './walk-end.ts';

export function walkGroup(walk: Walk, step: GroupStep, turn: Turn): Promise<Walked> {
  return around(walk, step, turn, (inner) => walk.list(step.steps, inner));
}

/** On a failure the others finish; the first in file order counts. */
export function walkParallel(walk: Walk, step: ParallelStep, turn: Turn): Promise<Walked> {
  return around(walk, step, turn, (inner) =>
    walk.run.records.branching(async () => {
      const ends = await Promise.all(step.steps.map((branch) => walk.step(branch, inner)));
      return atRest(ends) ?? DONE_NULL;
    }),
  );
}

async function around(
  walk: Walk,
  step: GroupStep | ParallelStep,
  turn: Turn,
  walkInside: (inner: Place) => Promise<Walked>,
): Promise<Walked> {
  const { recorder } = turn.place.frame;
  const begun = recorder.begin();
  const before = walk.judged(step, 'require', turn);
  const refused = failedCheck(before);
  if (refused !== null) return walk.failed(step, turn, refused, begun, { checks: before });
  const inner = placeInside(step, turn);
  const end = await walkInside(inner);
  if (end.kind === 'failed') return walk.failedWith(step, turn, end, begun, { checks: before });
  if (end.kind !== 'done') return end;
  let checks = before;
  try {
    const out = outOf(step, inner, walk.run.options.folder);
    const ensured = walk.judged(step, 'ensure', {
      ...turn,
      place: { ...inner, scope: { ...inner.scope, out: out.value } },
    });
    checks = [...before, ...ensured];
    const failure = failedCheck(ensured);
    if (failure !== null) return walk.failed(step, turn, failure, begun, { checks });
    walk.succeeded(step, turn, out, begun, { checks });
    return { kind: 'done', value: out.value };
  } catch (error) {
    return walk.failed(step, turn, error, begun, { checks });
  }
}

/** The group's `result`, with the steps inside it in scope. */
function outOf(step: GroupStep | ParallelStep, inner: Place, folder: RunFolder) {
  const { mask } = inner.frame.recorder;
  if (step.kind === 'parallel' || step.result === null) return stepOut(step, undefined, mask, folder);
  const result = objectOf([...step.result].map(([name, value]) => [name, evaluate(value, inner.scope)] as const));
  return step.out === null ? boundedOut(step, result, mask) : stepOut(step, result, mask, folder);
}

/**
 * The rounds of `each` and `repeat`. Each round has its record (`upsert[3]`); the loop has one more when it ends.
 */
export async function walkEach(walk: Walk, step: CompiledStep, loop: EachLoop, turn: Turn): Promise<Walked> {
  const { place, path } = turn;
  const begun = place.frame.recorder.begin();
  let items: readonly JsonValue[];
  try {
    items = itemsOf(loop, turn);
    if (items.length > Math.max(0, place.budget.left)) {
      throw new StepFailure('limit', `${items.length} rounds are more steps than the run may take (limits: max_steps)`);
    }
  } catch (error) {
    const end = isSurelyFalse(step, turn) ? walk.skipped(step, turn) : walk.failed(step, turn, error, begun);
    // Its value is a list in any case.
    return end.kind === 'done' ? { ...end, value: [] } : end;
  }
  const outs: JsonValue[] = new Array(items.length).fill(null);
  const ends: Walked[] = [];
  let skipped = 0;
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < items.length) {
      const round = next++;
      const scope = { ...place.scope, items: { ...place.scope.items, [loop.as]: items[round] ?? null } };
      const end = await walk.once(step, { place: { ...place, scope }, path: `${path}[${round}]`, round });
      if (end.kind === 'done') {
        outs[round] = end.value;
        if (end.skipped === true) skipped++;
        continue;
      }
      ends[round] = end;
      // After a failure no round begins; one that is blocked only occupies its own lane.
      if (end.kind === 'failed' || end.kind === 'stopped' || end.kind === 'over') next = items.length;
      return;
    }
  };
  const lanes = Math.min(loop.atOnce, items.length);
  if (lanes > 1) {
    await walk.run.records.branching(async () => {
      await Promise.all(Array.from({ length: lanes }, lane));
    });
  } else {
    await lane();
  }
  const rest = atRest(ends.filter((end) => end !== undefined));
  if (rest !== null) return interrupted(walk, step, turn, begun, rest);
  // The step is skipped as a whole, but its readers still see a list with a null for each item.
  if (skipped > 0 && skipped === items.length) return { ...walk.skipped(step, turn), value: outs };
  return loopEnded(walk, step, turn, begun, outs);
}

export async function walkRepeat(walk: Walk, step: CompiledStep, loop: RepeatLoop, turn: Turn): Promise<Walked> {
  const { place, path } = turn;
  const begun = place.frame.recorder.begin();
  const outs: JsonValue[] = [];
  try {
    if (step.condition !== undefined && evaluate(step.condition, place.scope) !== true) {
      return walk.skipped(step, turn);
    }
    let last: JsonValue = null;
    for (let round = 0; round < loop.roundsMax; round++) {
      const roundPath = `${path}[${round}]`;
      const isOver = walk.run.options.ending !== undefined && !place.frame.cleans;
      if (round > 0 && loop.delayMs > 0 && !isOver && !hasBegun(walk, roundPath)) {
        const bounds = { spanMs: loop.delayMs, endsMs: place.frame.endsMs };
        const delay = { kind: step.kind, path: roundPath, key: 'delay_until', ...bounds } as const;
        const blocked = await delayUntil(walk, delay, () => walk.wallMs() + loop.delayMs);
        if (blocked !== null) return blocked;
      }
      const scope = { ...place.scope, last };
      const end = await walk.once(step, { place: { ...place, scope }, path: roundPath, round }, true);
      if (end.kind !== 'done') return interrupted(walk, step, turn, begun, end);
      outs.push(end.value);
      // A round that failed with `on_error: continue` has no out to judge.
      if (end.value !== null && evaluate(loop.until, { ...scope, out: end.value }) === true) break;
      last = end.value;
    }
  } catch (error) {
    return walk.failed(step, turn, error, begun);
  }
  return loopEnded(walk, step, turn, begun, outs);
}

/** The delay before the round was over in an earlier attempt. */
function hasBegun(walk: Walk, roundPath: string): boolean {
  const kept = walk.run.kept(roundPath);
  return kept !== undefined && !(kept.status === 'running' && isDelay(kept.out));
}

function itemsOf(loop: EachLoop, { place }: Turn): readonly JsonValue[] {
  const items = evaluate(loop.items, place.scope);
  if (!isJsonList(items)) throw new StepFailure('expression', `${loop.items.source} is not a list`);
  return items;
}

/** The list may be present only where the condition holds (`if: steps.a != null`); the condition then needs no item. */
function isSurelyFalse(step: CompiledStep, { place }: Turn): boolean {
  if (step.condition === undefined) return false;
  try {
    return evaluate(step.condition, place.scope) === false;
  } catch {
    return false;
  }
}

function interrupted(
  walk: Walk,
  step: CompiledStep,
  turn: Turn,
  begun: Begun,
  end: Exclude<Walked, { kind: 'done' }>,
): Walked {
  return end.kind === 'failed' ? walk.failedWith(step, turn, end, begun) : end;
}

/**
 * The loop's own record. A list too large for one record is not stored in it, nor one that contains secrets: after a
 * resume it is rebuilt from the rounds, none of which runs twice.
 */
function loopEnded(walk: Walk, step: CompiledStep, turn: Turn, begun: Begun, outs: JsonValue[]): Walked {
  const { place, path } = turn;
  if (walk.run.kept(path)?.status !== 'succeeded') {
    const json = JSON.stringify(outs);
    const withheld = step.out?.hasSecret === true || Buffer.byteLength(json) > step.limits.outputBytesMax;
    const out = { value: outs, json, dropped: [] };
    walk.run.record(place.frame.recorder.succeeded({ kind: step.kind, path, begun }, out, withheld, {}));
  }
  return { kind: 'done', value: outs };
}

// Steps that hold steps: a group runs them in order, a parallel step side by side.
import type { GroupStep, ParallelStep } from '@methods/method/compiled-method';
import { evaluate } from '@methods/method/evaluate';
import { objectOf } from '@methods/method/json';
import { failedCheck } from '../records/checks.ts';
import { boundedOut, stepOut } from '../records/step-out.ts';
import type { RunFolder } from '../run-folder.ts';
import { type Place, placeInside, type Turn } from './place.ts';
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

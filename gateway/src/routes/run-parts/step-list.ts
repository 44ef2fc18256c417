// A page of a run's steps: those below a path, of a name or a status, and with long loops folded into one entry with the
// counts of its rounds.
import type { RunView } from '@methods/proto/run/v1/run_pb';
import { type DeclaredStep, type ShownStep, shownSteps } from '../../views/step-view.ts';

export interface StepSelection {
  /** Only steps below this path; empty: all. */
  readonly under: string;
  /** In the path, in any case; empty: any. */
  readonly name: string;
  /** Empty: any. */
  readonly status: string;
  /** Loops of more rounds than FOLDED_MIN are one entry. */
  readonly folds: boolean;
  /** The path of the step before; empty: begins with the first. */
  readonly after: string;
  readonly limit: number;
}

export type Counts = Record<string, number>;

export interface ListedStep extends ShownStep {
  /** Of a folded loop: its rounds by status. */
  readonly rounds: Counts | null;
}

export interface StepPage {
  readonly steps: readonly ListedStep[];
  readonly hasMore: boolean;
  /** Of all steps of the selection, by status. */
  readonly counts: Counts;
}

/** Rounds of a loop that are listed one by one. */
export const FOLDED_MIN = 100;
const STEPS_A_PART = 200;

/** The work may pause at each `yield`: a run has up to 30,000 steps. Null: `after` is no step of the run. */
export function* stepPage(
  run: RunView,
  declared: readonly DeclaredStep[],
  nowMs: number,
  selection: StepSelection,
): Generator<undefined, StepPage | null> {
  const { under, after, limit } = selection;
  const name = selection.name.toLowerCase();
  const folded = selection.folds ? foldedLoops(run, declared, under) : new Map<string, Counts>();
  const counts: Counts = {};
  const steps: ListedStep[] = [];
  let begun = after === '';
  let hasMore = false;
  let seen = 0;
  for (const step of shownSteps(run, declared, nowMs)) {
    if (++seen % STEPS_A_PART === 0) yield;
    const { path, status } = step;
    const loop = loopOf(path, under);
    const inLoop = loop === null ? undefined : folded.get(loop);
    if (loop !== null && inLoop !== undefined && path === `${loop}[${roundOf(path, loop)}]`)
      inLoop[status] = (inLoop[status] ?? 0) + 1;
    if (inLoop !== undefined || (under !== '' && !isBelow(path, under))) continue;
    if (name !== '' && !path.toLowerCase().includes(name)) continue;
    counts[status] = (counts[status] ?? 0) + 1;
    if (selection.status !== '' && status !== selection.status) continue;
    if (begun && steps.length < limit) steps.push({ ...step, rounds: folded.get(path) ?? null });
    else if (begun) hasMore = true;
    if (path === after) begun = true;
  }
  return begun ? { steps, hasMore, counts } : null;
}

/** The loops below the path with too many rounds to list, each with its counts, which are still empty. */
function foldedLoops(run: RunView, declared: readonly DeclaredStep[], under: string): Map<string, Counts> {
  const rounds = new Map<string, number>();
  // A loop is recorded when it ends: until then only one at the top has an entry.
  const listed = new Set([...run.steps.map(({ path }) => path), ...declared.map(({ name }) => name)]);
  for (const { path } of run.steps) {
    const loop = loopOf(path, under);
    if (loop !== null && path === `${loop}[${roundOf(path, loop)}]`) rounds.set(loop, (rounds.get(loop) ?? 0) + 1);
  }
  return new Map(
    [...rounds].filter(([loop, count]) => count > FOLDED_MIN && listed.has(loop)).map(([loop]) => [loop, {}]),
  );
}

/** The outermost loop of the step below `under`; the rounds of `under` itself are not folded again. Null: none. */
function loopOf(path: string, under: string): string | null {
  if (under !== '' && !isBelow(path, under)) return null;
  const isRound = under !== '' && path.charAt(under.length) === '[';
  const from = isRound ? path.indexOf(']', under.length) + 1 : under.length;
  const at = path.indexOf('[', from);
  return at === -1 ? null : path.slice(0, at);
}

function roundOf(path: string, loop: string): string {
  return path.slice(loop.length + 1, path.indexOf(']', loop.length));
}

function isBelow(path: string, name: string): boolean {
  const next = path.charAt(name.length);
  return (next === '/' || next === '[') && path.startsWith(name);
}

// Copies from a finished run to a new one the records of the steps before the one at which the new run begins, and
// their files.
import { newId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { KeptSteps } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { RunActors } from '../actor/run-actors.ts';
import type { NewStep } from '../run/decision.ts';
import { isFinished, type Run, type RunFacts, type StepSummary } from '../run/run.ts';
import type { KeptBeginning } from '../run/run-command.ts';
import type { RunFolderStore } from '../store/run-folder-store.ts';
import type { RunStore } from '../store/run-store.ts';
import { getRun } from './get-run.ts';
import type { RestedTurns } from './rested-turns.ts';

export interface KeptStepsParts {
  readonly actors: RunActors;
  readonly store: Pick<RunStore, 'keptSteps' | 'stepsForPeople'>;
  readonly folders: Pick<RunFolderStore, 'copy' | 'remove'>;
  /** A request of few bytes reads and copies up to 272 MiB. */
  readonly turns: RestedTurns;
}

/** A grant carries the kept steps in one message: a run with more could never be granted. */
const KEPT_BYTES_MAX = 3 * 1024 * 1024;

/**
 * @throws ServiceError `invalid_request` if an earlier step's end does not allow the run to continue after it;
 * `too_large`; `rate_limited` over the organization's share.
 */
export function keptBeginning(parts: KeptStepsParts, facts: RunFacts, kept: KeptSteps): Promise<KeptBeginning> {
  return parts.turns.run(facts.orgId, () => beginning(parts, facts, kept));
}

async function beginning(
  { actors, store, folders }: KeptStepsParts,
  { orgId, runId, versionId }: RunFacts,
  kept: KeptSteps,
): Promise<KeptBeginning> {
  const first = await getRun(actors, { orgId, runId: kept.runId });
  if (first.facts.versionId !== versionId) throw refusal('The first run is one of another version.');
  if (!isFinished(first)) throw refusal('The first run has not finished.');
  const names = new Set(kept.steps);
  for (const name of names) checkEnded(first, name);
  const asked = await store.stepsForPeople(orgId, kept.runId);
  const steps = withoutAsked(
    first.steps.filter(({ path }) => names.has(topOf(path))),
    asked,
  );
  const newSteps = withOuts(steps, await store.keptSteps(orgId, kept.runId));
  if (first.folderId === null) return { steps: newSteps, folderId: null };
  const copy = { folderId: newId('fld'), orgId, runId };
  const copied = await folders.copy({ folderId: first.folderId, orgId, runId: kept.runId }, copy);
  if (!copied) throw refusal('The files of the first run are no longer kept.');
  return { steps: newSteps, folderId: copy.folderId };
}

/**
 * Removes the questions that people decide: a rerun asks them again, so that it cannot bypass them. The step that
 * contains such a question also runs again, without its other inner steps. A call runs again as a whole, since it may
 * choose another version.
 */
function withoutAsked(steps: readonly StepSummary[], asked: readonly string[]): readonly StepSummary[] {
  if (asked.length === 0) return steps;
  const calls = new Set(steps.filter(({ kind }) => kind === 'call').map(({ path }) => path));
  const around = new Set(asked.flatMap(placesOf));
  const again = [...calls].filter((path) => around.has(path)).map((path) => `${path}/`);
  return steps.filter(({ path }) => !around.has(path) && !again.some((call) => path.startsWith(call)));
}

/** Returns `a`, `a/b`, `a/b[2]` and `a/b[2]/c` for the last of them. */
function placesOf(path: string): string[] {
  const ends = [...path.matchAll(/[[/]/g)].map(({ index }) => path.slice(0, index));
  return [...new Set([...ends, path])];
}

/** A failed step may be kept if its run continued after it. */
function checkEnded(run: Run, name: string): void {
  const status = run.steps.find(({ path }) => path === name)?.status;
  if (status === 'succeeded' || status === 'skipped') return;
  const tolerated = run.status === 'succeeded' || (run.status === 'failed' && topOf(run.error.step) !== name);
  if (status === 'failed' && tolerated) return;
  throw refusal(`The step "${name}" comes before it and has not succeeded in the first run.`);
}

function withOuts(steps: readonly StepSummary[], records: Awaited<ReturnType<RunStore['keptSteps']>>): NewStep[] {
  const byPath = new Map(records.map((record) => [record.path, record]));
  let bytes = 0;
  return steps.map((summary, i) => {
    const { outJson = null, outWithheld = false } = byPath.get(summary.path) ?? {};
    bytes += summary.path.length + Buffer.byteLength(outJson ?? '');
    if (bytes > KEPT_BYTES_MAX) throw new ServiceError('too_large', 'The steps to be kept have more than 3 MiB.');
    // Attempt 0: before the first report of any attempt of this run.
    return { seq: i + 1 - steps.length, summary: { ...summary, attempt: 0 }, outJson, outWithheld, logTail: null };
  });
}

/** `loop[2]/inner` belongs to the step `loop`. */
function topOf(path: string): string {
  return /^[^[/]*/.exec(path)?.[0] ?? '';
}

function refusal(message: string): ServiceError {
  return new ServiceError('invalid_request', `The run cannot begin at this step. ${message}`, {
    findings: [{ path: '/from_step', code: 'from_step', message }],
  });
}

// A call: another method runs inside this run, its steps recorded below the call's own path.
import type { VersionId } from '@methods/base/ids';
import { compileCheck, type ValueCheck } from '@methods/method/check-value';
import type { CallStep, CallTarget, CompiledMethod } from '@methods/method/compiled-method';
import { evaluate } from '@methods/method/evaluate';
import { isJsonObject, type JsonObject, type JsonValue, objectOf, ownField } from '@methods/method/json';
import { withFileReferences } from '@methods/method/types/file-schema';
import { checkInputFiles } from '../files/input-folder.ts';
import { failedCheck } from '../records/checks.ts';
import { StepRecorder } from '../records/step-record.ts';
import type { RunFolder } from '../run-folder.ts';
import type { CalledVersion } from '../run-options.ts';
import { calledSecrets } from '../secrets/declared-secrets.ts';
import { StepFailure } from '../step-failure.ts';
import { walkMethod } from './method-walk.ts';
import { type Frame, firstPlace, type Turn } from './place.ts';
import { substitutionOf } from './substitution.ts';
import type { Walk } from './walk.ts';
import { STOPPED, type Walked } from './walk-end.ts';

const DEPTH_MAX = 5;

export async function walkCall(walk: Walk, step: CallStep, turn: Turn): Promise<Walked> {
  const { run } = walk;
  const { place, path } = turn;
  const { recorder } = place.frame;
  const begun = recorder.begin();
  const checks = walk.judged(step, 'require', turn);
  const refused = failedCheck(checks);
  if (refused !== null) return walk.failed(step, turn, refused, begun, { checks });
  try {
    const mock = await substitutionOf(walk, step, turn, 1);
    if (mock?.failure) return walk.failed(step, turn, mock.failure, begun, { checks });
    if (mock !== null) return walk.finished(step, turn, mock.returned, begun, { checks });
    if (place.frame.depth >= DEPTH_MAX) throw new StepFailure('call', `Calls nest deeper than ${DEPTH_MAX}`);
    run.options.observer?.stepStarted?.(path, 'call', 1);
    const target = pinned(step.target, run.begun(path)?.checkpoint ?? null);
    const called = await versionOf(walk, place.frame, target);
    if (run.stop.stopped) return STOPPED;
    if (target.kind === 'method' && target.version === 'published') {
      // From here on the run keeps this version, even if another is published.
      if (!(await run.started(path, 'call', { version_id: called.versionId }))) return STOPPED;
    }
    const given = objectOf([...step.inputs].map(([name, value]) => [name, evaluate(value, place.scope)] as const));
    run.options.observer?.stepGiven?.(path, recorder.mask.json(given) as JsonObject);
    const inputs = checkedInputs(called.method, given, run.options.folder);
    const frame = frameOf(walk, called, turn);
    const { runId, startedAtMs } = run.options;
    const end = await walkMethod(walk, { ...firstPlace(frame, runId, startedAtMs, inputs), budget: place.budget });
    if (end.kind === 'done') return walk.finished(step, turn, end.result, begun, { checks });
    if (end.kind !== 'failed') return end;
    const where = end.error.step === undefined ? 'failed' : `failed in ${end.error.step.slice(frame.prefix.length)}`;
    const failure = new StepFailure('call', `The called method ${where}: ${end.error.message}`);
    return walk.failed(
      step,
      turn,
      failure,
      begun,
      { checks },
      end.error.code === 'no_answer' ? 'no_answer' : undefined,
    );
  } catch (error) {
    return walk.failed(step, turn, error, begun, { checks });
  }
}

async function versionOf(walk: Walk, frame: Frame, target: CallTarget): Promise<CalledVersion> {
  const { callee } = frame;
  if (callee === undefined) throw new StepFailure('call', 'Other methods cannot be called here');
  // The server may take time to send the version: finished records are sent before that.
  walk.run.records.flush();
  try {
    return await callee(target);
  } catch (error) {
    throw error instanceof StepFailure ? error : new StepFailure('call', 'The called method is unavailable');
  }
}

/** The version that an earlier attempt began with. */
function pinned(target: CallTarget, checkpoint: JsonValue): CallTarget {
  const id = isJsonObject(checkpoint) ? ownField(checkpoint, 'version_id') : undefined;
  return target.kind === 'method' && typeof id === 'string' ? { ...target, version: { id: id as VersionId } } : target;
}

const inputChecks = new WeakMap<CompiledMethod, (value: JsonValue) => ValueCheck>();

function checkedInputs(method: CompiledMethod, given: JsonObject, folder: RunFolder): JsonObject {
  let check = inputChecks.get(method);
  if (check === undefined) {
    check = compileCheck(withFileReferences(method.inputSchema));
    inputChecks.set(method, check);
  }
  // Absent means null in this language: a null for an optional input omits it.
  const properties = method.inputSchema.properties;
  const present = Object.entries(given).filter(([name, value]) => value !== null || isNullable(properties, name));
  const checked = check(objectOf(present));
  if (checked.ok) {
    checkInputFiles(method, checked.value as JsonObject, folder);
    return checked.value as JsonObject;
  }
  const [finding] = checked.findings;
  throw new StepFailure(
    'input',
    `The called method refuses its inputs: ${finding?.path || '/'} ${finding?.message ?? ''}`,
  );
}

function isNullable(properties: JsonValue | undefined, name: string): boolean {
  const schema = isJsonObject(properties) ? ownField(properties, name) : undefined;
  if (!isJsonObject(schema)) return false;
  const text = JSON.stringify(schema.type ?? schema.anyOf ?? schema.enum ?? 'null');
  return text.includes('null');
}

function frameOf(walk: Walk, called: CalledVersion, { place, path }: Turn): Frame {
  const { method, versionId, environment, callee } = called;
  const { clock, secrets: environmentSecrets } = walk.run.options;
  const secrets = calledSecrets(method, environmentSecrets, place.frame.secrets);
  if ('code' in secrets) throw new StepFailure('secret', secrets.message);
  const { runTimeoutMs } = method.limits;
  const around = place.frame.endsMs ?? Number.POSITIVE_INFINITY;
  const endsMs = Math.min(around, runTimeoutMs === null ? around : clock.monotonicMs() + runTimeoutMs);
  return {
    method,
    versionId,
    environment,
    callee: callee ?? place.frame.callee,
    prefix: `${path}/`,
    depth: place.frame.depth + 1,
    secrets,
    recorder: new StepRecorder(clock, place.frame.recorder.mask.over(secrets.covered, secrets.mask)),
    endsMs: Number.isFinite(endsMs) ? endsMs : null,
    cleans: place.frame.cleans,
  };
}

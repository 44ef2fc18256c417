// Walks the steps of a run: keeps those that finished before, skips those whose condition is false, and hands each of
// the others to the runner of its kind. Every record of a step is added here, but for those of the checks of a whole
// method.
import type { CompiledStep } from '@methods/method/compiled-method';
import { evaluate } from '@methods/method/evaluate';
import type { JsonValue } from '@methods/method/json';
import { failedCheck, judge } from '../records/checks.ts';
import { failureOf } from '../records/failures.ts';
import { checkFiles, type StepOut, stepOut } from '../records/step-out.ts';
import type { Begun, RecordParts } from '../records/step-record.ts';
import type { FinishedStep } from '../run-options.ts';
import type { CheckRecord } from '../run-outcome.ts';
import { type StepError, StepFailure } from '../step-failure.ts';
import { act } from './act.ts';
import { askOrAnswer } from './ask.ts';
import { walkCall } from './call.ts';
import { walkGroup, walkParallel } from './groups.ts';
import { walkEach, walkRepeat } from './loops.ts';
import type { Place, Turn } from './place.ts';
import type { RunState } from './run-state.ts';
import { waitUntil } from './wait.ts';
import { DONE_NULL, type Failed, OVER, SKIPPED, STOPPED, type Walked } from './walk-end.ts';

const LOST = 'The worker was lost while the step ran';

export class Walker {
  constructor(readonly run: RunState) {}

  wallMs(): number {
    return this.run.options.clock.wallMs();
  }

  /** One after the other, until one fails or the walk cannot go on. */
  async list(steps: readonly CompiledStep[], place: Place): Promise<Walked> {
    for (const step of steps) {
      const end = await this.step(step, place);
      if (end.kind !== 'done') return end;
    }
    return DONE_NULL;
  }

  /** With all its rounds. Its value is in the place's scope afterwards. */
  async step(step: CompiledStep, place: Place): Promise<Walked> {
    const turn: Turn = { place, path: place.prefix + step.name, round: null };
    const end = await (step.loop === null
      ? this.once(step, turn)
      : this.run.starts.during(step, turn.path, () => this.loop(step, turn)));
    if (end.kind === 'done') place.outs[step.name] = end.value;
    return end;
  }

  /** One round, or the only one. `asked`: its condition holds already. */
  once(step: CompiledStep, turn: Turn, asked = false): Walked | Promise<Walked> {
    const { place, path } = turn;
    if (this.run.stop.stopped) return STOPPED;
    place.budget.left--;
    const kept = this.keptEnd(step, path);
    if (kept !== null) return kept;
    if (this.run.options.ending !== undefined) {
      if (!place.frame.cleans && !this.holdsKept(step, path)) return OVER;
      if (this.hasLostWorker(step, path)) return this.failed(step, turn, new StepFailure('worker_lost', LOST));
    }
    if (place.budget.left < 0) return this.failed(step, turn, tooManySteps(place));
    try {
      if (!asked && step.condition !== undefined && evaluate(step.condition, place.scope) !== true) {
        return this.skipped(step, turn);
      }
    } catch (error) {
      return this.failed(step, turn, error);
    }
    return this.run.starts.during(step, path, () => this.perform(step, turn));
  }

  skipped(step: CompiledStep, { place, path }: Turn): typeof SKIPPED {
    // A loop that was skipped before is walked again, for the rounds it counts.
    if (this.run.kept(path)?.status !== 'skipped') this.run.record(place.frame.recorder.skipped(step.kind, path));
    return SKIPPED;
  }

  /** The step fails for a reason of its own. */
  failed(
    step: CompiledStep,
    turn: Turn,
    reason: unknown,
    begun?: Begun,
    parts: RecordParts = {},
    code: Failed['code'] = undefined,
  ): Walked {
    const error = turn.place.frame.recorder.errorOf(failureOf(reason, step));
    return this.failedWith(step, turn, failedStep(step, turn.path, error, code), begun, parts);
  }

  /** The step fails because of `failure`, its own or that of a step inside it. */
  failedWith(
    step: CompiledStep,
    { place, path }: Turn,
    failure: Walked & { kind: 'failed' },
    begun?: Begun,
    parts: RecordParts = {},
  ): Walked {
    const { recorder } = place.frame;
    // A group that failed before is walked again, for the names inside it, and recorded once.
    if (this.run.kept(path)?.status !== 'failed') {
      const recorded = { kind: step.kind, path, begun: begun ?? recorder.begin() };
      this.run.record(recorder.failed(recorded, failure.error, parts));
    }
    return step.onError === 'continue' ? DONE_NULL : failure;
  }

  /** The step's returned value becomes its out, is checked and recorded. */
  finished(step: CompiledStep, turn: Turn, returned: JsonValue | undefined, begun: Begun, parts: RecordParts): Walked {
    const { place } = turn;
    let { checks = [] } = parts;
    try {
      const out = stepOut(step, returned, place.frame.recorder.mask, this.run.options.folder);
      const ensured = this.judged(step, 'ensure', { ...turn, place: withOut(place, out.value) });
      checks = [...checks, ...ensured];
      const failure = failedCheck(ensured);
      if (failure !== null) return this.failed(step, turn, failure, begun, { ...parts, checks });
      this.succeeded(step, turn, out, begun, { ...parts, checks });
      return { kind: 'done', value: out.value };
    } catch (error) {
      return this.failed(step, turn, error, begun, { ...parts, checks });
    }
  }

  /** @throws StepFailure when the outs of the run become too many. */
  succeeded(step: CompiledStep, { place, path }: Turn, out: StepOut, begun: Begun, parts: RecordParts): void {
    this.run.charge(out.json);
    if (this.run.kept(path)?.status === 'succeeded' && isContainer(step)) return;
    const withheld = step.out?.hasSecret === true;
    this.run.record(place.frame.recorder.succeeded({ kind: step.kind, path, begun }, out, withheld, parts));
  }

  /** The step's own `require` or `ensure`. */
  judged(step: CompiledStep, phase: 'require' | 'ensure', { place, path }: Turn): readonly CheckRecord[] {
    if (step[phase].length === 0) return [];
    const hidden = step.out?.hasSecret === true ? ['out', 'response'] : [];
    const checks = judge(step[phase], phase, place.scope, place.frame.recorder.mask, hidden);
    for (const check of checks) this.run.options.observer?.checked?.(path, check);
    return checks;
  }

  private async loop(step: CompiledStep, turn: Turn): Promise<Walked> {
    const { loop } = step;
    if (loop?.kind === 'each') return walkEach(this, step, loop, turn);
    if (this.run.kept(turn.path)?.status === 'skipped') return SKIPPED;
    if (loop?.kind === 'repeat') return walkRepeat(this, step, loop, turn);
    return this.once(step, turn);
  }

  /** The outcome of a step in an earlier attempt; null: it has to be walked. */
  private keptEnd(step: CompiledStep, path: string): Walked | null {
    const kept = this.run.kept(path);
    if (kept === undefined || kept.status === 'running') return null;
    if (kept.status !== 'skipped' && (isContainer(step) || (kept.withheld && kept.status === 'succeeded'))) return null;
    this.run.options.observer?.stepKept?.(path);
    if (kept.status === 'skipped') return SKIPPED;
    if (kept.status === 'succeeded') return this.keptOut(step, path, kept.out);
    if (step.onError === 'continue') return DONE_NULL;
    return failedStep(step, path, errorOfKept(kept));
  }

  /** Of a run that ends: only what holds finished steps is walked again. */
  private holdsKept(step: CompiledStep, path: string): boolean {
    if (isContainer(step)) return true;
    // Its out was a secret, which the steps after a failure may need.
    if (this.run.kept(path)?.status === 'succeeded') return true;
    if (step.kind !== 'call') return false;
    for (const known of this.run.options.finished.keys()) if (known.startsWith(`${path}/`)) return true;
    return false;
  }

  /** The step of a cleanup that was running when the last worker was lost: it has used its attempts. */
  private hasLostWorker(step: CompiledStep, path: string): boolean {
    const { ending, finished } = this.run.options;
    const acts = step.kind === 'node' || step.kind === 'python' || step.kind === 'shell' || step.kind === 'http';
    return acts && ending?.code === 'attempts_exhausted' && finished.get(path)?.status === 'running';
  }

  /** The server's record is data as well: a file in it must be one that was restored. */
  private keptOut(step: CompiledStep, path: string, out: JsonValue): Walked {
    try {
      if (step.out?.hasFile === true) checkFiles(step.out.schema, out, this.run.options.folder);
    } catch {
      const error = { kind: 'input', message: 'A file of an earlier attempt is not in the run folder' } as const;
      return { kind: 'failed', path, name: step.name, error };
    }
    return { kind: 'done', value: out };
  }

  private perform(step: CompiledStep, turn: Turn): Walked | Promise<Walked> {
    switch (step.kind) {
      case 'node':
      case 'python':
      case 'shell':
      case 'http':
        return act(this, step, turn);
      case 'ask':
        return askOrAnswer(this, step, turn);
      case 'call':
        return walkCall(this, step, turn);
      case 'wait':
        return waitUntil(this, step, turn);
      case 'check':
        return this.check(step, turn);
      case 'steps':
        return walkGroup(this, step, turn);
      case 'parallel':
        return walkParallel(this, step, turn);
      case 'browser':
      case 'agent':
        return this.failed(step, turn, new StepFailure('dependency', `No ${step.kind} steps can be run here`));
    }
  }

  private check(step: CompiledStep & { kind: 'check' }, turn: Turn): Walked {
    const { recorder } = turn.place.frame;
    const begun = recorder.begin();
    const before = this.judged(step, 'require', turn);
    const own = judge(step.checks, 'step', turn.place.scope, recorder.mask);
    for (const check of own) this.run.options.observer?.checked?.(turn.path, check);
    const checks = [...before, ...own];
    const failure = failedCheck(checks);
    if (failure !== null) return this.failed(step, turn, failure, begun, { checks });
    return this.finished(step, turn, undefined, begun, { checks });
  }
}

function withOut(place: Place, out: JsonValue): Place {
  return { ...place, scope: { ...place.scope, out } };
}

function tooManySteps(place: Place): StepFailure {
  const { stepsMax } = place.frame.method.limits;
  return new StepFailure('limit', `The run takes more than ${stepsMax} steps (limits: max_steps)`);
}

/** Walked again after a resume: the names inside it are needed, and the steps inside it are kept. */
function isContainer(step: CompiledStep): boolean {
  return step.kind === 'steps' || step.kind === 'parallel';
}

/** Of an ask step, a failure of kind timeout is its deadline. */
function failedStep(step: CompiledStep, path: string, error: StepError, given?: Failed['code']): Failed {
  const code = step.kind === 'ask' && error.kind === 'timeout' ? 'no_answer' : given;
  return { kind: 'failed', path, name: step.name, error, ...(code && { code }) };
}

/** Without its error the attempt that recorded the failure was lost before it could end the run. */
function errorOfKept(kept: FinishedStep) {
  return kept.error ?? { kind: 'internal' as const, message: 'The step failed in an earlier attempt' };
}

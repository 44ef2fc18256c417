// Walks the steps of a run: keeps those that finished before, skips those whose condition is false, and passes each of
// the others to the runner of its kind.
import type { CompiledStep } from '@methods/method/compiled-method';
import { evaluate } from '@methods/method/evaluate';
import type { JsonValue } from '@methods/method/json';
import { failedCheck, judge } from '../records/checks.ts';
import { checkFiles } from '../records/step-out.ts';
import type { FinishedStep } from '../run-options.ts';
import { StepFailure } from '../step-failure.ts';
import { act } from './act.ts';
import { askOrAnswer } from './ask.ts';
import { walkCall } from './call.ts';
import { walkEach, walkGroup, walkParallel, walkRepeat } from './groups.ts';
import type { Place, Turn } from './place.ts';
import { waitUntil } from './wait.ts';
import { failedStep, isContainer, Walk } from './walk.ts';
import { DONE_NULL, OVER, SKIPPED, STOPPED, type Walked } from './walk-end.ts';

const LOST = 'The worker was lost while the step ran';

export class Walker extends Walk {
  async list(steps: readonly CompiledStep[], place: Place): Promise<Walked> {
    for (const step of steps) {
      const end = await this.step(step, place);
      if (end.kind !== 'done') return end;
    }
    return DONE_NULL;
  }

  async step(step: CompiledStep, place: Place): Promise<Walked> {
    const turn: Turn = { place, path: place.prefix + step.name, round: null };
    const end = await (step.loop === null
      ? this.once(step, turn)
      : this.run.starts.during(step, turn.path, () => this.loop(step, turn)));
    if (end.kind === 'done') place.outs[step.name] = end.value;
    return end;
  }

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

  /** For a run that ends: only blocks with finished steps are walked again. */
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

function tooManySteps(place: Place): StepFailure {
  const { stepsMax } = place.frame.method.limits;
  return new StepFailure('limit', `The run takes more than ${stepsMax} steps (limits: max_steps)`);
}

/** Without its error the attempt that recorded the failure was lost before it could end the run. */
function errorOfKept(kept: FinishedStep) {
  return kept.error ?? { kind: 'internal' as const, message: 'The step failed in an earlier attempt' };
}

// The walk as the runners of the step kinds see it: they walk inner steps through it, and every end of a step is judged
// and recorded here. Walker implements it.
import type { CompiledStep } from '@methods/method/compiled-method';
import type { JsonValue } from '@methods/method/json';
import { onlyComputes } from '../code-step.ts';
import { failedCheck, failureOf, judge } from '../records/checks.ts';
import { type StepOut, stepOut } from '../records/step-out.ts';
import type { Begun, RecordParts } from '../records/step-record.ts';
import type { CheckRecord } from '../run-outcome.ts';
import type { StepError } from '../step-failure.ts';
import type { Place, Turn } from './place.ts';
import type { RunState } from './run-state.ts';
import { DONE_NULL, type Failed, SKIPPED, type Walked } from './walk-end.ts';

export abstract class Walk {
  constructor(readonly run: RunState) {}

  /** Runs steps one after the other, until one fails or the walk cannot continue. */
  abstract list(steps: readonly CompiledStep[], place: Place): Promise<Walked>;

  /** With all its rounds. Its value is in the place's scope afterwards. */
  abstract step(step: CompiledStep, place: Place): Promise<Walked>;

  /** One round, or the only one. `asked`: its condition holds already. */
  abstract once(step: CompiledStep, turn: Turn, asked?: boolean): Walked | Promise<Walked>;

  wallMs(): number {
    return this.run.options.clock.wallMs();
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
      const { method } = place.frame;
      this.run.record(recorder.failed(recorded, failure.error, parts), onlyComputes(step, method.lib));
    }
    return step.onError === 'continue' ? DONE_NULL : failure;
  }

  /** The step's returned value becomes its out, is checked and recorded. */
  finished(step: CompiledStep, turn: Turn, returned: JsonValue | undefined, begun: Begun, parts: RecordParts): Walked {
    const { place } = turn;
    let { checks = [] } = parts;
    try {
      const out = stepOut(step, returned, place.frame.recorder.mask, this.run.options.folder);
      const ensured = this.ensured(step, turn, out.value);
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
    const { recorder, method } = place.frame;
    const end = recorder.succeeded({ kind: step.kind, path, begun }, out, withheld, parts);
    this.run.record(end, onlyComputes(step, method.lib));
  }

  private ensured(step: CompiledStep, { place, path, round }: Turn, out: JsonValue): readonly CheckRecord[] {
    if (step.ensure.length === 0) return [];
    return this.judged(step, 'ensure', { place: { ...place, scope: { ...place.scope, out } }, path, round });
  }

  /** The step's own `require` or `ensure`. */
  judged(step: CompiledStep, phase: 'require' | 'ensure', { place, path }: Turn): readonly CheckRecord[] {
    if (step[phase].length === 0) return [];
    const hidden = step.out?.hasSecret === true ? ['out', 'response'] : [];
    const checks = judge(step[phase], phase, place.scope, place.frame.recorder.mask, hidden);
    for (const check of checks) this.run.options.observer?.checked?.(path, check);
    return checks;
  }
}

/** Walked again after a resume: the names inside it are needed, and the steps inside it are kept. */
export function isContainer(step: CompiledStep): boolean {
  return step.kind === 'steps' || step.kind === 'parallel';
}

/** For an ask step, a failure of kind timeout is its deadline. */
export function failedStep(step: CompiledStep, path: string, error: StepError, given?: Failed['code']): Failed {
  const code = step.kind === 'ask' && error.kind === 'timeout' ? 'no_answer' : given;
  return { kind: 'failed', path, name: step.name, error, ...(code && { code }) };
}

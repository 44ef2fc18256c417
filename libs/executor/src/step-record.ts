// Runs one acting step and makes its record: every error becomes a kind and a masked message here, and nowhere else.
import type { Clock } from '@methods/base/clock';
import type { AskStep, CodeStep, CompiledStep, HttpStep } from '@methods/method/compiled-method';
import { ExpressionError } from '@methods/method/evaluate';
import type { JsonValue } from '@methods/method/json';
import { runHttpStep } from './http-step.ts';
import type { Mask } from './mask.ts';
import { runNodeStep } from './node-step.ts';
import type { CheckRecord, StepEnd, StepLog } from './run-outcome.ts';
import type { ActionEnd, StepContext } from './step-context.ts';
import { type StepError, StepFailure } from './step-failure.ts';
import { stepOut } from './step-out.ts';

const MESSAGE_CHARACTERS_MAX = 4000;
const NO_CHECKS: readonly CheckRecord[] = [];

interface Begun {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export class StepRecorder {
  constructor(
    private readonly clock: Clock,
    readonly mask: Mask,
  ) {}

  begin(): Begun {
    return { wallMs: this.clock.wallMs(), monotonicMs: this.clock.monotonicMs() };
  }

  /** `value` is what later steps see, also where the record must not hold it. Never rejects. */
  async run(step: CodeStep | HttpStep, context: StepContext): Promise<{ record: StepEnd; value: JsonValue }> {
    const begun = this.begin();
    let end: ActionEnd;
    try {
      end = await (step.kind === 'http' ? runHttpStep(step, context) : runNodeStep(step, context));
    } catch (error) {
      return { record: this.failed(step, begun, failureOf(error, step)), value: null };
    }
    const checks = end.checks.length === 0 ? NO_CHECKS : end.checks.map((check) => this.masked(check));
    const failure = failedCheck(checks) ?? end.failure;
    if (failure !== null) return { record: this.failed(step, begun, failure, checks, end.log), value: null };
    try {
      const out = stepOut(step, end.returned, this.mask);
      const withheld = step.out?.hasSecret === true;
      const record: StepEnd = {
        ...this.ended(step, begun),
        status: 'succeeded',
        out: withheld ? null : out.value,
        outJson: withheld ? '' : out.json,
        withheld,
        checks,
        dropped: out.dropped,
        log: end.log,
      };
      return { record, value: out.value };
    } catch (error) {
      return { record: this.failed(step, begun, failureOf(error, step), checks, end.log), value: null };
    }
  }

  answered(step: AskStep, value: JsonValue): StepEnd {
    return { ...this.ended(step, this.begin()), status: 'succeeded', out: value, outJson: JSON.stringify(value) };
  }

  skipped(step: CompiledStep): StepEnd {
    return { ...this.ended(step, this.begin()), status: 'skipped' };
  }

  failed(
    step: CompiledStep,
    begun: Begun,
    failure: StepFailure,
    checks: readonly CheckRecord[] = NO_CHECKS,
    log: StepLog | null = null,
  ): StepEnd {
    return { ...this.ended(step, begun), status: 'failed', error: this.errorOf(failure), checks, log };
  }

  private ended(step: CompiledStep, begun: Begun): Omit<StepEnd, 'status'> {
    return {
      path: step.name,
      kind: step.kind,
      startedAtMs: begun.wallMs,
      // Not the wall clock again: it may have been set back meanwhile.
      finishedAtMs: begun.wallMs + Math.round(this.clock.monotonicMs() - begun.monotonicMs),
      out: null,
      outJson: '',
      withheld: false,
      checks: NO_CHECKS,
      error: null,
      dropped: [],
      log: null,
    };
  }

  private errorOf({ kind, message, detail }: StepFailure): StepError {
    return {
      kind,
      message: this.mask.text(message).slice(0, MESSAGE_CHARACTERS_MAX),
      ...(detail.status === undefined ? {} : { status: detail.status }),
      ...(detail.line === undefined ? {} : { line: detail.line }),
      ...(detail.stack === undefined ? {} : { stack: this.mask.text(detail.stack) }),
    };
  }

  private masked(check: CheckRecord): CheckRecord {
    const { mask } = this;
    return {
      ...check,
      name: mask.text(check.name),
      message: check.message === null ? null : mask.text(check.message),
      actual: mask.json(check.actual),
    };
  }
}

/** A failed check outweighs every other failure of its step. */
function failedCheck(checks: readonly CheckRecord[]): StepFailure | null {
  const failed = checks.find((check) => check.status === 'failed');
  if (failed === undefined) return null;
  return new StepFailure(
    'check',
    `Check failed: ${failed.name}${failed.message === null ? '' : ` (${failed.message})`}`,
  );
}

/** Any error as a step's failure, with the step's line where the error names none. */
export function failureOf(error: unknown, step: CompiledStep): StepFailure {
  const failure = asFailure(error);
  return new StepFailure(failure.kind, failure.message, { line: step.line, ...failure.detail });
}

/** What is not of the language's kinds is a fault of ours: its message could hold content and stays here. */
export function asFailure(error: unknown): StepFailure {
  if (error instanceof StepFailure) return error;
  if (error instanceof ExpressionError) return new StepFailure('expression', error.message);
  // The stack overflowed: a value nests too deep for a check or a text.
  if (error instanceof RangeError) return new StepFailure('limit', 'A value nests too deep or is too large');
  return new StepFailure('internal', 'The step could not be run');
}

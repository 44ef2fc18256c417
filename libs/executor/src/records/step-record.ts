// Builds the records of steps: only here an error becomes a kind and a masked message.
import type { Clock } from '@methods/base/clock';
import type { StepKind } from '@methods/method/compiled-method';
import { cutText, wellFormed } from '@methods/method/cut-text';
import type { JsonValue } from '@methods/method/json';
import { wellFormedJson } from '@methods/method/lone-surrogates';
import type { CheckRecord, StepEnd, StepLog, StepTry } from '../run-outcome.ts';
import type { RunMask } from '../secrets/run-mask.ts';
import { NAME_CHARACTERS_MAX } from '../step-event.ts';
import type { StepError, StepFailure } from '../step-failure.ts';
import type { StepOut } from './step-out.ts';

const MESSAGE_CHARACTERS_MAX = 4000;
const NONE: readonly never[] = [];
const NOTHING: KeptOut = { value: null, json: '', dropped: NONE, withheld: false };

/** The part of the step's out that the record keeps. */
interface KeptOut extends StepOut {
  readonly withheld: boolean;
}

/** When a step or a try began. */
export interface Begun {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** The recorded step: its kind, its place, and when it began. */
export interface Recorded {
  readonly kind: StepKind;
  readonly path: string;
  readonly begun: Begun;
}

export interface RecordParts {
  readonly checks?: readonly CheckRecord[];
  readonly tries?: readonly StepTry[];
  readonly log?: StepLog | null;
}

export class StepRecorder {
  constructor(
    private readonly clock: Clock,
    readonly mask: RunMask,
  ) {}

  begin(): Begun {
    return { wallMs: this.clock.wallMs(), monotonicMs: this.clock.monotonicMs() };
  }

  /** Not the wall clock again, which may have been set back meanwhile. */
  endMs(begun: Begun): number {
    return begun.wallMs + Math.round(this.clock.monotonicMs() - begun.monotonicMs);
  }

  succeeded(recorded: Recorded, out: StepOut, withheld: boolean, parts: RecordParts): StepEnd {
    const { value, json, dropped } = withheld ? { ...out, value: null, json: '' } : out;
    return this.ended('succeeded', recorded, parts, { value, json, dropped, withheld });
  }

  answered(recorded: Recorded, value: JsonValue, parts: RecordParts): StepEnd {
    return this.ended('succeeded', recorded, parts, { ...NOTHING, value, json: JSON.stringify(value) });
  }

  skipped(kind: StepKind, path: string): StepEnd {
    return this.ended('skipped', { kind, path, begun: this.begin() }, {}, NOTHING);
  }

  failed(recorded: Recorded, error: StepError, parts: RecordParts): StepEnd {
    return this.ended('failed', recorded, parts, NOTHING, error);
  }

  /** Returns the failure in the form that may be shown and stored. */
  errorOf({ kind, message, detail }: StepFailure): StepError {
    const { status, code, line, stack, answer } = detail;
    return {
      kind,
      message: cutText(this.shown(message), MESSAGE_CHARACTERS_MAX),
      ...(status === undefined ? {} : { status }),
      ...answer,
      ...(code === undefined ? {} : { code: typeof code === 'string' ? this.shown(code) : code }),
      ...(line === undefined ? {} : { line }),
      ...(stack === undefined ? {} : { stack: this.shown(stack) }),
    };
  }

  /** Halves of characters are useless to a reader, and the store of records refuses them. */
  private shown(text: string): string {
    return wellFormed(this.mask.text(text));
  }

  /** Checks of the author's code: every text in them is the code's. */
  masked(checks: readonly CheckRecord[]): readonly CheckRecord[] {
    const { mask } = this;
    if (checks.length === 0) return NONE;
    return checks.map((check) => ({
      ...check,
      name: cutText(this.shown(check.name), NAME_CHARACTERS_MAX),
      message: check.message === null ? null : this.shown(check.message),
      actual: wellFormedJson(mask.json(check.actual)),
    }));
  }

  /** The log of a step that returned a secret of its own, which was unknown while the log was printed. */
  maskedLog(log: StepLog | null): StepLog | null {
    return log === null ? null : { ...log, text: this.mask.text(log.text) };
  }

  private ended(
    status: StepEnd['status'],
    { kind, path, begun }: Recorded,
    parts: RecordParts,
    out: KeptOut,
    error: StepError | null = null,
  ): StepEnd {
    return {
      path,
      kind,
      status,
      startedAtMs: begun.wallMs,
      finishedAtMs: this.endMs(begun),
      out: out.value,
      outJson: out.json,
      withheld: out.withheld,
      checks: parts.checks ?? NONE,
      tries: parts.tries ?? NONE,
      error,
      dropped: out.dropped,
      log: parts.log ?? null,
    };
  }
}

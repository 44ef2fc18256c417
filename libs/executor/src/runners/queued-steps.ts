// The steps sent to a runner before its present step has ended. Each has a ticket in a file that the worker opened and
// the runner inherited. Both read it through one file position, which the system advances with every read, so exactly
// one of them gets each ticket. The runner begins a step only with its ticket. A step that the worker takes back
// therefore never begins there, even while the runner is deep in another step's code and reads nothing. The runner can
// only read the file, and the worker's reads of it are bounded.
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { RunnerJob, WaitingStep } from './runner-job.ts';

const TICKET_BYTES = 4;
const STEPS_MAX = 8;
/** The file only grows: a runner is replaced after some million steps. */
const FILE_BYTES_MAX = 16 * 1024 * 1024;

const NOTHING = { present: null, steps: [] };

export interface QueuedStep {
  readonly n: number;
  readonly step: WaitingStep;
  /** Receives the step's end. */
  readonly done: WaitingStep['done'];
  /** Its run was stopped after the runner had begun it. */
  isStopped: boolean;
}

export class QueuedSteps {
  /**
   * The runner inherits it as descriptor 5, open for reading only: the worker would have to read what a runner could
   * write there.
   */
  readonly descriptor: number;
  private readonly writable: number;
  /** Holds the tickets of all queued steps and of the present one. */
  private readonly buffer = Buffer.alloc(TICKET_BYTES * (STEPS_MAX + 1));
  private readonly waiting: QueuedStep[] = [];
  /** The present step, if it was queued before; its ticket may still be unread. */
  private present: QueuedStep | null = null;
  private fileBytes = 0;
  /** The last of the steps taken back, which the runner may still have to pass. */
  private staleTo = 0;
  /** No ticket can be written, for example because the disk is full. */
  private broken = false;

  constructor(folder: string) {
    const file = join(folder, 'tickets');
    this.writable = openSync(file, 'wx', 0o600);
    this.descriptor = openSync(file, 'r');
    unlinkSync(file);
  }

  get size(): number {
    return this.waiting.length;
  }

  /** A runner that still passes steps without tickets would take the tickets of later steps too early. */
  get hasRoom(): boolean {
    return this.waiting.length < STEPS_MAX && this.staleTo === 0 && !this.broken;
  }

  get isWornOut(): boolean {
    return this.fileBytes >= FILE_BYTES_MAX;
  }

  /** Called before the runner gets the step. False: it cannot be queued here. */
  add(queued: QueuedStep): boolean {
    this.buffer.writeUInt32LE(queued.n);
    try {
      writeSync(this.writable, this.buffer, 0, TICKET_BYTES, this.fileBytes);
    } catch {
      this.broken = true;
      return false;
    }
    this.fileBytes += TICKET_BYTES;
    this.waiting.push(queued);
    return true;
  }

  /** Makes the step after `ended` the present one. */
  next(ended: number): QueuedStep | null {
    if (ended > this.staleTo) this.staleTo = 0;
    this.present = this.waiting.shift() ?? null;
    return this.present;
  }

  /**
   * Takes back, in order, the steps that the runner has not begun and never will. `present` is set if the present step
   * is one of them. The steps that remain have begun, so the present step has ended.
   */
  takeBack(): { readonly present: WaitingStep | null; readonly steps: readonly WaitingStep[] } {
    if (this.waiting.length === 0 && this.present === null) return NOTHING;
    const bytes = readSync(this.descriptor, this.buffer, 0, this.buffer.length, null);
    const tickets = Math.floor(bytes / TICKET_BYTES);
    const left = Math.min(this.waiting.length, tickets);
    if (tickets > 0) this.staleTo = this.waiting.at(-1)?.n ?? this.present?.n ?? 0;
    const steps = this.waiting.splice(this.waiting.length - left).map(({ step }) => step);
    const present = tickets > left ? (this.present?.step ?? null) : null;
    this.present = null;
    return { present, steps };
  }

  find(job: RunnerJob): WaitingStep | null {
    return this.waiting.find(({ step }) => step.job === job)?.step ?? null;
  }

  /** Ignores the end of a step that has begun. False: it is not queued here. */
  stop(step: WaitingStep): boolean {
    const queued = this.waiting.find((it) => it.step === step);
    if (queued !== undefined) queued.isStopped = true;
    return queued !== undefined;
  }

  close(): void {
    closeSync(this.descriptor);
    closeSync(this.writable);
  }
}

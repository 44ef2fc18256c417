// The steps that a runner was sent before the one at work has ended. Each has a ticket in a file that the worker opened
// and the runner was started with: both read it at one position, which the system moves with every read, so exactly one
// of them gets a ticket. The runner begins a step with its ticket only; what the worker takes back never begins there,
// also while the runner is deep in another step's code and reads nothing. The runner can only read the file, and what the
// worker reads of it is bounded.
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
  /** Where its end goes. */
  readonly done: WaitingStep['done'];
  /** Its run was stopped after the runner had begun it. */
  isStopped: boolean;
}

export class QueuedSteps {
  /** The runner has it as descriptor 5: what it could write there, the worker would have to read. */
  readonly descriptor: number;
  private readonly writable: number;
  /** Of all in line and the present one. */
  private readonly buffer = Buffer.alloc(TICKET_BYTES * (STEPS_MAX + 1));
  private readonly waiting: QueuedStep[] = [];
  /** The present step, where it waited in line; its ticket may still be there. */
  private present: QueuedStep | null = null;
  private fileBytes = 0;
  /** The last of those taken back; the runner may still have to pass them. */
  private staleTo = 0;
  /** No ticket can be written, as on a full disk. */
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

  /** A runner that still passes steps without tickets would take those of the next ones too early. */
  get hasRoom(): boolean {
    return this.waiting.length < STEPS_MAX && this.staleTo === 0 && !this.broken;
  }

  get isWornOut(): boolean {
    return this.fileBytes >= FILE_BYTES_MAX;
  }

  /** Before the runner gets the step. False: it cannot wait here. */
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

  /** The one that follows the present step, which was `ended`, becomes the present one. */
  next(ended: number): QueuedStep | null {
    if (ended > this.staleTo) this.staleTo = 0;
    this.present = this.waiting.shift() ?? null;
    return this.present;
  }

  /**
   * What the runner has not begun, in order; it never will. `present`: the present step is among it. What stays has
   * begun, and so the present step has ended.
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

  /** The end of a step that has begun counts no more; false: it does not wait here. */
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

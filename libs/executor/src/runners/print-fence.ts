// Cuts a runner's prints at the ends of its steps. At the end of a step the runner writes a mark to the pipe that all
// its processes print to: prints before the mark belong to the step, however late they are read.

/** For prints of the next steps while the present one is not over. */
const HELD_BYTES_MAX = 8 * 1024 * 1024;
const EMPTY = Buffer.alloc(0);

export interface PrintFenceEvents {
  readonly onPrint: (chunk: Buffer) => void;
  /** The mark of the present step was read. */
  readonly onMark: () => void;
  /** More is held than allowed. */
  readonly onOverflow: () => void;
}

export class PrintFence {
  private readonly mark: Buffer;
  /** May be the beginning of a mark. */
  private rest: Buffer = EMPTY;
  /** Prints of steps after the present one. */
  private held: Buffer[] = [];
  private heldBytes = 0;
  private isOpen = false;
  /** Up to the next mark, prints belong to no step. */
  private isSkipping = false;
  /** No step is in progress. */
  private isIdle = true;

  constructor(
    token: string,
    private readonly events: PrintFenceEvents,
  ) {
    this.mark = Buffer.from(`\0${token}\n`);
  }

  /** A step is in progress: prints are kept for those behind it. */
  busy(): void {
    this.isIdle = false;
  }

  /** Prints up to the next mark belong to the present step. */
  open(): void {
    this.isOpen = true;
    this.busy();
    if (!this.isSkipping) this.release();
  }

  /** False: its mark has been read. */
  get isWaiting(): boolean {
    return this.isOpen;
  }

  /** The mark does not come. */
  giveUp(): void {
    if (this.isOpen && !this.isSkipping && this.rest.length > 0) this.events.onPrint(this.rest);
    this.isOpen = false;
    this.rest = EMPTY;
  }

  /** All steps are over: further prints belong to none of them. */
  idle(): void {
    this.isIdle = true;
    this.drop();
  }

  /** Prints after the present step's mark, up to the next mark, do not belong to the next step. */
  skip(): void {
    this.isSkipping = true;
    this.drop();
  }

  push(chunk: Buffer): void {
    if (!this.isOpen && !this.isSkipping) return this.hold(chunk);
    const bytes = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    const at = bytes.indexOf(this.mark);
    const to = at === -1 ? bytes.length - this.markBegun(bytes) : at;
    this.rest = at === -1 ? bytes.subarray(to) : EMPTY;
    if (to > 0 && !this.isSkipping) this.events.onPrint(bytes.subarray(0, to));
    if (at === -1) return;
    const after = bytes.subarray(at + this.mark.length);
    if (this.isSkipping) {
      this.isSkipping = false;
      if (after.length > 0) this.push(after);
      return;
    }
    this.isOpen = false;
    if (after.length > 0) this.hold(after);
    this.events.onMark();
  }

  /** Returns how many of the last bytes are the beginning of a mark. */
  private markBegun(bytes: Buffer): number {
    const at = bytes.lastIndexOf(0);
    const count = bytes.length - at;
    if (at === -1 || count >= this.mark.length) return 0;
    return bytes.subarray(at).equals(this.mark.subarray(0, count)) ? count : 0;
  }

  private hold(chunk: Buffer): void {
    if (this.isIdle) return;
    this.held.push(chunk);
    this.heldBytes += chunk.length;
    if (this.heldBytes <= HELD_BYTES_MAX) return;
    this.drop();
    this.events.onOverflow();
  }

  private release(): void {
    const held = this.held;
    this.drop();
    for (const chunk of held) this.push(chunk);
  }

  private drop(): void {
    this.held = [];
    this.heldBytes = 0;
  }
}

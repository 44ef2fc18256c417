// Cuts what a runner prints at the ends of its steps. At the end of a step the runner writes a mark to the pipe that
// everything it starts prints to as well: what comes before the mark is the step's, however late it is read.

/** Of what the next steps have printed already while the present one is not over. */
const HELD_BYTES_MAX = 8 * 1024 * 1024;
const EMPTY = Buffer.alloc(0);

export interface PrintFenceEvents {
  readonly onPrint: (chunk: Buffer) => void;
  /** The mark of the present step was read. */
  readonly onMark: () => void;
  /** More is held than may be. */
  readonly onOverflow: () => void;
}

export class PrintFence {
  private readonly mark: Buffer;
  /** It may be the beginning of a mark. */
  private rest: Buffer = EMPTY;
  /** Of steps after the present one. */
  private held: Buffer[] = [];
  private heldBytes = 0;
  private isOpen = false;
  /** Up to the next mark, nothing is of any step. */
  private isSkipping = false;
  /** No step that prints is under way. */
  private isIdle = true;

  constructor(
    token: string,
    private readonly events: PrintFenceEvents,
  ) {
    this.mark = Buffer.from(`\0${token}\n`);
  }

  /** What comes up to the next mark is the present step's. */
  open(): void {
    this.isOpen = true;
    this.isIdle = false;
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

  /** All steps are over: what else comes is of none of them. */
  idle(): void {
    this.isIdle = true;
    this.drop();
  }

  /** What was printed after the present step's mark, up to the next one, is not of the next step either. */
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

  /** How many of the last bytes are the beginning of a mark. */
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

// The lines at the foot of a live view: redrawn while lines are printed above them.
import type { Output } from './output.ts';
import { cutToWidth } from './plain-text.ts';

const REDRAW_MS = 120;
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const CLEAR_BELOW = '\r\u001b[J';
// A line cut for the former width must not wrap if the terminal was made narrower meanwhile.
const WRAP_OFF = '\u001b[?7l';
const WRAP_ON = '\u001b[?7h';

export class LiveFoot {
  private timer: NodeJS.Timeout | null = null;
  private readonly again = () => this.redraw();
  private readonly shown = () => this.output.draw(SHOW_CURSOR);

  /** `lines`: the present ones, requested at every redraw, without colour codes across the cut. */
  constructor(
    private readonly output: Output,
    private readonly lines: () => readonly string[],
    private readonly colour: (line: string) => string = (line) => line,
  ) {}

  get isDrawn(): boolean {
    return this.timer !== null;
  }

  /** Does nothing if no live view is possible. */
  start(): void {
    if (!this.output.live || this.timer !== null) return;
    this.timer = setInterval(this.again, REDRAW_MS).unref();
    this.output.streams.stdout.on('resize', this.again);
    // An interrupt may end the process between two lines; the terminal must have its cursor back.
    process.once('exit', this.shown);
    this.output.draw(HIDE_CURSOR);
    this.redraw();
  }

  /** Prints lines that stay. */
  above(print: () => void): void {
    if (this.timer !== null) this.output.draw(CLEAR_BELOW);
    print();
    this.redraw();
  }

  /** Removes the foot: other text is printed now, or nothing more. */
  rest(): void {
    if (this.timer === null) return;
    clearInterval(this.timer);
    this.timer = null;
    this.output.streams.stdout.off('resize', this.again);
    process.off('exit', this.shown);
    this.output.draw(`${CLEAR_BELOW}${SHOW_CURSOR}`);
  }

  /**
   * The cursor rests before the first character of the foot: a terminal that rewraps its lines when it is resized moves
   * the cursor along, so that clearing everything below it clears the whole foot, at any number of rows.
   */
  redraw(): void {
    if (this.timer === null) return;
    const { output } = this;
    const lines = this.lines().slice(0, Math.max(1, output.rows - 1));
    const cut = lines.map((line) => this.colour(cutToWidth(line, output.columns - 1)));
    const back = cut.length > 1 ? `\u001b[${cut.length - 1}A\r` : '\r';
    output.draw(`${CLEAR_BELOW}${WRAP_OFF}${cut.join('\r\n')}${back}${WRAP_ON}`);
  }
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;
const FRAME_MS = 120;

/** Depends only on the time, so that several views turn together. `nowMs`: from any clock that increases. */
export function spinner(nowMs: number): string {
  return FRAMES[Math.floor(nowMs / FRAME_MS) % FRAMES.length] ?? FRAMES[0];
}

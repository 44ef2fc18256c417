// Asks for one line on the terminal. Its fault, or its expected form, is shown below it at every key.
import { emitKeypressEvents } from 'node:readline';
import { createInterface } from 'node:readline/promises';
import { EditedLine, type Key } from './edited-line.ts';
import type { Output } from './output.ts';
import { cutToWidth } from './plain-text.ts';

const CLEAR_BELOW = '\r\u001b[J';
const WRAP_OFF = '\u001b[?7l';
const WRAP_ON = '\u001b[?7h';

export interface Hint {
  readonly text: string;
  /** The line cannot be accepted as it is. */
  readonly wrong: boolean;
}

interface PromptOptions {
  /** In front of the line. */
  readonly mark: string;
  /** Without colours and escape sequences. */
  readonly hint: (line: string) => Hint;
  /** Choices for the arrow keys. */
  readonly choices?: readonly string[];
}

/** Puts the terminal into the mode that reports every key at once, while a form is asked. */
export class Prompter {
  private readonly pressed: { readonly typed: string | undefined; readonly key: Key }[] = [];
  private listener: (() => void) | null = null;
  private readonly onKey = (typed: string | undefined, key: Key) => {
    this.pressed.push({ typed, key });
    this.listener?.();
  };
  private ended = false;
  /** No more keys arrive; the terminal itself may be gone. */
  private readonly onEnd = () => {
    this.ended = true;
    this.listener?.();
  };

  private readonly onAbort = () => this.listener?.();

  constructor(private readonly output: Output) {}

  open(): void {
    const { stdin } = this.output.streams;
    emitKeypressEvents(stdin);
    stdin.setRawMode?.(true);
    stdin.on('keypress', this.onKey);
    stdin.on('end', this.onEnd);
    stdin.on('error', this.onEnd);
    stdin.resume();
  }

  /** Called when another program gets the terminal, or there are no further questions. Keys typed ahead are kept. */
  close(): void {
    const { stdin } = this.output.streams;
    stdin.off('keypress', this.onKey);
    stdin.off('end', this.onEnd);
    stdin.off('error', this.onEnd);
    stdin.setRawMode?.(false);
    stdin.pause();
  }

  /** Returns the line once Enter is pressed on a valid one; null: there is no answer, or `signal` was aborted. */
  async ask(options: PromptOptions, signal: AbortSignal): Promise<string | null> {
    const line = new EditedLine();
    const { stdout } = this.output.streams;
    const draw = () => this.draw(line, options);
    stdout.on('resize', draw);
    try {
      draw();
      for (;;) {
        const pressed = await this.next(signal);
        if (pressed === null || isEnd(pressed.key, line)) return this.leave(line, options, null);
        const { typed, key } = pressed;
        if (key.name === 'return' || key.name === 'enter') {
          if (!options.hint(line.text).wrong) return this.leave(line, options, line.text);
        } else if (key.ctrl && key.name === 'c') {
          // In this mode Ctrl-C arrives as a key, and must have its usual effect.
          process.kill(process.pid, 'SIGINT');
        } else if (key.name === 'up' || key.name === 'down') {
          line.text = neighbour(options.choices ?? [], line.text, key.name === 'up' ? -1 : 1);
        } else line.press(typed, key);
        // A pasted line is drawn once.
        if (this.pressed.length === 0) draw();
      }
    } finally {
      stdout.off('resize', draw);
    }
  }

  private async next(signal: AbortSignal): Promise<{ typed: string | undefined; key: Key } | null> {
    if (this.pressed.length === 0 && !this.ended && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.listener = resolve;
        signal.addEventListener('abort', this.onAbort, { once: true });
      });
      // There is one for every key, and Node warns about more than ten.
      signal.removeEventListener('abort', this.onAbort);
      this.listener = null;
    }
    return signal.aborted ? null : (this.pressed.shift() ?? null);
  }

  private draw(line: EditedLine, { mark, hint }: PromptOptions): void {
    const { output } = this;
    const { text, wrong } = hint(line.text);
    const window = line.window(output.columns - mark.length - 1);
    const below = output.paint(
      wrong ? 'yellow' : 'dim',
      cutToWidth(`${' '.repeat(mark.length)}${text}`, output.columns - 1),
    );
    const column = mark.length + window.cursor;
    const back = `\u001b[A\r${column === 0 ? '' : `\u001b[${column}C`}`;
    this.write(`${CLEAR_BELOW}${WRAP_OFF}${output.paint('cyan', mark)}${window.text}\r\n${below}${back}${WRAP_ON}`);
  }

  /** Keeps the typed text and removes the hint. */
  private leave(line: EditedLine, { mark }: PromptOptions, text: string | null): string | null {
    const shown = line.window(this.output.columns - mark.length - 1).text;
    this.write(`${CLEAR_BELOW}${this.output.paint('cyan', mark)}${shown}\r\n`);
    return text;
  }

  private write(text: string): void {
    this.output.streams.stdout.write(text);
  }
}

function isEnd({ ctrl, name }: Key, line: EditedLine): boolean {
  return ctrl === true && name === 'd' && line.text === '';
}

/** Returns the choice before or after the line's one, cyclically. */
function neighbour(choices: readonly string[], text: string, step: 1 | -1): string {
  if (choices.length === 0) return text;
  const at = choices.indexOf(text);
  if (at < 0) return (step === 1 ? choices[0] : choices.at(-1)) ?? text;
  return choices[(at + step + choices.length) % choices.length] ?? text;
}

// Asks for one plain line on the terminal, for a question without a form.

/** Without surrounding spaces; null: the input ended. @throws the signal's reason */
export async function askLine(question: string, output: Output, signal: AbortSignal): Promise<string | null> {
  const lines = createInterface({ input: output.streams.stdin, output: output.streams.stdout });
  // In this mode Ctrl-C arrives as a key, and must have its usual effect.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  // The question itself waits indefinitely if the input ends.
  const ended = new Promise<null>((resolve) => lines.once('close', () => resolve(null)));
  try {
    const line = await Promise.race([lines.question(question, { signal }), ended]);
    return line === null ? null : line.trim();
  } finally {
    lines.close();
  }
}

// A command on its own terminal, for tests: its screen, and keys for it.
import { type IPty, spawn } from '@lydell/node-pty';
import { Screen } from './screen.fixture.ts';

const WITHIN_MS = 180_000;

export interface TerminalOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
}

export class TerminalProcess {
  readonly screen: Screen;
  readonly exited: Promise<number>;
  /** The number of the signal that ended it; 0: none did. */
  readonly signalled: Promise<number>;
  private readonly pty: IPty;
  private written = '';
  private ended = false;
  private changed: () => void = () => {};

  constructor(command: string, args: readonly string[], { cwd, env, columns = 80, rows = 24 }: TerminalOptions) {
    this.screen = new Screen(columns, rows);
    this.pty = spawn(command, [...args], { cwd, cols: columns, rows, env: { TERM: 'xterm-256color', ...env } });
    this.pty.onData((text) => {
      this.written += text;
      this.screen.write(text);
      this.changed();
    });
    const end = new Promise<{ exitCode: number; signal?: number }>((resolve) => {
      this.pty.onExit((found) => {
        this.ended = true;
        this.changed();
        resolve(found);
      });
    });
    this.exited = end.then(({ exitCode }) => exitCode);
    this.signalled = end.then(({ signal }) => signal ?? 0);
  }

  /** All that was written, with its escape sequences. */
  get output(): string {
    return this.written;
  }

  type(text: string): void {
    this.pty.write(text);
  }

  /** The screen is resized before the program is notified, as a terminal does. */
  resize(columns: number): void {
    this.screen.resize(columns);
    this.pty.resize(columns, 24);
  }

  /** Resolves when the screen matches; rejects with its content. */
  async until(what: string, isSo: (screen: Screen) => boolean, withinMs = WITHIN_MS): Promise<void> {
    const endMs = performance.now() + withinMs;
    for (;;) {
      if (isSo(this.screen)) return;
      const leftMs = endMs - performance.now();
      if (this.ended || leftMs <= 0) throw new Error(`never: ${what}\n${this.screen.text}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.changed = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  shows(text: string): Promise<void> {
    return this.until(`it shows ${JSON.stringify(text)}`, (screen) => screen.text.includes(text));
  }

  /** Closes its window. */
  vanish(): void {
    (this.pty as IPty & { destroy(): void }).destroy();
  }

  /** Ends a command that a failed test left. */
  stop(): void {
    if (!this.ended) this.pty.kill('SIGKILL');
  }
}

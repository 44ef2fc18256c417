// Everything that a command prints passes through here: text for people, the single JSON document, and errors.
import { styleText } from 'node:util';
import type { CommandError } from '../errors/command-error.ts';
import { colouredText, plainText } from './plain-text.ts';

export type Paint = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

export interface OutputOptions {
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly stdin: NodeJS.ReadStream;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly color: boolean;
}

export class Output {
  /** How to continue when the output, which is shown once, cannot be written; null: another call shows it again. */
  ifLost: string | null = null;

  constructor(private readonly options: OutputOptions) {}

  get json(): boolean {
    return this.options.json;
  }

  /** Reports whether lines may be redrawn: people watch them. */
  get live(): boolean {
    return this.options.stdout.isTTY === true && !this.options.json && !this.options.quiet && this.options.color;
  }

  /** Reports whether a person can be asked. */
  get interactive(): boolean {
    const { stdin, stdout, json } = this.options;
    return stdin.isTTY === true && stdout.isTTY === true && !json;
  }

  /** Returns the columns of the terminal; one without a size, as on a serial line, reports 0. */
  get columns(): number {
    return this.options.stdout.columns || 80;
  }

  /** Rows of the terminal. */
  get rows(): number {
    return this.options.stdout.rows || 24;
  }

  get streams(): { readonly stdin: NodeJS.ReadStream; readonly stdout: NodeJS.WriteStream } {
    return this.options;
  }

  /** Progress, for people. */
  line(text = ''): void {
    if (!this.options.json && !this.options.quiet) this.write(`${text}\n`);
  }

  /** The result of the command; also with --quiet. */
  result(text: string): void {
    if (!this.options.json && text !== '') this.write(text.endsWith('\n') ? text : `${text}\n`);
  }

  /** The one document of --json; nothing without it. */
  document(value: unknown): void {
    if (this.options.json) this.write(`${JSON.stringify(value, null, 2)}\n`);
  }

  /** One document of many, a line each, for a command that keeps running; nothing without --json. */
  jsonLine(value: unknown): void {
    if (this.options.json) this.write(`${JSON.stringify(value)}\n`);
  }

  /** Raw text for a live view. */
  draw(text: string): void {
    if (this.live) this.options.stdout.write(text);
  }

  /** Prints advice that spoils neither the result nor the document. */
  note(text: string): void {
    if (!this.options.json && !this.options.quiet) this.complain(`${text}\n`);
  }

  /** Prints a request to the person before the command can continue: in every mode, and never on stdout. */
  instruction(text: string): void {
    this.complain(`${text}\n`);
  }

  /** The findings in the input, beside the error. */
  complaint(text: string): void {
    if (!this.options.json) this.complain(text);
  }

  error(error: Pick<CommandError, 'code' | 'message' | 'hint'>): void {
    const { code, message, hint } = error;
    if (this.options.json) {
      this.complain(`${JSON.stringify({ error: code, message, hint: hint ?? null })}\n`);
      return;
    }
    // The words may be a server's.
    this.complain(`${this.paintError('red', 'error:')} ${plainText(message)}\n`);
    if (hint !== undefined) this.complain(`${this.paintError('dim', 'hint:')} ${plainText(hint)}\n`);
  }

  /** Text for stdout in a colour, where there are colours. */
  paint(how: Paint, text: string): string {
    return this.colored ? styleText(how, text, { validateStream: false }) : text;
  }

  get colored(): boolean {
    return this.options.color && this.options.stdout.isTTY === true;
  }

  /** Resolves once stdout has taken the output so far. @throws the error of stdout */
  written(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.options.stdout.write('', (error) => (error ? reject(error) : resolve()));
    });
  }

  private paintError(how: Paint, text: string): string {
    const colored = this.options.color && this.options.stderr.isTTY === true;
    return colored ? styleText(how, text, { validateStream: false }) : text;
  }

  private write(text: string): void {
    writeTo(this.options.stdout, text);
  }

  private complain(text: string): void {
    writeTo(this.options.stderr, text);
  }
}

/** Foreign text stays exact for programs, and does not act on a terminal. */
function writeTo(stream: NodeJS.WriteStream, text: string): void {
  stream.write(stream.isTTY ? colouredText(text) : text);
}

// The end of a step's output, bounded and masked. Each source (stdout, stderr, step.log) is masked as its own stream,
// so that a secret cut in two by a chunk is still found.
import { StringDecoder } from 'node:string_decoder';
import type { StepLog } from './run-outcome.ts';
import type { Mask, MaskStream } from './secrets/mask.ts';

/** `log`, `progress`: what the code said with the object `step`. */
export type LogSource = 'stdout' | 'stderr' | 'log' | 'progress';

export class LogTail {
  private readonly sources = new Map<LogSource, { decoder: StringDecoder; masked: MaskStream }>();
  private readonly tail: TextTail;
  private bytes = 0;

  constructor(
    private readonly mask: Mask,
    private readonly bytesMax: number,
    /** Gets all of the masked text at once. */
    private readonly onText?: ((text: string, from: LogSource) => void) | undefined,
  ) {
    this.tail = new TextTail(bytesMax);
  }

  push(from: LogSource, chunk: Buffer): void {
    let source = this.sources.get(from);
    if (source === undefined) {
      source = { decoder: new StringDecoder('utf8'), masked: this.mask.stream() };
      this.sources.set(from, source);
    }
    this.bytes += chunk.length;
    this.keep(source.masked.push(source.decoder.write(chunk)), from);
  }

  /** Null when nothing was printed. */
  end(): StepLog | null {
    if (this.bytes === 0) return null;
    for (const [from, source] of this.sources) {
      this.keep(source.masked.push(source.decoder.end()) + source.masked.end(), from);
    }
    const { text, cut } = this.tail.end();
    return { bytes: this.bytes, cut: cut || this.bytes > this.bytesMax, text };
  }

  private keep(text: string, from: LogSource): void {
    if (text === '') return;
    this.onText?.(text, from);
    this.tail.push(text);
  }
}

/** The last bytes of a text that comes in parts. */
export class TextTail {
  private parts: string[] = [];
  private bytes = 0;
  private cut = false;

  constructor(private readonly bytesMax: number) {}

  push(text: string): void {
    this.parts.push(text);
    this.bytes += Buffer.byteLength(text);
    // Cut at twice the bound, so that a long text costs one copy for each bound's worth of it.
    if (this.bytes < 2 * this.bytesMax + 65_536) return;
    const tail = tailOf(Buffer.from(this.parts.join('')), this.bytesMax);
    this.parts = [tail];
    this.bytes = Buffer.byteLength(tail);
    this.cut = true;
  }

  /** Never in the middle of a character. */
  end(): { readonly text: string; readonly cut: boolean } {
    const whole = Buffer.from(this.parts.join(''));
    return { text: tailOf(whole, this.bytesMax), cut: this.cut || whole.length > this.bytesMax };
  }
}

function tailOf(bytes: Buffer, bytesMax: number): string {
  if (bytes.length <= bytesMax) return bytes.toString();
  let from = bytes.length - bytesMax;
  // Not in the middle of a character: continuation bytes are 10xxxxxx.
  while (from < bytes.length && ((bytes[from] as number) & 0xc0) === 0x80) from++;
  return bytes.toString('utf8', from);
}

// The end of what a step printed, bounded and masked. Each source (stdout, stderr, step.log) is masked as its own
// stream, so that a secret cut in two by a chunk is still found.
import { StringDecoder } from 'node:string_decoder';
import type { StepLog } from './run-outcome.ts';
import type { Mask, MaskStream } from './secrets/mask.ts';

export type LogSource = 'stdout' | 'stderr' | 'log';

export class LogTail {
  private readonly sources = new Map<LogSource, { decoder: StringDecoder; masked: MaskStream }>();
  private parts: string[] = [];
  private keptBytes = 0;
  private bytes = 0;

  constructor(
    private readonly mask: Mask,
    private readonly bytesMax: number,
    /** Sees the masked text at once, all of it. */
    private readonly onText?: ((text: string) => void) | undefined,
  ) {}

  push(from: LogSource, chunk: Buffer): void {
    let source = this.sources.get(from);
    if (source === undefined) {
      source = { decoder: new StringDecoder('utf8'), masked: this.mask.stream() };
      this.sources.set(from, source);
    }
    this.bytes += chunk.length;
    this.keep(source.masked.push(source.decoder.write(chunk)));
  }

  /** Null when nothing was printed. */
  end(): StepLog | null {
    if (this.bytes === 0) return null;
    for (const source of this.sources.values()) {
      this.keep(source.masked.push(source.decoder.end()) + source.masked.end());
    }
    const whole = Buffer.from(this.parts.join(''));
    const cut = this.bytes > this.bytesMax || whole.length > this.bytesMax;
    return { bytes: this.bytes, cut, text: tailOf(whole, this.bytesMax) };
  }

  private keep(text: string): void {
    if (text === '') return;
    this.onText?.(text);
    this.parts.push(text);
    this.keptBytes += Buffer.byteLength(text);
    // Cut at twice the bound, so that a long log costs one copy for each bound's worth of text.
    if (this.keptBytes < 2 * this.bytesMax + 65_536) return;
    const tail = tailOf(Buffer.from(this.parts.join('')), this.bytesMax);
    this.parts = [tail];
    this.keptBytes = Buffer.byteLength(tail);
  }
}

function tailOf(bytes: Buffer, bytesMax: number): string {
  if (bytes.length <= bytesMax) return bytes.toString();
  let from = bytes.length - bytesMax;
  // Not in the middle of a character: continuation bytes are 10xxxxxx.
  while (from < bytes.length && ((bytes[from] as number) & 0xc0) === 0x80) from++;
  return bytes.toString('utf8', from);
}

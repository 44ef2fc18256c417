// Reads the lines of a file of inputs, one JSON object each, with a key that makes a line start one run for any number
// of repeats.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { canonicalDigest } from '@methods/base/canonical';
import { isJsonObject, type JsonObject, type JsonValue } from '@methods/method/json';
import type { CommandContext } from '../command/command.ts';
import { CommandError } from '../errors/command-error.ts';
import { reasonOf, utf8Text } from '../method-file/method-file.ts';

/** A server accepts far less. */
const LINE_BYTES_MAX = 1024 * 1024;
const LINE_END = 0x0a;

export type InputLine =
  | { readonly ok: true; readonly line: number; readonly inputs: JsonObject; readonly bytes: number }
  | { readonly ok: false; readonly line: number; readonly message: string };

/**
 * Empty lines are skipped. `-` means standard input. An interrupt ends the wait for the next line.
 * @throws CommandError `not_found`
 */
export async function* inputLines(
  file: string,
  { cwd, interrupted }: Pick<CommandContext, 'cwd' | 'interrupted'>,
  // Not /dev/stdin, which cannot be opened if it is a socket, as in a process that Node started.
  stdin: Readable = process.stdin,
): AsyncGenerator<InputLine> {
  let line = 0;
  const source = file === '-' ? stdin : createReadStream(resolve(cwd, file));
  for await (const bytes of lineBytes(addAbortSignal(interrupted, source), file)) {
    line++;
    const text = bytes === null ? null : textOf(bytes);
    if (bytes === null) yield { ok: false, line, message: 'it is longer than 1 MiB' };
    else if (text === null) yield { ok: false, line, message: 'it is not UTF-8' };
    else if (text.trim() !== '') yield inputLine(line, text);
  }
}

function textOf(bytes: Buffer): string | null {
  try {
    return utf8Text(bytes);
  } catch {
    return null;
  }
}

function inputLine(line: number, text: string): InputLine {
  let inputs: JsonValue;
  try {
    inputs = JSON.parse(text);
  } catch {
    return { ok: false, line, message: 'it is not JSON' };
  }
  if (!isJsonObject(inputs)) return { ok: false, line, message: 'it is not a JSON object' };
  return { ok: true, line, inputs, bytes: Buffer.byteLength(text) };
}

/** Null: a line that is too long. */
async function* lineBytes(stream: AsyncIterable<Buffer>, file: string): AsyncGenerator<Buffer | null> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const take = () => {
    const whole = bytes > LINE_BYTES_MAX ? null : Buffer.concat(parts);
    parts = [];
    bytes = 0;
    return whole;
  };
  const add = (part: Buffer) => {
    bytes += part.length;
    if (bytes <= LINE_BYTES_MAX) parts.push(part);
    else parts = [];
  };
  try {
    for await (const chunk of stream) {
      let from = 0;
      for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, from)) {
        add(chunk.subarray(from, end));
        yield take();
        from = end + 1;
      }
      add(chunk.subarray(from));
    }
  } catch (error) {
    throw new CommandError('not_found', `cannot read ${file}: ${reasonOf(error as NodeJS.ErrnoException)}`);
  }
  if (bytes > 0) yield take();
}

/**
 * Derives keys from the content of a line, not from its place in the file: a repeated command starts nothing twice,
 * even after lines were added or removed. Equal lines are separate runs.
 */
export class LineKeys {
  private readonly seen = new Map<string, number>();

  /** @param name separates the runs of one command from those of another with the same lines. */
  constructor(
    private readonly name: string,
    private readonly method: string,
    private readonly version: string,
    /** A server is sent what is made of it. */
    private readonly digestOf: (inputs: JsonObject) => Buffer = canonicalDigest,
  ) {}

  keyOf(inputs: JsonObject): string {
    const digest = this.digestOf(inputs).toString('base64url');
    const before = this.seen.get(digest) ?? 0;
    this.seen.set(digest, before + 1);
    const text = JSON.stringify([this.name, this.method, this.version, digest, before]);
    return `from-${createHash('sha256').update(text).digest('hex')}`;
  }
}

// Method files on the disk: reads them, replaces them, and shows them with their findings.
import { readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Diagnostic } from '@methods/method/diagnostic';
import { caretReport } from '@methods/method/report/caret-report';
import { CommandError } from '../errors/command-error.ts';
import type { Output } from '../terminal/output.ts';

export interface MethodFile {
  /** As the user spelled it. */
  readonly file: string;
  /** Absolute. */
  readonly path: string;
  /** The exact bytes, whose hash identifies a version. */
  readonly bytes: Buffer;
}

/** Replaces a file's content atomically: a reader sees the old or the new one. Links stay links. */
export async function replaceFile(path: string, content: string): Promise<void> {
  const target = await realpath(path);
  const { mode } = await stat(target);
  const besides = `${target}.${process.pid}`;
  await writeFile(besides, content, { mode });
  await rename(besides, target);
}

// A source has at most 256 KiB; a much larger file is a mistake, and need not be read.
const BYTES_MAX = 16 * 1024 * 1024;

/** @throws CommandError `not_found`, `too_large`. */
export async function readMethodFile(file: string, cwd: string): Promise<MethodFile> {
  const path = resolve(cwd, file);
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError('not_found', `cannot read ${file}: ${reasonOf(error)}`);
  });
  if (bytes.length > BYTES_MAX) throw new CommandError('too_large', `${file} is larger than 16 MiB`);
  return { file, path, bytes };
}

/** Each with its line and carets; empty without any. */
export function diagnosticsText(file: MethodFile, diagnostics: readonly Diagnostic[], output: Output): string {
  if (diagnostics.length === 0) return '';
  const width = Math.max(40, output.columns - 10);
  return `${caretReport(file.file, file.bytes.toString('utf8'), diagnostics, { colour: output.colored, width })}\n\n`;
}

/**
 * Without the byte order mark that some editors write. @throws Error: text of another encoding would lose its letters
 * without notice.
 */
export function utf8Text(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Error('its text is not UTF-8', { cause });
  }
}

/** A system error in plain words. */
export function reasonOf(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'ENOENT':
      return 'there is no such file';
    case 'EISDIR':
      return 'it is a folder';
    case 'EACCES':
    case 'EPERM':
      return 'this user may not';
    case 'EEXIST':
      return 'it is there already';
    case 'EROFS':
      return 'it cannot be changed';
    case 'EDQUOT':
    case 'ENOSPC':
      return 'the disk is full';
    default:
      return error.code ?? error.message;
  }
}

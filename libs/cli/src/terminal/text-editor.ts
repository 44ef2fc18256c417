// Lets a person write a longer text in their own editor.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config.ts';

const BYTES_MAX = 1024 * 1024;

export type Edited =
  | { readonly kind: 'text'; readonly text: string }
  /** It could not be started, ended with an error, or left too much. */
  | { readonly kind: 'failed'; readonly reason: string };

/** The command line of VISUAL or EDITOR; null: none is set. */
export function editorOf({ variables }: Config): string | null {
  return variables.get('VISUAL') || variables.get('EDITOR') || null;
}

/** Returns the text without the line end that editors add to the last line. */
export async function editText(editor: string, text: string): Promise<Edited> {
  const dir = await mkdtemp(join(tmpdir(), 'methods-answer-'));
  try {
    const file = join(dir, 'answer.txt');
    await writeFile(file, text, { mode: 0o600 });
    const code = await ended(editor, file);
    if (code !== 0) return { kind: 'failed', reason: `${editor} ended with ${code}` };
    if ((await stat(file)).size > BYTES_MAX) return { kind: 'failed', reason: 'the text is larger than 1 MiB' };
    return { kind: 'text', text: (await readFile(file, 'utf8')).replace(/\r?\n$/, '') };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** EDITOR may have arguments (`code --wait`), parsed as by a shell; the file's name is never part of that text. */
function ended(editor: string, file: string): Promise<number | string> {
  return new Promise((resolve) => {
    const child = spawn('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' });
    child.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    child.on('close', (code, signal) => resolve(code ?? signal ?? 'an error'));
  });
}

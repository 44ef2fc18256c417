// All findings in a method file without running it, including those of this machine's interpreters.

import { unreadableCode } from '@methods/executor/unreadable-code';
import { unreadableFinding } from '@methods/method/code-blocks';
import { type Diagnostic, sortDiagnostics } from '@methods/method/diagnostic';
import type { Config } from '../config.ts';
import { CalledFiles } from './called-files.ts';
import { readCalledFile } from './local-method.ts';
import type { MethodFile } from './method-file.ts';

/** In file order. Called files are looked at for their interfaces only. */
export async function checkFile(file: MethodFile, { path }: Pick<Config, 'path'>): Promise<Diagnostic[]> {
  const { method, diagnostics } = new CalledFiles(readCalledFile).compile(file.path, file.bytes);
  // With errors of another kind the method is parsed once more when those are gone.
  if (method === null) return diagnostics;
  const unreadable = await unreadableCode(method, { path });
  const source = file.bytes.toString('utf8');
  return sortDiagnostics([...diagnostics, ...unreadable.map((fault) => unreadableFinding(source, fault))]);
}

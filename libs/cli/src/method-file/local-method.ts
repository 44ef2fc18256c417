// A method that can run on this machine, with the files it calls.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { LocalVersionId } from '@methods/base/ids';
import { unreadableCode } from '@methods/executor/unreadable-code';
import { unreadableFinding } from '@methods/method/code-blocks';
import type { Compilation } from '@methods/method/compile';
import type { CompiledMethod } from '@methods/method/compiled-method';
import { type Diagnostic, sortDiagnostics } from '@methods/method/diagnostic';
import type { Config } from '../config.ts';
import { CommandError } from '../errors/command-error.ts';
import type { Output } from '../terminal/output.ts';
import { countOf } from '../terminal/words.ts';
import { allSteps, CalledFiles, withAbsoluteCalls } from './called-files.ts';
import { diagnosticsText, type MethodFile } from './method-file.ts';

export interface LocalMethod {
  /** Its calls of files, and those of the called ones, name absolute paths. */
  readonly method: CompiledMethod;
  readonly called: ReadonlyMap<string, CalledMethod>;
}

interface CalledMethod {
  readonly method: CompiledMethod;
  readonly versionId: LocalVersionId;
  readonly bytes: Buffer;
}

/** Reads called files from the disk. */
function readCalledFile(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}

/**
 * Compiles a file to run, and shows the findings on stderr. `read` returns called files. @throws CommandError
 * `invalid_method`, `needs_upgrade`.
 */
export function compileToRun(
  file: MethodFile,
  cwd: string,
  output: Output,
  read: (path: string) => Buffer | null = readCalledFile,
): LocalMethod {
  const files = new CalledFiles(read);
  const method = compiledOr(file, files.compile(file.path, file.bytes), output);
  const called = new Map<string, CalledMethod>();
  for (const { path, bytes, compilation } of files.found.values()) {
    const inner = compiledOr({ file: relative(cwd, path), path, bytes }, compilation, output);
    called.set(path, { method: withAbsoluteCalls(inner, path), versionId: localVersionId(bytes), bytes });
  }
  return { method: withAbsoluteCalls(method, file.path), called };
}

/** Of the exact bytes. */
export function localVersionId(bytes: Buffer): LocalVersionId {
  return `local-${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`;
}

/** Refuses steps that no process on this machine can run. @throws CommandError `needs_server`, `feature_missing`. */
export function refuseWhatCannotRunHere({ method, called }: LocalMethod): void {
  for (const { name, steps } of [method, ...[...called.values()].map((inner) => inner.method)].map(withSteps)) {
    for (const step of steps) {
      const where = `step ${step.name} of ${name}`;
      if (step.kind === 'browser' || step.kind === 'agent') {
        throw new CommandError('feature_missing', `${where} needs a worker that can run ${step.kind} steps`);
      }
      if (step.kind === 'call' && step.target.kind === 'method') {
        const hint = 'a local run can call files, such as  call: ./file.method';
        throw new CommandError('needs_server', `${where} calls ${step.target.method}, which is on a server`, { hint });
      }
    }
  }
}

function withSteps(method: CompiledMethod) {
  return { name: method.name, steps: allSteps(method) };
}

function compiledOr(file: MethodFile, { method, diagnostics }: Compilation, output: Output): CompiledMethod {
  if (method !== null) return method;
  output.complaint(diagnosticsText(file, diagnostics, output));
  const errors = diagnostics.filter((found) => found.severity === 'error').length;
  if (errors > 0) {
    const hint = `methods check ${file.file}`;
    throw new CommandError('invalid_method', `${file.file} has ${countOf(errors, 'error')}`, { hint });
  }
  const hint = `methods upgrade ${file.file} --write`;
  throw new CommandError('needs_upgrade', `${file.file} is in the format workflow/1`, { hint });
}

// Finds all faults in a method file without running it, including those that only this machine's interpreters see.

/** In file order. Only the interfaces of called files are read. */
export async function checkFile(file: MethodFile, { path }: Pick<Config, 'path'>): Promise<Diagnostic[]> {
  const { method, diagnostics } = new CalledFiles(readCalledFile).compile(file.path, file.bytes);
  // With errors of another kind, this check follows once those are fixed.
  if (method === null) return diagnostics;
  const unreadable = await unreadableCode(method, { path });
  const source = file.bytes.toString('utf8');
  return sortDiagnostics([...diagnostics, ...unreadable.map((fault) => unreadableFinding(source, fault))]);
}

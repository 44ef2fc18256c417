// Finds, compiles and checks the methods that a local file calls by path, at any depth.
import { dirname, join, resolve } from 'node:path';
import { type Callees, type Compilation, compileMethod } from '@methods/method/compile';
import type { CompiledMethod, CompiledStep } from '@methods/method/compiled-method';

/** The maximum depth of calls, not counting the first file. */
const DEPTH_MAX = 5;

export interface CalledFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: Buffer;
  readonly compilation: Compilation;
}

export class CalledFiles {
  /** By absolute path. */
  readonly found = new Map<string, CalledFile>();
  private readonly compiled = new Map<string, CalledFile>();

  /** `read` returns the bytes of a file by its absolute path, or null if there is none. */
  constructor(private readonly read: (path: string) => Buffer | null) {}

  compile(path: string, bytes: Buffer, above: readonly string[] = []): Compilation {
    const callers = [...above, path];
    const callees: Callees = (target) => {
      if (!isFileTarget(target)) return undefined;
      const called = resolve(dirname(path), target);
      if (callers.includes(called)) return 'cycle';
      if (callers.length > DEPTH_MAX) return 'too_deep';
      const file = this.find(called, callers);
      // Faults inside the called file are reported there.
      return file === null ? 'missing' : (file.compilation.method ?? undefined);
    };
    return compileMethod(bytes, { callees });
  }

  /** Once for every depth: otherwise a file that many others call would be compiled again for each path to it. */
  private find(path: string, callers: readonly string[]): CalledFile | null {
    const key = `${callers.length} ${path}`;
    const known = this.compiled.get(key);
    if (known !== undefined) return known;
    const bytes = this.found.get(path)?.bytes ?? this.read(path);
    if (bytes === null) return null;
    const file = { path, bytes, compilation: this.compile(path, bytes, callers) };
    this.compiled.set(key, file);
    this.found.set(path, file);
    return file;
  }
}

/**
 * Makes every called path absolute: the executor looks up a callee only by its target, and the same target means
 * different files in different folders.
 */
export function withAbsoluteCalls(method: CompiledMethod, path: string): CompiledMethod {
  const all = (steps: readonly CompiledStep[]): readonly CompiledStep[] =>
    steps.map((step) => {
      if (step.kind === 'steps' || step.kind === 'parallel') return { ...step, steps: all(step.steps) };
      if (step.kind !== 'call' || step.target.kind !== 'file') return step;
      return { ...step, target: { kind: 'file', path: join(dirname(path), step.target.path) } };
    });
  const { steps, onFailure, finally: last } = method;
  return { ...method, steps: all(steps), onFailure: all(onFailure), finally: all(last) };
}

/** Includes steps inside others. */
export function allSteps({ steps, onFailure, finally: last }: CompiledMethod): CompiledStep[] {
  const inside = (list: readonly CompiledStep[]): CompiledStep[] =>
    list.flatMap((step) =>
      step.kind === 'steps' || step.kind === 'parallel' ? [step, ...inside(step.steps)] : [step],
    );
  return inside([...steps, ...onFailure, ...last]);
}

function isFileTarget(target: string): boolean {
  return target.startsWith('./') || target.startsWith('../');
}

// Owns the entry point: a method's source in, its compiled form and its diagnostics out.
import type { CompiledMethod } from './compiled-method.ts';
import { type Diagnostic, sortDiagnostics } from './diagnostic.ts';
import { formatOf } from './format.ts';
import { readMethod } from './read-method.ts';
import { Findings } from './source/findings.ts';
import { readYaml } from './source/read-yaml.ts';
import { decodeSource, SourceText } from './source/source-text.ts';
import type { Callees } from './structure/step-context.ts';

export interface Compilation {
  /** Null when `diagnostics` has an error, and for workflow/1, which has no error but the warning U000. */
  readonly method: CompiledMethod | null;
  /** In file order, at most 100. */
  readonly diagnostics: Diagnostic[];
}

export type { Callee, Callees } from './structure/step-context.ts';

export interface CompileOptions {
  /** Finds the interfaces of called methods; without it calls are not checked against them. */
  readonly callees?: Callees;
  /** The source was saved: rules added since then give warnings. */
  readonly saved?: boolean;
}

/**
 * Compiles a source of method/2 or workflow/2. Pure, never throws on any input, and bounded in time. The method depends
 * only on the bytes: keep it by their hash. Findings on calls (M514 to M517) also depend on `callees`.
 */
export function compileMethod(source: string | Uint8Array, options: CompileOptions = {}): Compilation {
  const decoded = decodeSource(source);
  const findings = new Findings(new SourceText(decoded.text), options.saved);
  const refuse = () => ({ method: null, diagnostics: sortDiagnostics(findings.all) });
  if (!decoded.ok) {
    findings.add('M002', decoded.message, '', [decoded.at, decoded.at]);
    return refuse();
  }
  if (formatOf(source) === 'workflow/1') {
    findings.warn(
      'U000',
      'workflow/1 is stored and shown, but a run needs a method/2 text',
      'format',
      [0, 0],
      'run  upgrade FILE',
    );
    return refuse();
  }
  const root = readYaml(findings);
  const method = root === null ? null : readMethod(findings, root, options.callees ?? (() => undefined));
  return { method: findings.refused ? null : method, diagnostics: sortDiagnostics(findings.all) };
}

// Owns the finding M114 of node code, with the place inside the source where the parser gave up.
import type { Findings } from '../../source/findings.ts';
import { type SourceEntry, stringOf } from '../../source/source-node.ts';
import { rangeOfCode } from '../code-place.ts';
import { nodeCodeFault, nodeLibFault } from '../code-syntax.ts';

const CODE_BYTES_MAX = 65_536;

/**
 * `names`: the variables of a step's code; null: the code is that of `lib`. Versions that were saved before this rule are
 * left to the runner, and services need not parse what they do not run.
 */
export function checkSyntax(findings: Findings, at: string, entry: SourceEntry, names: readonly string[] | null): void {
  const code = stringOf(entry.value) ?? '';
  if (findings.saved || code.trim() === '' || entry.value.kind !== 'scalar') return;
  if (Buffer.byteLength(code) > CODE_BYTES_MAX) return;
  const fault = names === null ? nodeLibFault(code) : nodeCodeFault(code, names);
  if (fault === null) return;
  const hint = code.charAt(fault.at) === ':' ? 'node code is JavaScript; TypeScript is not read' : undefined;
  const range = rangeOfCode(findings.source, entry.value, fault.at);
  findings.add('M114', `the code does not parse: ${fault.message}`, at, range, { hint });
}

// A source that may be saved: it is stored byte for byte, with what the registry derives from it. Judging one is pure,
// and as expensive as its author makes it, so it runs in a thread or a separate process.
import { createHash } from 'node:crypto';
import type { ProductionId, VersionId } from '@methods/base/ids';
import { type Finding, ServiceError } from '@methods/errors/service-error';
import { callTargets } from '@methods/method/call-targets';
import { type Callee, compileMethod } from '@methods/method/compile';
import type { CallTarget } from '@methods/method/compiled-method';
import { cutText } from '@methods/method/cut-text';
import type { Diagnostic } from '@methods/method/diagnostic';
import { type NeededPeople, neededPeople } from '@methods/method/needed-people';
import { displayNameFrom, type SchemaVersion } from './method.ts';

const SOURCE_BYTES_MAX = 256 * 1024;

/** A longer description does not help to choose a method. */
const DESCRIPTION_MAX = 4_000;

export interface MethodSource extends Pick<SourceFacts, 'schemaVersion' | 'displayName' | 'features' | 'secrets'> {
  readonly bytes: Uint8Array;
  readonly sha256: Buffer;
  /** The versions that its calls are bound to, by production id. */
  readonly calls: Readonly<Record<ProductionId, VersionId>>;
  readonly warnings: readonly Finding[];
}

export function isSourceTooLarge({ length }: Uint8Array): boolean {
  return length > SOURCE_BYTES_MAX;
}

/** Called before it is parsed. @throws ServiceError too_large over 256 KiB. */
export function checkSourceSize(bytes: Uint8Array): void {
  if (!isSourceTooLarge(bytes)) return;
  throw new ServiceError('too_large', 'A method source holds at most 256 KiB.', {
    findings: [{ path: '/source', code: 'source_bytes', message: `It has ${bytes.length} bytes.` }],
  });
}

/**
 * `calls`: the versions published now, for calls without a version. @throws ServiceError invalid_method with the
 * findings.
 */
export function methodSource(
  bytes: Uint8Array,
  { facts, findings }: SourceVerdict,
  calls: MethodSource['calls'] = {},
): MethodSource {
  if (facts === null) throw new ServiceError('invalid_method', undefined, { findings });
  const { schemaVersion, displayName, features, secrets } = facts;
  const sha256 = createHash('sha256').update(bytes).digest();
  return { bytes, sha256, schemaVersion, displayName, features, secrets, calls, warnings: findings };
}

/** A called method: its interface as JSON, or why it cannot be called. */
export type CalleeVerdict = { readonly interfaceJson: string } | 'missing' | 'cycle' | 'too_deep';

/** By the target as the source writes it. */
export type Callees = readonly (readonly [target: string, callee: CalleeVerdict])[];

export interface SourceVerdict {
  /** In the order of the text. */
  readonly findings: readonly Finding[];
  /** Null if a finding is an error. */
  readonly facts: SourceFacts | null;
  /** Questions whose people must be counted in the organization. */
  readonly needed: readonly NeededPeople[];
}

export interface SourceFacts {
  readonly schemaVersion: SchemaVersion;
  /** The title, else the name: the display name of a method without a given one. */
  readonly displayName: string;
  readonly features: readonly string[];
  readonly secrets: readonly string[];
  readonly targets: readonly CallTarget[];
  /** The source's own name and description; empty if it has none. */
  readonly name: string;
  readonly description: string;
  /** JSON of a `Callee`; empty for workflow/1, which cannot be called. */
  readonly interfaceJson: string;
}

/** A workflow/1 source is accepted without being parsed, with the warning U000. */
export function judgeSource(bytes: Uint8Array, callees: Callees = []): SourceVerdict {
  const known = new Map(callees);
  const { method, diagnostics } = compileMethod(bytes, { callees: (target) => calleeOf(known.get(target)) });
  const findings = diagnostics.map(toFinding);
  if (diagnostics.some(({ severity }) => severity === 'error')) return { findings, facts: null, needed: [] };
  return {
    findings,
    needed: method === null ? [] : neededPeople(method),
    facts: {
      // Without an error only workflow/1 has no compiled form.
      schemaVersion: method?.format ?? 'workflow/1',
      displayName: displayNameFrom(method ?? historicalNames(bytes)),
      name: method?.name ?? '',
      description: cutText(method?.description ?? '', DESCRIPTION_MAX),
      features: method?.features ?? [],
      secrets: method?.secrets.map(({ name }) => name) ?? [],
      targets: method === null ? [] : callTargets(method),
      interfaceJson:
        method === null ? '' : JSON.stringify({ inputSchema: method.inputSchema, resultSchema: method.resultSchema }),
    },
  };
}

function calleeOf(verdict: CalleeVerdict | undefined): Callee | 'missing' | 'cycle' | 'too_deep' | undefined {
  return typeof verdict === 'object' ? (JSON.parse(verdict.interfaceJson) as Callee) : verdict;
}

export function toFinding(diagnostic: Diagnostic): Finding {
  return {
    path: diagnostic.path,
    code: diagnostic.code,
    message: diagnostic.message,
    line: diagnostic.line,
    column: diagnostic.column,
    endLine: diagnostic.end_line,
    endColumn: diagnostic.end_column,
    severity: diagnostic.severity,
    ...(diagnostic.hint === undefined ? {} : { hint: diagnostic.hint }),
  };
}

/** workflow/1 named itself by free text in its top-level key `workflow`. */
function historicalNames(bytes: Uint8Array): { name: string } {
  const text = new TextDecoder().decode(bytes);
  const [, quoted, plain] = /^workflow[ \t]*:[ \t]+(?:["'](.+)["']|([^\s#"'][^#\r\n]*))/m.exec(text) ?? [];
  return { name: quoted ?? plain ?? '' };
}

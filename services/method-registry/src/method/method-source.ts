// Judges the bytes of a method's source before they are saved. What is accepted is kept as it came, byte for byte.
import { createHash } from 'node:crypto';
import { type Finding, ServiceError } from '@methods/errors/service-error';
import { type Callee, compileMethod } from '@methods/method/compile';
import type { Diagnostic } from '@methods/method/diagnostic';
import { displayNameFrom } from './display-name.ts';
import type { SchemaVersion } from './method.ts';

const SOURCE_BYTES_MAX = 256 * 1024;

export interface MethodSource {
  readonly bytes: Uint8Array;
  readonly sha256: Buffer;
  readonly schemaVersion: SchemaVersion;
  /** The title, else the name: the display name of a method that is given none. */
  readonly displayName: string;
  readonly features: readonly string[];
  readonly secrets: readonly string[];
  /** Versions that its calls are bound to, by production id. */
  readonly calls: Readonly<Record<string, string>>;
  readonly warnings: readonly Finding[];
}

/** What the methods are that a source calls. */
export interface CalledVersions {
  /** By the target as the source writes it. */
  readonly callees: ReadonlyMap<string, Callee | 'missing' | 'cycle' | 'too_deep'>;
  /** Production id to the version published now, for calls that name none. */
  readonly pins: Readonly<Record<string, string>>;
}

/**
 * The source, when it may be saved. A workflow/1 source is saved without being understood, with the warning U000.
 * @throws ServiceError too_large over 256 KiB; invalid_method with the diagnostics as findings, M002 when not UTF-8.
 */
export function readMethodSource(bytes: Uint8Array, called: CalledVersions): MethodSource {
  if (bytes.length > SOURCE_BYTES_MAX) {
    throw new ServiceError('too_large', 'A method source holds at most 256 KiB.', {
      findings: [{ path: '/source', code: 'source_bytes', message: `It has ${bytes.length} bytes.` }],
    });
  }
  const { method, diagnostics } = compileMethod(bytes, { callees: (target) => called.callees.get(target) });
  if (diagnostics.some((diagnostic) => diagnostic.severity === 'error')) {
    throw new ServiceError('invalid_method', undefined, { findings: diagnostics.map(toFinding) });
  }
  return {
    bytes,
    sha256: createHash('sha256').update(bytes).digest(),
    // Without an error only workflow/1 has no compiled form.
    schemaVersion: method?.format ?? 'workflow/1',
    displayName: displayNameFrom(method ?? historicalNames(bytes)),
    features: method?.features ?? [],
    secrets: method?.secrets.map((secret) => secret.name) ?? [],
    calls: called.pins,
    warnings: diagnostics.map(toFinding),
  };
}

/** What saving would find, sizes included, in the order of the text. */
export function sourceFindings(bytes: Uint8Array, called: CalledVersions): Finding[] {
  return compileMethod(bytes, { callees: (target) => called.callees.get(target) }).diagnostics.map(toFinding);
}

function toFinding(diagnostic: Diagnostic): Finding {
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

// A source that may be saved. It is stored byte for byte, with what the registry derives from it.

import { createHash } from 'node:crypto';
import type { ProductionId, VersionId } from '@methods/base/ids';
import { type Finding, ServiceError } from '@methods/errors/service-error';
import type { SourceFacts, SourceVerdict } from './source-verdict.ts';

const SOURCE_BYTES_MAX = 256 * 1024;

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

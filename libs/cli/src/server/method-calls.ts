// Methods and their versions on a server: the calls that commands make, and the shapes of the replies.

import { createHash } from 'node:crypto';
import type { MethodId, VersionId } from '@methods/base/ids';
import { CommandError } from '../errors/command-error.ts';
import type { ServerApi } from './server-api.ts';

export interface ServerParty {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
}

/** As the server sends it; it may have more fields. */
export interface ServerMethod {
  /** Bare. */
  readonly id: MethodId;
  readonly production_id: string;
  readonly display_name: string;
  /** building, ready or failed. */
  readonly status: string;
  readonly format: string;
  readonly current_version: VersionId | null;
  readonly published_version: VersionId | null;
  readonly available_records: readonly string[];
  readonly build: { readonly state: string; readonly attempts: number; readonly error: string | null } | null;
  /** An earlier server does not say. */
  readonly offered_to_agents?: boolean;
  /** RFC 3339, as are all times. */
  readonly created_at: string | null;
  readonly updated_at: string | null;
  readonly created_by: ServerParty | null;
}

export interface ServerVersion {
  readonly method_id: MethodId;
  readonly version_id: VersionId;
  readonly schema_version: string;
  /** Hex, of the source's exact UTF-8 bytes. */
  readonly sha256: string;
  readonly reason: string;
  readonly created_at: string | null;
  readonly created_by: ServerParty | null;
  readonly published_at: string | null;
  readonly secrets: readonly string[];
}

export interface ServerSource extends ServerVersion {
  readonly source: string;
}

export function getMethod(api: ServerApi, id: string): Promise<ServerMethod> {
  return api.get<ServerMethod>(`/api/methods/${encodeURIComponent(id)}`);
}

/** `versionId` null: the current one. @throws CommandError `bad_reply` when the text does not match its hash. */
export async function getSource(api: ServerApi, id: string, versionId: string | null): Promise<ServerSource> {
  const query = versionId === null ? {} : { version: versionId };
  const version = await api.get<ServerSource>(`/api/cli/methods/${encodeURIComponent(id)}`, query);
  if (sha256Of(version.source) !== version.sha256) {
    throw new CommandError('bad_reply', `the source of ${version.version_id} arrived incomplete`, {
      hint: 'try again; is there a proxy in between that changes texts?',
    });
  }
  return version;
}

export async function publishVersion(api: ServerApi, id: string, versionId: string): Promise<ServerMethod> {
  const path = `/api/methods/${encodeURIComponent(id)}/publish`;
  // Publishing the published version again changes nothing.
  return (await api.send<ServerMethod>('POST', path, { version_id: versionId }, { idempotent: true })).value;
}

/** Hex. */
export function sha256Of(source: string | Buffer): string {
  return createHash('sha256').update(source).digest('hex');
}

/** A version as it is named on the command line. @throws CommandError `not_found`, `not_published`. */
export async function versionNamed(api: ServerApi, methodId: string, word: string): Promise<string> {
  if (word !== 'published' && word !== 'current') return word;
  const { published_version: published, current_version: current } = await getMethod(api, methodId);
  const versionId = word === 'published' ? published : current;
  if (versionId !== null) return versionId;
  if (word === 'published') {
    throw new CommandError('not_published', 'no version of this method is published', {
      hint: `methods publish wf_${methodId}`,
    });
  }
  throw new CommandError('not_found', 'this method has no version yet', { hint: 'methods save FILE' });
}

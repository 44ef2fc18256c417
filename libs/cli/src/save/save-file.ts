// Saves a file: first as a new method, then as versions on the one it knows. If a process is killed or a message lost
// on the way, the next try continues it and creates nothing twice.
import { randomUUID } from 'node:crypto';
import type { MethodId, VersionId } from '@methods/base/ids';
import { formatOf } from '@methods/method/format';
import { CommandError } from '../errors/command-error.ts';
import { FileLinks, type MethodLink } from '../link/link-file.ts';
import type { MethodFile } from '../method-file/method-file.ts';
import { getMethod, getSource, sha256Of } from '../server/method-calls.ts';
import type { ServerApi } from '../server/server-api.ts';
import { ServerRefusal } from '../server/server-refusal.ts';

/** The server's reply to a save. */
export interface SavedReply {
  readonly method_id: MethodId;
  readonly version_id: VersionId;
  readonly sha256: string;
  readonly schema_version: string;
  readonly created: boolean;
  readonly warnings: readonly unknown[];
}

export interface SavedFile {
  readonly outcome: 'new-method' | 'new-version' | 'unchanged';
  readonly reply: SavedReply;
  /** For a file without changes: the current version, if it is not the file's. */
  readonly newer: string | null;
}

export interface SaveOptions {
  readonly reason: string;
  /** The version to save on, instead of the one the file was taken from. */
  readonly onto: string | null;
}

type SavedLink = Extract<MethodLink, { state: 'saved' }>;

/** Another version was saved on the file's base. */
export class SaveConflict extends Error {
  override readonly name = 'SaveConflict';
  constructor(
    readonly methodId: string,
    readonly baseVersion: string,
    readonly currentVersion: string,
  ) {
    super('the method has a version that this file was not made from');
  }
}

/** @throws SaveConflict, CommandError: a refusal of the server, `unreachable`, `not_saved`. */
export async function saveFile(api: ServerApi, file: MethodFile, options: SaveOptions): Promise<SavedFile> {
  const links = new FileLinks(file.path);
  if (options.onto !== null) {
    const link = await links.read(api.baseUrl);
    if (link?.state === 'saved') return saveVersion(api, file, links, link, options);
    throw new CommandError('not_saved', `${file.file} is not saved yet, so there is no version to save upon`, {
      hint: `methods save ${file.file}`,
    });
  }
  // Stored before the first request, so that two of these at once, or a killed and a repeated one, use the same id.
  const link = await links.change(api.baseUrl, (known) => known ?? { state: 'creating', requestId: randomUUID() });
  if (link.state === 'saved') return saveVersion(api, file, links, link, options);
  const reply = await createMethod(api, file, link.requestId);
  const created = await kept(links, api.baseUrl, reply);
  // The request was sent before, and the file has changed since: the version that the first one created is the base.
  if (reply.sha256 !== sha256Of(file.bytes)) return saveVersion(api, file, links, created, options);
  return { outcome: 'new-method', reply, newer: null };
}

async function createMethod(api: ServerApi, { bytes }: MethodFile, requestId: string): Promise<SavedReply> {
  const body = { workflow: bytes.toString('utf8'), request_id: requestId };
  return (await api.send<SavedReply>('POST', '/api/cli/methods', body, { idempotent: true })).value;
}

async function saveVersion(
  api: ServerApi,
  file: MethodFile,
  links: FileLinks,
  known: SavedLink,
  options: SaveOptions,
): Promise<SavedFile> {
  const sha256 = sha256Of(file.bytes);
  const link = await withLostReply(api, known, links);
  if (options.onto === null && sha256 === link.sha256) {
    const { current_version: current } = await getMethod(api, link.methodId);
    return {
      outcome: 'unchanged',
      reply: unchangedReply(file, link),
      newer: current === link.versionId ? null : current,
    };
  }
  await links.change(api.baseUrl, () => ({ ...link, sentSha256: sha256 }));
  const base = options.onto ?? link.versionId;
  const reply = await sendVersion(api, file, link.methodId, base, options.reason).catch((error) => {
    if (!(error instanceof ServerRefusal) || error.code !== 'version_conflict') throw error;
    throw new SaveConflict(link.methodId, base, String(error.body.current_version ?? ''));
  });
  await kept(links, api.baseUrl, reply);
  return { outcome: reply.created ? 'new-version' : 'unchanged', reply, newer: null };
}

/** If the reply to an earlier save was lost and the save succeeded, the version it created is the file's base. */
async function withLostReply(api: ServerApi, link: SavedLink, links: FileLinks): Promise<SavedLink> {
  if (link.sentSha256 === undefined) return link;
  const current = await getSource(api, link.methodId, null);
  if (current.sha256 !== link.sentSha256) return link;
  return kept(links, api.baseUrl, current);
}

async function sendVersion(
  api: ServerApi,
  { bytes }: MethodFile,
  methodId: string,
  baseVersion: string,
  reason: string,
): Promise<SavedReply> {
  const body = { workflow: bytes.toString('utf8'), base_version: baseVersion, reason };
  // Saving the current version's own text again creates no version.
  return (await api.send<SavedReply>('POST', `/api/cli/methods/${methodId}`, body, { idempotent: true })).value;
}

function unchangedReply({ bytes }: MethodFile, { methodId, versionId, sha256 }: SavedLink): SavedReply {
  return {
    method_id: methodId,
    version_id: versionId,
    sha256,
    schema_version: formatOf(bytes) ?? '',
    created: false,
    warnings: [],
  };
}

type KeptVersion = Pick<SavedReply, 'method_id' | 'version_id' | 'sha256'>;

async function kept(links: FileLinks, server: string, version: KeptVersion): Promise<SavedLink> {
  const { method_id: methodId, version_id: versionId, sha256 } = version;
  const link: SavedLink = { state: 'saved', methodId, versionId, sha256 };
  await links.change(server, () => link);
  return link;
}

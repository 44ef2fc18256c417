// `.methods.json` beside method files: the method of which server a file is linked to, and the version on which it was
// changed. It is meant to be committed, and holds no secret.
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { MethodId, VersionId } from '@methods/base/ids';
import { isJsonObject, type JsonObject, type JsonValue, ownField } from '@methods/method/json';
import { CommandError } from '../errors/command-error.ts';
import { withFileLock } from '../files/file-lock.ts';
import { writeWhole } from '../files/write-whole.ts';
import { reasonOf } from '../method-file/method-file.ts';

export const LINK_FILE = '.methods.json';
/** A change takes some milliseconds. */
const LOCKED_MS_MAX = 10_000;

/** The links of one method file, one for each server. */
export class FileLinks {
  private readonly path: string;
  private readonly name: string;

  /** @param file absolute path of the method file. */
  constructor(file: string) {
    this.path = join(dirname(file), LINK_FILE);
    this.name = basename(file);
  }

  /** @throws CommandError `link_unreadable` */
  async read(server: string): Promise<MethodLink | null> {
    return linkIn(await this.content(), this.name, server, this.path);
  }

  /**
   * Changes the link atomically, and syncs it before it returns. `change` gets the present link and returns the new
   * one. @throws CommandError `link_unreadable`, `not_written`, `locked`
   */
  async change(server: string, change: (link: MethodLink | null) => MethodLink): Promise<MethodLink> {
    try {
      return await withFileLock(`${this.path}.lock`, AbortSignal.timeout(LOCKED_MS_MAX), async () => {
        const content = await this.content();
        const link = change(linkIn(content, this.name, server, this.path));
        const ofFile = ownField(content, this.name);
        const next: JsonObject = {
          ...content,
          [this.name]: { ...(isJsonObject(ofFile) ? ofFile : {}), [server]: writtenLink(link) },
        };
        await writeWhole(this.path, `${JSON.stringify(next, null, 2)}\n`);
        return link;
      });
    } catch (error) {
      if (error instanceof CommandError) throw error;
      if ((error as Error).name === 'TimeoutError') {
        throw new CommandError('locked', `another process holds ${this.path}.lock`, {
          hint: 'end it, or remove the file',
        });
      }
      throw new CommandError('not_written', `cannot write ${this.path}: ${reasonOf(error as NodeJS.ErrnoException)}`);
    }
  }

  private async content(): Promise<JsonObject> {
    const text = await readFile(this.path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '{}';
      throw new CommandError('link_unreadable', `cannot read ${this.path}: ${reasonOf(error)}`);
    });
    try {
      const content = JSON.parse(text) as JsonValue;
      if (isJsonObject(content)) return content;
    } catch {
      // Reported below: an unfinished merge is not JSON.
    }
    throw unreadable(this.path);
  }
}

function linkIn(content: JsonObject, name: string, server: string, path: string): MethodLink | null {
  const ofFile = ownField(content, name);
  if (ofFile === undefined) return null;
  if (!isJsonObject(ofFile)) throw unreadable(path);
  const kept = ownField(ofFile, server);
  if (kept === undefined) return null;
  const link = readLink(kept);
  // If it counted as no link, a second method would be created.
  if (link === null) throw unreadable(path);
  return link;
}

function unreadable(path: string): CommandError {
  return new CommandError('link_unreadable', `${path} does not hold links of methods`, {
    hint: 'correct it, or remove the lines of this file: the next save then makes a new method',
  });
}

/** The link of a file to its method on a server. */
export type MethodLink =
  | {
      /** Its creation was requested, or is about to be; the reply is unknown. */
      readonly state: 'creating';
      /** A UUID, the same in every request, so that they create one method. */
      readonly requestId: string;
    }
  | {
      readonly state: 'saved';
      /** Bare. */
      readonly methodId: MethodId;
      /** The version that the file's text was taken from or saved as. */
      readonly versionId: VersionId;
      /** Of that version's bytes, hex. */
      readonly sha256: string;
      /** Of the text sent last, if the reply is unknown. */
      readonly sentSha256?: string;
    };

function writtenLink(link: MethodLink): JsonObject {
  if (link.state === 'creating') return { request_id: link.requestId };
  return {
    method_id: link.methodId,
    version_id: link.versionId,
    sha256: link.sha256,
    ...(link.sentSha256 === undefined ? {} : { sent_sha256: link.sentSha256 }),
  };
}

/** Null when it is no link. */
function readLink(value: JsonValue): MethodLink | null {
  if (!isJsonObject(value)) return null;
  const text = (name: string) => {
    const field = ownField(value, name);
    return typeof field === 'string' ? field : '';
  };
  const [requestId, sha256] = ['request_id', 'sha256'].map(text);
  // Written by this program from the server's replies.
  const [methodId, versionId] = [text('method_id') as MethodId, text('version_id') as VersionId];
  if (methodId && versionId && sha256) {
    const sentSha256 = text('sent_sha256');
    return { state: 'saved', methodId, versionId, sha256, ...(sentSha256 === '' ? {} : { sentSha256 }) };
  }
  return requestId ? { state: 'creating', requestId } : null;
}

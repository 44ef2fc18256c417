// The link of a file to its method on a server.
import type { MethodId, VersionId } from '@methods/base/ids';
import { isJsonObject, type JsonObject, type JsonValue, ownField } from '@methods/method/json';

export type MethodLink =
  | {
      /** Its creation was, or is about to be, asked for; the reply is not known. */
      readonly state: 'creating';
      /** UUID. The same one in every request, so that they make one method. */
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
      /** Of the text that was sent last, where the reply to it is not known. */
      readonly sentSha256?: string;
    };

export function writtenLink(link: MethodLink): JsonObject {
  if (link.state === 'creating') return { request_id: link.requestId };
  return {
    method_id: link.methodId,
    version_id: link.versionId,
    sha256: link.sha256,
    ...(link.sentSha256 === undefined ? {} : { sent_sha256: link.sentSha256 }),
  };
}

/** Null when it is no link. */
export function readLink(value: JsonValue): MethodLink | null {
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

// Stores parts as objects `<org>/<blob>/<part>` of one bucket, in S3 or a compatible store. Addresses are by path,
// since many of those support no other form.
import { createHash } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import { type BlobAddress, BlobError, type BlobStore, checkNames, checkPart, PART_BYTES_MAX } from './blob-store.ts';

export interface S3Options {
  /** For example https://s3.eu-central-1.amazonaws.com; without the bucket. */
  readonly endpoint: string;
  readonly region: string;
  /** Must exist. */
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const REQUEST_DEADLINE_MS = 15_000;
/** Pauses before the retries of a request that got 429 or 5xx; each is longer than the one before. */
const RETRIES = 3;
const RETRY_FIRST_MS = 100;
const REMOVALS_AT_ONCE = 8;
/** Far more than the parts of a blob: ends a removal from a store whose list never ends. */
const REMOVED_PAGES_MAX = 1_000;

export class S3BlobStore implements BlobStore {
  private readonly client: AwsClient;
  private readonly bucketUrl: string;

  constructor({ endpoint, bucket, region, accessKeyId, secretAccessKey }: S3Options) {
    this.client = new AwsClient({
      service: 's3',
      region,
      accessKeyId,
      secretAccessKey,
      retries: RETRIES,
      initRetryMs: RETRY_FIRST_MS,
    });
    this.bucketUrl = `${endpoint.replace(/\/+$/, '')}/${bucket}`;
  }

  async putPart(address: BlobAddress, partName: string, bytes: Uint8Array): Promise<void> {
    checkNames(address, partName);
    checkPart(bytes);
    const response = await this.send('PUT', this.partUrl(address, partName), bytes);
    await response.arrayBuffer();
    if (!response.ok) throw refused(response);
  }

  async *read(address: BlobAddress, partNames: Iterable<string>): AsyncGenerator<Uint8Array> {
    checkNames(address);
    for (const partName of partNames) {
      checkNames(address, partName);
      const response = await this.send('GET', this.partUrl(address, partName));
      const bytes = await body(response);
      if (response.status === 404) throw new BlobError('missing', 'A part is not there.');
      if (!response.ok || bytes.length > PART_BYTES_MAX) throw refused(response);
      yield bytes;
    }
  }

  async remove(address: BlobAddress): Promise<void> {
    checkNames(address);
    // Removed parts leave the list, so its first page is read until it is empty.
    for (let page = 0; page < REMOVED_PAGES_MAX; page++) {
      const keys = await this.firstKeys(address);
      if (keys.length === 0) return;
      for (let at = 0; at < keys.length; at += REMOVALS_AT_ONCE) {
        await Promise.all(keys.slice(at, at + REMOVALS_AT_ONCE).map((key) => this.removeKey(key)));
      }
    }
    throw new BlobError('unavailable', 'The store of recordings does not remove parts.');
  }

  private async removeKey(key: string): Promise<void> {
    const response = await this.send('DELETE', `${this.bucketUrl}/${key}`);
    await response.arrayBuffer();
    if (!response.ok && response.status !== 404) throw refused(response);
  }

  private async firstKeys({ orgId, blobId }: BlobAddress): Promise<string[]> {
    const prefix = `${orgId}/${blobId}/`;
    const response = await this.send('GET', `${this.bucketUrl}?list-type=2&prefix=${encodeURIComponent(prefix)}`);
    const text = Buffer.from(await body(response)).toString();
    if (!response.ok) throw refused(response);
    // Our keys contain nothing that XML would escape.
    const keys = Array.from(text.matchAll(/<Key>([a-z0-9_/-]+)<\/Key>/g), ([, key]) => key as string);
    return keys.filter((key) => key.startsWith(prefix));
  }

  private partUrl({ orgId, blobId }: BlobAddress, partName: string): string {
    return `${this.bucketUrl}/${orgId}/${blobId}/${partName}`;
  }

  private async send(method: string, url: string, bytes?: Uint8Array): Promise<Response> {
    try {
      return await this.client.fetch(url, {
        method,
        signal: AbortSignal.timeout(REQUEST_DEADLINE_MS),
        ...(bytes === undefined ? {} : { body: bytes as Uint8Array<ArrayBuffer>, headers: digestHeader(bytes) }),
      });
    } catch (error) {
      throw new BlobError('unavailable', 'The store of recordings cannot be reached.', error);
    }
  }
}

/** Signed with the request, so that a part changed on the way is refused. */
function digestHeader(bytes: Uint8Array): Record<string, string> {
  return { 'x-amz-content-sha256': createHash('sha256').update(bytes).digest('hex') };
}

async function body(response: Response): Promise<Uint8Array> {
  try {
    return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    throw new BlobError('unavailable', 'The store of recordings cannot be reached.', error);
  }
}

function refused({ status }: Response): BlobError {
  return new BlobError('unavailable', `The store of recordings answers ${status}.`);
}

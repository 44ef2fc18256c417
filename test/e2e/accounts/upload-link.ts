// A recording on its way in: the link, and its bytes by tus 1.0 or whole.
import { randomUUID } from 'node:crypto';
import { until } from '../../harness/until.ts';
import type { ApiClient } from '../api-client.ts';
import { Reply } from '../api-client.ts';
import type { MethodBody } from './account-world.ts';

export interface UploadBody {
  readonly id: string;
  readonly state: string;
  readonly offset: number;
}

const TUS = { 'tus-resumable': '1.0.0' };

export class UploadLink {
  private constructor(
    private readonly owner: ApiClient,
    readonly id: string,
    readonly url: string,
    readonly token: string,
  ) {}

  static async create(owner: ApiClient, size: number, fileName = 'recorded.har'): Promise<UploadLink> {
    const body = { idempotency_key: randomUUID(), file_name: fileName, content_type: 'application/json', size };
    const made = await owner.request('POST', '/api/workflow-uploads', { body });
    const { upload } = made.read<{ upload: { id: string; upload_url: string; token: string } }>();
    return new UploadLink(owner, upload.id, upload.upload_url, upload.token);
  }

  /** `token`: another link's, for once. */
  put(bytes: Buffer, token = this.token, encoding?: string): Promise<Reply> {
    const headers = { authorization: `WorkflowUpload ${token}`, ...(encoding && { 'content-encoding': encoding }) };
    return this.send('PUT', headers, bytes);
  }

  patch(offset: number, bytes: Buffer): Promise<Reply> {
    const headers = { 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream' };
    return this.send('PATCH', { ...TUS, ...headers, authorization: `WorkflowUpload ${this.token}` }, bytes);
  }

  async offset(): Promise<number> {
    const reply = await this.send('HEAD', { ...TUS, authorization: `WorkflowUpload ${this.token}` });
    return Number(reply.headers.get('upload-offset'));
  }

  async read(): Promise<{ readonly upload: UploadBody; readonly method: MethodBody | null }> {
    return (await this.owner.request('GET', `/api/workflow-uploads/${this.id}`)).read();
  }

  /** The method that came of it, once its build has ended. */
  built(withinMs = 30_000): Promise<MethodBody> {
    const ended = async () => {
      // The registry may be on its way up again.
      const { method } = await this.read().catch(() => ({ method: null }));
      return method?.status === 'building' ? null : method;
    };
    return until('the build ends', ended, withinMs);
  }

  private async send(method: string, headers: Record<string, string>, bytes?: Buffer): Promise<Reply> {
    const sent = bytes === undefined ? {} : { body: new Uint8Array(bytes) };
    const reply = await fetch(this.url, { method, headers, ...sent });
    return new Reply(reply.status, reply.headers, await reply.text());
  }
}

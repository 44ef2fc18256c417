// The application's end of webhooks: keeps every request as its raw bytes and answers as the test says.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifySignature } from '@methods/auth/webhook-signature';
import { until } from '../harness/until.ts';

export interface WebhookBody {
  readonly event: string;
  readonly delivery_id: string;
  readonly seq: number;
  readonly run_id: string;
  readonly status: string;
  readonly method: string;
  readonly version_id: string;
  readonly question?: { readonly id: string; readonly prompt: string };
  readonly result?: unknown;
  readonly error?: { readonly code: string };
  readonly created_at: string;
}

export interface WebhookRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly raw: Buffer;
  readonly body: WebhookBody;
}

const COMES_WITHIN_MS = 180_000;

export class WebhookReceiver {
  readonly requests: WebhookRequest[] = [];
  /** The status for a path's n-th request, from 1. */
  answers: (path: string, n: number) => number = () => 204;
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const raw = Buffer.concat(chunks);
      const path = request.url ?? '';
      this.requests.push({ path, headers: request.headers, raw, body: JSON.parse(raw.toString('utf8')) });
      response.writeHead(this.answers(path, this.to(path).length)).end();
    });
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${path}`;
  }

  to(path: string): WebhookRequest[] {
    return this.requests.filter((request) => request.path === path);
  }

  /** The first request with this event of this run. */
  event(runId: string, event: string): Promise<WebhookRequest> {
    return until(
      `the webhook ${event} of ${runId}`,
      () => this.requests.find(({ body }) => body.run_id === runId && body.event === event),
      COMES_WITHIN_MS,
    );
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}

/** Throws unless the request's signature is over exactly its bytes, with this secret, now. */
export function verifyWebhook({ raw, headers }: WebhookRequest, secret: string): void {
  verifySignature(raw, String(headers['service-signature']), secret, { nowS: Date.now() / 1000 });
}

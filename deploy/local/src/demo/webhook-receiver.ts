// The application's side of a webhook: a small server that checks each signature over the raw body.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifySignature } from '@methods/auth/webhook-signature';

export interface ReceivedEvent {
  readonly event: string;
  readonly runId: string;
  readonly atMs: number;
  readonly signature: 'valid' | 'invalid';
  readonly body: { readonly question?: { readonly id: string; readonly prompt: string }; readonly result?: unknown };
}

const BODY_BYTES_MAX = 2 << 20;

export class WebhookReceiver {
  readonly events: ReceivedEvent[] = [];
  private readonly server: Server;
  private listeners: ((event: ReceivedEvent) => void)[] = [];

  constructor(private readonly webhookSecret: string) {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      request.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > BODY_BYTES_MAX) request.destroy();
        else chunks.push(chunk);
      });
      request.on('end', () => {
        this.received(Buffer.concat(chunks), String(request.headers['service-signature'] ?? ''));
        response.writeHead(204).end();
      });
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hooks`;
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  /** Returns the event of that name for that run once it arrived; null when it did not arrive in time. */
  async wait(runId: string, event: string, withinMs: number): Promise<ReceivedEvent | null> {
    const matches = (received: ReceivedEvent) => received.runId === runId && received.event === event;
    const known = this.events.find(matches);
    if (known !== undefined) return known;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(null), withinMs);
      this.listeners.push((received) => {
        if (!matches(received)) return;
        clearTimeout(timer);
        resolve(received);
      });
    });
  }

  private received(raw: Buffer, header: string): void {
    let signature: ReceivedEvent['signature'] = 'valid';
    try {
      verifySignature(raw, header, this.webhookSecret, { nowS: Date.now() / 1000 });
    } catch {
      signature = 'invalid';
    }
    const body = JSON.parse(raw.toString('utf8'));
    const event = { event: body.event, runId: body.run_id, atMs: Date.now(), signature, body };
    this.events.push(event);
    for (const listener of this.listeners) listener(event);
  }
}

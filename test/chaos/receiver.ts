// The application's end of webhooks in these tests: one path a run, and a receiver that fails now and then.
import { createHash } from 'node:crypto';
import { verifyWebhook, WebhookReceiver } from '../e2e/webhook-receiver.ts';
import type { ReceivedWebhook } from './history.ts';
import type { Random } from './random.ts';

const FAILS = 0.1;

export class Receiver {
  private readonly server = new WebhookReceiver();
  private readonly statuses: number[] = [];
  private paths = 0;

  constructor(
    random: Random,
    private readonly secret: string,
  ) {
    this.server.answers = () => {
      const status = random.chance(FAILS) ? 500 : 204;
      this.statuses.push(status);
      return status;
    };
  }

  start(): Promise<void> {
    return this.server.start();
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  /** A path of its own for one run. */
  place(): { path: string; url: string } {
    const path = `/${++this.paths}`;
    return { path, url: this.server.url(path) };
  }

  received(): ReceivedWebhook[] {
    return this.server.requests.map((request, n) => ({
      path: request.path,
      runId: request.body.run_id,
      event: request.body.event,
      seq: request.body.seq,
      deliveryId: String(request.headers['service-delivery']),
      bodySha256: createHash('sha256').update(request.raw).digest('hex'),
      signed: isSigned(() => verifyWebhook(request, this.secret)),
      status: this.statuses[n] ?? 0,
    }));
  }
}

/** Read when all is over: the tolerance of the signature's time does not count here. */
function isSigned(verify: () => void): boolean {
  try {
    verify();
    return true;
  } catch (error) {
    return (error as { fault?: string }).fault === 'stale';
  }
}

// The webhooks of a client: verified, and in device mode opened.
import type { Content } from './content.ts';
import type { Runs } from './runs.ts';
import { type WebhookEvent, webhooks } from './webhooks.ts';

export class ClientWebhooks {
  readonly verify = webhooks.verify;

  constructor(
    private readonly runs: Runs,
    private readonly content: Content,
  ) {}

  /** The event with its question opened. Reads the run. @throws SealedValueError and other MethodsErrors */
  async open(event: WebhookEvent): Promise<WebhookEvent> {
    if (event.question?.sealed === undefined) return event;
    const { question } = await this.content.questionOf(await this.runs.get(event.run_id), event.question);
    return { ...event, question };
  }
}

// Decides which events of runs are kept: those that the run's webhook, an endpoint of its organization or a mail to
// people takes. The others would be stored, sent and confirmed without a receiver. Unknown events are kept.
import type { Clock } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import { isOfQuestion, type RunEventName } from '../run/decision.ts';
import type { RunFacts } from '../run/run.ts';

/** How long the report of a notifier without mail holds: it may be replaced by one that sends mail. */
const NO_MAIL_MS = 25_000;
/** While one of several notifiers sends mail, events are kept even if the others send none. */
const MAIL_MS = 60_000;

/** These are sent by mail, and change the chats and pages whose links end with their question. */
const WITH_LINKS = ['needs_input', 'question.reminded', 'question.escalated'] as const;

export class HeardEvents {
  /** Monotonic. */
  private noMailMs = Number.NEGATIVE_INFINITY;
  private mailMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly options: {
      /** Reports whether an endpoint of the organization takes such events, as far as known. */
      readonly takesEvent: (orgId: OrgId, event: RunEventName) => boolean;
      readonly clock: Clock;
    },
  ) {}

  isHeard({ orgId, webhookUrl }: RunFacts, event: RunEventName): boolean {
    if (isOfQuestion(event) && this.mayBeMailed()) return true;
    if (event === 'question.assigned') return false;
    if (event === 'question.closed') return WITH_LINKS.some((earlier) => this.options.takesEvent(orgId, earlier));
    return webhookUrl !== null || this.options.takesEvent(orgId, event);
  }

  /** A notifier has confirmed events. */
  confirmed({ sendsNoMail }: { readonly sendsNoMail: boolean }): void {
    const nowMs = this.options.clock.monotonicMs();
    if (sendsNoMail) this.noMailMs = nowMs;
    else this.mailMs = nowMs;
  }

  private mayBeMailed(): boolean {
    const nowMs = this.options.clock.monotonicMs();
    return nowMs - this.mailMs < MAIL_MS || nowMs - this.noMailMs >= NO_MAIL_MS;
  }
}

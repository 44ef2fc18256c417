// The acts of people and programs through this process, and what its runs did by themselves, on their way to the audit log
// of the registry: gathered while a call is under way, for a moment where no caller waits, and kept until the registry
// has it. Bounded, so that a registry that stays away costs lines, not memory.
import { Backoff } from '@methods/base/backoff';
import type { Clock, Timer } from '@methods/base/clock';
import { type AuditId, newId, type OrgId } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import { asServiceError, ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';

/** As the registry records it with a change: the fields of `methods.registry.v1.Doer`. */
export interface ActDoer {
  /** `system`: no caller with a credential. */
  readonly kind: string;
  /** usr_, key_ or upl_; for system the name of the part. */
  readonly id: string;
  readonly ip: string;
  readonly requestId: string;
}

export interface Act {
  readonly orgId: OrgId;
  readonly doer: ActDoer;
  readonly action:
    | 'run.start'
    | 'run.read'
    | 'run.answer'
    | 'run.assign'
    | 'run.cancel'
    | 'run.delegate'
    | 'version.read'
    | 'delivery.resend';
  /** run_, ver_ or dlv_. */
  readonly targetId: string;
  /** The outcome; never content. */
  readonly facts?: Readonly<Record<string, string>>;
  /** Of an act that may be reported again: its own time and id. Absent: it happens now. */
  readonly past?: { readonly atMs: number; readonly auditId: AuditId };
}

/** As the registry takes it; `auditId` makes a repeat harmless. */
export interface AuditLine {
  readonly auditId: AuditId;
  readonly orgId: OrgId;
  /** Wall time. */
  readonly atMs: number;
  readonly doer: ActDoer;
  readonly action: string;
  readonly targetKind: string;
  readonly targetId: string;
  readonly beforeJson: string;
  readonly afterJson: string;
}

export interface AuditLogOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Takes at most `LINES_MAX_A_CALL`, all or none. */
  readonly send: (lines: readonly AuditLine[]) => Promise<void>;
}

interface Pending {
  readonly line: AuditLine;
  /** Null: no caller waits for it. */
  readonly told: { readonly resolve: () => void; readonly reject: (error: ServiceError) => void } | null;
  /** Kept until the registry has it, even if its caller stopped waiting. */
  readonly kept: boolean;
}

export const LINES_MAX_A_CALL = 256;
const PENDING_MAX = 10_000;
const STOP_MS = 3_000;
/** A call and a commit for each line would cost as much as the act itself. */
const GATHERED_MS = 250;

export class AuditLog implements Stoppable {
  private pending: Pending[] = [];
  private sending: Promise<void> | null = null;
  private retry: Timer | null = null;
  private gathering: Timer | null = null;
  private lost = 0;
  private readonly backoff = new Backoff({ firstMs: 100, maxMs: 5_000 });

  constructor(private readonly options: AuditLogOptions) {}

  /** The registry gets it within 250 ms, if possible. No one waits. */
  note(act: Act): void {
    this.add({ line: this.lineOf(act), told: null, kept: true });
  }

  /**
   * Resolves once the registry has it, so that nothing is shown that is not recorded. @throws ServiceError unavailable;
   * then it may not be recorded
   */
  async beforeShowing(act: Act): Promise<void> {
    await this.waitFor(act, false);
  }

  /**
   * Resolves once the registry has it. @throws ServiceError unavailable; then it is kept no longer, and the caller reports
   * it again later
   */
  async record(act: Act): Promise<void> {
    await this.waitFor(act, false);
  }

  /** For past acts: as `beforeShowing`, but sent again until the registry has the line. */
  async afterDoing(act: Act): Promise<void> {
    await this.waitFor(act, true);
  }

  /** Sends the pending lines, if the registry accepts them within 3 s. */
  async stop(): Promise<void> {
    const { clock, logger } = this.options;
    this.cancelTimers();
    const untilMs = clock.monotonicMs() + STOP_MS;
    while (this.pending.length > 0 && clock.monotonicMs() < untilMs) {
      const before = this.pending.length;
      await (this.sending ?? this.send());
      if (this.pending.length >= before) break;
    }
    this.cancelTimers();
    const left = this.pending.splice(0);
    for (const { told } of left) told?.reject(new ServiceError('unavailable'));
    if (left.length > 0)
      logger.error({ lines: left.length }, 'lines of the audit log are lost: the registry is unavailable');
  }

  private waitFor(act: Act, kept: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const took = this.add({ line: this.lineOf(act), told: { resolve, reject }, kept });
      if (!took) reject(new ServiceError('unavailable'));
      // The registry may be back: a waiting caller does not wait for the next try as well.
      else this.sendSoon();
    });
  }

  private add(pending: Pending): boolean {
    if (this.pending.length >= PENDING_MAX) {
      if (this.lost++ === 0) this.options.logger.error({ lines: PENDING_MAX }, 'the audit log cannot keep up');
      return false;
    }
    this.pending.push(pending);
    if (this.retry === null) this.sendOrGather(pending.told !== null);
    return true;
  }

  private sendOrGather(isAwaited: boolean): void {
    if (isAwaited || this.pending.length >= LINES_MAX_A_CALL) return this.sendSoon();
    if (this.sending !== null) return;
    this.gathering ??= this.options.clock.after(GATHERED_MS, () => this.sendSoon());
  }

  private sendSoon(): void {
    if (this.sending !== null) return;
    this.cancelTimers();
    // Other lines of this turn are sent with it.
    this.sending = new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.send());
  }

  /** Sends until nothing is left or the registry does not take it. */
  private send(): Promise<void> {
    this.sending = this.sendAll().finally(() => {
      this.sending = null;
      // Lines added in the last moment of the sending found it still under way.
      if (this.pending.length > 0 && this.retry === null)
        this.sendOrGather(this.pending.some(({ told }) => told !== null));
    });
    return this.sending;
  }

  private async sendAll(): Promise<void> {
    while (this.pending.length > 0) {
      const batch = this.pending.slice(0, LINES_MAX_A_CALL);
      const refused = await this.tell(batch);
      if (refused === null) continue;
      if (refused.code === 'unavailable') return this.tryLater(batch, refused);
      // One line the registry never takes must not delay the others.
      for (const one of batch) {
        const error = batch.length === 1 ? refused : await this.tell([one]);
        if (error?.code === 'unavailable') return this.tryLater([one], error);
        if (error) this.giveUp(one, error);
      }
    }
  }

  /** Null once the registry has them; then they are no longer pending. */
  private async tell(batch: readonly Pending[]): Promise<ServiceError | null> {
    try {
      await this.options.send(batch.map(({ line }) => line));
    } catch (error) {
      return asServiceError(error);
    }
    this.backoff.reset();
    this.forget(batch);
    for (const { told } of batch) told?.resolve();
    if (this.lost > 0) this.options.logger.error({ lines: this.lost }, 'lines of the audit log are lost');
    this.lost = 0;
    return null;
  }

  private tryLater(batch: readonly Pending[], error: ServiceError): void {
    const waiting = this.pending.filter(({ told }) => told !== null);
    this.forget(waiting);
    // No one waits for these any more.
    const kept = waiting.filter((each) => each.kept).map(({ line }) => ({ line, told: null, kept: true }));
    this.pending.unshift(...kept);
    for (const { told } of waiting) told?.reject(new ServiceError('unavailable', undefined, { cause: error }));
    if (this.pending.length === 0) return;
    this.options.logger.warn({ error, lines: batch.length }, 'the audit log could not be written yet');
    this.retry = this.options.clock.after(this.backoff.nextMs(), () => {
      this.retry = null;
      this.sendSoon();
    });
  }

  private cancelTimers(): void {
    this.retry?.cancel();
    this.retry = null;
    this.gathering?.cancel();
    this.gathering = null;
  }

  private giveUp(one: Pending, error: ServiceError): void {
    const { auditId, orgId: org_id, action } = one.line;
    this.forget([one]);
    one.told?.reject(error);
    this.options.logger.error({ error, audit_id: auditId, org_id, action }, 'a line of the audit log was refused');
  }

  private forget(batch: readonly Pending[]): void {
    const gone = new Set(batch);
    this.pending = this.pending.filter((each) => !gone.has(each));
  }

  private lineOf({ orgId, doer, action, targetId, facts, past }: Act): AuditLine {
    const nowMs = this.options.clock.wallMs();
    const { atMs, auditId } = past ?? { atMs: nowMs, auditId: newId('aud', nowMs) };
    return {
      auditId,
      orgId,
      atMs,
      doer,
      action,
      targetKind: action.slice(0, action.indexOf('.')),
      targetId,
      beforeJson: '',
      afterJson: facts === undefined ? '' : JSON.stringify(facts),
    };
  }
}

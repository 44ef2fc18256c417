// Sends due deliveries: claims as many as it has room for, tries them, records the outcomes, and wakes for the next.

import { setMaxListeners } from 'node:events';
import type { Clock, Timer } from '@methods/base/clock';
import { randomToken } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import type { Logger } from '@methods/logging/logger';
import { type ClaimedDelivery, triesOf } from '../delivery/delivery.ts';
import { afterTry } from '../delivery/schedule.ts';
import type { ClaimReply } from '../store/claim-deliveries.ts';
import type { ClaimRequest } from '../store/claim-statement.ts';
import type { TryOutcome } from '../webhook/webhook-sender.ts';
import type { SendSlots } from './send-slots.ts';
import type { TryRecorder } from './try-recorder.ts';

export interface DispatcherOptions {
  readonly claim: (request: ClaimRequest) => Promise<ClaimReply>;
  /** Rejects while the database is unavailable. */
  readonly reach: () => Promise<unknown>;
  readonly send: (delivery: ClaimedDelivery, stop: AbortSignal) => Promise<TryOutcome>;
  readonly recorder: TryRecorder;
  readonly slots: SendSlots;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  /** The waits before its redeliveries. */
  readonly retryMs: (delivery: ClaimedDelivery) => readonly number[];
  readonly claimMs: number;
  /** How long pending tries may continue when the process stops. */
  readonly stopGraceMs: number;
}

/** Deliveries and bytes of one claim: they are decoded, signed and sent together. */
const CLAIM_MAX = 64;
const CLAIM_BYTES_MAX = 8 << 20;
/** Finds what no timer of this node knows: deliveries of dead nodes, and retries of others. */
const SWEEP_MS = 4_000;
/** After a claim that got nothing, new deliveries cause no other one for this long: their host may be full. */
const FRUITLESS_MS = 50;
/** After another node took the rows, and after a failed claim. */
const CONTENDED_MS = 20;
const FAILED_MS = 1_000;
/**
 * After an outage of the database in which claims may have lapsed: results of tries that ended meanwhile are written
 * first, since a claim would send what has arrived once more.
 */
const RESULTS_FIRST_MS = 3_000;
/** Until a delivery that could not be signed is tried again. */
const POSTPONED_MS = 3_000;

export class Dispatcher implements Stoppable {
  private readonly stopping = new AbortController();
  private readonly underWay = new Set<Promise<void>>();
  private timer: { readonly timer: Timer; readonly atMs: number } | null = null;
  private claiming = false;
  private wokenMeanwhile = false;
  private stopped = false;
  /** When a claim last got nothing. */
  private fruitlessMs = Number.NEGATIVE_INFINITY;
  /** When the database last replied to this part, and whether the claim since then failed. */
  private reachedMs: number;
  private failing = false;
  private claimsFromMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: DispatcherOptions) {
    // Each send adds a listener.
    setMaxListeners(options.slots.total * 2, this.stopping.signal);
    this.reachedMs = options.clock.monotonicMs();
  }

  start(): void {
    this.wake();
  }

  /** New deliveries may be due. */
  stored(): void {
    const waitMs = this.fruitlessMs + FRUITLESS_MS - this.options.clock.monotonicMs();
    if (waitMs <= 0) this.wake();
    else this.wakeIn(waitMs);
  }

  /** A delivery may be due: there is room again, or a first try has ended that another waited for. */
  wake(): void {
    if (this.stopped) return;
    if (this.claiming) {
      this.wokenMeanwhile = true;
      return;
    }
    void this.claimAndSend();
  }

  /** Claims no more, lets tries in flight continue for a moment, aborts the rest and returns them for other nodes. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.timer.cancel();
    const grace = this.options.clock.after(this.options.stopGraceMs, () => this.stopping.abort());
    const last = this.options.clock.after(this.options.stopGraceMs * 2, () => this.options.recorder.giveUp());
    await Promise.all(this.underWay);
    grace.cancel();
    last.cancel();
  }

  private async claimAndSend(): Promise<void> {
    this.claiming = true;
    do {
      this.wokenMeanwhile = false;
      this.wakeIn(await this.claimOnce());
    } while (this.wokenMeanwhile && !this.stopped);
    this.claiming = false;
  }

  /** Returns when to look again, in ms. */
  private async claimOnce(): Promise<number> {
    const { claim, slots, clock, random, claimMs, logger } = this.options;
    const sweepMs = SWEEP_MS * (0.8 + 0.4 * random());
    // Without room, the end of a send wakes this.
    if (slots.free <= 0) return sweepMs;
    const limit = Math.min(CLAIM_MAX, slots.free);
    const bytes = Math.min(CLAIM_BYTES_MAX, slots.freeBytes);
    try {
      if (this.failing) await this.reachAgain();
      const waitMs = this.claimsFromMs - clock.monotonicMs();
      if (waitMs > 0) return waitMs;
      const reply = await claim({ claim: randomToken(), claimMs, limit, bytes, ...slots.room() });
      this.reachedMs = clock.monotonicMs();
      if (reply.claimed.length === 0) this.fruitlessMs = this.reachedMs;
      for (const delivery of reply.claimed) this.dispatch(delivery);
      if (reply.more && slots.free > 0) return 0;
      if (reply.contended) return CONTENDED_MS * (0.5 + random());
      return Math.min(sweepMs, Math.ceil(reply.nextDueMs ?? sweepMs) + 1);
    } catch (error) {
      this.failing = true;
      logger.warn({ error }, 'due webhooks could not be claimed; trying again');
      return FAILED_MS * (0.5 + random());
    }
  }

  /** Rejects during an outage. After one in which a claim may have lapsed before its result was written, claims wait. */
  private async reachAgain(): Promise<void> {
    const { reach, clock, claimMs } = this.options;
    await reach();
    const nowMs = clock.monotonicMs();
    // A try takes at most two thirds of its claim.
    if (nowMs - this.reachedMs > claimMs / 3) this.claimsFromMs = nowMs + RESULTS_FIRST_MS;
    this.reachedMs = nowMs;
    this.failing = false;
  }

  private dispatch(delivery: ClaimedDelivery): void {
    this.options.slots.take(delivery);
    const work = this.tryAndRecord(delivery).finally(() => {
      this.options.slots.giveBack(delivery);
      this.underWay.delete(work);
      this.wake();
    });
    this.underWay.add(work);
  }

  private async tryAndRecord(delivery: ClaimedDelivery): Promise<void> {
    const { send, recorder, retryMs, random } = this.options;
    const outcome = await send(delivery, this.stopping.signal);
    if (outcome.kind === 'postponed') {
      const waitMs = this.stopped ? 0 : POSTPONED_MS * (0.8 + 0.4 * random());
      this.tell(delivery, { postponed: outcome.reason });
      return recorder.record({ delivery, after: { status: 'pending', waitMs }, result: null });
    }
    const { result } = outcome;
    const tries = triesOf(delivery);
    const after = outcome.isLast
      ? ({ status: delivery.resentFrom ?? 'stopped', waitMs: 0 } as const)
      : afterTry({ ...delivery, tries }, result.httpStatus, retryMs(delivery), random);
    this.tell(delivery, {
      status: after.status,
      try: tries + 1,
      http_status: result.httpStatus,
      fault: result.error,
      duration_ms: result.durationMs,
      wait_ms: after.waitMs,
    });
    await recorder.record({ delivery, after, result });
  }

  private tell(delivery: ClaimedDelivery, facts: Readonly<Record<string, unknown>>): void {
    const { orgId, runId, deliveryId, event, seq } = delivery;
    this.options.logger.info(
      { org_id: orgId, run_id: runId, delivery_id: deliveryId, event, seq, ...facts },
      delivery.kind === 'mail' ? 'mail try' : 'webhook try',
    );
  }

  /** One timer, for the earliest requested time. */
  private wakeIn(delayMs: number): void {
    if (this.stopped) return;
    const { clock } = this.options;
    const atMs = clock.monotonicMs() + delayMs;
    if (this.timer !== null && this.timer.atMs <= atMs) return;
    this.timer?.timer.cancel();
    const timer = clock.after(delayMs, () => {
      this.timer = null;
      this.wake();
    });
    this.timer = { timer, atMs };
  }
}

// One connected worker: passes its items to the owners of its runs, and the owners' grants and cancels to it.

import type { OrgId, ProductionId, RunId } from '@methods/base/ids';
import { asServiceError, ServiceError } from '@methods/errors/service-error';
import type { WorkerItem, WorkResponseSchema } from '@methods/proto/worker/v1/worker_service_pb';
import type { FrameConnection, SentItem } from '@methods/rpc/frame-stream';
import { countServed, type QueueKey, queuesServed } from '../store/queue-key.ts';
import { deviceKeysOf, missingKeys } from './device-mode.ts';
import type { ArrivingWorker, Leave } from './worker-admission.ts';
import type { WorkerDescription } from './worker-description.ts';
import type { KeyOwner } from './worker-keys.ts';
import { isReport, type ReportItem, type ReportOutcome } from './worker-reports.ts';

export type SchedulerItem = SentItem<typeof WorkResponseSchema>;

export interface WorkerHello {
  readonly workerId: string;
  readonly streamNumber: number;
  readonly methods: readonly ProductionId[];
  readonly slots: number;
  readonly features: readonly string[];
  readonly sdk: string;
  readonly name: string;
  readonly host: string;
  readonly held: readonly { readonly runId: RunId; readonly token: string }[];
  readonly deviceKeyIds: readonly string[];
  readonly deviceKeyFingerprints: readonly Uint8Array[];
}

/** The owner of the key that opened the stream. */
export interface WorkerOwner extends KeyOwner {
  /** Returns the owner as it is now. Rejects with `unauthorized` once the key is revoked or the token has expired. */
  readonly check: () => Promise<KeyOwner>;
  /** Asks the registry, since a content grant may be a moment old. */
  readonly askAgain: () => Promise<KeyOwner>;
}

/** The contents of a hello. */
export type ArrivingQueues = Pick<ArrivingWorker, 'methods' | 'queueCount' | 'queues' | 'checkKeys'>;

/** The parts of its node that the session uses. */
export interface WorkerSessionHost {
  /**
   * Decides whether the methods of a hello may be served; returns a function that releases what it took. @throws
   * ServiceError.
   */
  admit(session: WorkerSession, arriving: ArrivingQueues): Leave | Promise<Leave>;
  opened(session: WorkerSession, hello: WorkerHello): void;
  closed(session: WorkerSession): void;
  credits(session: WorkerSession, count: number): void;
  /** Nothing more may be granted on this stream. */
  leaving(session: WorkerSession): void;
  report(session: WorkerSession, item: ReportItem): void;
  heartbeat(session: WorkerSession, held: readonly { runId: RunId; token: string }[]): void;
}

const SLOTS_MAX = 10_000;
const METHODS_MAX = 1_000;
/** A plain id, which can be nothing else in a queue's name or a log. */
const METHOD = /^[A-Za-z0-9_-]{1,64}$/;
/** Items before the welcome; our own workers wait for it. */
const EARLY_MAX = 1_000;
const TOKEN_CHARACTERS_MAX = 64;
/** A worker holds the runs that it executes, and ended runs that wait for their acknowledgement. */
const HELD_PER_SLOT = 3;
const HELD_SPARE = 100;

export class WorkerSession {
  /**
   * `<organization>.<worker id>.<stream number>`; empty before the hello. Workers choose their ids, so the organization
   * is included: an id must never match a worker of another organization.
   */
  id = '';
  slots = 0;
  queues: readonly QueueKey[] = [];
  leaving = false;
  /** Null until the hello is judged. */
  description: WorkerDescription | null = null;
  /** Wall time of its last heartbeat or report. */
  heardAtMs = 0;
  /** Attempts that no owner granted here, held only because the worker lists them; limited to its last list. */
  private claimed: ReadonlySet<string> = new Set();
  private free = 0;
  /** Items received while the hello is judged; null before and after. */
  private early: WorkerItem['item'][] | null = null;
  private leave: Leave | null = null;
  private ended = false;

  constructor(
    private readonly connection: FrameConnection<SchedulerItem>,
    readonly owner: WorkerOwner,
    private readonly host: WorkerSessionHost,
  ) {}

  get orgId(): OrgId {
    return this.owner.orgId;
  }

  /** Throws on items that our own workers never send; the stream is then closed. */
  received(items: readonly WorkerItem[]): void {
    for (const { item } of items) this.handle(item);
  }

  private handle(item: WorkerItem['item']): void {
    if (this.early !== null) {
      if (this.early.length === EARLY_MAX) throw new RangeError('a worker waits for its welcome');
      this.early.push(item);
      return;
    }
    if (this.id === '' && item.case !== 'hello') throw new RangeError('the first item of a worker is its hello');
    switch (item.case) {
      case 'hello':
        return this.hello(item.value);
      case 'credits': {
        // Never more free places than the worker announced, even if it sent more credits.
        const count = Math.min(item.value.count, this.slots - this.free);
        this.free += count;
        return count > 0 ? this.host.credits(this, count) : undefined;
      }
      case 'leave':
        this.leaving = true;
        this.host.leaving(this);
        this.connection.send({ item: { case: 'left', value: {} } });
        return;
      case 'heartbeat':
        this.checkHeld(item.value.runs);
        return this.host.heartbeat(this, item.value.runs);
      default:
        if (isReport(item)) return this.host.report(this, item);
        throw new RangeError('unknown item of a worker');
    }
  }

  private hello(hello: WorkerHello): void {
    if (this.id !== '') throw new RangeError('a worker says hello once a stream');
    const { workerId, streamNumber, slots, held } = hello;
    const methods = [...new Set(hello.methods)];
    if (!/^[0-9a-f]{32}$/.test(workerId) || streamNumber < 1) throw new RangeError('malformed worker id');
    if (methods.length === 0 || methods.length > METHODS_MAX) return this.refuse('A worker names 1 to 1000 methods.');
    for (const method of methods)
      if (!METHOD.test(method)) return this.refuse('A method name is not a valid method id.');
    if (slots < 1 || slots > SLOTS_MAX) return this.refuse('A worker has 1 to 10000 places.');
    this.slots = slots;
    this.checkHeld(held);
    const deviceKeys = deviceKeysOf(hello);
    if (deviceKeys === null) return this.refuse('A worker names up to 21 content keys, each with its fingerprint.');
    const serving = { methods, features: hello.features, deviceKeys };
    const queueCount = countServed(serving);
    const queues = (): readonly QueueKey[] => {
      if (this.queues.length === 0) this.queues = queuesServed(this.orgId, serving);
      return this.queues;
    };
    const checkKeys = () => missingKeys(deviceKeys, this.owner);
    const open = (leave: Leave): void => {
      if (this.ended) return leave();
      this.leave = leave;
      queues();
      this.id = `${this.orgId}.${workerId}.${streamNumber}`;
      this.host.opened(this, hello);
    };
    try {
      const admitted = this.host.admit(this, { methods, queueCount, queues, checkKeys });
      if (typeof admitted === 'function') return open(admitted);
      this.early = [];
      admitted.then(open).then(
        () => this.catchUp(),
        (error: unknown) => this.close(asServiceError(error)),
      );
    } catch (error) {
      this.close(asServiceError(error));
    }
  }

  private refuse(message: string): void {
    this.close(new ServiceError('invalid_request', message));
  }

  private catchUp(): void {
    const early = this.early ?? [];
    this.early = null;
    if (!this.ended) for (const item of early) this.handle(item);
  }

  /** The stream is over. */
  end(): void {
    this.ended = true;
    this.leave?.();
    this.leave = null;
  }

  get isOver(): boolean {
    return this.ended;
  }

  /** Bounds the runs that a worker claims to hold, since they are kept until an owner denies them. */
  private checkHeld(runs: readonly { readonly token: string }[]): void {
    if (runs.length > HELD_PER_SLOT * this.slots + HELD_SPARE) throw new RangeError('more runs than a worker can hold');
    for (const { token } of runs) if (token.length > TOKEN_CHARACTERS_MAX) throw new RangeError('no attempt token');
  }

  /** Replaces the attempts held only because the worker listed them: those missing from its new list are given up. */
  replaceClaimed(claimed: ReadonlySet<string>): string[] {
    const gone = [...this.claimed].filter((token) => !claimed.has(token));
    this.claimed = claimed;
    return gone;
  }

  hasClaimed(token: string): boolean {
    return this.claimed.has(token);
  }

  /** Returns the places that no run has taken yet. */
  get freePlaces(): number {
    return this.free;
  }

  /** Takes a place for a grant; returns false when every place of the worker is taken. */
  takePlace(): boolean {
    if (this.free === 0) return false;
    this.free--;
    return true;
  }

  send(item: SchedulerItem): boolean {
    return this.connection.send(item);
  }

  answer(outcome: ReportOutcome): void {
    this.connection.send({ item: outcome } as SchedulerItem);
  }

  close(error?: ServiceError): void {
    this.connection.close(error);
  }
}

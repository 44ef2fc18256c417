// The workers connected to this node: connects their streams with the queues, the owners of their runs and the grants
// for them.
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@methods/base/clock';
import { type KeyId, type OrgId, type RunId, randomToken, shardOfRunId } from '@methods/base/ids';
import { asServiceError, ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import type { ClaimWaiters } from '../queue/claim-waiters.ts';
import { isOfDeviceKey } from './device-mode.ts';
import type { DeliveredGrant } from './grant-desk.ts';
import type { HeldGrants } from './held-grants.ts';
import type { OwnerLink } from './owner-link.ts';
import type { Leave, WorkerAdmission } from './worker-admission.ts';
import { describeWorker, NODE_FEATURES, protocolFeatures, type WorkerDescription } from './worker-description.ts';
import { type KeyOwner, keyed } from './worker-keys.ts';
import type { WorkerNews } from './worker-news.ts';
import { type ReportItem, type ReportOutcome, takeLastRecord } from './worker-reports.ts';
import type { ArrivingQueues, WorkerHello, WorkerSession, WorkerSessionHost } from './worker-session.ts';

/** The time until the hello has arrived and was judged, including its wait in the line of its key. */
const HELLO_MS = 15_000;

export interface ListedWorker extends WorkerDescription {
  /** Absent for a worker of a signed-in person. */
  readonly keyId?: KeyId;
  readonly slots: number;
  readonly free: number;
  readonly heardAtMs: number;
  readonly leaving: boolean;
}

export class WorkerSessions implements WorkerSessionHost {
  /** Every open stream, even before its hello, since a revoked key ends that too. */
  private readonly streams = new Set<WorkerSession>();
  private readonly sessions = new Map<string, WorkerSession>();
  private rechecking = false;

  constructor(
    private readonly options: {
      readonly nodeId: string;
      readonly clock: Clock;
      readonly heartbeatMs: number;
      readonly leaseMs: number;
      readonly shardCount: number;
      readonly waiters: ClaimWaiters;
      readonly admission: Pick<WorkerAdmission, 'admit'>;
      readonly held: HeldGrants;
      readonly owners: OwnerLink;
      readonly news: Pick<WorkerNews, 'changed'>;
      readonly logger: Logger;
    },
  ) {}

  /** The stream is open; its hello has not arrived yet. */
  connected(session: WorkerSession): void {
    this.streams.add(session);
    this.options.clock.after(HELLO_MS, () => {
      if (session.id === '') session.close(new ServiceError('unavailable', 'Timed out waiting for hello.'));
    });
  }

  admit(session: WorkerSession, arriving: ArrivingQueues): Leave | Promise<Leave> {
    const { orgId, keyId } = session.owner;
    return this.options.admission.admit({ ...arriving, orgId, keyId, isGone: () => session.isOver });
  }

  opened(session: WorkerSession, hello: WorkerHello): void {
    // The same stream of the same worker twice: the first one is dead or a mistake.
    this.sessions.get(session.id)?.close();
    this.sessions.set(session.id, session);
    session.heardAtMs = this.options.clock.wallMs();
    session.description = describeWorker(hello, session.heardAtMs);
    const { heartbeatMs, leaseMs, nodeId } = this.options;
    const { orgId, contentGrants = [] } = session.owner;
    const node = { heartbeatMs, leaseMs, nodeId, features: [...NODE_FEATURES] };
    const key = keyed(session.owner);
    const welcome = { ...node, orgId, ...key, contentGrants: [...contentGrants] };
    session.send({ item: { case: 'welcome', value: welcome } });
    for (const { runId, token } of hello.held) this.adopt(session, runId, token);
    session.replaceClaimed(new Set(hello.held.map(({ token }) => token)));
    this.options.owners.workerSeen({ session: session.id, orgId: session.orgId, held: hello.held });
    this.options.waiters.register(session.id, session.queues, protocolFeatures(hello.features));
    this.options.news.changed(orgId);
    this.options.logger.info({ worker: session.id, org: session.orgId, slots: hello.slots }, 'worker connected');
  }

  closed(session: WorkerSession): void {
    this.streams.delete(session);
    session.end();
    if (session.id === '' || this.sessions.get(session.id) !== session) return;
    this.sessions.delete(session.id);
    this.options.waiters.unregister(session.id);
    this.options.news.changed(session.orgId);
    this.options.logger.info({ worker: session.id, org: session.orgId }, 'worker disconnected');
  }

  leaving(session: WorkerSession): void {
    this.options.waiters.unregister(session.id);
  }

  credits(session: WorkerSession, count: number): void {
    this.options.waiters.addCredits(session.id, count);
  }

  report(session: WorkerSession, item: ReportItem): void {
    const { runId, token } = item.value;
    if (shardOfRunId(runId, this.options.shardCount) === null) throw new RangeError('malformed run id');
    this.options.held.heard(token);
    session.heardAtMs = this.options.clock.wallMs();
    if (item.case === 'giveBack' && item.value.cannotOpen) this.cannotOpen(session, token);
    const record = takeLastRecord(item);
    if (record === null) return this.toOwner(session, item, (outcome) => this.answer(session, outcome));
    // Owners of earlier releases handle the two as separate reports; the worker gets one reply for both.
    let refused = false;
    this.toOwner(session, record, (outcome) => {
      refused = outcome.case === 'refused';
      if (refused) this.answer(session, outcome);
    });
    this.toOwner(session, item, (outcome) => {
      if (!refused) this.answer(session, outcome);
    });
  }

  /** Before the run is in its queue again, so that it is not offered to this worker once more. */
  private cannotOpen(session: WorkerSession, token: string): void {
    const keyId = this.options.held.get(token)?.deviceKeyId;
    if (!keyId) return;
    this.options.waiters.leaveQueues(session.id, (key) => isOfDeviceKey(key, keyId));
    this.options.logger.warn({ worker: session.id, key: keyId }, 'a worker cannot open runs of a content key it named');
  }

  private toOwner(session: WorkerSession, item: ReportItem, told: (outcome: ReportOutcome) => void): void {
    this.options.owners.report({ session: session.id, orgId: session.orgId }, item, (outcome) => {
      const ended = item.case === 'ask' || item.case === 'sleep' || item.case === 'finish' || item.case === 'giveBack';
      if (outcome.case === 'refused' || ended) this.options.held.remove(item.value.token);
      told(outcome);
    });
  }

  private answer(session: WorkerSession, outcome: ReportOutcome): void {
    this.sessions.get(session.id)?.answer(outcome);
  }

  heartbeat(session: WorkerSession, runs: readonly { runId: RunId; token: string }[]): void {
    session.heardAtMs = this.options.clock.wallMs();
    const cancelled: { runId: RunId; token: string }[] = [];
    const claimed = new Set<string>();
    for (const { runId, token } of runs) {
      const held = this.options.held.get(token);
      if (held === undefined || session.hasClaimed(token)) claimed.add(token);
      // This node does not know the grant: it believes the worker, and the owner refuses attempts that are over.
      if (held === undefined) this.adopt(session, runId, token);
      else if (held.orgId === session.orgId) this.options.held.heard(token);
      if (held?.cancelTold !== true) continue;
      cancelled.push({ runId, token });
      this.options.owners.heartbeatNow(held);
    }
    // A worker names all its runs each time. Without this, a worker that names different ones each time would fill this
    // node's memory.
    for (const token of session.replaceClaimed(claimed)) this.forgetClaimed(session, token);
    session.send({ item: { case: 'heartbeatReply', value: { cancelled, stale: [] } } });
  }

  private forgetClaimed(session: WorkerSession, token: string): void {
    if (this.options.held.get(token)?.session === session.id) this.options.held.remove(token);
  }

  private adopt(session: WorkerSession, runId: RunId, token: string): void {
    const shard = shardOfRunId(runId, this.options.shardCount);
    if (shard === null) return;
    this.options.held.add({ runId, shard, token, orgId: session.orgId, session: session.id }, true);
  }

  /** Delivers a grant from an owner, here or elsewhere. False: it reaches no worker and is returned. */
  deliver(delivered: DeliveredGrant, epoch: number): boolean {
    const { waiters, held } = this.options;
    const { grant, shard, orgId, workerSession, creditId } = delivered;
    const session = this.sessions.get(workerSession);
    if (session === undefined || session.leaving || !held.admits(shard, epoch)) {
      waiters.returned(creditId);
      return false;
    }
    const inTime = waiters.used(creditId);
    // A place may have been offered again after a second without a reply: then two runs arrive for it, and one is
    // returned.
    if (!session.takePlace()) return false;
    if (!inTime) waiters.filled(workerSession);
    const { runId, token, deviceKeyId = '' } = grant;
    held.add({ runId, shard, token, orgId, session: workerSession, deviceKeyId });
    return session.send({ item: { case: 'grant', value: grant } });
  }

  /** The owner reports that this attempt is over. */
  refuse(token: string, refused: { runId: RunId; seq: number; code: string; message: string; token: string }): void {
    const held = this.options.held.get(token);
    this.options.held.remove(token);
    const session = held === undefined ? undefined : this.sessions.get(held.session);
    session?.answer({ case: 'refused', value: refused });
  }

  cancelNotice(workerSession: string, runId: RunId, token: string): void {
    const held = this.options.held.get(token);
    if (held !== undefined) held.cancelTold = true;
    const session = this.sessions.get(held?.session ?? workerSession);
    session?.send({ item: { case: 'cancel', value: { runId, token } } });
  }

  /** Returns the workers of an organization that are connected here. */
  list(orgId: OrgId): readonly ListedWorker[] {
    const workers: ListedWorker[] = [];
    for (const session of this.sessions.values()) {
      const { description, owner, slots, freePlaces: free, heardAtMs, leaving } = session;
      if (description === null || owner.orgId !== orgId) continue;
      workers.push({
        ...description,
        ...keyed(owner),
        slots,
        free,
        heardAtMs,
        leaving,
      });
    }
    return workers;
  }

  sessionIds(): string[] {
    return [...this.sessions.keys()];
  }

  /**
   * A key was created or revoked, or has other content grants. A worker that connected before this node received the
   * change is disconnected, unless it did so with the key as it is now: one may be created a moment before its first use.
   */
  async keyChanged(keyId: KeyId): Promise<void> {
    const streams = [...this.streams].filter(({ owner }) => owner.keyId === keyId);
    const now = await streams[0]?.owner.check().catch(() => null);
    for (const session of streams)
      if (!now || !isDeepStrictEqual(session.owner.contentGrants, now.contentGrants)) session.close();
  }

  /** Called on a coarse tick, since the event of a revoked key may have been lost. */
  async recheckKeys(): Promise<void> {
    if (this.rechecking) return;
    this.rechecking = true;
    const nameOf = ({ keyId, tokenSha256 = keyId }: KeyOwner) => tokenSha256;
    const byName = new Map([...this.streams].map(({ owner }) => [nameOf(owner), owner]));
    for (const [name, owner] of byName) {
      try {
        await owner.check();
      } catch (error) {
        const code = error instanceof ServiceError ? error.code : 'internal';
        if (code === 'unauthorized' || code === 'forbidden') {
          const ended = [...this.streams].filter((session) => nameOf(session.owner) === name);
          for (const session of ended)
            session.close(owner.tokenSha256 === undefined ? undefined : asServiceError(error));
        }
        // The registry is unavailable, and will not answer for the other keys either.
        else break;
      }
    }
    this.rechecking = false;
  }

  /** Asks every worker to connect elsewhere. */
  drain(): void {
    for (const session of this.sessions.values()) session.send({ item: { case: 'drain', value: {} } });
  }
}

export function newNodeId(): string {
  return `node_${randomToken()}`;
}

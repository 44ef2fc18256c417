// A worker's stream to a node, from the worker's side, without a connection.
import type { Clock } from '@methods/base/clock';
import type { KeyId, OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { silentLogger } from '@methods/logging/logger';
import type { WorkerItem } from '@methods/proto/worker/v1/worker_service_pb';
import type { FrameConnection } from '@methods/rpc/frame-stream';
import { HeldGrants } from './held-grants.ts';
import type { OwnerLink } from './owner-link.ts';
import type { KeyOwner } from './worker-keys.ts';
import { type SchedulerItem, WorkerSession } from './worker-session.ts';
import { WorkerSessions } from './worker-sessions.ts';

export const WORKER = 'a'.repeat(32);

type Parts = ConstructorParameters<typeof WorkerSessions>[0];

/** The workers of a node without owners of runs. It admits all of them, unless `parts` says otherwise. */
export function quietSessions(clock: Clock, parts: Pick<Parts, 'waiters'> & Partial<Parts>): WorkerSessions {
  return new WorkerSessions({
    nodeId: 'here',
    clock,
    heartbeatMs: 15_000,
    leaseMs: 60_000,
    shardCount: 4,
    admission: { admit: () => () => {} },
    held: new HeldGrants(clock),
    owners: { workerSeen: () => {} } as Partial<OwnerLink> as OwnerLink,
    news: { changed: () => {} },
    logger: silentLogger,
    ...parts,
  });
}

export class Stream {
  readonly got: SchedulerItem[] = [];
  closed: ServiceError | 'closed' | null = null;
  revoked = false;
  /** How often its key was looked up. */
  checks = 0;
  check: (() => Promise<unknown>) | null = null;
  /** What the registry knows of its key; null: nothing more than the node. */
  registry: (() => Promise<KeyOwner>) | null = null;
  readonly session: WorkerSession;

  constructor(
    private readonly sessions: WorkerSessions,
    orgId: OrgId = 'org_a',
    keyId: KeyId = 'key_a',
    /** Of a person's access token. */
    tokenSha256?: string,
  ) {
    const connection = {
      send: (item: SchedulerItem) => this.closed === null && this.got.push(item) > 0,
      close: (error?: ServiceError) => {
        this.closed ??= error ?? 'closed';
      },
    } as unknown as FrameConnection<SchedulerItem>;
    const check = async () => {
      this.checks++;
      await this.check?.();
      if (this.revoked) throw new ServiceError('unauthorized');
      return askAgain();
    };
    const askAgain = async () => this.registry?.() ?? { orgId, keyId };
    this.session = new WorkerSession(
      connection,
      { orgId, keyId, ...(tokenSha256 && { tokenSha256 }), check, askAgain },
      sessions,
    );
    sessions.connected(this.session);
  }

  says(...items: object[]): void {
    this.session.received(items.map((item) => ({ item })) as unknown as WorkerItem[]);
  }

  hello(more: object = {}): this {
    const keys = { deviceKeyIds: [], deviceKeyFingerprints: [] };
    const runs = { methods: ['wf_a'], slots: 2, held: [], features: [] };
    const value = { workerId: WORKER, streamNumber: 1, ...runs, ...keys, ...more };
    this.says({ case: 'hello', value });
    return this;
  }

  credits(count: number): void {
    this.says({ case: 'credits', value: { count } });
  }

  of(kind: string): unknown[] {
    return this.got.filter(({ item }) => item?.case === kind).map(({ item }) => item?.value);
  }

  end(): void {
    this.sessions.closed(this.session);
  }
}

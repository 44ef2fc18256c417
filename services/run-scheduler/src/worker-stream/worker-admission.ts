// Decides whether a worker may serve what its hello names: by the pace of its key, its content keys, the methods
// that its organization has, and the organization's share of what this node keeps for workers. A refusal gives the reason and names the
// method.
import type { OrgId, ProductionId } from '@methods/base/ids';
import { Shares } from '@methods/base/shares';
import { ServiceError } from '@methods/errors/service-error';
import type { ClaimWaiters } from '../queue/claim-waiters.ts';
import type { QueueKey } from '../store/queue-key.ts';
import type { HelloPace, PacedHello } from './hello-pace.ts';

export interface ArrivingWorker extends PacedHello {
  /** Created when needed: there may be 16,000. */
  readonly queues: () => readonly QueueKey[];
  /** Returns null if the worker has the content keys that it names. Rejects with `forbidden`. */
  readonly checkKeys: () => Promise<void> | null;
}

/** Releases what the worker took. */
export type Leave = () => void;

/** Streams of workers. */
const WORKERS_MAX = 10_000;
/** The queues of all workers, added up: 1,000 workers with 16 queues each are 16,000. */
const SERVED_MAX = 400_000;
const NAMED_MAX = 5;

export class WorkerAdmission {
  private readonly workers = new Shares({ placesMax: WORKERS_MAX });
  private readonly served = new Shares({ placesMax: SERVED_MAX });

  constructor(
    private readonly options: {
      readonly pace: HelloPace;
      readonly methods: KnownMethods;
      readonly waiters: ClaimWaiters;
    },
  ) {}

  /** Returns synchronously if there is nothing to wait for. @throws ServiceError, also as a rejection. */
  admit(worker: ArrivingWorker): Leave | Promise<Leave> {
    const paced = this.options.pace.admit(worker);
    return paced === null ? this.checkKeys(worker) : paced.then(() => this.checkKeys(worker));
  }

  private checkKeys(worker: ArrivingWorker): Leave | Promise<Leave> {
    const checked = worker.checkKeys();
    return checked === null ? this.check(worker) : checked.then(() => this.check(worker));
  }

  private check(worker: ArrivingWorker): Leave | Promise<Leave> {
    const asked = this.options.methods.unknown(worker.orgId, worker.methods);
    if (asked === null) return this.take(worker);
    return asked.then((unknown) => {
      if (unknown.length > 0) throw new ServiceError('not_found', unknownMethods(unknown));
      return this.take(worker);
    });
  }

  private take({ orgId, queues, queueCount }: ArrivingWorker): Leave {
    if (!this.options.waiters.hasRoomFor(orgId, queues())) {
      throw new ServiceError('rate_limited', tooMany('different queues', queueCount));
    }
    const worker = this.workers.take(orgId);
    if (!worker.ok) throw new ServiceError('rate_limited', 'The organization has too many workers on this node.');
    const served = this.served.take(orgId, '', queueCount);
    if (!served.ok) {
      worker.leave();
      throw new ServiceError('rate_limited', tooMany('queues', queueCount));
    }
    return () => {
      worker.leave();
      served.leave();
    };
  }
}

function unknownMethods(methods: readonly ProductionId[]): string {
  const named = methods.slice(0, NAMED_MAX).join(', ');
  const more = methods.length > NAMED_MAX ? ` and ${methods.length - NAMED_MAX} more` : '';
  return `The organization has no method ${named}${more}.`;
}

function tooMany(what: string, count: number): string {
  return `The organization's workers serve too many ${what} on this node for the ${count} of this one: a worker has one queue for each of its methods and each set of its special features.`;
}

const KNOWN_MAX = 100_000;

/**
 * Caches which of the methods that its workers name an organization has. The registry is asked once for each, since a
 * method is never deleted. While the registry is unavailable, unknown methods pass: running work must not stop with it,
 * and a queue without runs costs little.
 */
export class KnownMethods {
  private readonly known = new Set<string>();

  constructor(
    private readonly options: {
      /** Returns the methods among them that the organization has. */
      readonly find: (orgId: OrgId, methods: readonly ProductionId[]) => Promise<readonly string[]>;
    },
  ) {}

  /** Returns the methods that the organization does not have; null: all are known without a request. */
  unknown(orgId: OrgId, methods: readonly ProductionId[]): Promise<ProductionId[]> | null {
    const doubtful = methods.filter((method) => !this.known.has(`${orgId}/${method}`));
    return doubtful.length === 0 ? null : this.ask(orgId, doubtful);
  }

  private async ask(orgId: OrgId, methods: readonly ProductionId[]): Promise<ProductionId[]> {
    const found = await this.options.find(orgId, methods).catch(whileAway);
    if (found === null) return [];
    if (this.known.size + found.length > KNOWN_MAX) this.known.clear();
    for (const method of found) this.known.add(`${orgId}/${method}`);
    const there = new Set<string>(found);
    return methods.filter((method) => !there.has(method));
  }
}

/** A registry that does not know this call yet answers `internal`. */
function whileAway(error: unknown): null {
  if (error instanceof ServiceError && (error.code === 'unavailable' || error.code === 'internal')) return null;
  throw error;
}

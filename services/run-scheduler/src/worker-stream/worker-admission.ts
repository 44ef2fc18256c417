// Decides whether a worker may serve what its hello names: by the pace of its key, the methods its organization has,
// and the organization's share of what this node keeps for workers. A refusal gives the reason, naming the method.

import type { ProductionId } from '@methods/base/ids';
import { Shares } from '@methods/base/shares';
import { ServiceError } from '@methods/errors/service-error';
import type { ClaimWaiters } from '../queue/claim-waiters.ts';
import type { QueueKey } from '../store/queue-key.ts';
import type { HelloPace, PacedHello } from './hello-pace.ts';
import type { KnownMethods } from './known-methods.ts';

export interface ArrivingWorker extends PacedHello {
  /** Created when needed: there may be 16,000. */
  readonly queues: () => readonly QueueKey[];
}

/** Returns what the worker took. */
export type Leave = () => void;

/** Streams of workers. */
const WORKERS_MAX = 10_000;
/** Queues of each worker, added up: 1,000 workers with 16 queues each are 16,000. */
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

  /** Synchronous if there is nothing to wait for. @throws ServiceError, also as a rejection. */
  admit(worker: ArrivingWorker): Leave | Promise<Leave> {
    const paced = this.options.pace.admit(worker);
    return paced === null ? this.check(worker) : paced.then(() => this.check(worker));
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

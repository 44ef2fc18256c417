// The logs of all organizations that are followed here. Each begins with its first reader and is kept for five minutes
// after its last one, so that a reader that reconnects misses nothing.

import type { Clock, Timer } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import { Shares, type SharesOptions } from '@methods/base/shares';
import { ServiceError } from '@methods/errors/service-error';
import type { RegistryChanged } from '@methods/proto/event/v1/event_pb';
import type { RunView } from '@methods/proto/run/v1/run_pb';
import { NewsDetail } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { FollowedOrganizations } from '../clients/followed-organizations.ts';
import type { TriedDeliveries } from '../clients/tried-deliveries.ts';
import type { WorkerChanges } from '../clients/worker-changes.ts';
import { changeEvents, deliveryEvent, registryEvent, restEvent, workersEvent } from '../views/organization-events.ts';
import type { DeclaredStep } from '../views/step-view.ts';
import { type Audience, type EventsOf, type LogReader, OrganizationLog } from './organization-log.ts';

type RunOfVersion = Pick<RunView, 'method' | 'versionId'>;

export interface OrganizationLogsOptions {
  readonly clock: Clock;
  readonly organizations: Pick<FollowedOrganizations, 'follow'>;
  readonly declaredSteps: (
    orgId: OrgId,
    run: RunOfVersion,
  ) => readonly DeclaredStep[] | Promise<readonly DeclaredStep[]>;
  /** Null: there is no bus. */
  readonly deliveries: Pick<TriedDeliveries, 'follow'> | null;
  /** Null: there is no bus. */
  readonly workers: Pick<WorkerChanges, 'follow'> | null;
  readonly limits?: Partial<LogLimits>;
}

export interface LogLimits {
  /** The number of organizations and audiences. */
  readonly logsMax: number;
  /** Bytes of the events kept. */
  readonly bytes: SharesOptions;
  readonly keptMs: number;
}

const LIMITS: LogLimits = {
  logsMax: 2_000,
  bytes: { placesMax: 128 << 20, perOrganizationMax: 16 << 20 },
  keptMs: 300_000,
};

interface Held {
  readonly log: OrganizationLog;
  readonly stop: () => void;
  /** Runs while there is no reader. */
  idle: Timer | null;
}

export class OrganizationLogs {
  /** Logs without readers come in the order in which their last one left. */
  private readonly held = new Map<string, Held>();
  private readonly bytes: Shares;
  private readonly limits: LogLimits;
  private stopped = false;

  constructor(private readonly options: OrganizationLogsOptions) {
    this.limits = { ...LIMITS, ...options.limits };
    this.bytes = new Shares(this.limits.bytes);
  }

  get size(): number {
    return this.held.size;
  }

  /** Returns the log with one more reader, which `make` creates. @throws unavailable if there are too many */
  enter<Reader extends LogReader>(
    orgId: OrgId,
    audience: Audience,
    make: (log: OrganizationLog, left: () => void) => Reader,
  ): Reader {
    if (this.stopped) throw new ServiceError('unavailable');
    const key = `${audience} ${orgId}`;
    const held = this.held.get(key) ?? this.begin(key, orgId, audience);
    held.idle?.cancel();
    held.idle = null;
    const reader = make(held.log, () => this.left(key, held));
    // Events that exist already are not announced.
    setImmediate(() => reader.flush());
    return reader;
  }

  /** A method was created or published, its build has ended, or a key was created or revoked. */
  onChanged({ kind, orgId, id }: RegistryChanged): void {
    const event = registryEvent(kind, id);
    if (event !== null) this.held.get(`people ${orgId}`)?.log.add([event]);
  }

  /** Changes of the registry may have been missed. */
  onEventsMissed(): void {
    for (const [key, { log }] of this.held) if (key.startsWith('people ')) log.missed();
  }

  /** Ends every reader. */
  stop(): void {
    this.stopped = true;
    for (const key of [...this.held.keys()]) this.drop(key);
  }

  private begin(key: string, orgId: OrgId, audience: Audience): Held {
    if (this.held.size >= this.limits.logsMax) this.dropIdle();
    const { clock, organizations } = this.options;
    const hold = (bytes: number) => {
      const place = this.bytes.take(orgId, '', bytes);
      return place.ok ? place.leave : null;
    };
    const eventsOf = audience === 'programs' ? this.rests(orgId) : this.changes();
    const log = new OrganizationLog({ clock, hold, keptMs: this.limits.keptMs, eventsOf });
    const detail = audience === 'programs' ? NewsDetail.RESTS : NewsDetail.CHANGES;
    const stops = [organizations.follow(orgId, detail, log)];
    if (audience === 'people' && this.options.deliveries !== null) {
      stops.push(this.options.deliveries.follow(orgId, (tried) => log.add(tried.map(deliveryEvent))));
    }
    if (audience === 'people' && this.options.workers !== null) {
      stops.push(this.options.workers.follow(orgId, () => log.add([workersEvent])));
    }
    const stop = () => {
      for (const end of stops) end();
    };
    const held: Held = { log, stop, idle: null };
    this.held.set(key, held);
    return held;
  }

  private rests(orgId: OrgId): EventsOf {
    const { clock, declaredSteps } = this.options;
    return (run, stepsLeftOut) => {
      const event = (steps: readonly DeclaredStep[]) => [restEvent(run, stepsLeftOut, steps, clock.wallMs())];
      if (stepsLeftOut) return event([]);
      const steps = declaredSteps(orgId, run);
      return steps instanceof Promise ? steps.then(event) : event(steps);
    };
  }

  private changes(): EventsOf {
    const { clock } = this.options;
    return (run, stepsLeftOut) => changeEvents(run, stepsLeftOut, clock.wallMs());
  }

  private left(key: string, held: Held): void {
    if (held.log.readers.size > 0 || this.held.get(key) !== held) return;
    this.held.delete(key);
    this.held.set(key, held);
    held.idle = this.options.clock.after(this.limits.keptMs, () => this.drop(key));
  }

  private dropIdle(): void {
    for (const [key, { idle }] of this.held) if (idle !== null) return this.drop(key);
    throw new ServiceError('unavailable', 'Too many organizations are followed here.', { retryAfterMs: 5_000 });
  }

  private drop(key: string): void {
    const held = this.held.get(key);
    if (held === undefined) return;
    this.held.delete(key);
    held.idle?.cancel();
    held.stop();
    held.log.close();
  }
}

// The open replies that report runs as they change: limits their number and runs each of them. A stream whose reader
// does not read holds only the newest state, and is ended after a while.
import type { Readable } from 'node:stream';
import { type Caller, callerId, mayUse, type Role } from '@methods/auth/caller';
import type { Clock } from '@methods/base/clock';
import { Shares, type Taken } from '@methods/base/shares';
import { asServiceError, overShare } from '@methods/errors/service-error';
import type { RunView } from '@methods/proto/run/v1/run_pb';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RunFollower } from '../../clients/run-waiters.ts';
import type { LongWork } from '../../turns/long-work.ts';
import { atOnce } from '../../turns/steps.ts';
import { type RunEvents, runEvents, type ToldRun } from '../../views/run-events.ts';
import { isFinished, isLongRun } from '../../views/run-view.ts';
import type { DeclaredStep } from '../../views/step-view.ts';
import { DownloadPace } from './downloads.ts';
import { EventBody } from './event-body.ts';
import { STEP_BYTES } from './run-reply.ts';
import type { BeatLimits } from './stream-beat.ts';

export interface EventStreamLimits extends BeatLimits {
  readonly streamsMax: number;
  readonly streamsPerOrganizationMax: number;
  /** Per key or person. */
  readonly streamsPerCallerMax: number;
  /** Bounds what large runs hold here: unread events and the state already sent. */
  readonly bytesMax: number;
  readonly bytesPerOrganizationMax: number;
  readonly bytesPerCallerMax: number;
}

const LIMITS: EventStreamLimits = {
  streamsMax: 5_000,
  streamsPerOrganizationMax: 1_000,
  streamsPerCallerMax: 100,
  beatMs: 15_000,
  checkMs: 5_000,
  slowMs: 30_000,
  bytesMax: 256 << 20,
  bytesPerOrganizationMax: 64 << 20,
  bytesPerCallerMax: 32 << 20,
};
/** Smaller amounts are not counted, since the number of streams is bounded. */
const SMALL_BYTES = 16 * 1024;
/** One that the system buffers, and one behind it. */
const UNREAD_TEXTS = 2;

export class EventStreams {
  private readonly places: Shares;
  private readonly bytes: Shares;
  readonly limits: EventStreamLimits;
  /** For the events of organizations, which a reader may request repeatedly. */
  readonly pace: DownloadPace;

  constructor(
    private readonly clock: Clock,
    private readonly longWork: LongWork,
    limits: Partial<EventStreamLimits> = {},
  ) {
    this.limits = { ...LIMITS, ...limits };
    this.pace = new DownloadPace(clock);
    const { streamsMax, streamsPerOrganizationMax, streamsPerCallerMax } = this.limits;
    this.places = new Shares({
      placesMax: streamsMax,
      perOrganizationMax: streamsPerOrganizationMax,
      perKeyMax: streamsPerCallerMax,
    });
    this.bytes = new Shares({
      placesMax: this.limits.bytesMax,
      perOrganizationMax: this.limits.bytesPerOrganizationMax,
      perKeyMax: this.limits.bytesPerCallerMax,
    });
  }

  /** Takes a place among the streams. Returns a function that releases it. @throws rate_limited, unavailable */
  take(caller: Caller): () => void {
    const place = this.places.take(caller.orgId, callerId(caller));
    if (!place.ok) throw overShare('event streams', place);
    return place.leave;
  }

  /** Returns the stream of one run, in a place that it releases. @throws rate_limited, unavailable */
  enter(caller: Caller, mayRead: () => Promise<boolean>): RunEventStream {
    const leave = this.take(caller);
    const inTurns = <T>(run: RunView, work: Iterator<unknown, T>) =>
      this.longWork.run(caller.orgId, run.steps.length * STEP_BYTES, work);
    const hold = (bytes: number) => this.bytes.take(caller.orgId, callerId(caller), bytes);
    return new RunEventStream({ clock: this.clock, limits: this.limits, mayRead, leave, inTurns, hold });
  }
}

/** Reports whether the caller may still make this request. A check without an answer ends nothing. */
export async function mayStillRead(scope: FastifyInstance, request: FastifyRequest, access: Role): Promise<boolean> {
  try {
    return mayUse(await scope.callerAgain(request), access);
  } catch (error) {
    return asServiceError(error).code === 'unavailable';
  }
}

/** One reply. It follows its run from the beginning and writes from `begin` on. */
export class RunEventStream implements RunFollower {
  private latest: RunView | null = null;
  private toldRevision = -1;
  private told: ToldRun | null = null;
  private declared: readonly DeclaredStep[] | null = null;
  private writing = false;
  /** Release the bytes of the state already sent, and of texts that may be unread, oldest first. */
  private leaveTold = () => {};
  private readonly unread: (() => void)[] = [];
  private onEnd: () => void = () => {};
  private readonly events: EventBody;

  constructor(
    private readonly parts: {
      readonly clock: Clock;
      readonly limits: EventStreamLimits;
      /** Whether the caller may still read. */
      readonly mayRead: () => Promise<boolean>;
      /** Returns the place. */
      readonly leave: () => void;
      /** Runs work in slices if it takes long for a run with many steps. */
      readonly inTurns: <T>(run: RunView, work: Iterator<unknown, T>) => Promise<T>;
      /** Counts bytes that are held here. */
      readonly hold: (bytes: number) => Taken;
    },
  ) {
    const { clock, limits, mayRead, leave } = parts;
    this.events = new EventBody({
      clock,
      limits,
      mayRead,
      onRead: () => {
        if (this.unread.length >= UNREAD_TEXTS) this.unread.shift()?.();
        this.flush();
      },
      onEnd: () => {
        this.leaveTold();
        leave();
        this.onEnd();
      },
      onClosed: () => {
        for (const release of this.unread.splice(0)) release();
      },
    });
  }

  get body(): Readable {
    return this.events.readable;
  }

  /** `known`: the state the reader already has, or null. `onEnd` is called once. */
  begin(known: { revision: number; told: ToldRun } | null, declared: readonly DeclaredStep[], onEnd: () => void): void {
    this.onEnd = onEnd;
    // The reader or the process has ended meanwhile.
    if (this.events.ended) return onEnd();
    this.declared = declared;
    const leaveTold = this.held(known?.told.bytes ?? 0);
    if (!leaveTold) return this.end();
    this.leaveTold = leaveTold;
    this.told = known?.told ?? null;
    this.toldRevision = known?.revision ?? -1;
    this.events.begin();
    this.flush();
  }

  changed(run: RunView): void {
    if (this.latest !== null && this.latest.revision >= run.revision) return;
    this.latest = run;
    this.flush();
  }

  end(): void {
    this.events.end();
  }

  private flush(): void {
    const run = this.latest;
    if (run === null || this.declared === null || this.writing || !this.events.takesMore) return;
    if (run.revision <= this.toldRevision) return this.endIfFinished(run);
    const { clock, inTurns } = this.parts;
    const work = runEvents(this.told, run, this.declared, clock.wallMs());
    if (!isLongRun(run)) return this.tell(run, atOnce(work));
    this.writing = true;
    inTurns(run, work).then(
      (events) => {
        this.writing = false;
        if (this.events.ended) return;
        this.tell(run, events);
        this.flush();
      },
      // The organization has too much work waiting: the reader reconnects.
      () => this.end(),
    );
  }

  private tell(run: RunView, { text, told }: RunEvents): void {
    // Releases the state sent before.
    this.leaveTold();
    const leaveTold = this.held(told.bytes);
    const leaveText = leaveTold && this.held(text.length);
    this.leaveTold = leaveTold ?? (() => {});
    // Over a share: the reader reconnects.
    if (!leaveText) return this.end();
    this.toldRevision = run.revision;
    this.told = told;
    this.unread.push(leaveText);
    if (text !== '') this.events.push(text);
    this.endIfFinished(run);
  }

  /** Returns null over a share. */
  private held(bytes: number): (() => void) | null {
    if (bytes <= SMALL_BYTES) return () => {};
    const place = this.parts.hold(bytes);
    return place.ok ? place.leave : null;
  }

  private endIfFinished(run: RunView): void {
    if (isFinished(run)) this.end();
  }
}

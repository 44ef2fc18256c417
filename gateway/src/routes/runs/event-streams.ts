// The open replies that tell of runs as they change: how many there may be, and how each of them goes on. One that its
// reader does not read holds nothing but the newest state, and is ended after a while.
import { Readable } from 'node:stream';
import { type Caller, callerId } from '@methods/auth/caller';
import type { Clock, Timer } from '@methods/base/clock';
import { Shares } from '@methods/base/shares';
import { overShare } from '@methods/errors/over-share';
import type { RunView } from '@methods/proto/run/v1/run_pb';
import type { RunFollower } from '../../clients/run-waiters.ts';
import { atOnce } from '../../turns/at-once.ts';
import type { LongWork } from '../../turns/long-work.ts';
import { droppedEvent, type RunEvents, runEvents, type ToldRun } from '../../views/run-events.ts';
import { isFinished, isLongRun } from '../../views/run-view.ts';
import type { DeclaredStep } from '../../views/step-view.ts';
import { STEP_BYTES } from './run-reply.ts';

export interface EventStreamLimits {
  readonly streamsMax: number;
  readonly streamsPerOrganizationMax: number;
  /** Of one key or person. */
  readonly streamsPerCallerMax: number;
  /** A comment goes out this often, and the caller's credential is looked at again. */
  readonly beatMs: number;
  /** How long a reader may take for what is under way. */
  readonly slowMs: number;
}

const LIMITS: EventStreamLimits = {
  streamsMax: 5_000,
  streamsPerOrganizationMax: 1_000,
  streamsPerCallerMax: 100,
  beatMs: 15_000,
  slowMs: 30_000,
};
const BUFFERED_BYTES = 64 * 1024;
/** What a reader waits before it comes back. */
const PREAMBLE = 'retry: 1000\n\n';

export class EventStreams {
  private readonly places: Shares;
  private readonly limits: EventStreamLimits;

  constructor(
    private readonly clock: Clock,
    private readonly longWork: LongWork,
    limits: Partial<EventStreamLimits> = {},
  ) {
    this.limits = { ...LIMITS, ...limits };
    const { streamsMax, streamsPerOrganizationMax, streamsPerCallerMax } = this.limits;
    this.places = new Shares({
      placesMax: streamsMax,
      perOrganizationMax: streamsPerOrganizationMax,
      perKeyMax: streamsPerCallerMax,
    });
  }

  /** A place among the streams; the stream gives it back. @throws rate_limited, unavailable */
  enter(caller: Caller, stands: () => Promise<boolean>): RunEventStream {
    const place = this.places.take(caller.orgId, callerId(caller));
    if (!place.ok) throw overShare('event streams', place);
    const inTurns = <T>(run: RunView, work: Iterator<unknown, T>) =>
      this.longWork.run(caller.orgId, run.steps.length * STEP_BYTES, work);
    return new RunEventStream({ clock: this.clock, limits: this.limits, stands, leave: place.leave, inTurns });
  }
}

/** One reply. It follows its run from the beginning and tells from `begin` on. */
export class RunEventStream implements RunFollower {
  readonly body: Readable;
  private latest: RunView | null = null;
  private toldRevision = -1;
  private told: ToldRun | null = null;
  private declared: readonly DeclaredStep[] | null = null;
  private blockedSinceMs: number | null = null;
  private writing = false;
  private ended = false;
  private timer: Timer | null = null;
  private onEnd: () => void = () => {};

  constructor(
    private readonly parts: {
      readonly clock: Clock;
      readonly limits: EventStreamLimits;
      /** Whether the caller may still read. */
      readonly stands: () => Promise<boolean>;
      /** Gives the place back. */
      readonly leave: () => void;
      /** Does what takes long for a run with many steps. */
      readonly inTurns: <T>(run: RunView, work: Iterator<unknown, T>) => Promise<T>;
    },
  ) {
    this.body = new Readable({
      highWaterMark: BUFFERED_BYTES,
      read: () => {
        this.blockedSinceMs = null;
        this.flush();
      },
      destroy: (error, done) => {
        this.stop();
        done(error);
      },
    });
  }

  /** `known`: what the reader has already been told, null for nothing. `onEnd` is called once. */
  begin(known: { revision: number; told: ToldRun } | null, declared: readonly DeclaredStep[], onEnd: () => void): void {
    this.onEnd = onEnd;
    // The reader or the process has gone meanwhile.
    if (this.ended) return onEnd();
    this.declared = declared;
    this.told = known?.told ?? null;
    this.toldRevision = known?.revision ?? -1;
    this.push(PREAMBLE);
    this.beatLater();
    this.flush();
  }

  changed(run: RunView): void {
    if (this.latest !== null && this.latest.revision >= run.revision) return;
    this.latest = run;
    this.flush();
  }

  end(): void {
    if (this.ended) return;
    this.stop();
    this.body.push(null);
  }

  private flush(): void {
    const run = this.latest;
    if (run === null || this.declared === null || this.ended || this.blockedSinceMs !== null || this.writing) return;
    if (run.revision <= this.toldRevision) return this.endIfFinished(run);
    const { clock, inTurns } = this.parts;
    const work = runEvents(this.told, run, this.declared, clock.wallMs());
    if (!isLongRun(run)) return this.tell(run, atOnce(work));
    this.writing = true;
    inTurns(run, work).then(
      (events) => {
        this.writing = false;
        if (this.ended) return;
        this.tell(run, events);
        this.flush();
      },
      // The organization has too much waiting: the reader comes back.
      () => this.end(),
    );
  }

  private tell(run: RunView, { text, told }: RunEvents): void {
    this.toldRevision = run.revision;
    this.told = told;
    if (text !== '') this.push(text);
    this.endIfFinished(run);
  }

  private endIfFinished(run: RunView): void {
    if (isFinished(run)) this.end();
  }

  private push(text: string): void {
    if (!this.body.push(text)) this.blockedSinceMs = this.parts.clock.monotonicMs();
  }

  private beatLater(): void {
    this.timer = this.parts.clock.after(this.parts.limits.beatMs, () => void this.beat());
  }

  private async beat(): Promise<void> {
    if (
      this.blockedSinceMs !== null &&
      this.parts.clock.monotonicMs() - this.blockedSinceMs >= this.parts.limits.slowMs
    ) {
      return this.drop('slow');
    }
    if (!(await this.parts.stands())) return this.drop('unauthorized');
    if (this.ended) return;
    if (this.blockedSinceMs === null) this.push(': still here\n\n');
    this.beatLater();
  }

  // A reader that reads no more must not hold the connection for ever.
  private drop(reason: 'slow' | 'unauthorized'): void {
    if (this.ended) return;
    this.body.push(droppedEvent(reason));
    this.end();
    this.parts.clock.after(this.parts.limits.slowMs, () => this.body.destroy());
  }

  private stop(): void {
    if (this.ended) return;
    this.ended = true;
    this.timer?.cancel();
    this.parts.leave();
    this.onEnd();
  }
}

// Waits for many runs by one connection, the organization's event stream, and without a timer for each of them. While
// the stream cannot be opened, the runs are read one by one.
import { readEvents } from '@methods/api/event-stream';
import { unlessLeft } from './deadline.ts';
import { AuthenticationError, MethodsError, PermissionError } from './errors.ts';
import { backoffMs, isPassing, OUTAGE_MS_MAX, pause } from './pauses.ts';
import type { Requests } from './requests.ts';
import { isOver, isStarted, type Run, runPath, type StartedRun } from './run.ts';
import { SILENCE_MS, unreadable } from './run-events.ts';

/** Runs with events whose starts have not been answered; more of them make the starts read their runs. */
const EARLY_MAX = 10_000;

export class FollowedRuns {
  private readonly runs = new Map<string, Set<FollowedRun>>();
  /** Of runs that may be among those being started. */
  private readonly early = new Set<string>();
  private starting = 0;
  private following: { readonly opened: Promise<void>; readonly stop: AbortController } | null = null;
  private lastId: string | null = null;
  /** Numbers the events, and the reads when they begin. */
  private order = 0;

  constructor(private readonly requests: Requests) {}

  /** Starts a run by `send`, and follows it until its `leave`. */
  async start(send: () => Promise<StartedRun>, signal: AbortSignal | undefined): Promise<FollowedRun> {
    this.starting++;
    try {
      // What happens before the stream is open would be missed.
      await unlessLeft(this.follow(), signal);
      const { run_id: runId, status } = await send();
      const run = new FollowedRun(runId, (left) => this.left(left));
      this.runs.set(runId, (this.runs.get(runId) ?? new Set()).add(run));
      if (status !== 'queued' || this.early.has(runId) || this.early.size >= EARLY_MAX) void this.read(runId, true);
      return run;
    } finally {
      if (--this.starting === 0) this.early.clear();
      this.stopIfUnused();
    }
  }

  private left(run: FollowedRun): void {
    const others = this.runs.get(run.runId);
    others?.delete(run);
    if (others?.size === 0) this.runs.delete(run.runId);
    this.stopIfUnused();
  }

  private stopIfUnused(): void {
    if (this.starting > 0 || this.runs.size > 0) return;
    this.following?.stop.abort();
    this.following = null;
    this.lastId = null;
  }

  /** Resolves once the stream is open, or was tried in vain. */
  private follow(): Promise<void> {
    if (this.following === null) {
      const stop = new AbortController();
      const opened = new Promise<void>((resolve) => {
        void this.connect(stop.signal, resolve);
      });
      this.following = { opened, stop };
    }
    return this.following.opened;
  }

  private async connect(signal: AbortSignal, opened: () => void): Promise<void> {
    let notBeforeMs = 0;
    let outSinceMs: number | null = null;
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        if (performance.now() >= notBeforeMs) {
          await this.receive(signal, () => {
            failures = 0;
            outSinceMs = null;
            opened();
          });
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof AuthenticationError || error instanceof PermissionError) {
          this.following = null;
          for (const run of this.all()) run.fail(error);
          return opened();
        }
        if (error instanceof MethodsError) notBeforeMs = performance.now() + (error.retryAfterMs ?? 0);
        outSinceMs = isPassing(error) ? (outSinceMs ?? performance.now()) : null;
      }
      opened();
      // A stream that worked is opened again first, and then has what was missed.
      if (failures > 0 && !this.outlasts(outSinceMs)) await this.readAll();
      await pause(backoffMs(failures), signal).catch(() => {});
    }
  }

  private outlasts(outSinceMs: number | null): boolean {
    const { maxRetries } = this.requests.settings;
    if (outSinceMs === null || this.lastId === null || maxRetries === 0) return false;
    return performance.now() - outSinceMs < OUTAGE_MS_MAX;
  }

  private async receive(signal: AbortSignal, opened: () => void): Promise<void> {
    const headers: Record<string, string> = this.lastId === null ? {} : { 'last-event-id': this.lastId };
    const exchange = await this.requests.open({ verb: 'GET', path: '/v1/events', headers, signal, maxRetries: 0 });
    for await (const { event, id, data } of readEvents(exchange.chunks(SILENCE_MS), unreadable)) {
      this.lastId = id ?? this.lastId;
      if (event === 'run') this.changed(data);
      else if (event === 'ready') opened();
      else if (event === 'resync') {
        opened();
        // Not awaited: a slow read would make the stream look silent.
        void this.readAll(true);
      }
    }
  }

  private changed(data: string): void {
    // Most runs of a busy organization are not this client's: their text is not parsed.
    const [, runId = ''] = /^\{"run_id":"([^"]*)"/.exec(data) ?? [];
    const followed = this.runs.get(runId);
    if (followed === undefined) {
      if (this.starting > 0 && this.early.size < EARLY_MAX) this.early.add(runId);
      return;
    }
    const run = parsed(data);
    // Its reply is whole, or says to the callers that it is not understood.
    if (!isStarted(run)) return void this.read(runId, true);
    // Long runs, and those of a person's sign-in, are sent in short.
    if (!('steps' in run)) {
      if (isOver(run) || run.status === 'waiting') void this.read(runId, true);
    } else {
      const at = ++this.order;
      for (const each of followed) each.offer(run as Run, at);
    }
  }

  private async readAll(isUnderway = false): Promise<void> {
    await Promise.all([...this.runs.keys()].map((runId) => this.read(runId, isUnderway)));
  }

  private async read(runId: string, isUnderway = false): Promise<void> {
    const followed = () => [...(this.runs.get(runId) ?? [])];
    const began = ++this.order;
    try {
      // Ends when no run is followed any more.
      const signal = this.following?.stop.signal;
      const run = await this.requests.send({ verb: 'GET', path: runPath(runId), signal, is: isStarted, isUnderway });
      for (const each of followed()) each.offer(run as Run, began);
    } catch (error) {
      for (const each of followed()) each.fail(error);
    }
  }

  private *all(): Generator<FollowedRun> {
    for (const each of this.runs.values()) yield* [...each];
  }
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

/** A run that one caller waits for. */
export class FollowedRun {
  private latest: Run | null = null;
  private at = 0;
  private error: unknown;
  private wake = () => {};

  constructor(
    readonly runId: string,
    private readonly onLeave: (run: FollowedRun) => void,
  ) {}

  /** Returns the run once it is over, or has another question. @throws what ended the waiting; the signal's reason */
  async next(past: string | undefined, signal: AbortSignal | undefined): Promise<Run> {
    for (;;) {
      const { latest } = this;
      if (latest !== null && (isOver(latest) || (latest.question !== undefined && latest.question.id !== past)))
        return latest;
      if (this.error !== undefined) throw this.error;
      const woken = new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      await unlessLeft(woken, signal);
    }
  }

  offer(run: Run, at: number): void {
    // A reply may be older than an event that came since its request was sent.
    if (at > this.at && (this.latest === null || !isOver(this.latest))) {
      this.latest = run;
      this.at = at;
    }
    this.wake();
  }

  fail(error: unknown): void {
    this.error = error;
    this.wake();
  }

  leave(): void {
    this.onLeave(this);
  }
}

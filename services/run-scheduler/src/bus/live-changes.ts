// Notifies other nodes of runs that came to rest, so that their watchers can read them: one core message a shard and
// turn. Announces every change of a run that another node watches step by step. A lost message delays a reader until
// its next poll and never causes a wrong answer.
import { create, toBinary } from '@bufbuild/protobuf';
import type { Clock } from '@methods/base/clock';
import { type RunId, shardOfRunId } from '@methods/base/ids';
import { TurnBatch } from '@methods/base/turn-batch';
import { LiveChangesSchema, WatchedRunsSchema } from '@methods/proto/event/v1/event_pb';
import { decoder } from '@methods/rpc/message-codec';
import { isFinished, type Run } from '../run/run.ts';
import { runStatusNumber } from '../wire/run-message.ts';

interface Change {
  readonly runId: RunId;
  readonly shard: number;
  readonly revision: number;
  readonly status: number;
}

const changesOf = decoder(LiveChangesSchema);
const watchedOf = decoder(WatchedRunsSchema);
/** Longer than the interval at which other nodes announce the runs they watch. */
const WATCHED_MS = 10_000;
const WATCHED_MAX = 50_000;

export class LiveChanges {
  private readonly batch: TurnBatch<Change>;
  /** Runs that other nodes watch step by step, and until when (monotonic ms); oldest first. */
  private readonly stepwise = new Map<string, number>();

  constructor(
    private readonly options: {
      readonly clock: Clock;
      readonly shardCount: number;
      readonly owns: (shard: number) => boolean;
      /** Reports whether there are other nodes. */
      readonly hasPeers: () => boolean;
      readonly publish: (shard: number, body: Uint8Array) => void;
    },
  ) {
    this.batch = new TurnBatch((changes) => this.flush(changes));
  }

  /**
   * Another node watches these runs step by step. It may have missed a change before this, so it reads them once more.
   */
  watchedElsewhere(runIds: readonly RunId[]): void {
    const nowMs = this.options.clock.monotonicMs();
    for (const [runId, untilMs] of this.stepwise) {
      if (untilMs > nowMs && this.stepwise.size < WATCHED_MAX) break;
      this.stepwise.delete(runId);
    }
    for (const runId of runIds) {
      const shard = shardOfRunId(runId, this.options.shardCount);
      if (shard === null || !this.options.owns(shard)) continue;
      if (!this.stepwise.delete(runId)) this.batch.add({ runId, shard, revision: 0, status: 0 });
      this.stepwise.set(runId, nowMs + WATCHED_MS);
    }
  }

  committed(_before: Run | null, after: Run): void {
    const { runId, shard } = after.facts;
    const rests = after.status === 'waiting' || isFinished(after);
    if (!rests && !this.isWatchedElsewhere(runId)) return;
    if (!this.options.hasPeers()) return;
    if (isFinished(after)) this.stepwise.delete(runId);
    this.batch.add({ runId, shard, revision: after.revision, status: runStatusNumber(after.status) });
  }

  private isWatchedElsewhere(runId: RunId): boolean {
    if (this.stepwise.size === 0) return false;
    const untilMs = this.stepwise.get(runId);
    return untilMs !== undefined && untilMs > this.options.clock.monotonicMs();
  }

  private flush(all: readonly Change[]): void {
    const byShard = new Map<number, Change[]>();
    for (const change of all) {
      const list = byShard.get(change.shard);
      if (list === undefined) byShard.set(change.shard, [change]);
      else list.push(change);
    }
    for (const [shard, list] of byShard) {
      const changes = list.map(({ runId, revision, status }) => ({ runId, revision, status }));
      this.options.publish(shard, toBinary(LiveChangesSchema, create(LiveChangesSchema, { changes })));
    }
  }
}

export function liveRunIds(body: Uint8Array): RunId[] {
  return changesOf(body).changes.map((change) => change.runId);
}

export function watchedRuns(runIds: readonly RunId[]): Uint8Array {
  return toBinary(WatchedRunsSchema, create(WatchedRunsSchema, { runIds: [...runIds] }));
}

export function watchedRunIds(body: Uint8Array): RunId[] {
  return watchedOf(body).runIds;
}

// Tells other nodes which runs came to rest, so that whoever watches them there can look: one core message a shard
// and turn. Lost messages cost a reader its next poll, never a wrong answer.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { TurnBatch } from '@methods/base/turn-batch';
import { LiveChangesSchema } from '@methods/proto/event/v1/event_pb';
import { runStatusNumber } from '../rpc/run-message.ts';
import type { Run } from '../run/run.ts';

export class LiveChanges {
  private readonly batch: TurnBatch<Run>;

  constructor(
    private readonly options: {
      /** Other nodes are there to hear it. */
      readonly hasPeers: () => boolean;
      readonly publish: (shard: number, body: Uint8Array) => void;
    },
  ) {
    this.batch = new TurnBatch((runs) => this.flush(runs));
  }

  committed(_before: Run | null, after: Run): void {
    if (
      after.status === 'queued' ||
      after.status === 'sleeping' ||
      after.status === 'running' ||
      !this.options.hasPeers()
    )
      return;
    this.batch.add(after);
  }

  private flush(runs: readonly Run[]): void {
    const byShard = new Map<number, Run[]>();
    for (const run of runs) {
      const list = byShard.get(run.facts.shard);
      if (list === undefined) byShard.set(run.facts.shard, [run]);
      else list.push(run);
    }
    for (const [shard, list] of byShard) {
      const changes = list.map((run) => ({
        runId: run.facts.runId,
        revision: run.revision,
        status: runStatusNumber(run.status),
      }));
      this.options.publish(shard, toBinary(LiveChangesSchema, create(LiveChangesSchema, { changes })));
    }
  }
}

export function liveRunIds(body: Uint8Array): string[] {
  return fromBinary(LiveChangesSchema, body).changes.map((change) => change.runId);
}

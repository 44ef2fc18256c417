// Starts runs at one node of choice, past the gateway, which would spread them.

import { randomBytes } from 'node:crypto';
import type { KeyId, OrgId, ProductionId, VersionId } from '@methods/base/ids';
import type { Sql } from '@methods/postgres/pool';
import { RunSchedulerService } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { dialFrames } from '@methods/rpc/frame-stream';

/** What a start of this run looks like to a node; the caller's rights were checked when it was started. */
interface Example {
  readonly org_id: OrgId;
  readonly method: ProductionId;
  readonly version_id: VersionId;
  readonly key_id: KeyId;
}

const DEADLINE_MS = 10_000;

export class NodeStarts {
  private readonly open = new Map<number, { resolve(runId: string): void; reject(error: Error): void }>();
  private readonly connection;
  private lastCallId = 0;

  private constructor(
    address: string,
    private readonly example: Example,
  ) {
    this.connection = dialFrames(RunSchedulerService.method.exchange, address, {
      onItems: (items) => {
        for (const { callId, item } of items) {
          const call = this.open.get(callId);
          if (call === undefined) continue;
          this.open.delete(callId);
          if (item.case === 'run') call.resolve(item.value.run?.runId ?? 'run_none');
          else call.reject(new Error(`the node replied with ${item.case}`));
        }
      },
      onClose: () => {
        for (const { reject } of this.open.values()) reject(new Error('the node hung up'));
      },
    });
  }

  /** One for each node; all start runs like the one of `runId`. */
  static async everywhere(sql: Sql, runId: string): Promise<NodeStarts[]> {
    const [example] = await sql<Example[]>`
      select org_id, method, version_id, key_id from scheduler.runs where run_id = ${runId}`;
    if (example === undefined) throw new Error(`there is no run ${runId}`);
    const nodes = await sql<{ peer_address: string }[]>`
      select peer_address from scheduler.nodes
       where node_id in (select owner from scheduler.shards) order by node_id`;
    return nodes.map(({ peer_address }) => new NodeStarts(peer_address, example));
  }

  /** The run's id, once its start is committed. */
  start(): Promise<string> {
    const { org_id: orgId, method, version_id: versionId, key_id: keyId } = this.example;
    const callId = ++this.lastCallId;
    return new Promise((resolve, reject) => {
      this.open.set(callId, { resolve, reject });
      const value = {
        orgId,
        method,
        versionId,
        keyId,
        inputsJson: '{}',
        idempotencyHash: randomBytes(32),
        answerBy: 1,
      };
      this.connection.send({ callId, deadlineMs: DEADLINE_MS, requestId: 'test', item: { case: 'start', value } });
    });
  }

  close(): void {
    this.connection.close();
  }
}

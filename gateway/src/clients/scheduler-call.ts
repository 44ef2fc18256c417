// One question to the run-scheduler: what is asked, until when, and whether asking twice is harmless.
import type { ServiceError } from '@methods/errors/service-error';
import type { GatewayItem, RunReply } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { SchedulerNode } from './scheduler-node.ts';

export type CallItem = GatewayItem['item'];

export interface SchedulerCall {
  /** In the stream's call_id, the same on every node it is sent to. */
  readonly id: number;
  readonly item: CallItem;
  readonly requestId: string;
  /** May be sent to another node while its fate on the first is unknown. */
  readonly repeatable: boolean;
  /** Monotonic ms. */
  readonly deadlineAtMs: number;
  /** Nodes it was sent to and that have not refused or lost it, then those that refused it. */
  readonly sentTo: Set<SchedulerNode>;
  readonly refusedBy: Set<SchedulerNode>;
  readonly resolve: (reply: CallReply) => void;
  readonly reject: (error: ServiceError) => void;
}

export interface CallReply {
  readonly reply: RunReply;
  /** The node that replied: pushes about a run started or watched by this call come from there. */
  readonly node: SchedulerNode;
}

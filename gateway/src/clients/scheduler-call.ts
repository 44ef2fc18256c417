// One call to the run-scheduler: the request, its deadline, and whether a repeat is harmless.
import type { ServiceError } from '@methods/errors/service-error';
import type { NodeItem } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { NodeCall, SchedulerNode } from './scheduler-node.ts';

export interface SchedulerCall extends NodeCall {
  /** May be sent to another node while its fate on the first is unknown. */
  readonly repeatable: boolean;
  /** Nodes it was sent to that have not refused or lost it, then those that refused it. */
  readonly sentTo: Set<SchedulerNode>;
  readonly refusedBy: Set<SchedulerNode>;
  /** Nodes whose stream ended during the call. */
  lostWith: number;
  /** Gives back its share of calls. */
  readonly leave: () => void;
  readonly resolve: (reply: CallReply) => void;
  readonly reject: (error: ServiceError) => void;
}

export type ReplyItem = Extract<NodeItem['item'], { readonly case: 'run' | 'page' | 'start' }>;

export interface CallReply {
  readonly item: ReplyItem;
  /** The node that replied: pushes about a run started or watched by this call come from there. */
  readonly node: SchedulerNode;
}

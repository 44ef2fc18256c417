// One call to the run-scheduler: the request, its deadline, and whether a repeat is harmless.
import type { ServiceError } from '@methods/errors/service-error';
import type { NodeItem } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { NodeCall, SchedulerNode } from './scheduler-node.ts';

export interface SchedulerCall extends NodeCall {
  /** May be sent to another node while its outcome on the first is unknown. */
  readonly repeatable: boolean;
  /** Nodes that got the call and have neither refused nor lost it, then those that refused it. */
  readonly sentTo: Set<SchedulerNode>;
  readonly refusedBy: Set<SchedulerNode>;
  /** The number of nodes whose stream ended during the call. */
  lostWith: number;
  /** Releases its share of calls. */
  readonly leave: () => void;
  readonly resolve: (reply: CallReply) => void;
  readonly reject: (error: ServiceError) => void;
}

export type ReplyItem = Extract<NodeItem['item'], { readonly case: 'run' | 'page' | 'start' }>;

export interface CallReply {
  readonly item: ReplyItem;
  /** The node that replied. It pushes the run that this call started or watches. */
  readonly node: SchedulerNode;
}

// Sends calls to a run-scheduler node that can answer: picks the node, repeats a call on another node when one dies or
// freezes, and gives up at the deadline. A start may be repeated because its idempotency hash, the caller's or the
// gateway's own, makes the second one find the run of the first.
import type { Clock } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import { Shares } from '@methods/base/shares';
import { fromErrorDetail } from '@methods/errors/error-detail';
import { overShare, ServiceError } from '@methods/errors/service-error';
import type { NodeItem } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { CallReply, SchedulerCall } from './scheduler-call.ts';
import type { CallItem, SchedulerNode } from './scheduler-node.ts';

export interface CallOptions {
  readonly requestId: string;
  readonly repeatable: boolean;
  /** For a start: no caller waits for the run. */
  readonly unwatched?: boolean;
  /** Default 5 s. */
  readonly timeoutMs?: number;
}

const CALL_MS = 5_000;
/** A node counts as frozen when it owes an answer for longer while another node does not. */
const SILENCE_MS_MAX = 1_500;
const CALLS = { placesMax: 50_000, perOrganizationMax: 10_000 };
/** For larger calls, so that one organization does not fill the streams that all share. */
const BYTES = { placesMax: 48 * 1024 * 1024, perOrganizationMax: 16 * 1024 * 1024 };
const SMALL_BYTES = 16 * 1024;
const CALL_ID_MAX = 0xffff_ffff;
/** A call during which two nodes died is not sent to a third: it may be the cause. */
const LOST_WITH_MAX = 2;

export class SchedulerCalls {
  private readonly calls = new Map<number, SchedulerCall>();
  private readonly places = new Shares(CALLS);
  private readonly bytes = new Shares(BYTES);
  private nodes: readonly SchedulerNode[] = [];
  private lastId = 0;
  private turn = 0;

  constructor(
    private readonly clock: Clock,
    /** Called with each call: `sweep` must run while there are any. */
    private readonly called: () => void,
  ) {}

  get size(): number {
    return this.calls.size;
  }

  use(nodes: readonly SchedulerNode[]): void {
    this.nodes = nodes;
  }

  /**
   * Returns the reply, or throws the node's refusal as ServiceError. `unavailable`: no node answered in time; the call
   * may or may not have been done.
   */
  call(item: CallItem, options: CallOptions): Promise<CallReply> {
    const { requestId, repeatable, unwatched = false, timeoutMs = CALL_MS } = options;
    return new Promise((resolve, reject) => {
      const orgId = orgOf(item);
      const place = this.places.take(orgId);
      if (!place.ok) return reject(overShare('requests to the run-scheduler', place, 1_000));
      const size = sizeOf(item);
      const room = size > SMALL_BYTES ? this.bytes.take(orgId, '', size) : null;
      if (room?.ok === false) {
        place.leave();
        return reject(overShare('bytes on their way to the run-scheduler', room, 1_000));
      }
      const deadlineAtMs = this.clock.monotonicMs() + timeoutMs;
      const call = {
        id: this.nextId(),
        item,
        requestId,
        repeatable,
        unwatched,
        deadlineAtMs,
        sentTo: new Set<SchedulerNode>(),
        refusedBy: new Set<SchedulerNode>(),
        lostWith: 0,
        leave: () => {
          place.leave();
          if (room?.ok) room.leave();
        },
        resolve,
        reject,
      };
      this.calls.set(call.id, call);
      this.called();
      this.place(call);
    });
  }

  onItem(node: SchedulerNode, { callId, item }: NodeItem): void {
    const call = this.calls.get(callId);
    // Another node has settled the call, or its deadline has.
    if (!call) return;
    if (item.case === 'run' || item.case === 'page' || item.case === 'start') {
      this.settle(call);
      call.resolve({ item, node });
    } else if (item.case === 'error') {
      this.refused(call, node, fromErrorDetail(item.value));
    }
  }

  onStatus(): void {
    for (const call of this.calls.values()) if (call.sentTo.size === 0) this.place(call);
  }

  /** The call cannot be sent to any node. */
  onUnsendable(callId: number, error: ServiceError): void {
    const call = this.calls.get(callId);
    if (call) this.fail(call, error);
  }

  /** `refused`: the content of a call ended the stream, and that call must not end another one. */
  onLost(node: SchedulerNode, callIds: readonly number[], refused: boolean): void {
    for (const id of callIds) {
      const call = this.calls.get(id);
      if (!call) continue;
      call.sentTo.delete(node);
      call.lostWith++;
      if (call.sentTo.size > 0) continue;
      if (call.repeatable && !refused && call.lostWith < LOST_WITH_MAX) this.place(call);
      else this.fail(call, new ServiceError('unavailable'));
    }
  }

  /**
   * Ends overdue calls and sends the calls that a silent node owes to another one. Called every 100 ms while there are
   * any.
   */
  sweep(): void {
    const nowMs = this.clock.monotonicMs();
    for (const call of this.calls.values()) {
      if (call.deadlineAtMs <= nowMs) this.fail(call, new ServiceError('unavailable'));
    }
    for (const node of this.nodes) {
      if (node.silentMs(nowMs) <= SILENCE_MS_MAX || !this.anotherAnswers(node, nowMs)) continue;
      node.suspect(nowMs);
      for (const id of node.inFlightIds()) {
        const call = this.calls.get(id);
        if (call?.repeatable && call.sentTo.size === 1 && call.lostWith === 0) this.place(call);
      }
    }
  }

  /** Ends every call: the process stops. */
  stop(): void {
    for (const call of this.calls.values()) this.fail(call, new ServiceError('unavailable'));
  }

  private refused(call: SchedulerCall, node: SchedulerNode, error: ServiceError): void {
    call.sentTo.delete(node);
    call.refusedBy.add(node);
    const elsewhere = error.code === 'unavailable' || error.code === 'wrong_shard';
    // Another node still works on the call: its answer counts, unless this one is final.
    if (elsewhere && call.sentTo.size > 0) return;
    if (elsewhere && call.repeatable && this.best(call) !== null) this.place(call);
    else this.fail(call, error.code === 'wrong_shard' ? new ServiceError('unavailable') : error);
  }

  // Without a node the call waits here until a node reports its status, or until the deadline.
  private place(call: SchedulerCall): void {
    const nowMs = this.clock.monotonicMs();
    for (;;) {
      const node = this.best(call);
      if (node === null) return;
      try {
        if (node.send(call, nowMs)) {
          call.sentTo.add(node);
          return;
        }
      } catch (error) {
        this.fail(
          call,
          error instanceof ServiceError ? error : new ServiceError('internal', undefined, { cause: error }),
        );
        return;
      }
      call.refusedBy.add(node);
    }
  }

  /** Returns the best node that neither has nor refused the call; among equals the least busy, in turn. */
  private best(call: SchedulerCall): SchedulerNode | null {
    let best: SchedulerNode | null = null;
    this.turn++;
    for (let i = 0; i < this.nodes.length; i++) {
      const node = this.nodes[(this.turn + i) % this.nodes.length] as SchedulerNode;
      if (node.rank === 0 || call.sentTo.has(node) || call.refusedBy.has(node)) continue;
      const better =
        best === null || node.rank > best.rank || (node.rank === best.rank && node.inFlightCalls < best.inFlightCalls);
      if (better) best = node;
    }
    return best;
  }

  private anotherAnswers(silent: SchedulerNode, nowMs: number): boolean {
    return this.nodes.some((node) => node !== silent && node.rank > 1 && node.silentMs(nowMs) <= SILENCE_MS_MAX);
  }

  private fail(call: SchedulerCall, error: ServiceError): void {
    this.settle(call);
    call.reject(error);
  }

  // A node must not count as silent because of an answer for which no caller waits.
  private settle(call: SchedulerCall): void {
    this.calls.delete(call.id);
    call.leave();
    for (const node of call.sentTo) node.forget(call.id);
  }

  private nextId(): number {
    do {
      this.lastId = this.lastId >= CALL_ID_MAX ? 1 : this.lastId + 1;
    } while (this.calls.has(this.lastId));
    return this.lastId;
  }
}

function orgOf({ value }: CallItem): OrgId | '' {
  return value !== undefined && 'orgId' in value ? value.orgId : '';
}

/** Returns the approximate size: only what callers wrote counts. */
function sizeOf(item: CallItem): number {
  if (item.case === 'start') return item.value.inputsJson.length;
  return item.case === 'answer' ? item.value.answerJson.length : 0;
}

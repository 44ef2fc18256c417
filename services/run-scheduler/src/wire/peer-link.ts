// An established link to one peer: notices both ways, and requests that each end with one reply, a time-out or the end
// of the link.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Clock, Timer } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import { toErrorDetail } from '@methods/errors/error-detail';
import { ServiceError } from '@methods/errors/service-error';
import type { PeerItem, PeerItemSchema } from '@methods/proto/peer/v1/peer_service_pb';
import type { FrameConnection } from '@methods/rpc/frame-stream';
import { LargeItems } from '@methods/rpc/large-items';

/** The interface of the links to peers for the rest of the node. */
export interface PeerSender {
  /** Returns false when there is no link to that node: the item is dropped. */
  send(nodeId: string, item: PeerItemInit): boolean;
  /** Rejects with ServiceError unavailable when the link breaks or the deadline passes. */
  request(nodeId: string, item: PeerItemInit, deadlineMs: number): Promise<PeerItem>;
  connected(): readonly string[];
}

/** A peer item, or a plain object of its shape. The link sets the call id and the reply flag. */
export type PeerItemInit = MessageInitShape<typeof PeerItemSchema>;
/** Answers a request on its link; does nothing for a notice, or when that link is gone. */
export type Reply = (item: PeerItemInit) => void;

interface PeerLinkOptions {
  /** The id of the other side. */
  readonly nodeId: string;
  /** The address at which the other side listens. */
  readonly address: string;
  readonly connection: FrameConnection<PeerItemInit>;
  /** This side opened the stream: it uses odd numbers for its requests, the other side even ones. */
  readonly dialled: boolean;
  readonly clock: Clock;
  readonly pendingMax: number;
  readonly onItem: (from: string, item: PeerItem, reply: Reply) => void;
}

interface Pending {
  resolve(item: PeerItem): void;
  reject(error: ServiceError): void;
  readonly timer: Timer;
}

const CALL_IDS = 2 ** 32;
const noReply: Reply = () => {};

export class PeerLink {
  readonly nodeId: string;
  readonly address: string;
  private readonly pending = new Map<number, Pending>();
  private readonly out: LargeItems<PeerItemInit>;
  private lastCallId: number;

  constructor(private readonly options: PeerLinkOptions) {
    this.out = new LargeItems(options.connection);
    this.nodeId = options.nodeId;
    this.address = options.address;
    this.lastCallId = options.dialled ? CALL_IDS - 1 : 0;
  }

  /**
   * Returns false when the link is closing, or the item's organization has too much waiting for it: the item is
   * dropped.
   */
  send(item: PeerItemInit): boolean {
    return this.out.send(orgOf(item), item) === 'sent';
  }

  /** The other side has read something. */
  taken(): void {
    this.out.taken();
  }

  /** Fails the item's own call: no message can carry the item, so it was not sent. */
  unsendable(item: PeerItemInit, error: ServiceError): void {
    const { callId = 0, isReply = false } = item;
    if (!isReply) return this.settle(callId)?.reject(error);
    const refusal = refusalOf(item, error);
    if (refusal !== null) this.options.connection.send({ ...refusal, callId, isReply: true });
  }

  /** Rejects with `unavailable` when there is no reply within `deadlineMs`, or the link ends first. */
  request(item: PeerItemInit, deadlineMs: number): Promise<PeerItem> {
    const { clock, pendingMax } = this.options;
    return new Promise((resolve, reject) => {
      if (this.pending.size >= pendingMax) {
        reject(new ServiceError('unavailable', 'Too many requests wait for this node.'));
        return;
      }
      const callId = this.nextCallId();
      const timer = clock.after(deadlineMs, () => {
        this.pending.delete(callId);
        reject(new ServiceError('unavailable', 'The node did not answer in time.'));
      });
      this.pending.set(callId, { resolve, reject, timer });
      if (!this.send({ ...item, callId })) this.settle(callId)?.reject(linkLost());
    });
  }

  received(item: PeerItem): void {
    if (item.isReply) this.settle(item.callId)?.resolve(item);
    else this.options.onItem(this.nodeId, item, item.callId === 0 ? noReply : this.replyTo(item.callId));
  }

  /** Ends the stream in good order. */
  close(error?: ServiceError): void {
    this.options.connection.close(error);
  }

  /** The stream has ended: there will be no more replies. */
  ended(): void {
    for (const callId of [...this.pending.keys()]) this.settle(callId)?.reject(linkLost());
  }

  private replyTo(callId: number): Reply {
    return (item) => void this.send({ ...item, callId, isReply: true });
  }

  // A reply after its time-out is dropped.
  private settle(callId: number): Pending | undefined {
    const pending = this.pending.get(callId);
    if (!pending) return undefined;
    this.pending.delete(callId);
    pending.timer.cancel();
    return pending;
  }

  // Steps of two keep odd and even apart, even around the end of the range; 0 means a notice.
  private nextCallId(): number {
    do this.lastCallId = (this.lastCallId + 2) % CALL_IDS;
    while (this.lastCallId === 0 || this.pending.has(this.lastCallId));
    return this.lastCallId;
  }
}

export function linkLost(): ServiceError {
  return new ServiceError('unavailable', 'The link to that node is lost.');
}

/** Returns the organization of a large item; empty for the node's own items. */
function orgOf({ item }: PeerItemInit): OrgId | '' {
  switch (item?.case) {
    case 'grant':
      return item.value.grant?.orgId ?? '';
    case 'start':
      return item.value.start?.orgId ?? '';
    case 'report':
    case 'command':
      return item.value.orgId ?? '';
    default:
      return '';
  }
}

/** Returns the replacement of a reply that is too large; null if there is none. */
function refusalOf({ item }: PeerItemInit, error: ServiceError): PeerItemInit | null {
  const outcome = { case: 'error' as const, value: toErrorDetail(error) };
  if (item?.case === 'startReply') return { item: { case: 'startReply', value: { outcome } } };
  if (item?.case !== 'commandReply') return null;
  return { item: { case: 'commandReply', value: { commandId: item.value.commandId ?? '', outcome } } };
}

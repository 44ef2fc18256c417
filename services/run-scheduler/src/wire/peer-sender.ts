// The interface of the links to peers for the rest of the node.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { PeerItem, PeerItemSchema } from '@methods/proto/peer/v1/peer_service_pb';

export type PeerItemInit = MessageInitShape<typeof PeerItemSchema>;

export interface PeerSender {
  /** False when there is no link to that node: the item goes nowhere. */
  send(nodeId: string, item: PeerItemInit): boolean;
  /** Rejects with ServiceError unavailable when the link breaks or the deadline passes. */
  request(nodeId: string, item: PeerItemInit, deadlineMs: number): Promise<PeerItem>;
  connected(): readonly string[];
}

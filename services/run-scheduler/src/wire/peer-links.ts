// The links of this node to every other node: one stream a pair, opened by the node with the lower id, both ways. A
// broken link is the first sign of a dead peer, so both sides then check whether the peer still listens.
import type { Clock } from '@methods/base/clock';
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import { type PeerHello, type PeerItem, PeerService } from '@methods/proto/peer/v1/peer_service_pb';
import { dialFrames, type FrameConnection, serveFrames } from '@methods/rpc/frame-stream';
import type { ServiceImplementation } from '@methods/rpc/service-definition';
import { linkLost, type PeerItemInit, PeerLink, type Reply } from './peer-link.ts';
import { PeerSearch } from './peer-search.ts';

export type { PeerItemInit, Reply } from './peer-link.ts';

/** The live nodes, as `Membership` provides them. */
export interface PeerDirectory {
  members(): readonly { readonly nodeId: string; readonly peerAddress: string }[];
  onChange(listener: () => void): () => void;
  suspectNow(nodeId: string, why: string): void;
}

export interface PeerLinksOptions {
  readonly nodeId: string;
  /** Where peers reach this node; requested when a link is opened. */
  readonly peerAddress: () => string;
  readonly membership: PeerDirectory;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Requests that may wait for replies of one peer at a time. */
  readonly pendingMax?: number;
}

export type ItemListener = (from: string, item: PeerItem, reply: Reply) => void;

const HELLO_MS = 5_000;
const REFUSED_MAX = 1_000;

export class PeerLinks implements Stoppable {
  /** For the RPC server that peers reach. */
  readonly serve: ServiceImplementation<typeof PeerService> = {
    exchange: serveFrames((connection) => this.welcome(connection)),
  };
  private readonly links = new Map<string, PeerLink>();
  private readonly searches = new Map<string, PeerSearch>();
  /** Peers whose refusal was reported and to which there has been no link since. */
  private readonly refused = new Set<string>();
  private readonly itemListeners = new Set<ItemListener>();
  private readonly connectedListeners = new Set<(nodeId: string) => void>();
  private readonly downListeners = new Set<(nodeId: string) => void>();
  private unsubscribe: (() => void) | null = null;
  private stopped = false;

  constructor(private readonly options: PeerLinksOptions) {}

  /** Starts to dial. Links that others dial are accepted as soon as the RPC server listens. */
  start(): void {
    this.unsubscribe = this.options.membership.onChange(() => this.membersChanged());
    this.membersChanged();
  }

  stop(): void {
    this.stopped = true;
    this.unsubscribe?.();
    for (const search of this.searches.values()) search.end();
    this.searches.clear();
    for (const link of this.links.values()) link.close();
  }

  /** Returns false when there is no link: the item is dropped. Items of one turn are sent together. */
  send(nodeId: string, item: PeerItemInit): boolean {
    return this.links.get(nodeId)?.send(item) ?? false;
  }

  /**
   * Rejects with ServiceError `unavailable`: no link, no reply in time, or the link broke; the peer may have received
   * it.
   */
  request(nodeId: string, item: PeerItemInit, deadlineMs: number): Promise<PeerItem> {
    const link = this.links.get(nodeId);
    return link ? link.request(item, deadlineMs) : Promise.reject(linkLost());
  }

  /**
   * Called for every notice and request, in the order in which the peer sent them. Listeners select by
   * `item.item.case`.
   */
  onItem(listener: ItemListener): () => void {
    return added(this.itemListeners, listener);
  }

  /** Returns the ids of the nodes to which there is a link. */
  connected(): readonly string[] {
    return [...this.links.keys()];
  }

  onConnected(listener: (nodeId: string) => void): () => void {
    return added(this.connectedListeners, listener);
  }

  onDown(listener: (nodeId: string) => void): () => void {
    return added(this.downListeners, listener);
  }

  private membersChanged(): void {
    if (this.stopped) return;
    const members = this.options.membership.members().filter(({ nodeId }) => nodeId !== this.options.nodeId);
    const present = new Set(members.map(({ nodeId }) => nodeId));
    for (const nodeId of this.searches.keys()) if (!present.has(nodeId)) this.endSearch(nodeId);
    for (const { nodeId, peerAddress } of members) this.search(nodeId, peerAddress, false);
  }

  private search(nodeId: string, address: string, broken: boolean): void {
    if (this.stopped || this.links.has(nodeId) || this.searches.has(nodeId)) return;
    const dials = this.options.nodeId < nodeId;
    const search = new PeerSearch({
      address,
      clock: this.options.clock,
      dial: dials ? () => this.dial(nodeId, address) : null,
      onRefused: () => this.gone(nodeId, 'connection refused'),
    });
    this.searches.set(nodeId, search);
    search.start(broken);
  }

  private endSearch(nodeId: string): void {
    this.searches.get(nodeId)?.end();
    this.searches.delete(nodeId);
  }

  // Once new beats have disproved a refusal, further refusals mean nothing: something between the two nodes refuses.
  private gone(nodeId: string, why: string): void {
    if (this.refused.has(nodeId)) return;
    if (this.refused.size >= REFUSED_MAX) this.refused.clear();
    this.refused.add(nodeId);
    this.options.membership.suspectNow(nodeId, why);
  }

  /** Resolves when a link is up or the attempt has failed. */
  private dial(nodeId: string, address: string): Promise<void> {
    return new Promise((resolve) => {
      const opening = this.stream(true, (hello) => {
        resolve();
        if (hello.nodeId === nodeId) return address;
        this.gone(nodeId, 'another node answers at its address');
        return null;
      });
      const connection = dialFrames(PeerService.method.exchange, address, {
        connectTimeoutMs: HELLO_MS,
        onItems: (items) => opening.onItems(items),
        onUnsendable: (item, error) => opening.onUnsendable(item, error),
        onTaken: () => opening.onTaken(),
        onClose: (error) => {
          opening.onClose(error);
          resolve();
        },
      });
      opening.begin(connection);
    });
  }

  private welcome(connection: FrameConnection<PeerItemInit>) {
    if (this.stopped) throw new ServiceError('unavailable', 'This node is stopping.');
    const stream = this.stream(false, (hello) => (hello.nodeId < this.options.nodeId ? hello.peerAddress : null));
    stream.begin(connection);
    return stream;
  }

  /**
   * Both sides send hello first; the stream is a link once the other side's hello has been accepted. `accept` returns
   * the peer's address, or null to refuse.
   */
  private stream(dialled: boolean, accept: (hello: PeerHello) => string | null) {
    let connection: FrameConnection<PeerItemInit> | null = null;
    let link: PeerLink | null = null;
    const { clock } = this.options;
    const helloTimer = clock.after(HELLO_MS, () =>
      connection?.close(new ServiceError('unavailable', 'Timed out waiting for hello.')),
    );
    const begin = (opened: FrameConnection<PeerItemInit>) => {
      connection = opened;
      const { nodeId, peerAddress } = this.options;
      opened.send({ item: { case: 'hello', value: { nodeId, peerAddress: peerAddress() } } });
    };
    const onItems = (items: readonly PeerItem[]) => {
      for (const item of items) {
        if (link) link.received(item);
        else if (connection && !connection.closed) {
          helloTimer.cancel();
          link = this.greeted(item, connection, dialled, accept);
          if (!link) return connection.close(new ServiceError('invalid_request', 'Unexpected peer connection.'));
        }
      }
    };
    const onClose = (error: ServiceError | null) => {
      helloTimer.cancel();
      if (link) this.linkEnded(link, error);
    };
    // All organizations share the link: an item that cannot be sent must not end it.
    const onUnsendable = (item: PeerItemInit, error: ServiceError) => {
      this.options.logger.error({ item: item.item?.case, code: error.code }, 'item for a peer left out');
      link?.unsendable(item, error);
    };
    const onTaken = () => link?.taken();
    return { begin, onItems, onClose, onUnsendable, onTaken };
  }

  private greeted(
    { item }: PeerItem,
    connection: FrameConnection<PeerItemInit>,
    dialled: boolean,
    accept: (hello: PeerHello) => string | null,
  ): PeerLink | null {
    if (item.case !== 'hello' || this.stopped) return null;
    const { nodeId } = item.value;
    const address = accept(item.value);
    if (address === null) return null;
    const { clock, pendingMax = 20_000 } = this.options;
    const onItem: ItemListener = (from, received, reply) => this.dispatch(from, received, reply);
    const link = new PeerLink({ nodeId, address, connection, dialled, clock, pendingMax, onItem });
    const earlier = this.links.get(nodeId);
    // The peer dialled again, so the earlier stream is dead, whether or not that was noticed here.
    if (earlier) {
      this.drop(earlier);
      earlier.close(linkLost());
    }
    this.links.set(nodeId, link);
    this.refused.delete(nodeId);
    this.endSearch(nodeId);
    this.options.logger.info({ node: nodeId, dialled }, 'peer linked');
    for (const listener of this.connectedListeners) listener(nodeId);
    return link;
  }

  private dispatch(from: string, item: PeerItem, reply: Reply): void {
    for (const listener of this.itemListeners) {
      try {
        listener(from, item, reply);
      } catch (error) {
        // One bad item must not end the link.
        this.options.logger.error({ error, node: from, item: item.item.case }, 'peer item failed');
      }
    }
  }

  private linkEnded(link: PeerLink, error: ServiceError | null): void {
    if (this.links.get(link.nodeId) !== link) return;
    this.options.logger.info({ node: link.nodeId, code: error?.code ?? 'ok' }, 'peer link ended');
    this.drop(link);
    if (this.stopped) return;
    this.search(link.nodeId, link.address, true);
  }

  private drop(link: PeerLink): void {
    this.links.delete(link.nodeId);
    link.ended();
    for (const listener of this.downListeners) listener(link.nodeId);
  }
}

function added<T>(listeners: Set<T>, listener: T): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// One worker's stream as a test's run-scheduler sees it: the items received, and the free places it may use.
import { ServiceError } from '@methods/errors/service-error';
import type { Hello, WorkResponseSchema } from '@methods/proto/worker/v1/worker_service_pb';
import type { FrameConnection, SentItem } from '@methods/rpc/frame-stream';

export type NodeItem = SentItem<typeof WorkResponseSchema>;

export class NodeStream {
  hello: Hello | null = null;
  welcomed = false;
  leaving = false;
  open = true;
  /** Run ids of each heartbeat. */
  readonly heartbeats: string[][] = [];
  /** The runs whose grants were reported to have arrived. */
  readonly accepted: string[] = [];
  /** Grants that the worker has asked for and not yet received. */
  free = 0;

  constructor(private readonly connection: FrameConnection<NodeItem>) {}

  get authorization(): unknown {
    return this.connection.metadata.get('authorization')[0];
  }

  /** Never counts more free places than the worker has reported, as the real node does. */
  credit(count: number): void {
    this.free += Math.min(count, (this.hello?.slots ?? 0) - this.free);
  }

  takePlace(): boolean {
    if (!this.open || this.leaving || this.free === 0) return false;
    this.free--;
    return true;
  }

  send(item: NodeItem): boolean {
    return this.connection.send(item);
  }

  /** Breaks the stream as the death of the node would, or for another reason. */
  cut(code: 'unavailable' | 'unauthorized' = 'unavailable'): void {
    this.connection.close(new ServiceError(code, 'This node is stopping.'));
  }

  ended(): void {
    this.open = false;
  }
}

// One worker's stream as the run-scheduler of a test sees it: what came, and the free places it may use.
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
  /** Grants the worker has asked for and not been sent. */
  free = 0;

  constructor(private readonly connection: FrameConnection<NodeItem>) {}

  get authorization(): unknown {
    return this.connection.metadata.get('authorization')[0];
  }

  /** Never more free places than the worker has said it has, as the real one counts. */
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

  /** As when the node dies. */
  cut(): void {
    this.connection.close(new ServiceError('unavailable', 'This node is stopping.'));
  }

  ended(): void {
    this.open = false;
  }
}

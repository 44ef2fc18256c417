// Node beats in the bus's bucket of nodes: the quick source, and one that may be empty, stale or away at any time.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { NodesBucket } from '@methods/bus/nodes-bucket';
import type { Logger } from '@methods/logging/logger';
import { NodeBeatSchema } from '@methods/proto/event/v1/event_pb';
import type { NodeBeat } from './beat-watch.ts';

/** The part of the bus that membership uses. */
export interface BeatBus {
  readonly nodes: Pick<NodesBucket, 'put' | 'watch'>;
  /** At each connect, once the bucket exists. */
  onConnected(listener: () => void): () => void;
}

export class BucketBeats {
  private putRunning = false;
  private watching: { unsubscribe(): void } | null = null;
  private unsubscribe: (() => void) | null = null;
  private latest: NodeBeat | null = null;

  constructor(
    private readonly bus: BeatBus,
    private readonly logger: Logger,
  ) {}

  start(onBeat: (beat: NodeBeat) => void): void {
    this.watching = this.bus.nodes.watch((entries) => {
      for (const { nodeId, data } of entries) {
        const beat = data && this.decode(nodeId, data);
        if (beat) onBeat(beat);
      }
    });
    // A joiner is seen at once, not with its next beat.
    this.unsubscribe = this.bus.onConnected(() => {
      if (this.latest) this.putIfIdle(this.latest);
    });
  }

  stop(): void {
    this.watching?.unsubscribe();
    this.watching = null;
    this.unsubscribe?.();
  }

  async put(beat: NodeBeat): Promise<void> {
    this.latest = beat;
    await this.bus.nodes.put(beat.nodeId, toBinary(NodeBeatSchema, create(NodeBeatSchema, beat)));
  }

  /** Leaves this beat out while an earlier one is still under way; the next one says the same. Never rejects. */
  putIfIdle(beat: NodeBeat): void {
    this.latest = beat;
    if (this.putRunning) return;
    this.putRunning = true;
    this.put(beat)
      .catch((error: unknown) => this.logger.debug({ error }, 'beat not put into the bucket'))
      .finally(() => {
        this.putRunning = false;
      });
  }

  private decode(nodeId: string, value: Uint8Array): NodeBeat | null {
    try {
      const { beat, leaving, peerAddress } = fromBinary(NodeBeatSchema, value);
      return Number.isSafeInteger(beat) ? { nodeId, peerAddress, beat, leaving } : null;
    } catch (error) {
      this.logger.warn({ error, node: nodeId }, 'beat not understood');
      return null;
    }
  }
}

// Announces which queues this node's workers serve: to this node's own queues at once, a part of them a turn, and to
// peers as whole lists in parts, one list at a time with a pause between them, even if workers connect and leave often.
import type { Clock } from '@methods/base/clock';
import type { QueueKey } from '../store/queue-key.ts';
import type { InterestChange } from './claim-waiters.ts';

/** A part is one item of a frame, which ends at 1 MiB. */
const PART_MAX = 4_000;
/** Queues processed in one turn. */
const TURN_MAX = 2_000;
const PAUSE_MS = 250;

export interface InterestPart {
  readonly queues: QueueKey[];
  readonly whole: boolean;
  readonly more: boolean;
}

export class InterestNews {
  /** The changes that this node's own queues have not received yet. */
  private waiting: { readonly key: QueueKey; readonly added: boolean }[] = [];
  private readonly sending = new Set<string>();
  private readonly again = new Set<string>();

  constructor(
    private readonly options: {
      readonly clock: Clock;
      readonly interest: () => QueueKey[];
      readonly changedHere: (change: InterestChange) => void;
      readonly peers: () => readonly string[];
      /** False: there is no link; the whole list is sent when there is one. */
      readonly send: (peer: string, part: InterestPart) => boolean;
    },
  ) {}

  changed({ added, removed }: InterestChange): void {
    const idle = this.waiting.length === 0;
    for (const key of added) this.waiting.push({ key, added: true });
    for (const key of removed) this.waiting.push({ key, added: false });
    if (idle) this.passOnHere();
    for (const peer of this.options.peers()) this.tell(peer);
  }

  /** Sends the whole list, also to a peer that has just connected. */
  tell(peer: string): void {
    if (this.sending.has(peer)) {
      this.again.add(peer);
      return;
    }
    this.sending.add(peer);
    setImmediate(() => this.sendPart(peer, this.options.interest(), 0));
  }

  private passOnHere(): void {
    const now = this.waiting.slice(0, TURN_MAX);
    // In order: a queue may have been requested, released, and requested again.
    for (let from = 0; from < now.length; ) {
      const { added } = now[from] as { added: boolean };
      let to = from;
      while (to < now.length && now[to]?.added === added) to++;
      const keys = now.slice(from, to).map(({ key }) => key);
      this.options.changedHere(added ? { added: keys, removed: [] } : { added: [], removed: keys });
      from = to;
    }
    this.waiting = this.waiting.slice(now.length);
    if (this.waiting.length > 0) setImmediate(() => this.passOnHere());
  }

  private sendPart(peer: string, list: QueueKey[], from: number): void {
    const queues = list.slice(from, from + PART_MAX);
    const more = from + PART_MAX < list.length;
    if (this.options.send(peer, { queues, whole: from === 0, more }) && more) {
      setImmediate(() => this.sendPart(peer, list, from + PART_MAX));
      return;
    }
    this.options.clock.after(PAUSE_MS, () => {
      this.sending.delete(peer);
      if (this.again.delete(peer)) this.tell(peer);
    });
  }
}

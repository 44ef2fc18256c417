// What waits for one actor: first in, first out, bounded. A full mailbox refuses; it never drops what it took.

export class Mailbox<Message> {
  private waiting: Message[] = [];

  constructor(private readonly messagesMax = 1_000) {}

  /** False when full: the sender is told to come back. */
  put(message: Message): boolean {
    if (this.waiting.length >= this.messagesMax) return false;
    this.waiting.push(message);
    return true;
  }

  /** Puts messages back in front, in their order: their handling has to begin again. */
  putBack(messages: readonly Message[]): void {
    this.waiting = [...messages, ...this.waiting];
  }

  takeAll(): Message[] {
    const all = this.waiting;
    this.waiting = [];
    return all;
  }

  get size(): number {
    return this.waiting.length;
  }
}

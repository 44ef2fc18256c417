// The messages that wait for one actor: first in, first out, bounded. A full mailbox refuses new messages; it never
// drops one it accepted.

export class Mailbox<Message> {
  private waiting: Message[] = [];

  constructor(private readonly messagesMax = 1_000) {}

  /** Returns false when full: the sender must retry. */
  put(message: Message): boolean {
    if (this.waiting.length >= this.messagesMax) return false;
    this.waiting.push(message);
    return true;
  }

  /** Puts messages back at the front, in their order, to be handled again. */
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

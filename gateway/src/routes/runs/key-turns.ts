// The starts of one batch that have the same idempotency key: they go one after another until one of them has the run,
// since several nodes would commit them in any order.
import { type Steps, settled } from '../../turns/steps.ts';

export class KeyTurns {
  private readonly turns = new Map<string, KeyTurn>();

  /** Continues once no other start with this key is in progress, or one has the run. Its caller leaves the turn. */
  *take(key: string): Steps<KeyTurn> {
    let turn = this.turns.get(key);
    if (turn === undefined) {
      turn = new KeyTurn();
      this.turns.set(key, turn);
    }
    if (turn.isBusy && !turn.hasRun) yield* settled(turn.next());
    turn.isBusy = true;
    return turn;
  }
}

class KeyTurn {
  isBusy = false;
  hasRun = false;
  private waiting: (() => void)[] = [];

  next(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  leave(): void {
    if (this.hasRun) for (const resolve of this.waiting.splice(0)) resolve();
    // Only one is woken, and has the turn at once: a thousand that are refused one after another must stay cheap.
    const next = this.waiting.shift();
    if (next === undefined) this.isBusy = false;
    else next();
  }
}

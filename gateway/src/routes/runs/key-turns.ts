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
    while (turn.isBusy && !turn.hasRun) yield* settled(turn.next());
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
    this.isBusy = false;
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

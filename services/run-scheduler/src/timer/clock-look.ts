// Asks the database for its time while no commit brings it: otherwise an idle node would not notice that the clock was
// set, and a question would end an hour late.
import type { Logger } from '@methods/logging/logger';
import type { DatabaseClock } from '../store/database-clock.ts';

const FRESH_MS = 1_500;

export class ClockLook {
  private looking = false;

  constructor(
    private readonly options: {
      readonly databaseClock: DatabaseClock;
      readonly ask: () => Promise<number>;
      readonly logger: Logger;
    },
  ) {}

  /** Called every other second. Never rejects. */
  async look(): Promise<void> {
    const { databaseClock, ask, logger } = this.options;
    if (this.looking || databaseClock.ageMs < FRESH_MS) return;
    this.looking = true;
    try {
      databaseClock.observe(await ask());
    } catch (error) {
      logger.debug({ error }, 'the clock of the database was not read');
    } finally {
      this.looking = false;
    }
  }
}

// The index of running runs that nodes of the release before read at a take-over: dropped when none of them is left,
// since changes of runs are heap-only updates without it.
import type { Logger } from '@methods/logging/logger';
import type { Sql } from '@methods/postgres/pool';

export class RetiredIndex {
  private gone = false;
  private wereListed = false;

  constructor(
    private readonly options: {
      readonly sql: Sql;
      /** One node does it. */
      readonly isMine: () => boolean;
      readonly logger: Logger;
    },
  ) {}

  /**
   * Called on a coarse tick. At two looks in a row no shard has been owned by a node of the release before since its
   * running runs were listed. Such a node that comes back later finds them all the same, by reading more.
   */
  async look(): Promise<void> {
    if (this.gone || !this.options.isMine()) return;
    const { sql, logger } = this.options;
    try {
      const [row] = await sql<{ there: boolean; listed: boolean }[]>`
        select to_regclass('scheduler.runs_running') is not null as there,
          not exists (select from scheduler.shards where listed_epoch is distinct from epoch) as listed`;
      this.gone = row?.there === false;
      if (this.gone || row === undefined) return;
      if (row.listed && this.wereListed) {
        // Not in a transaction, and no lock that readers or commits would meet.
        await sql`drop index concurrently if exists scheduler.runs_running`;
        logger.info({}, 'the index of running runs is dropped');
      }
      this.wereListed = row.listed;
    } catch (error) {
      logger.warn({ error }, 'the index of running runs stays; the next look tries again');
    }
  }
}

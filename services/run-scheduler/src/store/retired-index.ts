// Drops the index of running runs that nodes of the previous release read at a take-over, once no such node is left:
// without the index, changes of runs are heap-only updates.
import type { Logger } from '@methods/logging/logger';
import type { Sql } from '@methods/postgres/pool';

export class RetiredIndex {
  private gone = false;
  private wereListed = false;

  constructor(
    private readonly options: {
      readonly sql: Sql;
      /** Only one node does it. */
      readonly isMine: () => boolean;
      readonly logger: Logger;
    },
  ) {}

  /**
   * Called on a coarse tick. Drops the index when, at two successive looks, no node of the previous release has owned a
   * shard since its running runs were listed. If such a node returns later, it still finds its runs, by reading more.
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
        // Runs outside of a transaction, and takes no lock that readers or commits would wait for.
        await sql`drop index concurrently if exists scheduler.runs_running`;
        logger.info({}, 'the index of running runs is dropped');
      }
      this.wereListed = row.listed;
    } catch (error) {
      logger.warn({ error }, 'the index of running runs is kept; the next look tries again');
    }
  }
}

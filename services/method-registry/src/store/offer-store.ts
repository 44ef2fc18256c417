// The methods that organizations offer to agents, in registry.offers. A change and its audit line are one statement.
import type { MethodId, OrgId, VersionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { inject, injectable } from 'tsyringe';
import type { Doer } from '../audit/audit-entry.ts';
import type { Method } from '../method/method.ts';
import { auditRow } from './audit-store.ts';
import { type MethodRow, methodColumns, methodJoins, toMethod } from './method-rows.ts';
import { Database, query, Reader, type Refusals } from './registry-database.ts';

export interface OfferAct {
  readonly orgId: OrgId;
  readonly methodId: MethodId;
  readonly doer: Doer;
}

export interface Offer {
  readonly method: Method;
  /** Null: no version is published. */
  readonly published: { readonly versionId: VersionId; readonly sha256: string } | null;
}

/** An agent reads all of these each time it lists its tools. */
const OFFERS_MAX = 100;

/** Two offered at the same time choose the same place; one of them then takes the next. */
const PLACE_TRIES = 20;

class PlaceTaken extends ServiceError {
  constructor() {
    super('unavailable');
  }
}

const REFUSALS: Refusals = {
  offers_method_fkey: () => new ServiceError('not_found', 'There is no such method.'),
  offers_place_key: () => new PlaceTaken(),
  // Two requests offer the same method at once: the repeated statement finds it offered.
  offers_pkey: () => new PlaceTaken(),
};

@injectable()
export class OfferStore {
  constructor(
    @inject(Database) private readonly sql: Database,
    @inject(Reader) private readonly reader: Reader,
  ) {}

  /**
   * Returns false if it is offered already. @throws ServiceError not_found, or invalid_request if there are as many as
   * allowed.
   */
  async offer(act: OfferAct): Promise<boolean> {
    for (let again = 1; ; again++) {
      try {
        return await this.insert(act);
      } catch (error) {
        if (!(error instanceof PlaceTaken) || again === PLACE_TRIES) throw error;
      }
    }
  }

  private async insert({ orgId, methodId, doer }: OfferAct): Promise<boolean> {
    const { sql } = this;
    const [row] = await query(
      sql<{ was_offered: boolean; made: boolean }[]>`
        with offered as (
          select from registry.offers where org_id = ${orgId} and method_id = ${methodId}
        ), free as (
          select min(place) as place from generate_series(1, ${OFFERS_MAX}::int) place
          where not exists (select from registry.offers o where o.org_id = ${orgId} and o.place = place.place)
        ), made as (
          insert into registry.offers (org_id, method_id, place, offered_by)
          select ${orgId}, ${methodId}, free.place, ${doer.id} from free
          where free.place is not null and not exists (select from offered)
          returning org_id, method_id
        ), audited as (
          ${auditRow(
            sql,
            { doer, action: 'method.offer', targetKind: 'method' },
            {
              source: 'made',
              targetId: sql`method_id`,
              before: sql`jsonb_build_object('offered_to_agents', false)`,
              after: sql`jsonb_build_object('offered_to_agents', true)`,
            },
          )}
        )
        select exists (select from offered) as was_offered, exists (select from made) as made`,
      REFUSALS,
    );
    if (row?.made || row?.was_offered) return row.made;
    const message = `An organization offers at most ${OFFERS_MAX} methods to agents.`;
    throw new ServiceError('invalid_request', message, {
      findings: [{ path: '/offer_to_agents', code: 'offers', message: 'Withdraw another one first.' }],
    });
  }

  /** Returns false if it was not offered. */
  async withdraw({ orgId, methodId, doer }: OfferAct): Promise<boolean> {
    const { sql } = this;
    const [row] = await query(sql<{ gone: boolean }[]>`
      with gone as (
        delete from registry.offers where org_id = ${orgId} and method_id = ${methodId}
        returning org_id, method_id
      ), audited as (
        ${auditRow(
          sql,
          { doer, action: 'method.offer', targetKind: 'method' },
          {
            source: 'gone',
            targetId: sql`method_id`,
            before: sql`jsonb_build_object('offered_to_agents', true)`,
            after: sql`jsonb_build_object('offered_to_agents', false)`,
          },
        )}
      )
      select exists (select from gone) as gone`);
    return row?.gone ?? false;
  }

  /** By method id, without the sources: most of them are known by their hash. */
  async list(orgId: OrgId): Promise<readonly Offer[]> {
    const rows = await query(
      this.reader.read(
        orgId,
        (sql) => sql<(MethodRow & { published_sha256: Buffer | null })[]>`
          select ${methodColumns(sql)}, p.sha256 as published_sha256
          from registry.offers offered
          join registry.methods m on m.org_id = offered.org_id and m.method_id = offered.method_id
          ${methodJoins(sql)}
          left join lateral (
            select sha256 from registry.versions
            where org_id = m.org_id and method_id = m.method_id and version_id = m.published_version limit 1
          ) p on true
          where offered.org_id = ${orgId}
          order by offered.method_id`,
      ),
    );
    return rows.map((row) => {
      const { published_version: versionId, published_sha256: sha256 } = row;
      const published = versionId === null || sha256 === null ? null : { versionId, sha256: sha256.toString('hex') };
      return { method: toMethod(row), published };
    });
  }
}

// Endpoints in registry.endpoints. A change and its audit line are one statement. URLs and secrets arrive here only
// sealed.
import type { EndpointId, OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { inject, injectable } from 'tsyringe';
import type { Doer } from '../audit/audit-entry.ts';
import {
  ENDPOINTS_MAX,
  type Endpoint,
  type EndpointEvent,
  type EndpointFormat,
  type SealedTarget,
} from '../endpoint/endpoint.ts';
import { auditRow } from './audit-store.ts';
import { type EndpointRow, endpointColumns, type TargetRow, toEndpoint, toTarget } from './endpoint-rows.ts';
import { Database, query, Reader, type Refusals } from './registry-database.ts';

export interface NewEndpoint {
  readonly orgId: OrgId;
  readonly endpointId: EndpointId;
  readonly name: string;
  readonly format: EndpointFormat;
  readonly sealedUrl: Buffer;
  readonly shownUrl: string;
  readonly events: readonly EndpointEvent[];
  readonly sealedSecret: Buffer;
  readonly doer: Doer;
}

export interface EndpointAct {
  readonly orgId: OrgId;
  readonly endpointId: EndpointId;
  readonly doer: Doer;
}

/** Null fields are not changed. */
export interface EndpointChange {
  readonly name: string | null;
  readonly url: { readonly sealed: Buffer; readonly shown: string } | null;
  readonly events: readonly EndpointEvent[] | null;
  readonly paused: boolean | null;
}

/** Two created at the same time choose the same place; one of them then takes the next. */
const PLACE_TRIES = 20;

class PlaceTaken extends ServiceError {
  constructor() {
    super('unavailable');
  }
}

const REFUSALS: Refusals = {
  endpoints_name_key: () => {
    const message = 'The organization has an endpoint of this name.';
    return new ServiceError('invalid_request', message, { findings: [{ path: '/name', code: 'name_taken', message }] });
  },
  endpoints_place_key: () => new PlaceTaken(),
};

@injectable()
export class EndpointStore {
  constructor(
    @inject(Database) private readonly sql: Database,
    @inject(Reader) private readonly reader: Reader,
  ) {}

  /** @throws ServiceError invalid_request when the name is taken, or there are as many as allowed. */
  async create(endpoint: NewEndpoint): Promise<Endpoint> {
    for (let again = 1; ; again++) {
      try {
        return await this.insert(endpoint);
      } catch (error) {
        if (!(error instanceof PlaceTaken) || again === PLACE_TRIES) throw error;
      }
    }
  }

  private async insert(endpoint: NewEndpoint): Promise<Endpoint> {
    const { sql } = this;
    const { orgId, endpointId, name, format, sealedUrl, shownUrl, events, sealedSecret, doer } = endpoint;
    const [row] = await query(
      sql<EndpointRow[]>`
        with made as (
          insert into registry.endpoints
            (org_id, endpoint_id, place, name, format, sealed_url, shown_url, events, sealed_secret, created_by)
          select ${orgId}, ${endpointId}, free.place, ${name}, ${format}, ${sealedUrl}::bytea, ${shownUrl},
            ${[...events]}::text[], ${sealedSecret}::bytea, ${doer.id}
          from (
            select min(place) as place from generate_series(1, ${ENDPOINTS_MAX}::int) place
            where not exists (select from registry.endpoints o where o.org_id = ${orgId} and o.place = place.place)) free
          where free.place is not null
          returning *
        ), audited as (
          ${auditRow(
            sql,
            { doer, action: 'endpoint.create', targetKind: 'endpoint' },
            {
              source: 'made',
              targetId: sql`endpoint_id`,
              before: sql`null`,
              after: sql`jsonb_build_object('name', name, 'format', format, 'url', shown_url, 'events', events)`,
            },
          )}
        )
        select ${endpointColumns(sql)} from made e`,
      REFUSALS,
    );
    if (row !== undefined) return toEndpoint(row);
    const message = `An organization has at most ${ENDPOINTS_MAX} endpoints.`;
    throw new ServiceError('invalid_request', message, {
      findings: [{ path: '', code: 'endpoints', message: 'Remove one first.' }],
    });
  }

  /** Oldest first. */
  async list(orgId: OrgId): Promise<readonly Endpoint[]> {
    const rows = await query(
      this.reader.read(
        orgId,
        (sql) => sql<EndpointRow[]>`
          select ${endpointColumns(sql)} from registry.endpoints e where e.org_id = ${orgId} order by e.endpoint_id`,
      ),
    );
    return rows.map(toEndpoint);
  }

  /** @throws ServiceError not_found. */
  async find(orgId: OrgId, endpointId: EndpointId): Promise<Endpoint> {
    const [row] = await query(
      this.reader.read(
        orgId,
        (sql) => sql<EndpointRow[]>`
          select ${endpointColumns(sql)} from registry.endpoints e
          where e.org_id = ${orgId} and e.endpoint_id = ${endpointId}`,
      ),
    );
    return found(row);
  }

  /** @throws ServiceError not_found; invalid_request when the name is taken. */
  async change({ orgId, endpointId, doer }: EndpointAct, change: EndpointChange): Promise<Endpoint> {
    const { sql } = this;
    const { name, url, paused } = change;
    const events = change.events === null ? null : [...change.events];
    const [row] = await query(
      sql<EndpointRow[]>`
        with before as (
          select * from registry.endpoints where org_id = ${orgId} and endpoint_id = ${endpointId} for update
        ), changed as (
          update registry.endpoints e set
            name = coalesce(${name}::text, b.name), sealed_url = coalesce(${url?.sealed ?? null}::bytea, b.sealed_url),
            shown_url = coalesce(${url?.shown ?? null}::text, b.shown_url),
            events = coalesce(${events}::text[], b.events), paused = coalesce(${paused}::boolean, b.paused),
            changed_at = case
              when (${events}::text[], ${paused}::boolean) is distinct from (null::text[], null::boolean) then now()
              else b.changed_at end
          from before b where e.org_id = b.org_id and e.endpoint_id = b.endpoint_id
          returning e.*, jsonb_build_object('name', b.name, 'url', b.shown_url, 'events', b.events, 'paused', b.paused)
            as before, jsonb_build_object('name', e.name, 'url', e.shown_url, 'events', e.events, 'paused', e.paused)
            as after, e.sealed_url is distinct from b.sealed_url as moved
        ), differing as (
          select * from changed where moved or before <> after
        ), audited as (
          ${auditRow(
            sql,
            { doer, action: 'endpoint.change', targetKind: 'endpoint' },
            { source: 'differing', targetId: sql`endpoint_id`, before: sql`before`, after: sql`after` },
          )}
        )
        select ${endpointColumns(sql)} from changed e`,
      REFUSALS,
    );
    return found(row);
  }

  /** @throws ServiceError not_found. */
  async remove({ orgId, endpointId, doer }: EndpointAct): Promise<void> {
    const { sql } = this;
    const rows = await query(sql`
      with removed as (
        delete from registry.endpoints where org_id = ${orgId} and endpoint_id = ${endpointId}
        returning org_id, endpoint_id, name, format, shown_url
      ), audited as (
        ${auditRow(
          sql,
          { doer, action: 'endpoint.delete', targetKind: 'endpoint' },
          {
            source: 'removed',
            targetId: sql`endpoint_id`,
            before: sql`jsonb_build_object('name', name, 'format', format, 'url', shown_url)`,
            after: sql`null`,
          },
        )}
      )
      select endpoint_id from removed`);
    if (rows.length === 0) throw noSuchEndpoint();
  }

  /** The present and earlier secrets also sign for at most `overlapMs`. @throws ServiceError not_found. */
  async rotate({ orgId, endpointId, doer }: EndpointAct, sealed: Buffer, overlapMs: number): Promise<Endpoint> {
    const { sql } = this;
    const until = sql`now() + make_interval(secs => ${overlapMs / 1000})`;
    // A reply with a new secret may be lost: the previous secret, which receivers know, is kept through one more
    // rotation, but no secret signs for longer than the present request says.
    const [row] = await query(sql<EndpointRow[]>`
      with rotated as (
        update registry.endpoints set sealed_secret = ${sealed},
          sealed_earlier = (array[sealed_secret] || sealed_earlier)[1:2],
          earlier_until = (array[${until}] || array(
            select least(u.until, ${until}) from unnest(earlier_until) with ordinality u(until, place) order by u.place
          ))[1:2]
        where org_id = ${orgId} and endpoint_id = ${endpointId}
        returning *
      ), audited as (
        ${auditRow(
          sql,
          { doer, action: 'endpoint.rotate', targetKind: 'endpoint' },
          {
            source: 'rotated',
            targetId: sql`endpoint_id`,
            before: sql`null`,
            after: sql`jsonb_build_object('overlap_ms', ${overlapMs}::bigint)`,
          },
        )}
      )
      select ${endpointColumns(sql)} from rotated e`);
    return found(row);
  }

  async targets(orgId: OrgId): Promise<readonly SealedTarget[]> {
    const rows = await query(
      this.reader.read(
        orgId,
        (sql) => sql<TargetRow[]>`
          select org_id, endpoint_id, name, format, events, paused, sealed_url, sealed_secret, sealed_earlier,
            earlier_until, changed_at
          from registry.endpoints where org_id = ${orgId} order by endpoint_id`,
      ),
    );
    return rows.map(toTarget);
  }

  /** Returns the events that at least one endpoint takes that is not paused. */
  async events(orgId: OrgId): Promise<readonly EndpointEvent[]> {
    const rows = await query(
      this.reader.read(
        orgId,
        (sql) => sql<{ event: EndpointEvent }[]>`
          select distinct event from registry.endpoints, unnest(events) event where org_id = ${orgId} and not paused`,
      ),
    );
    return rows.map(({ event }) => event);
  }
}

function found(row: EndpointRow | undefined): Endpoint {
  if (row === undefined) throw noSuchEndpoint();
  return toEndpoint(row);
}

function noSuchEndpoint(): ServiceError {
  return new ServiceError('not_found', 'There is no such endpoint.');
}

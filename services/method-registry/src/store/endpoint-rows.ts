// The columns that an endpoint is read from, and the meaning of the rows.
import type { EndpointId, OrgId } from '@methods/base/ids';
import type { PendingQuery, Row } from 'postgres';
import { party } from '../audit/audit-entry.ts';
import type { Endpoint, EndpointEvent, EndpointFormat, SealedTarget } from '../endpoint/endpoint.ts';
import type { Statements } from './registry-database.ts';

export interface EndpointRow {
  readonly org_id: OrgId;
  readonly endpoint_id: EndpointId;
  readonly name: string;
  readonly format: EndpointFormat;
  readonly shown_url: string;
  readonly events: EndpointEvent[];
  readonly paused: boolean;
  readonly created_at: Date;
  readonly created_by: string;
  readonly created_by_name: string | null;
  readonly earlier_until: Date | null;
}

/** For `endpoints e`. */
export function endpointColumns(sql: Statements): PendingQuery<Row[]> {
  return sql`e.org_id, e.endpoint_id, e.name, e.format, e.shown_url, e.events, e.paused, e.created_at, e.created_by,
    registry.party_name(e.org_id, e.created_by) as created_by_name,
    (select max(until) from unnest(e.earlier_until) u(until) where until > now()) as earlier_until`;
}

export function toEndpoint(row: EndpointRow): Endpoint {
  return {
    orgId: row.org_id,
    endpointId: row.endpoint_id,
    name: row.name,
    format: row.format,
    shownUrl: row.shown_url,
    events: row.events,
    paused: row.paused,
    createdAt: row.created_at,
    createdBy: party(row.created_by, row.created_by_name),
    earlierUntil: row.earlier_until,
  };
}

export interface TargetRow {
  readonly org_id: OrgId;
  readonly endpoint_id: EndpointId;
  readonly name: string;
  readonly format: EndpointFormat;
  readonly events: EndpointEvent[];
  readonly paused: boolean;
  readonly sealed_url: Buffer;
  readonly sealed_secret: Buffer;
  readonly sealed_earlier: Buffer[];
  readonly earlier_until: Date[];
  readonly changed_at: Date;
}

export function toTarget(row: TargetRow): SealedTarget {
  return {
    orgId: row.org_id,
    endpointId: row.endpoint_id,
    name: row.name,
    format: row.format,
    events: row.events,
    paused: row.paused,
    sealedUrl: row.sealed_url,
    sealedSecret: row.sealed_secret,
    earlier: row.sealed_earlier.flatMap((sealed, place) => {
      const until = row.earlier_until[place];
      return until === undefined ? [] : [{ sealed, until }];
    }),
    changedAt: row.changed_at,
  };
}

// The organization that a request names in its path: /o/<organization>/api/… is /api/… for a caller of that
// organization only. A page that carries its organization in all of its addresses keeps it, even if the same browser
// signs in to another one meanwhile.
import type { IncomingMessage } from 'node:http';
import type { Caller } from '@methods/auth/caller';
import type { OrgId } from '@methods/base/ids';
import type { FastifyRequest } from 'fastify';
import { CallerRefused } from './caller-refused.ts';

const ADDRESSED = /^\/o\/([a-z0-9_]{1,64})(\/api\/.*)$/s;

/** Returns the path to route. */
export function pathInOrganization({ url = '' }: IncomingMessage): string {
  return ADDRESSED.exec(url)?.[2] ?? url;
}

/** Null: the request names none. */
export function addressedOrganization({ originalUrl }: Pick<FastifyRequest, 'originalUrl'>): OrgId | null {
  return (ADDRESSED.exec(originalUrl ?? '')?.[1] as OrgId | undefined) ?? null;
}

/** @throws CallerRefused for a caller of another organization than the request names. */
export function inAddressedOrganization<Found extends Caller>(caller: Found, request: FastifyRequest): Found {
  const orgId = addressedOrganization(request);
  if (orgId === null || orgId === caller.orgId) return caller;
  throw new CallerRefused('other_organization', 'You are not signed in to this organization.');
}

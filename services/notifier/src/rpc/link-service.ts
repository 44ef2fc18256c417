// OpenLink and UseLink: return what an answer link opens, for the page that shows its question, and mark it as used.
import type { Clock } from '@methods/base/clock';
import type { EndpointId, OrgId, UserId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { Sql } from '@methods/postgres/pool';
import { LinkService, LinkState as WireState } from '@methods/proto/notifier/v1/link_service_pb';
import { type ServedService, served } from '@methods/rpc/server';
import { type AnswerLink, type LinkState, linkState } from '../answer-link/answer-link.ts';
import { findLink, useLink } from '../store/answer-links.ts';
import { inTime } from './in-time.ts';

export interface LinkServiceParts {
  readonly sql: Sql;
  readonly clock: Clock;
  /** Reports whether the member may still answer. Rejects with unavailable when that cannot be determined now. */
  readonly hasAccess: (orgId: OrgId, userId: UserId) => Promise<boolean>;
  /** Reports whether the organization still has this chat. Rejects as `hasAccess` does. */
  readonly hasEndpoint: (orgId: OrgId, endpointId: EndpointId) => Promise<boolean>;
}

const HASH_BYTES = 32;

const STATES: Readonly<Record<LinkState, WireState>> = {
  open: WireState.OPEN,
  used: WireState.USED,
  ended: WireState.ENDED,
  expired: WireState.EXPIRED,
};

export function linkService(parts: LinkServiceParts): ServedService {
  const { sql } = parts;
  return served(LinkService, {
    openLink: (request) => inTime(open(request.tokenSha256)),
    useLink: (request) => inTime(use(request.tokenSha256)),
  });

  async function open(tokenSha256: Uint8Array) {
    return reply(parts, isHash(tokenSha256) ? await findLink(sql, tokenSha256) : null);
  }

  async function use(tokenSha256: Uint8Array) {
    return reply(parts, isHash(tokenSha256) ? await useLink(sql, tokenSha256) : null);
  }
}

function isHash(bytes: Uint8Array): boolean {
  return bytes.length === HASH_BYTES;
}

async function reply({ clock, hasAccess, hasEndpoint }: LinkServiceParts, link: AnswerLink | null) {
  if (link === null) throw new ServiceError('not_found', 'There is no such link.');
  const { orgId, runId, questionId, recipient, userId, endpointId, expiresAtMs, usedAtMs } = link;
  const allowed =
    (userId === '' || (await hasAccess(orgId, userId))) &&
    (endpointId === '' || (await hasEndpoint(orgId, endpointId)));
  const state = STATES[linkState(link, allowed, clock.wallMs())];
  return { link: { orgId, runId, questionId, recipient, userId, state, expiresAtMs, usedAtMs } };
}

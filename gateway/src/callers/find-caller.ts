// Finds the caller of a request by its credential and surface: the only place that decides which credential a surface
// accepts.

import type { Caller, UserCaller } from '@methods/auth/caller';
import type { Identity } from '@methods/auth/identity';
import { isOpaqueToken, opaqueTokenSha256 } from '@methods/auth/opaque-token';
import { parseBearerKey } from '@methods/auth/service-key';
import type { KeyId, OrgId } from '@methods/base/ids';
import type { FastifyRequest } from 'fastify';
import type { Member, Origin } from '../clients/accounts.ts';
import type { OpenedUpload } from '../clients/upload-tokens.ts';
import type { VerifiedToken } from './access-tokens.ts';
import { addressedOrganization, inAddressedOrganization } from './addressed-organization.ts';
import { browserSessions, hasOwnOrigin, shownTokens } from './browser-sessions.ts';
import { CallerRefused } from './caller-refused.ts';
import { countedAddress, type GuardedSurface } from './surface.ts';

/**
 * Returns the caller of a request to a surface; a promise only if another process must be asked. @throws CallerRefused;
 * ServiceError unavailable when the caller cannot be determined now
 */
export type FindCaller = (request: FastifyRequest, surface: GuardedSurface) => Caller | Promise<Caller>;

/** A cached value, or a promise if another process must be asked. */
type Soon<Value> = Value | Promise<Value>;

export interface CallerSources {
  readonly registry: { callerOf(authPart: string, address: string): Soon<Caller | null> };
  readonly accounts: {
    memberOf(identity: Identity, from: Origin): Soon<Member>;
    sessionMember(sessionSha256: Buffer): Soon<Member | null>;
  };
  /** Null: there is no issuer, so there are no people. */
  readonly accessTokens: { verify(token: string): Soon<VerifiedToken> } | null;
  readonly uploadTokens: { uploadOf(tokenSha256: Buffer): Promise<OpenedUpload | null> };
  readonly keyUses: { used(orgId: OrgId, keyId: KeyId): void };
  readonly publicUrl: string | null;
  /** The message for a person whose token names no organization. */
  readonly noOrganization: string;
}

/** Access tokens grow with their claims; a longer text is not a token. */
const HEADER_LENGTH_MAX = 8_192;
const BEARER = /^bearer +(\S+) *$/i;
const WORKFLOW_UPLOAD = /^workflowupload +(\S+) *$/i;
const KEY_LENGTH_MAX = 200;

export function callerFinder(sources: CallerSources): FindCaller {
  const find = callerByCredential(sources);
  return (request, surface) => then(find(request, surface), (caller) => inAddressedOrganization(caller, request));
}

function callerByCredential(sources: CallerSources): FindCaller {
  return (request, surface) => {
    const header = request.headers.authorization;
    // If the header is present it decides, even against a cookie.
    if (header === undefined) {
      if (surface !== 'api') throw new CallerRefused('no_credential');
      return sessionCaller(sources, request);
    }
    if (header.length > HEADER_LENGTH_MAX) throw new CallerRefused('malformed');
    if (surface === 'upload') return uploadCaller(sources, request, header);
    const token = BEARER.exec(header)?.[1];
    if (token === undefined) throw new CallerRefused('malformed');
    if (!token.startsWith('sk_')) return tokenCaller(sources, request, token, surface);
    if (surface !== 'service') throw new CallerRefused('other_kind');
    return keyCaller(sources, token, request.ip);
  };
}

function keyCaller({ registry, keyUses }: CallerSources, text: string, ip: string): Soon<Caller> {
  const key = text.length > KEY_LENGTH_MAX ? null : parseBearerKey(text);
  if (key === null) throw new CallerRefused('malformed');
  return then(registry.callerOf(key.authPart, countedAddress(ip)), (caller) => {
    if (caller?.kind !== 'service_key') throw new CallerRefused('unknown_key');
    keyUses.used(caller.orgId, caller.keyId);
    return caller;
  });
}

function tokenCaller(sources: CallerSources, from: Origin, token: string, surface: GuardedSurface): Soon<Caller> {
  const { accessTokens, accounts, noOrganization } = sources;
  if (accessTokens === null) throw new CallerRefused('tokens_not_taken');
  return then(accessTokens.verify(token), ({ forMachines, forMcp, identity }) => {
    // A token of an MCP client opens what people see, but neither runs methods as a program nor replaces the CLI. A
    // token for programs is not accepted from an MCP client, which could have been given it for another purpose.
    const accepted = surface === 'mcp' ? forMcp : forMachines || surface === 'api';
    if (!accepted) throw new CallerRefused('token_audience');
    if (identity === null) throw new CallerRefused('no_organization', noOrganization);
    return then(accounts.memberOf(identity, from), (member) =>
      userCaller(member, surface === 'mcp' || !forMachines ? 'mcp_token' : 'machine_token'),
    );
  });
}

function sessionCaller({ accounts, publicUrl }: CallerSources, request: FastifyRequest): Soon<Caller> {
  if (shownTokens(request).length === 0) throw new CallerRefused('no_credential');
  return then(browserSessions(accounts, request), ([latest, ...others]) => {
    if (latest === undefined) throw new CallerRefused('unknown_session');
    const orgId = addressedOrganization(request);
    const { member } = [latest, ...others].find((each) => each.member.orgId === orgId) ?? latest;
    // The browser sends the cookie for every page; only our pages may make changes with it.
    if (isUnsafe(request.method) && !hasOwnOrigin(request, publicUrl)) {
      throw new CallerRefused('foreign_origin', 'A change with the cookie has to come from a page of this server.');
    }
    return userCaller(member, 'session');
  });
}

async function uploadCaller({ uploadTokens }: CallerSources, request: FastifyRequest, header: string): Promise<Caller> {
  const token = WORKFLOW_UPLOAD.exec(header)?.[1];
  if (token === undefined || !isOpaqueToken(token)) throw new CallerRefused('malformed');
  const upload = await uploadTokens.uploadOf(opaqueTokenSha256(token));
  if (upload === null) throw new CallerRefused('unknown_upload_token');
  if (upload.uploadId !== (request.params as { id?: unknown }).id) throw new CallerRefused('other_upload');
  return { kind: 'upload', ...upload };
}

function userCaller(member: Member, credential: UserCaller['credential']): UserCaller {
  return { kind: 'user', ...member, credential };
}

function isUnsafe(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
}

/** Continues synchronously with a cached value. */
function then<Value, Next>(value: Soon<Value>, next: (value: Value) => Soon<Next>): Soon<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}

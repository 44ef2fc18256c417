// Sign-ins in registry.sign_ins, sessions in registry.sessions. Both are found only by their digest: the organization
// follows from the cookie, of which only the SHA-256 is sent here. Creating one removes some expired ones, so that
// neither table grows forever.
import { assert } from '@methods/base/assert';
import type { OrgId, UserId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { inject, injectable } from 'tsyringe';
import type { Member } from '../account/member.ts';
import { SESSION_DAYS, SIGN_IN_MINUTES, type SignIn } from '../account/sign-in.ts';
import type { Doer } from '../audit/audit-entry.ts';
import { auditRow } from './audit-store.ts';
import { type MemberRow, memberColumns, toMember } from './member-rows.ts';
import { Database, query } from './registry-database.ts';

export interface NewSession {
  readonly orgId: OrgId;
  readonly userId: UserId;
  readonly sessionSha256: Uint8Array;
  readonly doer: Doer;
}

/** More than one new row deletes, so that a backlog shrinks too. */
const SWEPT_MAX = 100;

@injectable()
export class SessionStore {
  constructor(@inject(Database) private readonly sql: Database) {}

  /** Valid for ten minutes. @throws ServiceError idempotency_conflict when the digest is known. */
  async beginSignIn(signInSha256: Uint8Array, signIn: SignIn): Promise<{ expiresAt: Date }> {
    const [row] = await query(
      this.sql<{ expires_at: Date }[]>`
        with swept as (
          delete from registry.sign_ins where sign_in_sha256 in (
            select sign_in_sha256 from registry.sign_ins where expires_at <= now()
            order by expires_at limit ${SWEPT_MAX} for update skip locked
          )
        )
        insert into registry.sign_ins (sign_in_sha256, state, nonce, code_verifier, return_to, expires_at)
        values (${signInSha256}, ${signIn.state}, ${signIn.nonce}, ${signIn.codeVerifier}, ${signIn.returnTo},
          now() + make_interval(mins => ${SIGN_IN_MINUTES}))
        returning expires_at`,
      { sign_ins_pkey: known },
    );
    assert(row !== undefined, 'an insert that did not fail made a row');
    return { expiresAt: row.expires_at };
  }

  /** Returns the sign-in once; null when unknown, expired or taken, or of another state, which takes nothing. */
  async takeSignIn(signInSha256: Uint8Array, state: string | null): Promise<SignIn | null> {
    const [row] = await query(this.sql<
      { state: string; nonce: string; code_verifier: string; return_to: string; live: boolean }[]
    >`
      delete from registry.sign_ins where sign_in_sha256 = ${signInSha256} and state = coalesce(${state}::text, state)
      returning state, nonce, code_verifier, return_to, expires_at > now() as live`);
    if (row === undefined || !row.live) return null;
    return { state: row.state, nonce: row.nonce, codeVerifier: row.code_verifier, returnTo: row.return_to };
  }

  /**
   * Valid for seven days. @throws ServiceError not_found without the user, idempotency_conflict when the digest is
   * known.
   */
  async create({ orgId, userId, sessionSha256, doer }: NewSession): Promise<{ expiresAt: Date }> {
    const { sql } = this;
    const [row] = await query(
      sql<{ expires_at: Date }[]>`
        with swept as (
          delete from registry.sessions where session_sha256 in (
            select session_sha256 from registry.sessions where expires_at <= now()
            order by expires_at limit ${SWEPT_MAX} for update skip locked
          )
        ), made as (
          insert into registry.sessions (org_id, user_id, session_sha256, expires_at)
          select org_id, user_id, ${sessionSha256}::bytea, now() + make_interval(days => ${SESSION_DAYS})
          from registry.users where org_id = ${orgId} and user_id = ${userId} and disabled_at is null
          returning org_id, user_id, expires_at
        ), audited as (
          ${auditRow(
            sql,
            { doer, action: 'session.create', targetKind: 'session' },
            // A session has no name except its digest; the log names its owner.
            { source: 'made', targetId: sql`user_id`, before: sql`null`, after: sql`null` },
          )}
        )
        select expires_at from made`,
      { sessions_pkey: known, sessions_hash_key: known },
    );
    if (row === undefined) throw new ServiceError('not_found', 'There is no such member.');
    return { expiresAt: row.expires_at };
  }

  /** Returns the member of a session, with the current role; null when unknown, expired or ended. */
  async resolve(sessionSha256: Uint8Array): Promise<{ member: Member; expiresAt: Date } | null> {
    const { sql } = this;
    const [row] = await query(sql<(MemberRow & { expires_at: Date; seen_lately: boolean })[]>`
      select ${memberColumns(sql)}, s.expires_at, u.last_seen_at > now() - interval '5 minutes' as seen_lately
      from registry.sessions s
      join registry.users u on u.org_id = s.org_id and u.user_id = s.user_id
      join registry.organizations o on o.org_id = u.org_id
      where s.session_sha256 = ${sessionSha256} and s.ended_at is null and s.expires_at > now()`);
    // Checked here: as a condition it makes Postgres, without statistics, read all people of the organization.
    if (row === undefined || row.disabled_at !== null) return null;
    if (!row.seen_lately) await this.noteSight(row);
    return { member: toMember(row), expiresAt: row.expires_at };
  }

  /** A repeat changes nothing. Returns the session's owner; null when unknown. */
  async end(sessionSha256: Uint8Array, doer: Doer): Promise<{ orgId: OrgId; userId: UserId } | null> {
    const { sql } = this;
    const [row] = await query(sql<{ org_id: OrgId; user_id: UserId }[]>`
      with ended as (
        update registry.sessions set ended_at = now() where session_sha256 = ${sessionSha256} and ended_at is null
        returning org_id, user_id
      ), audited as (
        ${auditRow(
          sql,
          { doer, action: 'session.end', targetKind: 'session' },
          { source: 'ended', targetId: sql`user_id`, before: sql`null`, after: sql`null` },
        )}
      )
      select org_id, user_id from registry.sessions where session_sha256 = ${sessionSha256}`);
    return row === undefined ? null : { orgId: row.org_id, userId: row.user_id };
  }

  private async noteSight({ org_id: orgId, user_id: userId }: MemberRow): Promise<void> {
    await query(this.sql`
      update registry.users set last_seen_at = greatest(last_seen_at, now())
      where org_id = ${orgId} and user_id = ${userId} and last_seen_at <= now() - interval '5 minutes'`);
  }
}

function known(): ServiceError {
  return new ServiceError('idempotency_conflict', 'This digest is taken.');
}

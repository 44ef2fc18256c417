// The members of organizations. Members that a change names are fetched each time; all members, needed to compare rules
// with the people there are, are cached for at most 30 s.

import { create } from '@bufbuild/protobuf';
import { isRole, type Role } from '@methods/auth/caller';
import { Clock } from '@methods/base/clock';
import { isId, type MethodId, type OrgId, type UserId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { CountedMember } from '@methods/method/needed-people';
import type { RegistryChanged } from '@methods/proto/event/v1/event_pb';
import type { Member } from '@methods/proto/registry/v1/account_pb';
import { type Actor, ActorSchema } from '@methods/proto/run/v1/run_pb';
import { inject, injectable } from 'tsyringe';
import { AgedCache } from '../cache/aged-cache.ts';
import { verifiedEmail } from './accounts.ts';
import { RegistryCalls } from './registry-calls.ts';
import type { RegistryChangeListener } from './registry-changes.ts';

type People = readonly CountedMember[] | null;

const CALL_MS = 3_000;
const AGE_MS = 30_000;
const PAGE = 200;
/** Larger organizations are not counted, as at a save. */
const MEMBERS_MAX = 1_000;
const MIB = 1024 * 1024;

@injectable()
export class OrganizationMembers implements RegistryChangeListener {
  private readonly known: AgedCache<People>;

  constructor(
    @inject(RegistryCalls) private readonly calls: Pick<RegistryCalls, 'accounts'>,
    @inject(Clock) clock: Clock,
  ) {
    const bytesOf = (people: People) => 100 + 100 * (people?.length ?? 0);
    this.known = new AgedCache<People>({ clock, bytesMax: 16 * MIB, ageMsOf: () => AGE_MS, bytesOf });
  }

  /** Returns all who have access; null: too many to count. */
  of(orgId: OrgId): People | Promise<People> {
    return this.known.get(orgId, () => this.all(orgId));
  }

  /** Returns the member with this id or verified address who has access; null: there is none. */
  async find(orgId: OrgId, who: string): Promise<Actor | null> {
    const userId = isId('usr', who) ? who : await this.idOf(orgId, who);
    if (userId === null) return null;
    try {
      const { member } = await this.calls.accounts.getMember({ orgId, userId }, { timeoutMs: CALL_MS });
      return member === undefined || member.disabledAtMs > 0 ? null : actorOf(member);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'not_found') return null;
      throw error;
    }
  }

  onChanged({ kind, orgId }: RegistryChanged): void {
    if (kind === 'member') this.known.expire(orgId);
  }

  onEventsMissed(): void {
    this.known.expireAll();
  }

  private async idOf(orgId: OrgId, address: string): Promise<UserId | null> {
    if (!address.includes('@')) return null;
    const named = { orgId, methodId: NO_METHOD, to: [address] };
    const { recipients } = await this.calls.accounts.listRecipients(named, { timeoutMs: CALL_MS });
    // An address without a member has no id.
    return recipients[0]?.userId || null;
  }

  private async all(orgId: OrgId): Promise<People> {
    const people: CountedMember[] = [];
    let cursor = '';
    do {
      const page = await this.calls.accounts.listMembers({ orgId, limit: PAGE, cursor }, { timeoutMs: CALL_MS });
      for (const member of page.members) {
        if (member.disabledAtMs === 0 && isRole(member.role)) people.push(counted(member, member.role));
      }
      if (people.length > MEMBERS_MAX) return null;
      cursor = page.nextCursor;
    } while (cursor !== '');
    return people;
  }
}

/** The result is the same for any method. */
const NO_METHOD = '0'.repeat(26) as MethodId;

function counted(member: Member, role: Role): CountedMember {
  return { role, email: verifiedEmail(member) };
}

function actorOf(member: Member): Actor {
  const { userId: personId, name, role } = member;
  return create(ActorSchema, { personId, email: verifiedEmail(member), name, role });
}

// People, sign-ins and sessions of the test registry.
import { newId, type OrgId, type UserId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type {
  AccountService,
  BeginSignInRequest,
  EnsureUserRequest,
  RecordedAudit,
} from '@methods/proto/registry/v1/account_service_pb';
import type { PeerService } from './peer-service.fixture.ts';

interface Person {
  readonly orgId: OrgId;
  readonly userId: UserId;
  role: string;
  readonly seenAs: EnsureUserRequest;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

export class AccountBook {
  readonly people: Person[] = [];
  readonly signIns = new Map<string, BeginSignInRequest>();
  readonly sessions = new Map<string, { person: Person; expiresAtMs: number }>();
  /** Lines that the audit log accepted. */
  readonly audit: RecordedAudit[] = [];
  settings = { contentOnDevices: false, retentionDays: 30, webhookHosts: [] as string[] };
  private readonly orgIds = new Map<string, OrgId>();

  constructor(service: PeerService<typeof AccountService>) {
    service.answer({
      getSettings: () => ({ settings: this.settings }),
      recordAudit: ({ entries }) => {
        const known = new Set(this.audit.map(({ auditId }) => auditId));
        this.audit.push(...entries.filter(({ auditId }) => !known.has(auditId)));
        return {};
      },
      ensureUser: (request) => ({ member: this.ensure(request) }),
      beginSignIn: (request) => {
        this.signIns.set(hex(request.signInSha256), request);
        return { expiresAtMs: Date.now() + 10 * MINUTE_MS };
      },
      takeSignIn: ({ signInSha256, state: shown }) => {
        const signIn = this.signIns.get(hex(signInSha256));
        if (!signIn || signIn.state !== (shown ?? signIn.state)) throw new ServiceError('unauthorized');
        this.signIns.delete(hex(signInSha256));
        const { state, nonce, codeVerifier, returnTo } = signIn;
        return { state, nonce, codeVerifier, returnTo };
      },
      createSession: ({ orgId, userId, sessionSha256 }) => {
        const person = this.people.find((each) => each.orgId === orgId && each.userId === userId);
        if (!person) throw new ServiceError('not_found');
        const expiresAtMs = Date.now() + 7 * DAY_MS;
        this.sessions.set(hex(sessionSha256), { person, expiresAtMs });
        return { expiresAtMs };
      },
      resolveSession: ({ sessionSha256 }) => {
        const session = this.sessions.get(hex(sessionSha256));
        if (!session) throw new ServiceError('unauthorized');
        return { member: session.person, expiresAtMs: session.expiresAtMs };
      },
      endSession: ({ sessionSha256 }) => {
        this.sessions.delete(hex(sessionSha256));
        return {};
      },
    });
  }

  /** Returns the organization of an issuer's id; created when first named. */
  orgId(externalOrgId: string): OrgId {
    const known = this.orgIds.get(externalOrgId) ?? newId('org');
    this.orgIds.set(externalOrgId, known);
    return known;
  }

  private ensure(request: EnsureUserRequest): Person {
    const orgId = this.orgId(request.externalOrgId);
    const known = this.people.find((each) => each.orgId === orgId && each.seenAs.subject === request.subject);
    if (known) {
      if (request.claimedRole !== '') known.role = request.claimedRole;
      return known;
    }
    const first = !this.people.some((each) => each.orgId === orgId);
    const role = request.claimedRole || (first ? 'admin' : 'member');
    const person = { orgId, userId: newId('usr'), role, seenAs: request };
    this.people.push(person);
    return person;
  }
}

function hex(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex');
}

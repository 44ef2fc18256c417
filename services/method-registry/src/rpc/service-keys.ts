// The RPCs of service keys: people manage their organization's keys, and gateways and the signer of webhooks look them
// up.
import { newId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type {
  CreateServiceKeyRequest,
  GetWebhookSecretRequest,
  GrantContentRequest,
  ListServiceKeysRequest,
  NoteKeyUseRequest,
  RenewWebhookSecretRequest,
  ResolveServiceKeyRequest,
  RevokeServiceKeyRequest,
} from '@methods/proto/registry/v1/method_registry_service_pb';
import { inject, injectable } from 'tsyringe';
import { RegistryChanges } from '../bus/registry-changes.ts';
import { WebhookSecrets } from '../key/service-key.ts';
import { pageRequest } from '../page/page.ts';
import { isKeyPlace, type KeyAct, KeyStore } from '../store/key-store.ts';
import { boundedText } from '../text/bounded-text.ts';
import { serviceKeyMessage } from './registry-message.ts';
import { digestOf, doerOf, keyIdOf, orgIdOf } from './request-fields.ts';

/** Without a limit; an organization has at most 500 live keys. */
const LISTED_KEYS_MAX = 1_000;
/** The number that one call records. */
const USES_MAX = 1_000;
const WRAPPED_BYTES_MAX = 1_024;
/** Year 9999. */
const TIME_MAX_MS = 253_402_300_799_999;

@injectable()
export class ServiceKeys {
  constructor(
    @inject(KeyStore) private readonly keys: KeyStore,
    @inject(WebhookSecrets) private readonly secrets: WebhookSecrets,
    @inject(RegistryChanges) private readonly changes: RegistryChanges,
  ) {}

  /**
   * Besides `renewWebhookSecret`, the only reply that holds a webhook secret. A repeat gets the first reply again,
   * since that one may have been lost; only the creator knows the digest, so no one else can repeat it.
   */
  async create(request: CreateServiceKeyRequest) {
    const orgId = orgIdOf(request.orgId);
    const keyId = newId('key');
    const name = boundedText('name', request.name, { min: 1, max: 200 });
    const authSha256 = digestOf('auth_sha256', request.authSha256);
    const doer = doerOf(request.doer);
    const { sealed } = this.secrets.create(orgId, keyId);
    const made = await this.keys.create({ orgId, keyId, name, authSha256, sealedWebhookSecret: sealed, doer });
    const webhookSecret = this.secrets.open(orgId, made.key.keyId, made.sealedWebhookSecret);
    if (made.created) this.changes.keyChanged({ orgId, keyId: made.key.keyId, authSha256: Buffer.from(authSha256) });
    return { key: serviceKeyMessage(made.key), webhookSecret, created: made.created };
  }

  async list(request: ListServiceKeysRequest) {
    const page = pageRequest(request, isKeyPlace);
    const limit = request.limit === 0 ? LISTED_KEYS_MAX : page.limit;
    const { items, nextCursor } = await this.keys.list(orgIdOf(request.orgId), { ...page, limit });
    return { keys: items.map(serviceKeyMessage), nextCursor };
  }

  /** Emitted for a repeat too, since the first message may have been lost. */
  async revoke(request: RevokeServiceKeyRequest) {
    const { key, authSha256 } = await this.keys.revoke(keyActOf(request));
    this.changes.keyChanged({ orgId: key.orgId, keyId: key.keyId, authSha256 });
    return { key: serviceKeyMessage(key) };
  }

  /**
   * The secret signs after the notifier's next request, at most 30 s later; until then webhooks use the earlier one.
   */
  async renewWebhookSecret(request: RenewWebhookSecretRequest) {
    const act = keyActOf(request);
    const { secret, sealed } = this.secrets.create(act.orgId, act.keyId);
    await this.keys.renewWebhookSecret(act, sealed);
    return { webhookSecret: secret };
  }

  /** For the signer of webhooks, never for people. A revoked key's runs continue and are still signed. */
  async webhookSecret(request: GetWebhookSecretRequest) {
    const orgId = orgIdOf(request.orgId);
    const keyId = keyIdOf(request.keyId);
    const sealed = await this.keys.sealedWebhookSecret(orgId, keyId);
    return { webhookSecret: this.secrets.open(orgId, keyId, sealed) };
  }

  /**
   * One index look-up; callers cache it and drop it at registry.changed. @throws ServiceError unauthorized for unknown,
   * revoked and malformed alike.
   */
  async resolve({ authSha256 }: ResolveServiceKeyRequest) {
    const found = authSha256.length === 32 ? await this.keys.resolve(authSha256) : null;
    if (found === null) throw new ServiceError('unauthorized');
    return { key: serviceKeyMessage(found.key), contentGrants: [...found.contentGrants] };
  }

  /** Emitted for a repeat too: workers of the key connect again and get the grant. */
  async grantContent(request: GrantContentRequest) {
    const act = keyActOf(request);
    const fromKeyId = keyIdOf(request.fromKeyId);
    const { wrapped, fromAuthSha256 } = request;
    if (fromKeyId === act.keyId) throw new ServiceError('invalid_request', 'A key has its own content part.');
    if (wrapped.length === 0 || wrapped.length > WRAPPED_BYTES_MAX) {
      throw new ServiceError('invalid_request', `\`wrapped\` has 1 to ${WRAPPED_BYTES_MAX} bytes.`);
    }
    if (fromAuthSha256.length > 0) digestOf('from_auth_sha256', fromAuthSha256);
    const authSha256 = await this.keys.grantContent(act, { fromKeyId, wrapped, fromAuthSha256 });
    this.changes.keyChanged({ orgId: act.orgId, keyId: act.keyId, authSha256 });
    return {};
  }

  /** Gateways report used keys in batches; people see the last use to the minute. */
  async noteUse({ uses }: NoteKeyUseRequest) {
    if (uses.length > USES_MAX) throw new ServiceError('invalid_request', `One call notes at most ${USES_MAX} uses.`);
    await this.keys.noteUse(
      uses.map((use) => {
        if (!(use.usedAtMs > 0 && use.usedAtMs <= TIME_MAX_MS)) {
          throw new ServiceError('invalid_request', '`used_at` is not a valid time.');
        }
        return { orgId: orgIdOf(use.orgId), keyId: keyIdOf(use.keyId), usedAt: new Date(use.usedAtMs) };
      }),
    );
    return {};
  }
}

function keyActOf(request: RevokeServiceKeyRequest | RenewWebhookSecretRequest | GrantContentRequest): KeyAct {
  return { orgId: orgIdOf(request.orgId), keyId: keyIdOf(request.keyId), doer: doerOf(request.doer) };
}

// GetWebhookSecret: for the signer of webhooks; never for people. A revoked key's runs continue and are still signed.
import type { GetWebhookSecretRequest } from '@methods/proto/registry/v1/method_registry_service_pb';
import { inject, injectable } from 'tsyringe';
import { WebhookSecrets } from '../key/webhook-secrets.ts';
import { KeyStore } from '../store/key-store.ts';
import { keyIdOf, orgIdOf } from './request-ids.ts';

@injectable()
export class GetWebhookSecret {
  constructor(
    @inject(KeyStore) private readonly keys: KeyStore,
    @inject(WebhookSecrets) private readonly secrets: WebhookSecrets,
  ) {}

  async handle(request: GetWebhookSecretRequest) {
    const orgId = orgIdOf(request.orgId);
    const keyId = keyIdOf(request.keyId);
    const sealed = await this.keys.sealedWebhookSecret(orgId, keyId);
    return { webhookSecret: this.secrets.open(orgId, keyId, sealed) };
  }
}

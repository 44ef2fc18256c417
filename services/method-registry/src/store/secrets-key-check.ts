// Refuses to start with another SECRETS_KEY than the one that sealed the stored webhook secrets: no webhook could be
// signed, and later keys would need the wrong one.
import { SecretBoxError } from '@methods/auth/secret-box';
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceDatabase } from '@methods/postgres/service-database';
import { inject, injectable } from 'tsyringe';
import { WebhookSecrets } from '../key/service-key.ts';
import { KeyStore } from './key-store.ts';

class WrongSecretsKey extends Error {
  override readonly name = 'WrongSecretsKey';
}

@injectable()
export class SecretsKeyCheck implements Stoppable {
  constructor(
    @inject(ServiceDatabase) private readonly database: Pick<ServiceDatabase, 'untilDone'>,
    @inject(KeyStore) private readonly keys: KeyStore,
    @inject(WebhookSecrets) private readonly secrets: WebhookSecrets,
  ) {}

  /** Waits for Postgres. @throws WrongSecretsKey. */
  async start(): Promise<void> {
    const sample = await this.database.untilDone(() => this.keys.sampleWebhookSecret());
    if (sample === null) return;
    try {
      this.secrets.open(sample.orgId, sample.keyId, sample.sealed);
    } catch (error) {
      if (!(error instanceof SecretBoxError)) throw error;
      throw new WrongSecretsKey('SECRETS_KEY is not the key the stored webhook secrets were sealed under.');
    }
  }

  stop(): void {}
}

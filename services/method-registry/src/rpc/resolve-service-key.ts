// ResolveServiceKey: the organization of a key. One point read; callers cache it and drop it at registry.changed.
import { ServiceError } from '@methods/errors/service-error';
import type { ResolveServiceKeyRequest } from '@methods/proto/registry/v1/method_registry_service_pb';
import { inject, injectable } from 'tsyringe';
import { KeyStore } from '../store/key-store.ts';
import { serviceKeyMessage } from './registry-message.ts';

@injectable()
export class ResolveServiceKey {
  constructor(@inject(KeyStore) private readonly keys: KeyStore) {}

  /** @throws ServiceError unauthorized for unknown, revoked and malformed alike. */
  async handle({ authSha256 }: ResolveServiceKeyRequest) {
    const key = authSha256.length === 32 ? await this.keys.resolve(authSha256) : null;
    if (key === null) throw new ServiceError('unauthorized');
    return { key: serviceKeyMessage(key) };
  }
}

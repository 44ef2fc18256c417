// NoteKeyUse: gateways report used keys in batches; people see the last use to the minute.
import { ServiceError } from '@methods/errors/service-error';
import type { NoteKeyUseRequest } from '@methods/proto/registry/v1/method_registry_service_pb';
import { inject, injectable } from 'tsyringe';
import { KeyStore } from '../store/key-store.ts';
import { keyIdOf, orgIdOf } from './request-ids.ts';

const USES_MAX = 1_000;
/** Year 9999. */
const TIME_MAX_MS = 253_402_300_799_999;

@injectable()
export class KeyUseNotes {
  constructor(@inject(KeyStore) private readonly keys: KeyStore) {}

  async note({ uses }: NoteKeyUseRequest) {
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

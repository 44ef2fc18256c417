// GetVersion: a version with its exact bytes and its lock, by id, "published", or the current one.
import type { GetVersionRequest } from '@methods/proto/registry/v1/method_registry_service_pb';
import { inject, injectable } from 'tsyringe';
import { type VersionChoice, VersionStore } from '../store/version-store.ts';
import { methodMessage, versionMessage } from './registry-message.ts';
import { methodIdOf, orgIdOf, versionIdOf } from './request-ids.ts';

@injectable()
export class GetVersion {
  constructor(@inject(VersionStore) private readonly versions: VersionStore) {}

  async handle(request: GetVersionRequest) {
    const orgId = orgIdOf(request.orgId);
    const methodId = methodIdOf(request.methodId);
    const { method, version, source, lock } = await this.versions.find(orgId, methodId, choiceOf(request.version));
    return {
      method: methodMessage(method),
      version: { ...versionMessage(version), source, ...(lock === null ? {} : { lock }) },
    };
  }
}

function choiceOf(text: string): VersionChoice {
  if (text === '') return { kind: 'current' };
  if (text === 'published') return { kind: 'published' };
  return { kind: 'saved', versionId: versionIdOf(text) };
}

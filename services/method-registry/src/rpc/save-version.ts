// SaveVersion: a new version upon the current one.
import type { SaveVersionRequest } from '@methods/proto/registry/v1/method_registry_service_pb';
import type { CallContext } from '@methods/rpc/call-handler';
import { inject, injectable } from 'tsyringe';
import { VersionStore } from '../store/version-store.ts';
import { boundedText } from '../text/bounded-text.ts';
import { CalledMethods } from './called-methods.ts';
import { versionMessage } from './registry-message.ts';
import { doerOf } from './request-doer.ts';
import { methodIdOf, orgIdOf } from './request-ids.ts';

@injectable()
export class SaveVersion {
  constructor(
    @inject(VersionStore) private readonly versions: VersionStore,
    @inject(CalledMethods) private readonly called: CalledMethods,
  ) {}

  async handle(request: SaveVersionRequest, { signal }: Pick<CallContext, 'signal'>) {
    const orgId = orgIdOf(request.orgId);
    const methodId = methodIdOf(request.methodId);
    const reason = boundedText('reason', request.reason, { min: 0, max: 2_000 });
    const doer = doerOf(request.doer);
    const source = await this.called.judged(request.source, methodId, { orgId, signal });
    // Not checked as an id: any base but the current version is a conflict. Empty: the method has none yet.
    const baseVersion = request.baseVersion === '' ? null : request.baseVersion;
    const { version, created } = await this.versions.save({ orgId, methodId, baseVersion, source, reason, doer });
    return {
      version: versionMessage(version),
      created,
      warnings: source.warnings.map((warning) => ({ ...warning })),
    };
  }
}

// ListVersions: a method's versions without their bytes, newest first.
import { isId } from '@methods/base/ids';
import type { ListVersionsRequest } from '@methods/proto/registry/v1/method_registry_service_pb';
import { inject, injectable } from 'tsyringe';
import { pageRequest } from '../page/page.ts';
import { VersionStore } from '../store/version-store.ts';
import { versionMessage } from './registry-message.ts';
import { methodIdOf, orgIdOf } from './request-ids.ts';

@injectable()
export class ListVersions {
  constructor(@inject(VersionStore) private readonly versions: VersionStore) {}

  async handle(request: ListVersionsRequest) {
    const orgId = orgIdOf(request.orgId);
    const methodId = methodIdOf(request.methodId);
    const page = pageRequest(request, (id) => isId('ver', id));
    const { items, nextCursor } = await this.versions.list(orgId, methodId, page);
    return { versions: items.map(versionMessage), nextCursor };
  }
}

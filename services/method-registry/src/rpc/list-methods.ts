// ListMethods: an organization's methods, newest first, or those whose names contain a text.
import { bareMethodId } from '@methods/base/ids';
import type { ListMethodsRequest } from '@methods/proto/registry/v1/method_registry_service_pb';
import { inject, injectable } from 'tsyringe';
import { pageRequest } from '../page/page.ts';
import { MethodStore } from '../store/method-store.ts';
import { boundedText } from '../text/bounded-text.ts';
import { methodMessage } from './registry-message.ts';
import { orgIdOf } from './request-ids.ts';

@injectable()
export class ListMethods {
  constructor(@inject(MethodStore) private readonly methods: MethodStore) {}

  async handle(request: ListMethodsRequest) {
    const orgId = orgIdOf(request.orgId);
    const page = pageRequest(request, (id) => bareMethodId(id) === id);
    const search = boundedText('search', request.search, { min: 0, max: 200 });
    const { items, nextCursor } = await this.methods.list({ orgId, search, page });
    return { methods: items.map(methodMessage), nextCursor };
  }
}

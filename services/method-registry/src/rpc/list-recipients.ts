// ListRecipients: who gets an e-mail about a question. Those that the question names; else the person who last published
// its method; without an address of theirs, or if they may not answer, the admins.
import type { MethodId, OrgId, UserId } from '@methods/base/ids';
import type { ListRecipientsRequest } from '@methods/proto/registry/v1/account_service_pb';
import { inject, injectable } from 'tsyringe';
import { named, RECIPIENTS_MAX } from '../account/recipients.ts';
import { RecipientStore } from '../store/recipient-store.ts';
import { methodIdOf, orgIdOf } from './request-ids.ts';

@injectable()
export class ListRecipients {
  constructor(@inject(RecipientStore) private readonly store: RecipientStore) {}

  async handle(request: ListRecipientsRequest) {
    const orgId = orgIdOf(request.orgId);
    const methodId = methodIdOf(request.methodId);
    const people = named(request.to);
    const facts = await this.store.facts(orgId, methodId);
    const exceptUserId = request.exceptUserId as UserId | '';
    const found =
      request.to.length > 0
        ? await this.store.named(orgId, people, RECIPIENTS_MAX, exceptUserId)
        : await this.publisherOrAdmins(orgId, methodId, exceptUserId);
    const recipients = found.slice(0, RECIPIENTS_MAX).map((each) => ({ ...each }));
    return { ...facts, recipients, more: found.length > RECIPIENTS_MAX };
  }

  private async publisherOrAdmins(orgId: OrgId, methodId: MethodId, exceptUserId: UserId | '') {
    const publisher = await this.store.publisher(orgId, methodId);
    if (publisher !== null && publisher.userId !== exceptUserId) return [publisher];
    return this.store.admins(orgId, RECIPIENTS_MAX, exceptUserId);
  }
}

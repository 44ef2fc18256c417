// ListRecipients: who gets an e-mail about a question. Those that the question names; else the person who last published
// its method; without an address of theirs the admins.
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
    const found = await this.found(orgId, methodId, request.to.length === 0 ? null : people);
    const recipients = found.slice(0, RECIPIENTS_MAX).map((each) => ({ ...each }));
    return { ...facts, recipients, more: found.length > RECIPIENTS_MAX };
  }

  private async found(
    orgId: Parameters<RecipientStore['named']>[0],
    methodId: Parameters<RecipientStore['publisher']>[1],
    people: Parameters<RecipientStore['named']>[1] | null,
  ) {
    if (people !== null) return this.store.named(orgId, people, RECIPIENTS_MAX);
    const publisher = await this.store.publisher(orgId, methodId);
    return publisher === null ? this.store.admins(orgId, RECIPIENTS_MAX) : [publisher];
  }
}

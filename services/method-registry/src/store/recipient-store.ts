// The store's view of who gets mail: enabled members whose address the issuer vouches for.
import type { MethodId, OrgId } from '@methods/base/ids';
import type { InjectionToken } from 'tsyringe';
import type { Named, Recipient } from '../account/recipients.ts';

/** What a mail says of the organization and the method, and how it has to treat content. */
export interface MailFacts {
  readonly orgName: string;
  /** Empty: there is no such method. */
  readonly methodName: string;
  readonly timeZone: string;
  readonly contentOnDevices: boolean;
}

export interface RecipientStore {
  /** @throws ServiceError not_found without the organization. */
  facts(orgId: OrgId, methodId: MethodId): Promise<MailFacts>;
  /** Those that the question names, each address once; one more than `limit` where there are more. */
  named(orgId: OrgId, named: Named, limit: number): Promise<readonly Recipient[]>;
  /** The person of the method's latest publication; null when it was a key, or they get no mail. */
  publisher(orgId: OrgId, methodId: MethodId): Promise<Recipient | null>;
  /** As `named`. */
  admins(orgId: OrgId, limit: number): Promise<readonly Recipient[]>;
}
export const RecipientStore: InjectionToken<RecipientStore> = Symbol('RecipientStore');

// An organization is identified by its issuer: the issuer of its members' tokens and the issuer's own name for it.
import { boundedText } from '../text/bounded-text.ts';

export interface ExternalOrganization {
  readonly issuer: string;
  readonly externalId: string;
  readonly name: string;
}

/** @throws ServiceError invalid_request. Without a name the external id is the name. */
export function externalOrganization(issuer: string, externalId: string, name: string): ExternalOrganization {
  return {
    issuer: boundedText('issuer', issuer, { min: 1, max: 512 }),
    externalId: boundedText('external_id', externalId, { min: 1, max: 256 }),
    name: boundedText('name', name === '' ? externalId : name, { min: 1, max: 256 }),
  };
}

// Refuses a person whom a page names and who is not a member of the organization.
import { ServiceError } from '@methods/errors/service-error';

export function noMember(): never {
  const message = 'is not the verified address of a member of the organization';
  throw new ServiceError('invalid_request', message, { findings: [{ path: '/to', code: 'no_member', message }] });
}

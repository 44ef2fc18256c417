// The refusal of a person that a page names and the organization does not have.
import { ServiceError } from '@methods/errors/service-error';

export function noMember(): never {
  const message = 'is not the verified address of a member of the organization';
  throw new ServiceError('invalid_request', message, { findings: [{ path: '/to', code: 'no_member', message }] });
}

// Changes that are described only by their path.
import { ServiceError } from '@methods/errors/service-error';

/** Lets nothing or `{}` pass: many clients cannot send a POST without a body. `what`: "A retry". */
export function refuseFields(body: unknown, what: string): void {
  if (body === undefined || body === null) return;
  if (typeof body === 'object' && Object.keys(body).length === 0) return;
  throw new ServiceError('invalid_request', `${what} has no fields.`);
}

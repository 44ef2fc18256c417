// The actor that a request names: the gateway has authenticated it, here only the form is checked.
import { isId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { Doer as DoerMessage } from '@methods/proto/registry/v1/account_pb';
import type { Doer } from '../audit/doer.ts';
import { boundedText } from '../text/bounded-text.ts';

const PREFIXES = { user: 'usr', service_key: 'key', upload: 'upl' } as const;

/** @throws ServiceError invalid_request where it is missing or incomplete. */
export function doerOf(message: DoerMessage | undefined): Doer {
  if (message === undefined) throw new ServiceError('invalid_request', 'The request has no caller.');
  const { kind } = message;
  if (kind !== 'system' && !Object.hasOwn(PREFIXES, kind))
    throw new ServiceError('invalid_request', 'Unknown kind of caller.');
  const id = boundedText('doer.id', message.id, { min: 1, max: 128 });
  if (kind !== 'system' && !isId(PREFIXES[kind as keyof typeof PREFIXES], id)) {
    throw new ServiceError('invalid_request', "The actor's id is malformed.");
  }
  const client = boundedText('doer.client', message.client, { min: 0, max: 200 });
  return { kind: kind as Doer['kind'], id, ...originOf(message), ...(client !== '' && { client }) };
}

/** Where a request came from. @throws ServiceError invalid_request. */
export function originOf({ ip, requestId }: { ip: string; requestId: string }): Pick<Doer, 'ip' | 'requestId'> {
  return {
    ip: boundedText('ip', ip, { min: 0, max: 64 }),
    requestId: boundedText('request_id', requestId, { min: 0, max: 128 }),
  };
}

// Reads a JSON document of the identity provider: bounded in time and size, from the address itself and no other.
import { ServiceError } from '@methods/errors/service-error';
import { isSafeTransport } from './safe-transport.ts';

const TIMEOUT_MS = 5_000;
const BYTES_MAX = 512 * 1024;

/** @throws ServiceError unavailable, for any failure. */
export async function issuerDocument(address: string): Promise<Record<string, unknown>> {
  try {
    if (!isSafeTransport(address)) throw new Error(`${address} is neither https nor on this machine`);
    const response = await fetch(address, {
      redirect: 'error',
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`${address} answered ${response.status}`);
    const document: unknown = JSON.parse(await boundedText(response));
    if (typeof document !== 'object' || document === null) throw new Error(`${address} holds no object`);
    return document as Record<string, unknown>;
  } catch (cause) {
    throw issuerAway(cause);
  }
}

export function issuerAway(cause: unknown): ServiceError {
  return new ServiceError('unavailable', 'The identity provider does not answer.', { cause, retryAfterMs: 2_000 });
}

async function boundedText(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > BYTES_MAX) throw new Error(`the document has more than ${BYTES_MAX} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

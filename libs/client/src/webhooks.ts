// Checks that a webhook comes from the server, and recently.
import { SignatureError, verifySignature } from '@methods/auth/webhook-signature';
import { WebhookError } from './errors.ts';

const SENTENCES: Readonly<Record<string, string>> = {
  malformed: 'The webhook has no header Service-Signature, or not in the form t=…,v1=….',
  mismatch: 'The webhook is not signed with this secret. Check the raw body as it came, not parsed and written again.',
  stale: 'The webhook was signed too long ago, or the clock of this machine is wrong.',
};

export interface VerifyOptions {
  readonly toleranceS?: number;
  /** Now, in Unix seconds. */
  readonly nowS?: number;
}

/** Headers of a request, as Node or fetch has them, or the value of `Service-Signature`. */
export type WebhookHeaders = string | Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns the parsed body. @throws WebhookError */
function verify(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  { toleranceS = 300, nowS = Date.now() / 1_000 }: VerifyOptions = {},
): unknown {
  try {
    verifySignature(rawBody, signatureOf(headers), secret, { nowS, toleranceS });
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error;
    throw new WebhookError(`webhook_${error.fault}`, SENTENCES[error.fault] ?? error.message);
  }
  return JSON.parse(typeof rawBody === 'string' ? rawBody : Buffer.from(rawBody).toString('utf8'));
}

function signatureOf(headers: WebhookHeaders): string {
  if (typeof headers === 'string') return headers;
  if (headers instanceof Headers) return headers.get('service-signature') ?? '';
  const [, value] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'service-signature') ?? [];
  return typeof value === 'string' ? value : '';
}

export const webhooks = { verify } as const;

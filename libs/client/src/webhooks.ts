// Checks that a webhook comes from the server, and recently.
import { SignatureError, verifySignature } from '@methods/auth/webhook-signature';
import { ConfigurationError, WebhookError } from './errors.ts';
import type { Question, Run, RunStatus } from './run.ts';

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

/** Reminders and escalations go only to endpoints. */
type WebhookEventName =
  | 'needs_input'
  | 'question.reminded'
  | 'question.escalated'
  | 'succeeded'
  | 'failed'
  | 'cancelled';

/** In device mode only the run, its status and the sealed question. */
export interface WebhookEvent {
  readonly event?: WebhookEventName;
  readonly delivery_id?: string;
  /** Grows within a run. */
  readonly seq?: number;
  readonly run_id: string;
  readonly status: RunStatus;
  readonly method?: string;
  readonly version_id?: string;
  readonly question?: Question;
  readonly result?: unknown;
  readonly error?: NonNullable<Run['error']>;
  /** The content was too large: read the run. */
  readonly content_left_out?: true;
  readonly created_at?: string;
}

/** Headers of a request, as Node or fetch has them, or the value of `Service-Signature`, which may be missing. */
export type WebhookHeaders =
  | string
  | null
  | undefined
  | Pick<Headers, 'get'>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns the parsed body. @throws WebhookError, and ConfigurationError without a secret */
function verify(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  { toleranceS = 300, nowS = Date.now() / 1_000 }: VerifyOptions = {},
): WebhookEvent {
  // As after `express.json()`: the bytes that were signed are gone.
  if (typeof rawBody !== 'string' && !ArrayBuffer.isView(rawBody)) {
    throw new WebhookError('webhook_parsed', 'Give the raw body of the webhook, as text or bytes, before any parsing.');
  }
  // Anyone can sign with an empty secret.
  if (!secret) {
    throw new ConfigurationError('no_webhook_secret', 'Give the webhook secret of the key or of the endpoint.');
  }
  try {
    verifySignature(rawBody, signatureOf(headers), secret, { nowS, toleranceS });
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error;
    throw new WebhookError(`webhook_${error.fault}`, SENTENCES[error.fault] ?? error.message);
  }
  return JSON.parse(typeof rawBody === 'string' ? rawBody : Buffer.from(rawBody).toString('utf8')) as WebhookEvent;
}

function signatureOf(headers: WebhookHeaders): string {
  if (headers === null || headers === undefined) return '';
  if (typeof headers === 'string') return headers;
  if (hasGet(headers)) return headers.get('service-signature') ?? '';
  const [, value] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'service-signature') ?? [];
  const values = typeof value === 'string' ? [value] : (value ?? []);
  return values.length === 1 ? (values[0] ?? '') : '';
}

/** Also a `Headers` of another library. */
function hasGet(headers: Exclude<WebhookHeaders, string | null | undefined>): headers is Pick<Headers, 'get'> {
  return typeof headers.get === 'function';
}

export const webhooks = { verify } as const;

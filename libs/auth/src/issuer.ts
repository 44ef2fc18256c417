// The identity provider: its metadata and keys, fetched when first needed. While it is unavailable, the cached ones are
// used.
import type { Clock } from '@methods/base/clock';
import { ServiceError } from '@methods/errors/service-error';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey, type LocalJWKSet } from 'jose';
import { isSafeTransport } from './safe-transport.ts';

/** A key that the issuer withdraws is refused after at most this time, while the issuer is available. */
const KEYS_AGE_MS = 300_000;
const UNKNOWN_KEY_PAUSE_MS = 10_000;
const AWAY_PAUSE_MS = 1_000;
const DOCUMENT_AGE_MS = 3_600_000;

export class Issuer {
  private document: Record<string, unknown> | null = null;
  private documentReadAtMs = 0;
  private keys: LocalJWKSet | null = null;
  private keysReadAtMs = 0;
  private readonly reading: OnceInAWhile;
  private readonly readingKeys: OnceInAWhile;

  /** `url`: exactly as tokens contain it. */
  constructor(
    readonly url: string,
    private readonly clock: Clock,
  ) {
    const pauses = { afterSuccessMs: UNKNOWN_KEY_PAUSE_MS, afterFailureMs: AWAY_PAUSE_MS };
    this.reading = new OnceInAWhile(clock, { ...pauses, afterSuccessMs: 0 }, () => this.readDocument());
    this.readingKeys = new OnceInAWhile(clock, pauses, () => this.readKeys());
  }

  /** Returns the discovery document (OpenID Connect Discovery 1.0). @throws ServiceError unavailable */
  async metadata(): Promise<Record<string, unknown>> {
    if (this.document === null) await this.reading.run();
    else if (this.clock.monotonicMs() - this.documentReadAtMs > DOCUMENT_AGE_MS) this.reading.run().catch(() => {});
    if (this.document === null) throw issuerAway('no discovery document');
    return this.document;
  }

  /**
   * Returns the issuer's key that a token names. Uses only `kid` and `alg` of the token's header.
   * @throws JWKSNoMatchingKey; ServiceError unavailable when the key may exist but the issuer is unavailable
   */
  readonly keyOf: JWTVerifyGetKey = async (header, token) => {
    const known = this.keys;
    if (known) {
      if (this.clock.monotonicMs() - this.keysReadAtMs > KEYS_AGE_MS) this.readingKeys.run().catch(() => {});
      try {
        return await known(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      }
    }
    await this.readingKeys.run();
    if (this.keys === null) throw issuerAway('no keys');
    return this.keys(header, token);
  };

  private async readDocument(): Promise<void> {
    const base = this.url.replace(/\/$/, '');
    const document = await issuerDocument(`${base}/.well-known/openid-configuration`);
    if (document.issuer !== this.url) throw issuerAway(`the document of ${this.url} names another issuer`);
    this.document = document;
    this.documentReadAtMs = this.clock.monotonicMs();
  }

  private async readKeys(): Promise<void> {
    const { jwks_uri: address } = await this.metadata();
    if (typeof address !== 'string') throw issuerAway('the discovery document names no jwks_uri');
    const document = await issuerDocument(address);
    try {
      this.keys = createLocalJWKSet(document as unknown as JSONWebKeySet);
    } catch (cause) {
      throw issuerAway(cause);
    }
    this.keysReadAtMs = this.clock.monotonicMs();
  }
}

// Reads a JSON document of the identity provider: bounded in time and size, and without redirects.

const TIMEOUT_MS = 5_000;
const BYTES_MAX = 512 * 1024;

/** @throws ServiceError unavailable, for any failure. */
async function issuerDocument(address: string): Promise<Record<string, unknown>> {
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

/**
 * Paces requests to another system: one at a time, and not again before a pause, so that clients with made-up tokens
 * cannot make us flood the identity provider.
 */
interface Pauses {
  readonly afterSuccessMs: number;
  readonly afterFailureMs: number;
}

class OnceInAWhile {
  private running: Promise<void> | null = null;
  private notBeforeMs = Number.NEGATIVE_INFINITY;
  private failure: unknown = null;

  constructor(
    private readonly clock: Clock,
    private readonly pauses: Pauses,
    private readonly act: () => Promise<void>,
  ) {}

  /**
   * Acts now, joins an act in progress, or does nothing during the pause. @throws the error of the last act, also
   * during the pause after it.
   */
  run(): Promise<void> {
    if (this.running) return this.running;
    if (this.clock.monotonicMs() < this.notBeforeMs) {
      return this.failure === null ? Promise.resolve() : Promise.reject(this.failure);
    }
    this.running = this.attempt().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  private async attempt(): Promise<void> {
    try {
      await this.act();
      this.failure = null;
      this.notBeforeMs = this.clock.monotonicMs() + this.pauses.afterSuccessMs;
    } catch (error) {
      this.failure = error;
      this.notBeforeMs = this.clock.monotonicMs() + this.pauses.afterFailureMs;
      throw error;
    }
  }
}

// One text for each JSON value (RFC 8785), and its digest, by which repeats of a request or an answer are recognized.
import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';

export function canonicalJson(value: unknown): string {
  return canonicalize(value) ?? 'null';
}

/** SHA-256 over the canonical text. */
export function canonicalDigest(value: unknown): Buffer {
  return hash('sha256', canonicalJson(value), 'buffer');
}

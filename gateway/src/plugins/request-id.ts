// Every request has an id, its caller's own where that can be printed and logged safely.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const VISIBLE_ASCII = /^[\x21-\x7e]{1,128}$/;

// Random once a process, then counted: unique, and costs nothing a request.
const prefix = `req_${randomBytes(9).toString('base64url')}_`;
let count = 0;

export function requestId({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && VISIBLE_ASCII.test(given) ? given : newRequestId();
}

export function newRequestId(): string {
  count++;
  return prefix + count.toString(36);
}

// The secret a webhook is signed with: `whsec_` + 43 base62. The whole text, as UTF-8, is the HMAC key.
import { randomSecret } from './base62.ts';

const FORM = /^whsec_[0-9A-Za-z]{43}$/;

export function createWebhookSecret(): string {
  return `whsec_${randomSecret()}`;
}

export function isWebhookSecret(text: string): boolean {
  return FORM.test(text);
}

// The secret a webhook is signed with: `whsec_` + 43 base62. The whole text, as UTF-8, is the HMAC key.
import { randomSecret } from './base62.ts';

export function createWebhookSecret(): string {
  return `whsec_${randomSecret()}`;
}

// The caller's identity by the server.
import type { Output } from '../terminal/output.ts';
import { plainText } from '../terminal/plain-text.ts';

/** GET /api/whoami. */
export interface CallerFacts {
  readonly user: { readonly id: string; readonly email: string | null; readonly name: string | null };
  readonly role: 'viewer' | 'member' | 'admin';
  readonly organization: { readonly id: string; readonly name: string };
  readonly credential: string;
}

/** `ada@example.com (Ada), admin of Acme`. */
export function callerWords({ user, role, organization }: CallerFacts): string {
  const name = user.email ?? user.name ?? user.id;
  const whole = user.email !== null && user.name ? `${name} (${user.name})` : name;
  return plainText(`${whole}, ${role} of ${organization.name}`);
}

export function showField(output: Output, name: string, value: string): void {
  output.line(`${output.paint('dim', name.padEnd(10))}${plainText(value)}`);
}

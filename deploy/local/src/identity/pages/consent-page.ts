// The page that asks a person whether a client may have the access it requests.
import type { Account } from '../account.ts';
import { html, page } from './page.ts';

export interface ConsentPage {
  readonly uid: string;
  readonly client: { readonly name: string; readonly id: string };
  readonly account: Account;
  /** Where the answer goes; null for a device. */
  readonly redirectUri: string | null;
  readonly resources: readonly string[];
}

export function consentPage({ uid, client, account, redirectUri, resources }: ConsentPage): string {
  const role = account.role === null ? '' : `, ${account.role}`;
  return page(
    'Allow access?',
    html`<p><strong>${client.name}</strong> wants to act as <strong>${account.email}</strong>
(${account.orgName}${role}).</p>
<ul>
<li>It learns your name, e-mail address and organization.</li>
${resources.map((resource) => html`<li>It uses <code>${resource}</code> in your name.</li>`)}
<li>Its id is <code>${client.id}</code>.</li>
${redirectUri === null ? null : html`<li>You go on to <code>${redirectUri}</code>.</li>`}
</ul>
<form method="post" action="/interaction/${uid}/consent">
<button class="main" type="submit">Allow</button>
<button type="submit" formaction="/interaction/${uid}/abort">Cancel</button>
</form>`,
  );
}

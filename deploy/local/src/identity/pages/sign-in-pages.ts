// The pages of a sign-in: who signs in, whether a client may have the access it requests, and notices.

import type { Context } from 'oidc-provider';
import { type Account, ROLES } from '../account.ts';
import { formPolicy, html, page } from './page.ts';

/** The page that asks who signs in. */
export interface LoginPage {
  readonly uid: string;
  readonly client: string;
  /** The earlier input, and its fault. */
  readonly typed: { readonly email: string; readonly organization: string; readonly role: string };
  readonly fault: string | null;
}

export function loginPage({ uid, client, typed, fault }: LoginPage): string {
  const roles = ['', ...ROLES].map((role) =>
    role === typed.role
      ? html`<option value="${role}" selected>${label(role)}</option>`
      : html`<option value="${role}">${label(role)}</option>`,
  );
  return page(
    'Sign in',
    html`<p>to <strong>${client}</strong></p>
${fault === null ? null : html`<p class="fault" role="alert">${fault}</p>`}
<form method="post" action="/interaction/${uid}/login">
<label for="email">E-mail</label>
<input id="email" name="email" type="email" value="${typed.email}" required maxlength="254" autocomplete="email" autofocus>
<label for="organization">Organization</label>
<input id="organization" name="organization" value="${typed.organization}" required maxlength="100" autocomplete="organization">
<label for="role">Role</label>
<select id="role" name="role">
${roles}
</select>
<button class="main" type="submit">Sign in</button>
<button type="submit" formaction="/interaction/${uid}/abort" formnovalidate>Cancel</button>
</form>`,
  );
}

function label(role: string): string {
  return role === '' ? 'as the service decides' : role;
}

/** The page that asks a person whether a client may have the access it requests. */
interface ConsentPage {
  readonly uid: string;
  readonly client: { readonly name: string; readonly id: string };
  readonly account: Account;
  /** Where the answer is sent; null for a device. */
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

// Pages with a notice: a request that was refused, a sign-out and the question before it.

/** `out` is the protocol's error; `error_description` may quote the request. */
export function faultPage(
  context: Context,
  out: { readonly error: string; readonly error_description?: string },
): void {
  context.type = 'html';
  context.body = noticePage('This cannot be done', `${out.error}: ${out.error_description ?? 'no reason is given'}`);
}

export function noticePage(title: string, text: string): string {
  return page(title, html`<p class="fault" role="alert">${text}</p>`);
}

export function signOutPage(publicUrl: string) {
  return (context: Context): void => {
    const { oidc } = context;
    context.type = 'html';
    context.set('content-security-policy', formPolicy([publicUrl]));
    context.body = page(
      'Sign out?',
      html`<form method="post" action="${oidc.urlFor('end_session_confirm')}">
<input type="hidden" name="xsrf" value="${oidc.session.state?.secret ?? ''}">
<button class="main" type="submit" name="logout" value="yes">Sign out</button>
<button type="submit">Stay signed in</button>
</form>`,
    );
  };
}

export function signedOutPage(context: Context): void {
  context.type = 'html';
  context.body = page('Signed out', html`<p>You can close this page.</p>`);
}

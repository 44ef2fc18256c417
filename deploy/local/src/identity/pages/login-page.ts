// The page that asks who signs in.
import { ROLES } from '../account.ts';
import { html, page } from './page.ts';

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

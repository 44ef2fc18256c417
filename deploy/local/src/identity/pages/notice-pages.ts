// Pages with a notice: a request that was refused, a sign-out and the question before it.
import type { Context } from 'oidc-provider';
import { formPolicy, html, page } from './page.ts';

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

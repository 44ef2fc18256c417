// The pages of a sign-in on another device (RFC 8628): a person types the code, then sees it with the client that asks,
// and so notices when it is not their own.
import type { Client, Context } from 'oidc-provider';
import { formPolicy, html, page } from './page.ts';

export function deviceCodePage(
  context: Context,
  _form: string,
  _out: unknown,
  fault?: { readonly name: string },
): void {
  const { action, secret } = formOf(context);
  const text =
    fault === undefined ? null : (FAULTS[fault.name] ?? 'That did not work. Ask your device for a new code.');
  send(
    context,
    'Sign in a device',
    html`${text === null ? null : html`<p class="fault" role="alert">${text}</p>`}
<form method="post" action="${action}">
<input type="hidden" name="xsrf" value="${secret}">
<label for="user_code">The code your device shows</label>
<input id="user_code" name="user_code" required maxlength="32" autocomplete="off" autocapitalize="characters" autofocus>
<button class="main" type="submit">Continue</button>
</form>`,
  );
}

export function confirmDevicePage(
  context: Context,
  _form: string,
  client: Client,
  device: { readonly ip?: string; readonly ua?: string },
  userCode: string,
): void {
  const { action, secret } = formOf(context);
  send(
    context,
    'Is this your device?',
    html`<p><strong>${client.clientName ?? client.clientId}</strong> (<code>${client.clientId}</code>) asks to sign in
from ${device.ip ?? 'an unknown address'}${device.ua ? `, ${device.ua.slice(0, 200)}` : ''}, and must show this code:</p>
<p class="code">${userCode}</p>
<p>If you did not start this yourself, or the code differs, another person wants to sign in as you.</p>
<form method="post" action="${action}">
<input type="hidden" name="xsrf" value="${secret}">
<input type="hidden" name="user_code" value="${userCode}">
<button class="main" type="submit" name="confirm" value="yes">It is mine</button>
<button type="submit" name="abort" value="yes">It is not mine</button>
</form>`,
  );
}

export function deviceDonePage(context: Context): void {
  send(context, 'Signed in', html`<p>Your device is signed in. You can close this page.</p>`);
}

const FAULTS: Readonly<Record<string, string>> = {
  NoCodeError: 'Type the code.',
  NotFoundError: 'This code is not known. Look at it again.',
  ExpiredError: 'This code is over. Ask your device for a new one.',
  AlreadyUsedError: 'This code was used already. Ask your device for a new one.',
  AbortedError: 'The sign-in was stopped.',
};

function formOf({ oidc }: Context): { action: string; secret: string } {
  return { action: oidc.urlFor('code_verification'), secret: oidc.session.state?.secret ?? '' };
}

function send(context: Context, title: string, body: ReturnType<typeof html>): void {
  context.type = 'html';
  context.set('content-security-policy', formPolicy([]));
  context.body = page(title, body);
}

// The actions on the provider's own pages: sign in, allow a client, or give up.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { errors, type Interaction, type Provider } from 'oidc-provider';
import { type Account, AccountFault, type AccountStore, accountOf } from './account.ts';
import { readForm, sendPage } from './http.ts';
import { consentPage, type LoginPage, loginPage, noticePage } from './pages/sign-in-pages.ts';

const PATH = /^\/interaction\/[\w-]{1,64}(?:\/(login|consent|abort))?$/;
const EMPTY = { email: '', organization: 'Local', role: '' };

export class Interactions {
  constructor(
    private readonly provider: Provider,
    private readonly accounts: AccountStore,
  ) {}

  /** Returns false if the path is not one of these pages. */
  async handle(path: string, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const found = PATH.exec(path);
    if (found === null) return false;
    try {
      const interaction = await this.provider.interactionDetails(request, response);
      const act = request.method === 'POST' ? found[1] : request.method === 'GET' ? 'show' : undefined;
      if (!path.startsWith(`/interaction/${interaction.uid}`)) throw new errors.SessionNotFound('another interaction');
      if (act === 'show' && found[1] === undefined) await this.show(interaction, response);
      else if (act === 'login') await this.login(interaction, request, response);
      else if (act === 'consent' && interaction.prompt.name === 'consent')
        await this.consent(interaction, request, response);
      else if (act === 'abort') await this.abort(request, response);
      else sendPage(response, 404, noticePage('Nothing is here', 'Start the sign-in again.'));
    } catch (error) {
      if (!(error instanceof errors.SessionNotFound)) throw error;
      sendPage(
        response,
        400,
        noticePage('This sign-in is over', 'It took too long, or it was done in another window. Start it again.'),
      );
    }
    return true;
  }

  private async show(interaction: Interaction, response: ServerResponse): Promise<void> {
    const targets = redirectOf(interaction);
    const account = await this.accountIn(interaction);
    if (interaction.prompt.name === 'login') {
      const { email, orgName, role } = account ?? { email: '', orgName: 'Local', role: null };
      const typed = account === null ? EMPTY : { email, organization: orgName, role: role ?? '' };
      return sendPage(response, 200, await this.loginPage(interaction, { typed, fault: null }), targets);
    }
    if (account === null) throw new errors.SessionNotFound('there was no sign-in');
    const client = await this.clientOf(interaction);
    const [redirectUri = null] = targets;
    const resources = [interaction.params.resource ?? []].flat().map(String);
    sendPage(response, 200, consentPage({ uid: interaction.uid, client, account, redirectUri, resources }), targets);
  }

  private async login(interaction: Interaction, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = await readForm(request);
    const typed = {
      email: form.get('email') ?? '',
      organization: form.get('organization') ?? '',
      role: form.get('role') ?? '',
    };
    let account: Account;
    try {
      account = accountOf(typed);
    } catch (error) {
      if (!(error instanceof AccountFault)) throw error;
      const again = await this.loginPage(interaction, { typed, fault: error.message });
      return sendPage(response, 400, again, redirectOf(interaction));
    }
    await this.accounts.save(account);
    const result = { login: { accountId: account.accountId } };
    await this.provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  }

  private async consent(interaction: Interaction, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params, session, grantId } = interaction;
    const kept = grantId === undefined ? undefined : await this.provider.Grant.find(grantId);
    const ids = { accountId: session?.accountId ?? '', clientId: String(params.client_id) };
    const grant = kept ?? new this.provider.Grant(ids);
    const { missingOIDCScope, missingResourceScopes } = prompt.details;
    if (missingOIDCScope !== undefined) grant.addOIDCScope(missingOIDCScope.join(' '));
    for (const [resource, scopes] of Object.entries(missingResourceScopes ?? {}))
      grant.addResourceScope(resource, scopes.join(' '));
    const result = { consent: { grantId: await grant.save() } };
    await this.provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
  }

  private abort(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const result = { error: 'access_denied', error_description: 'the person cancelled' };
    return this.provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  }

  private async accountIn({ session }: Interaction): Promise<Account | null> {
    return session?.accountId === undefined ? null : this.accounts.find(session.accountId);
  }

  private async loginPage(interaction: Interaction, more: Pick<LoginPage, 'typed' | 'fault'>): Promise<string> {
    return loginPage({ uid: interaction.uid, client: (await this.clientOf(interaction)).name, ...more });
  }

  private async clientOf({ params }: Interaction): Promise<{ name: string; id: string }> {
    const id = String(params.client_id);
    const client = await this.provider.Client.find(id);
    return { id, name: client?.clientName ?? id };
  }
}

/** Where the browser is redirected in the end; nowhere for a device. */
function redirectOf({ params, deviceCode }: Interaction): string[] {
  return deviceCode === undefined && typeof params.redirect_uri === 'string' ? [params.redirect_uri] : [];
}

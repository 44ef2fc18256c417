// A browser with what sign-ins need: it keeps cookies by path, follows redirects and sends forms.
import assert from 'node:assert/strict';

export interface Page {
  readonly url: string;
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

const REDIRECTS_MAX = 12;

export class Browser {
  private cookies: Cookie[] = [];

  /** Goes to the end of the redirects, or to the first address that `origin` does not serve: its page is empty. */
  async open(url: string, origin = new URL(url).origin): Promise<Page> {
    return this.follow(url, {}, origin);
  }

  /** Sends the page's form with its hidden fields, `fields` over them; `action` is another of its buttons. */
  submit(page: Page, fields: Readonly<Record<string, string>> = {}, action?: string): Promise<Page> {
    const form = /<form[^>]* action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/.exec(page.text);
    assert.ok(form, `a form on ${page.url}: ${page.text.slice(0, 2_000)}`);
    const hidden = [...(form[2] ?? '').matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const body = new URLSearchParams(hidden.map(([, name = '', value = '']): [string, string] => [name, value]));
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    const { origin } = new URL(page.url);
    const headers = { origin, 'content-type': 'application/x-www-form-urlencoded' };
    return this.follow(
      new URL(action ?? form[1] ?? '', page.url).href,
      { method: 'POST', body: body.toString(), headers },
      origin,
    );
  }

  private async follow(first: string, init: RequestInit, origin: string): Promise<Page> {
    let url = first;
    let request = init;
    for (let redirects = 0; redirects < REDIRECTS_MAX; redirects++) {
      if (new URL(url).origin !== origin) return { url, status: 0, text: '', headers: new Headers() };
      const headers = { accept: 'text/html', ...request.headers, cookie: this.cookiesFor(new URL(url).pathname) };
      const response = await fetch(url, { ...request, headers, redirect: 'manual' });
      for (const text of response.headers.getSetCookie()) this.keep(text);
      const location = response.headers.get('location');
      if (location === null)
        return { url, status: response.status, text: await response.text(), headers: response.headers };
      await response.arrayBuffer();
      url = new URL(location, url).href;
      request = {};
    }
    throw new Error('too many redirects');
  }

  private keep(text: string): void {
    const [pair = '', ...attributes] = text.split(/; */);
    const name = pair.slice(0, pair.indexOf('='));
    const value = pair.slice(pair.indexOf('=') + 1);
    const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5) ?? '/';
    assert.ok(
      attributes.some((attribute) => /^httponly$/i.test(attribute)),
      text,
    );
    this.cookies = this.cookies.filter((cookie) => cookie.name !== name || cookie.path !== path);
    if (value !== '') this.cookies.push({ name, value, path });
  }

  private cookiesFor(path: string): string {
    const sent = this.cookies.filter((cookie) => path.startsWith(cookie.path));
    return sent.map(({ name, value }) => `${name}=${value}`).join('; ');
  }
}

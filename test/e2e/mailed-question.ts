// A person who reads the mail of a stack in its mailbox, and answers by the link in it: GET and POST of forms only.
import assert from 'node:assert/strict';
import { until } from '../harness/until.ts';

const get = async (url: string) => (await fetch(url)).text();

/** The answer link in the first mail whose page has this text. */
export async function mailedLink(mailUrl: string, text: string): Promise<string> {
  return until(`a mail with ${text}`, async () => {
    for (const [, id] of (await get(mailUrl)).matchAll(/href="\/mails\/(\d+)"/g)) {
      const page = await get(`${mailUrl}/mails/${id}`);
      const [, link = null] = /href="([^"]+\/a\/[A-Za-z0-9_-]{43})"/.exec(page) ?? [];
      if (page.includes(text)) return link;
    }
    return null;
  });
}

/** Posts the values, checks them, and confirms. Returns the last page. */
export async function answerByLink(link: string, values: Readonly<Record<string, string>>): Promise<string> {
  const asked = await get(link);
  const checked = await post(link, { ...hidden(asked), ...values, do: 'check' });
  assert.match(checked, /Check your answer/);
  return post(link, { ...hidden(checked), do: 'send' });
}

async function post(link: string, values: Readonly<Record<string, string>>): Promise<string> {
  const response = await fetch(link, { method: 'POST', body: new URLSearchParams(values) });
  return response.text();
}

function hidden(page: string): Record<string, string> {
  const controls = page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g);
  return Object.fromEntries([...controls].map(([, name = '', value = '']) => [name, value.replaceAll('&quot;', '"')]));
}

// A browser without scripts, sufficient for pages of forms: it types, chooses, and posts what a browser would post.
import { equal, ok } from 'node:assert/strict';

type Control = readonly [name: string, text: string];
type Attributes = Readonly<Record<string, string>>;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#13': '\r' };

export class PlayedBrowser {
  readonly #changed = new Map<string, string[]>();

  constructor(
    readonly html: string,
    private readonly send: (posted: readonly Control[]) => Promise<string>,
  ) {}

  /** As a person reads it. */
  get text(): string {
    const shown = this.html.replaceAll(/<\/?(?:p|h\d|li|div|section|dt|dd|label|legend|button|td|th)\b[^>]*>/g, ' ');
    return decoded(shown.replaceAll(/<[^>]*>/g, ''))
      .replaceAll(/\s+/g, ' ')
      .trim();
  }

  /** Names of the buttons. */
  get buttons(): string[] {
    return [...this.html.matchAll(/<button[^>]*>([^<]*)<\/button>/g)].map(([, name]) => decoded(name ?? ''));
  }

  type(name: string, text: string): this {
    ok(
      this.#elements().some((each) => each.name === name),
      `no control ${name}`,
    );
    this.#changed.set(name, [text]);
    return this;
  }

  /** Chooses a radio button, a check box, or an entry of a list, by its text. */
  choose(name: string, words: string): this {
    const options = [
      ...this.html.matchAll(/<(?:label class="option"><input|option) ?([^>]*)>([\s\S]*?)<\/(?:label|option)>/g),
    ];
    const found = options.find(([, attributes = '', inner = '']) => {
      const own = attributesOf(attributes).name;
      return (own === undefined || own === name) && decoded(inner.replaceAll(/<[^>]*>/g, '')).trim() === words;
    });
    ok(found, `no choice ${words} of ${name}`);
    this.#changed.set(name, [attributesOf(found[1] ?? '').value ?? 'on']);
    return this;
  }

  typed(name: string): string | undefined {
    return this.controls.find(([each]) => each === name)?.[1];
  }

  /** Returns what the form would post, without a button. */
  get controls(): Control[] {
    const posted: Control[] = [];
    for (const { name, type, value, checked } of this.#elements()) {
      const changed = this.#changed.get(name);
      if (type === 'radio' || type === 'checkbox') {
        if (changed === undefined ? checked : changed.includes(value)) posted.push([name, value]);
      } else if (changed === undefined || type === 'hidden') posted.push([name, value]);
      else posted.push([name, changed[0] ?? '']);
    }
    return posted.map(([name, text]) => [name, text.replaceAll(/\r?\n/g, '\r\n')]);
  }

  async press(words: string): Promise<PlayedBrowser> {
    const buttons = [...this.html.matchAll(/<button([^>]*)>([^<]*)<\/button>/g)];
    const found = buttons.find(([, , name]) => decoded(name ?? '') === words);
    ok(found, `no button ${words}`);
    const { name = '', value = '' } = attributesOf(found[1] ?? '');
    return this.post([...this.controls, [name, value]]);
  }

  async post(posted: readonly Control[]): Promise<PlayedBrowser> {
    equal([...this.html.matchAll(/<form /g)].length <= 1, true, 'one form');
    return new PlayedBrowser(await this.send(posted), this.send);
  }

  #elements(): { name: string; type: string; value: string; checked: boolean }[] {
    const found: { name: string; type: string; value: string; checked: boolean }[] = [];
    for (const [whole, input, textarea, text = '', select] of this.html.matchAll(
      /<input([^>]*)>|<textarea([^>]*)>([\s\S]*?)<\/textarea>|<select([^>]*)>[\s\S]*?<\/select>/g,
    )) {
      const attributes = input ?? textarea ?? select ?? '';
      const { name, type = 'text', value = '' } = attributesOf(attributes);
      if (name === undefined) continue;
      if (input !== undefined) found.push({ name, type, value, checked: / checked/.test(attributes) });
      else if (select !== undefined) found.push({ name, type: 'select', value: selected(whole), checked: true });
      else found.push({ name, type: 'textarea', value: decoded(text.replace(/^\n/, '')), checked: true });
    }
    return found;
  }
}

function selected(select: string): string {
  const options = [...select.matchAll(/<option([^>]*)>/g)].map(([, attributes = '']) => attributes);
  const found = options.find((attributes) => / selected/.test(attributes)) ?? options[0] ?? '';
  return attributesOf(found).value ?? '';
}

function attributesOf(text: string): Attributes {
  return Object.fromEntries(
    [...text.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [name, decoded(value ?? '')]),
  );
}

function decoded(text: string): string {
  return text.replaceAll(/&(\w+|#\d+);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}

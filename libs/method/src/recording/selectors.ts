// Owns the selectors of a recorded step: every one is kept, those that survive a change of the page first.
import { literalText } from '../draft/method-text.ts';
import { isJsonList, type JsonObject, type JsonValue } from '../json.ts';
import { listAt } from './read-har.ts';

const SELECTORS_MAX = 20;
const SELECTOR_CHARACTERS_MAX = 1_000;

/** A selector, or a chain of them through shadow roots. */
export type Selector = string | readonly string[];

/** At most 20, by what they go by: role and name, text, test id, then the structure of the page. */
export function selectorsOf(step: JsonObject): Selector[] {
  const all = listAt(step, 'selectors').flatMap((selector): Selector[] => {
    const chain = (isJsonList(selector) ? selector : [selector]).filter((part) => typeof part === 'string');
    const [only] = chain;
    if (only === undefined || chain.some((part) => part.length > SELECTOR_CHARACTERS_MAX)) return [];
    return [chain.length === 1 ? only : chain];
  });
  const ranked = all.map((selector, index) => ({ selector, index, rank: rankOf(selector) }));
  ranked.sort((a, b) => a.rank - b.rank || a.index - b.index);
  return ranked.slice(0, SELECTORS_MAX).map(({ selector }) => selector);
}

function rankOf(selector: Selector): number {
  const last = typeof selector === 'string' ? selector : (selector.at(-1) ?? '');
  if (last.startsWith('aria/')) return 0;
  if (last.startsWith('text/')) return 1;
  if (/\[data-(?:test|testid|test-id|qa|cy)/.test(last)) return 2;
  if (last.startsWith('#')) return 3;
  if (last.startsWith('xpath/')) return 5;
  if (last.startsWith('pierce/')) return 6;
  return 4;
}

/** Words for the target of a selector, such as `Card number`; empty when no selector has any. */
export function fieldWords(selectors: readonly Selector[]): string {
  for (const pattern of [
    /^aria\/([^[\]]+)/,
    /\[name=["']?([\w-]+)/,
    /#([A-Za-z][\w-]*)/,
    /\[data-[\w-]+=["']?([\w-]+)/,
  ]) {
    for (const selector of selectors) {
      const found = pattern.exec(typeof selector === 'string' ? selector : (selector.at(-1) ?? ''))?.[1]?.trim();
      if (found) return found;
    }
  }
  return '';
}

/** All of a step's selectors as one text, to look for words in. */
export function selectorText(selectors: readonly Selector[]): string {
  return selectors.flat().join(' ');
}

export function writeSelectors(selectors: readonly Selector[]): JsonValue {
  return selectors.map(
    (selector): JsonValue => (typeof selector === 'string' ? literalText(selector) : selector.map(literalText)),
  );
}

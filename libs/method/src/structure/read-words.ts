// Owns `title` and `description`: plain text and Markdown for people.
import type { Findings } from '../source/findings.ts';
import type { SourceMap } from '../source/source-node.ts';

const TITLE_CHARACTERS_MAX = 200;

export interface Words {
  readonly title?: string;
  readonly description?: string;
}

/** Reads both keys of a mapping; absent ones stay absent. */
export function readWords(findings: Findings, map: SourceMap, path: string): Words {
  const words: { title?: string; description?: string } = {};
  for (const key of ['title', 'description'] as const) {
    const entry = map.entries.get(key);
    if (!entry) continue;
    const at = path === '' ? key : `${path}.${key}`;
    const text = entry.value.kind === 'scalar' ? entry.value.text.trim() : '';
    if (text === '')
      findings.add('M104', `${key} is text`, at, entry.value.range, { hint: `write it, or remove ${key}` });
    else if (key === 'title' && text.length > TITLE_CHARACTERS_MAX) {
      findings.add('M803', `a title has at most ${TITLE_CHARACTERS_MAX} characters`, at, entry.value.range, {
        hint: 'longer words go to description',
      });
    } else words[key] = text;
  }
  return words;
}

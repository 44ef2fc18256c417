// Owns keys whose value is one of a few fixed words (M105).

import { nearest } from '../source/did-you-mean.ts';
import type { Findings } from '../source/findings.ts';
import type { SourceEntry } from '../source/source-node.ts';

/** The word; undefined without the key, or with a finding. */
export function readWord<const Word extends string>(
  findings: Findings,
  entry: SourceEntry | undefined,
  path: string,
  key: string,
  words: readonly Word[],
): Word | undefined {
  if (!entry) return undefined;
  const text = entry.value.kind === 'scalar' ? entry.value.text : '';
  const word = words.find((known) => known === text);
  if (word !== undefined) return word;
  const list = words.length === 2 ? words.join(' or ') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
  const near = nearest(text, words);
  findings.add('M105', `${key} is ${list}`, path, entry.value.range, {
    hint: near === undefined ? `write  ${key}: ${words[0]}` : `did you mean "${near}"?`,
  });
  return undefined;
}

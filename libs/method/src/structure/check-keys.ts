// Owns the check of a mapping's keys against its table (M101, M113), the legacy spellings of workflow/2, and keys with
// one of a few fixed words (M105).
import { nearest } from '../source/did-you-mean.ts';
import type { Findings } from '../source/findings.ts';
import type { SourceEntry, SourceMap } from '../source/source-node.ts';
import { type KeyTable, POLICY_KEYS, STEP_KEYS } from './keys.ts';

/** Reports keys the table does not know, and known ones that are not available yet. */
export function checkKeys(findings: Findings, map: SourceMap, table: KeyTable, path: string): void {
  for (const { key, keyRange } of map.entries.values()) {
    if (table.keys.includes(key) || (table.extensible && key.startsWith('x-'))) continue;
    const at = path === '' ? key : `${path}.${key}`;
    if (table.later?.has(key))
      findings.add('M113', `"${key}" is not available yet`, at, keyRange, { hint: 'remove it' });
    else
      findings.add('M101', `unknown key "${key.slice(0, 40)}" in ${table.what}`, at, keyRange, {
        hint: () => hintFor(key, table),
      });
  }
}

function hintFor(key: string, table: KeyTable): string {
  const known = table.foreign.get(key) ?? nearest(key, [...table.keys, ...(table.later ?? [])]);
  if (table === STEP_KEYS && POLICY_KEYS.some((policy) => policy === key))
    return `write  ask: { question: …, ${key}: … }`;
  if (known === 'limits' && key !== 'limit') return `write  limits: { ${key}: … }`;
  return known === undefined ? `known keys: ${table.keys.join(', ')}` : `did you mean "${known}"?`;
}

/** The mapping with legacy keys under today's names, for workflow/2 sources. Ranges stay those of the source. */
export function withTodaysNames(
  findings: Findings,
  map: SourceMap,
  legacy: ReadonlyMap<string, string>,
  path: string,
): SourceMap {
  if (legacy.size === 0) return map;
  const entries = new Map<string, SourceEntry>();
  for (const entry of map.entries.values()) {
    const key = legacy.get(entry.key) ?? entry.key;
    if (entries.has(key)) {
      const at = path === '' ? entry.key : `${path}.${entry.key}`;
      findings.add('M003', `"${entry.key}" says "${key}" a second time`, at, entry.keyRange, {
        hint: 'remove one of the two',
      });
    } else entries.set(key, { ...entry, key });
  }
  return { ...map, entries };
}

// Keys whose value is one of a few fixed words (M105).

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

// The filter of the list as the address has it, and as calls take it. Pure: the present comes from the caller.
import type { Search } from '../../address/search.ts';

const LAST_MS: Readonly<Record<string, number>> = {
  '15m': 900_000,
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
  '30d': 2_592_000_000,
};
const PLAIN = ['status', 'method', 'version', 'started_by', 'text', 'created_after', 'created_before'];

/** The names of the address that filter, other than its time. */
export function filterNames(search: Search): string[] {
  return Object.keys(search).filter(
    (name) =>
      (PLAIN.includes(name) && (!name.startsWith('created_') || filterTime(search, name) !== undefined)) ||
      name === 'last' ||
      /^metadata\.(?!__proto__$)[\s\S]{1,64}$/.test(name),
  );
}

/** A time of the address; undefined: none, or one that a person has mistyped. */
export function filterTime(search: Search, name: string): string | undefined {
  const value = search[name];
  return value === undefined || Number.isNaN(Date.parse(value)) ? undefined : value;
}

/** As calls take it: `last` becomes a time. */
export function filterQuery(search: Search, nowMs: number): Record<string, string> {
  const names = filterNames(search).filter((name) => name !== 'last');
  const query: Record<string, string> = Object.fromEntries(names.map((name) => [name, search[name] ?? '']));
  const lastMs = LAST_MS[search.last ?? ''];
  if (lastMs !== undefined && query.created_after === undefined && query.created_before === undefined) {
    query.created_after = new Date(nowMs - lastMs).toISOString();
  }
  return query;
}

/** For someone who opens a link later: a time that is relative to now becomes fixed. */
export function withFixedTime(search: Search, nowMs: number): Search {
  const { last, ...others } = search;
  const { created_after: after } = filterQuery(search, nowMs);
  return last === undefined || after === undefined ? others : { ...others, created_after: after };
}

/** Counted as a person sees them: a time is one filter. */
export function filterCount(search: Search): number {
  const names = filterNames(search);
  const times = names.filter((name) => /^(created_|last$)/.test(name)).length;
  return names.length - Math.max(0, times - 1);
}

/** Whether the runs are shown by their cause, which only failed ones have. */
export function isGrouped({ group, status }: Search): boolean {
  return group === 'cause' && status === 'failed';
}

/** A change of the address that removes all filters. */
export function withoutFilters(search: Search): Record<string, null> {
  return Object.fromEntries(filterNames(search).map((name) => [name, null]));
}

/** The filter as a change of many runs takes it. */
export function bulkFilter(search: Search, nowMs: number): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  const metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(filterQuery(search, nowMs))) {
    if (name.startsWith('metadata.')) metadata[name.slice('metadata.'.length)] = value;
    else fields[name] = value;
  }
  return { ...fields, ...(Object.keys(metadata).length > 0 && { metadata }) };
}

/** `order=712`: a pair of the metadata, as a person types it; null: it is none. */
export function typedPair(text: string): { readonly name: string; readonly value: string } | null {
  const [, key, value] = /^([^=\s]{1,64})=(.{1,512})$/s.exec(text.trim()) ?? [];
  return key === undefined || value === undefined || key === '__proto__' ? null : { name: `metadata.${key}`, value };
}

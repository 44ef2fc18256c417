// The query of an address, as plain text: `?status=failed&metadata.order=712`, readable and writable by hand.

export type Search = Readonly<Record<string, string>>;

export function parseSearch(text: string): Search {
  return Object.fromEntries(new URLSearchParams(text));
}

/** Leaves out what is empty. */
export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(search).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

/** Takes any pairs: pages read the ones they know. */
export function anySearch(search: Record<string, unknown>): Search {
  const pairs = Object.entries(search).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return Object.fromEntries(pairs.map(([name, value]) => [name, String(value)]));
}

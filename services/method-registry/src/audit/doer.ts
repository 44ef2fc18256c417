// The actor of a change in an organization, and its address.

export type DoerKind = 'user' | 'service_key' | 'upload' | 'system';

export interface Doer {
  readonly kind: DoerKind;
  /** usr_, key_ or upl_; for system the name of the part. */
  readonly id: string;
  /** Empty for system. */
  readonly ip: string;
  readonly requestId: string;
  /** Name and version of the MCP client that it acted through; absent: none. */
  readonly client?: string;
}

/** A doer as people see it. */
export interface Party {
  readonly kind: DoerKind;
  readonly id: string;
  /** Empty where it is not known any more. */
  readonly name: string;
}

/** From a stored id: its prefix is the kind. */
export function party(id: string, name: string | null): Party {
  return { kind: kindOf(id), id, name: name ?? '' };
}

function kindOf(id: string): DoerKind {
  if (id.startsWith('usr_')) return 'user';
  if (id.startsWith('key_')) return 'service_key';
  return id.startsWith('upl_') ? 'upload' : 'system';
}

// Resolves names to addresses; an interface, so that tests can answer in a name server's place.

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Returns all addresses of a name. Rejects, with a `code`, when there are none. */
export type HostResolver = (hostname: string) => Promise<readonly ResolvedAddress[]>;

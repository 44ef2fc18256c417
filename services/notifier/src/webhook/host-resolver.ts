// Names to addresses. A port, so that tests can answer in a name server's place.
import { lookup } from 'node:dns/promises';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** All addresses of a name. Rejects when there are none. */
export type HostResolver = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** The machine's own way of resolving, with its hosts file. It cannot be stopped: callers stop waiting instead. */
export const systemResolver: HostResolver = async (hostname) => {
  const found = await lookup(hostname, { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

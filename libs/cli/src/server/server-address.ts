// The address of a server as a person gives it.
import { UsageError } from '../errors/command-error.ts';

/** Without a slash at its end. `source` names its origin, such as `--server`. @throws UsageError */
export function serverAddress(text: string, source: string): string {
  const wrong = (why: string) => new UsageError(`${source} ${why}`, 'such as https://methods.example.com');
  if (!URL.canParse(text)) throw wrong('is no address');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw wrong('is not an address of http or https');
  if (url.username !== '' || url.password !== '') throw wrong('names a user: sign in with  methods login  instead');
  if (url.search !== '' || url.hash !== '') throw wrong('has more than an address');
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/** Addresses of this machine only, where no one listens in. */
export function isLoopback(address: string): boolean {
  const { hostname } = new URL(address);
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

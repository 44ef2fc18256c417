// Where a connection goes, and whether others on the way can read it.
import { type ChannelCredentials, credentials } from '@grpc/grpc-js';

export interface DialTarget {
  /** As gRPC names it. */
  readonly target: string;
  readonly credentials: ChannelCredentials;
}

const TLS = /^https:\/\/([^/]+)\/?$/;
const PORT = /:\d{1,5}$/;

/**
 * `host:port` uses plain text, `https://host` and `https://host:port` use TLS (443 by default). The certificate must be
 * for that host, by an authority that Node trusts or `NODE_EXTRA_CA_CERTS` names.
 */
export function dialTarget(address: string): DialTarget {
  const host = TLS.exec(address)?.[1];
  if (host === undefined) return { target: address, credentials: credentials.createInsecure() };
  return { target: PORT.test(host) ? host : `${host}:443`, credentials: credentials.createSsl() };
}

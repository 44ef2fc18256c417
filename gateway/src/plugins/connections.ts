// Bounds the connections of the server, in all and from one address, so that a client that only opens them keeps no other
// client out. The server's own timeouts for headers and bodies close silent connections.
import { isIP } from 'node:net';
import proxyAddress from '@fastify/proxy-addr';
import { Shares } from '@methods/base/shares';
import type { FastifyInstance } from 'fastify';
import { countedAddress } from '../callers/counted-address.ts';

export interface ConnectionLimits {
  readonly connectionsMax: number;
  /** 0: no limit. */
  readonly connectionsPerAddressMax: number;
  /** As in the configuration. Through a proxy come the connections of many: they count in the whole only. */
  readonly trustProxy: string | null;
}

export function addConnectionLimits(app: FastifyInstance, limits: ConnectionLimits): void {
  const { connectionsMax, connectionsPerAddressMax, trustProxy } = limits;
  const isProxy = proxyTest(trustProxy);
  const addresses = new Shares({
    placesMax: connectionsMax,
    ...(connectionsPerAddressMax === 0 ? {} : { perOrganizationMax: connectionsPerAddressMax }),
  });
  let open = 0;
  app.server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? '';
    const place = isProxy(address) ? null : addresses.take(countedAddress(address));
    if (open >= connectionsMax || place?.ok === false) {
      if (place?.ok) place.leave();
      socket.destroy();
      return;
    }
    open++;
    socket.once('close', () => {
      open--;
      if (place?.ok) place.leave();
    });
  });
}

/** A proxy in front of this server limits its own clients. */
function proxyTest(trustProxy: string | null): (address: string) => boolean {
  if (trustProxy === null) return () => false;
  const isTrusted = proxyAddress.compile(trustProxy.split(',').map((name) => name.trim()));
  return (address) => isIP(address) !== 0 && isTrusted(address, 0);
}

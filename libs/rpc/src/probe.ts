// Distinguishes a dead peer from a slow one: whether anything listens at an address.
import { connect } from 'node:net';

export type ProbeResult = 'open' | 'refused' | 'unknown';

/**
 * Opens a plain TCP connection to `host:port` and drops it. `refused`: the host answered that nothing listens there.
 * `unknown`: no answer within `timeoutMs`, or the host cannot be reached. Never rejects.
 */
export function canConnect(address: string, timeoutMs: number): Promise<ProbeResult> {
  const { host, port } = splitAddress(address);
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (result: ProbeResult) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => settle('unknown'), timeoutMs);
    socket.once('connect', () => settle('open'));
    socket.once('error', (error: NodeJS.ErrnoException) =>
      settle(error.code === 'ECONNREFUSED' ? 'refused' : 'unknown'),
    );
  });
}

function splitAddress(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  return { host, port: Number(address.slice(colon + 1)) };
}

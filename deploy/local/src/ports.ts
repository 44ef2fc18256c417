// Chooses the ports of the stack: its well-known ones if they are free, else others, and exactly the one that a person
// named.
import getPort from 'get-port';
import { assertPortFree } from './embedded/free-port.ts';

const GATEWAY_PORT = 4600;

export interface PortChoice {
  readonly port: number;
  /** The default was taken by another process. */
  readonly instead: number | null;
}

/** @throws StackError `port_taken` for a requested port. */
export async function gatewayPort(asked: number | null): Promise<PortChoice> {
  if (asked === 0) return { port: await freePort(), instead: null };
  if (asked !== null) {
    await assertPortFree(asked);
    return { port: asked, instead: null };
  }
  try {
    await assertPortFree(GATEWAY_PORT);
    return { port: GATEWAY_PORT, instead: null };
  } catch {
    return { port: await freePort(), instead: GATEWAY_PORT };
  }
}

/** Returns `kept` if it is free, else another port; no later call of this process returns it again. */
export function keptPort(kept: number | null): Promise<number> {
  return getPort({ host: '127.0.0.1', ...(kept === null ? {} : { port: kept }) });
}

export function freePort(): Promise<number> {
  return getPort({ host: '127.0.0.1' });
}

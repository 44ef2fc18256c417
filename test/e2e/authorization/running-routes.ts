// Every route of the running gateway, as it wrote them to its log when it began to serve: no list kept by hand.
import type { Stack } from '../stack.ts';

/** What differs between the parts of the interface is which credentials they take. */
export type Surface = 'public' | 'service' | 'cli' | 'api' | 'mcp' | 'upload';
export type Role = 'viewer' | 'member' | 'admin';

export interface RunningRoute {
  readonly method: string;
  /** With parameters, for example `/v1/runs/:id`. */
  readonly url: string;
  readonly surface: Surface;
  /** The least role that may use it; null where roles play no part. */
  readonly access: Role | null;
}

/** The stack has to run at the log level debug. */
export function runningRoutes(stack: Stack): readonly RunningRoute[] {
  const record = stack
    .log('gateway-1')
    .split('\n')
    .find((line) => line.includes('"msg":"routes"'));
  if (record === undefined) throw new Error('the gateway wrote no routes to its log');
  return (JSON.parse(record) as { routes: RunningRoute[] }).routes;
}

/** As rows of examples are named: `GET /v1/runs/:id`. */
export function nameOf({ method, url }: RunningRoute): string {
  return `${method} ${url}`;
}

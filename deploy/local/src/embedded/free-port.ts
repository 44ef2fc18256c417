// Finds a taken port before a server is started on it: otherwise clients would silently connect to its owner.
import { createServer } from 'node:net';
import { StackError } from './stack-error.ts';

/** Throws StackError `port_taken` when `port` on loopback cannot be listened on. */
export function assertPortFree(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EACCES' ? 'may not be used by this user' : 'is already in use';
      reject(new StackError('port_taken', `Port ${port} ${why}.`, { cause: error }));
    });
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve()));
  });
}

// Decides what a rejected promise that nothing awaits means for the process. A fault of ours may have ended a loop for
// good, and a new process is better than one that half works. A lost connection is not such a fault: a library's hidden
// promise rejects in every process of the fleet at the same moment, and each of our own uses of that connection fails
// by itself.

/** Errors of the system, of the Postgres client and of the NATS client. */
const OF_CONNECTION = /^(E(?!RR_)[A-Z0-9_]+|CONNECT_TIMEOUT|CONNECTION_[A-Z_]+|DISCONNECT|TIMEOUT|503)$/;

export function isStrayConnectionFault(reason: unknown): boolean {
  const code = (reason as { code?: unknown } | null)?.code;
  return reason instanceof Error && typeof code === 'string' && OF_CONNECTION.test(code);
}

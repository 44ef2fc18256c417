// What every gateway of a test has: its address, its issuer, and a log that the test reads.
import { createLogger } from '@methods/logging/logger';
import type { TestIssuer } from '@methods/test/harness/test-issuer';
import type { IssuerConfig } from '../config.ts';

export const PUBLIC_URL = 'http://127.0.0.1:8080';
/** The audience of programs' tokens. */
export const MACHINE = `${PUBLIC_URL}/api`;
/** The audience of MCP clients' tokens. */
export const MCP = `${PUBLIC_URL}/mcp`;

export function issuerConfig({ url, clientId }: TestIssuer): IssuerConfig {
  return {
    url,
    clientId,
    clientSecret: null,
    cliClientId: null,
    orgClaim: 'org_id',
    orgNameClaim: 'org_name',
    roleClaim: 'role',
    machineAudience: MACHINE,
  };
}

export function keptLog() {
  const log: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void log.push(JSON.parse(line)) };
  return { log, logger: createLogger({ name: 'gateway', destination }) };
}

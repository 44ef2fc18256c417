// A gateway in front of a registry, whose people sign in at a given issuer: all that a command line's sign-in meets.
import 'reflect-metadata/lite';
import { composeGateway } from '@methods/gateway/composition';
import { createLogger } from '@methods/logging/logger';
import { commonRegistryProcess } from '../harness/registry-process.ts';

/** What servers of tests call themselves: tokens are for this name, wherever the server listens. */
const PUBLIC_URL = 'http://127.0.0.1:4600';

export interface CliGateway {
  readonly url: string;
  /** Everything logged so far. */
  log(): string;
  stop(): Promise<void>;
}

export interface CliGatewayOptions {
  readonly issuer: string;
  readonly cliClientId?: string | null;
  readonly orgClaim?: string;
  readonly orgNameClaim?: string;
  readonly roleClaim?: string;
  readonly grpcUrl?: string;
  readonly machineAudience?: string;
}

/** On the registry of all files of the process: people of another issuer are of other organizations. */
export async function commonRegistryGateway(options: CliGatewayOptions): Promise<CliGateway> {
  const { issuer, cliClientId = 'methods-cli', grpcUrl = null, machineAudience = `${PUBLIC_URL}/api` } = options;
  const { orgClaim = 'org_id', orgNameClaim = 'org_name', roleClaim = 'role' } = options;
  const registry = await commonRegistryProcess();
  const log: string[] = [];
  const gateway = composeGateway(
    {
      listen: { host: '127.0.0.1', port: 0 },
      publicUrl: PUBLIC_URL,
      grpcPublicUrl: grpcUrl,
      mcpUrl: `${PUBLIC_URL}/mcp`,
      mcpStateKey: null,
      issuer: {
        url: issuer,
        clientId: 'dashboard',
        clientSecret: null,
        cliClientId,
        orgClaim,
        orgNameClaim,
        roleClaim,
        machineAudience,
      },
      methodRegistryAddress: registry.address,
      runSchedulerAddresses: ['127.0.0.1:1'],
      notifierAddress: null,
      natsUrl: null,
      rateLimitPerKey: 0,
      rateLimitPerOrganization: 0,
      connectionsMax: 1_000,
      connectionsPerAddressMax: 0,
      packagesDir: null,
      dashboardDir: null,
      webhooks: { allowPrivate: false, ports: [] },
      logLevel: 'info',
      trustProxy: null,
    },
    createLogger({ name: 'gateway', destination: { write: (line) => log.push(line) } }),
  );
  await gateway.start();
  return {
    url: `http://127.0.0.1:${gateway.port}`,
    log: () => log.join(''),
    async stop() {
      await gateway.stop();
    },
  };
}

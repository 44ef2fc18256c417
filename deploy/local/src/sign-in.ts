// Signs people in to this stack: with the embedded identity provider at a fixed port, or an outside issuer.
//
// An organization belongs to its issuer, and an issuer is an address. So the data folder records the embedded
// provider's port, and later starts use it again. If another process uses the port by then, or an outside issuer is
// added or removed, the stack's organizations move to the new issuer before any service starts: a stack has one issuer
// at a time, and methods saved under the old one still belong to the people of the same name. A list of former issuers,
// written before the move and emptied after it, makes a start that is killed in between harmless.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPool } from '@methods/postgres/pool';
import { CLI_CLIENT_ID, DASHBOARD_CLIENT_ID } from './identity/clients.ts';
import { keptPort } from './ports.ts';

/** The issuer of stacks before they had an identity provider. */
const FIRST_ISSUER = 'local-stack';
const STATEMENT_TIMEOUT_MS = 10_000;
/** Settings of an outside issuer, passed on unchanged. */
const OUTSIDE = [
  'OIDC_ISSUER',
  'OIDC_CLIENT_ID',
  'OIDC_CLIENT_SECRET',
  'OIDC_ORG_CLAIM',
  'OIDC_ORG_NAME_CLAIM',
  'OIDC_ROLE_CLAIM',
  'OIDC_CLI_CLIENT_ID',
  'MCP_URL',
  'MACHINE_AUDIENCE',
] as const;

interface Memory {
  /** The embedded provider's port; null before its first start. */
  readonly port: number | null;
  readonly issuer: string;
  /** Issuers whose organizations may not have moved yet. */
  readonly former: readonly string[];
}

export class SignIn {
  private constructor(
    private readonly folder: string,
    private readonly baseUrl: string,
    private memory: Memory,
    private readonly embedded: boolean,
  ) {}

  /** `folder` is the provider's own one, `baseUrl` the first gateway's. */
  static async of(folder: string, baseUrl: string, say: (line: string) => void): Promise<SignIn> {
    const kept = remembered(folder);
    const outside = process.env.OIDC_ISSUER || null;
    const port = outside === null ? await keptPort(kept.port) : kept.port;
    if (outside === null && kept.port !== null && port !== kept.port)
      say(`The identity provider's port ${kept.port} is taken, using ${port}: people have to sign in again.`);
    const issuer = outside ?? `http://127.0.0.1:${port}`;
    const former = [...new Set([...kept.former, kept.issuer])].filter((one) => one !== issuer);
    const signIn = new SignIn(folder, baseUrl, { port, issuer, former }, outside === null);
    signIn.remember();
    return signIn;
  }

  get issuer(): string {
    return this.memory.issuer;
  }

  get mcpUrl(): string {
    return (!this.embedded && process.env.MCP_URL) || `${this.baseUrl}/mcp`;
  }

  /** Runs before the services start: one that remembers the old issuer's organizations would create them again. */
  async takeOrganizationsAlong(postgresUrl: string): Promise<void> {
    const { issuer, former } = this.memory;
    if (former.length === 0) return;
    const applicationName = 'local-stack';
    const sql = openPool({ url: postgresUrl, applicationName, max: 1, statementTimeoutMs: STATEMENT_TIMEOUT_MS });
    try {
      const [known] = await sql<{ known: boolean }[]>`
        select to_regclass('registry.organizations') is not null as known`;
      if (known?.known)
        await sql`
          update registry.organizations o set issuer = ${issuer}
          where o.org_id in (
            -- Of several with one id the one that was used last: an issuer has each id once.
            select distinct on (external_id) org_id from registry.organizations where issuer = any(${former})
            order by external_id, array_position(${former}::text[], issuer) desc)
          and not exists (
            select from registry.organizations n where n.issuer = ${issuer} and n.external_id = o.external_id)`;
    } finally {
      await sql.end({ timeout: 5 });
    }
    this.memory = { ...this.memory, former: [] };
    this.remember();
  }

  /** Null with an outside issuer, since there is no such process. */
  providerEnvironment(): Record<string, string> | null {
    if (!this.embedded) return null;
    const authority = process.env.NODE_EXTRA_CA_CERTS;
    return {
      // A client may be a document on this machine, under an authority of its developer.
      ...(authority !== undefined && { NODE_EXTRA_CA_CERTS: authority }),
      METHODS_LOCAL_STACK: '1',
      LISTEN: `127.0.0.1:${this.memory.port}`,
      IDENTITY_FOLDER: this.folder,
      PUBLIC_URL: this.baseUrl,
      MACHINE_AUDIENCE: `${this.baseUrl}/api`,
      MCP_URL: this.mcpUrl,
    };
  }

  /** The same for every gateway: to clients they are one service. */
  gatewayEnvironment(): Record<string, string> {
    const addresses = {
      PUBLIC_URL: this.baseUrl,
      MACHINE_AUDIENCE: `${this.baseUrl}/api`,
      MCP_URL: `${this.baseUrl}/mcp`,
    };
    if (!this.embedded) return { ...addresses, ...outsideSettings() };
    return {
      ...addresses,
      OIDC_ISSUER: this.issuer,
      OIDC_CLIENT_ID: DASHBOARD_CLIENT_ID,
      OIDC_ORG_CLAIM: 'org_id',
      OIDC_ORG_NAME_CLAIM: 'org_name',
      OIDC_ROLE_CLAIM: 'role',
      OIDC_CLI_CLIENT_ID: CLI_CLIENT_ID,
    };
  }

  /** What a node needs to accept people's tokens from workers. */
  schedulerEnvironment(): Record<string, string> {
    const names = ['OIDC_ISSUER', 'MACHINE_AUDIENCE', 'OIDC_ORG_CLAIM', 'OIDC_ORG_NAME_CLAIM', 'OIDC_ROLE_CLAIM'];
    return Object.fromEntries(Object.entries(this.gatewayEnvironment()).filter(([name]) => names.includes(name)));
  }

  private remember(): void {
    const file = fileIn(this.folder);
    writeFileSync(`${file}.new`, `${JSON.stringify(this.memory)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
}

/** The issuer of the stack whose provider has this folder, and whether that provider is the embedded one. */
export function issuerOf(folder: string): { readonly issuer: string; readonly embedded: boolean } | null {
  const { issuer, port } = remembered(folder);
  return issuer === FIRST_ISSUER ? null : { issuer, embedded: issuer === `http://127.0.0.1:${port}` };
}

function remembered(folder: string): Memory {
  try {
    return JSON.parse(readFileSync(fileIn(folder), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { port: null, issuer: FIRST_ISSUER, former: [] };
  }
}

function fileIn(folder: string): string {
  return join(folder, 'issuer.json');
}

function outsideSettings(): Record<string, string> {
  return Object.fromEntries(OUTSIDE.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

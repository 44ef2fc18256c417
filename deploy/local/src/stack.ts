// The local stack: real parts as separate processes, started in order, each found by the next, stopped in reverse.
// Addresses from the environment replace the embedded part of that name.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OrgId } from '@methods/base/ids';
import { DataFolder } from './data-folder.ts';
import { findNatsServer, installNatsServer, startNats } from './embedded/nats-server.ts';
import { startPostgres } from './embedded/postgres-server.ts';
import { StackError } from './embedded/stack-error.ts';
import { EmbeddedPart, type EmbeddedServer } from './embedded-part.ts';
import { DEVELOPMENT_ADMIN, ensureDevelopmentAdmin, type StackMail, startMail } from './mailbox/stack-mail.ts';
import type { Options } from './options.ts';
import { freePort, gatewayPort } from './ports.ts';
import { methodFiles, Publisher } from './publish.ts';
import { removeReadyLine, writeReadyLine } from './ready-file.ts';
import { servedBuilds } from './served-builds.ts';
import { ServiceProcess } from './service-process.ts';
import { SignIn } from './sign-in.ts';

/** The code of each kind of process. */
const CODE = {
  identityProvider: new URL('./identity/main.ts', import.meta.url),
  methodRegistry: new URL('../../../services/method-registry/src/main.ts', import.meta.url),
  notifier: new URL('../../../services/notifier/src/main.ts', import.meta.url),
  runScheduler: new URL('../../../services/run-scheduler/src/main.ts', import.meta.url),
  gateway: new URL('../../../gateway/src/main.ts', import.meta.url),
  worker: new URL('../../../libs/worker/src/main.ts', import.meta.url),
};
const EXAMPLES = fileURLToPath(new URL('../examples/', import.meta.url));
/** A part that dies is restarted, and a live one may be slow: a heavily loaded machine needs minutes. */
const READY_MS = 600_000;
/** Ends of one service during the start, after which waiting will not help. */
const ENDS_MAX = 5;

export interface ReadyLine {
  readonly ready: true;
  readonly base_url: string;
  readonly mcp_url: string;
  readonly grpc_url: string;
  readonly issuer: string;
  readonly postgres_url: string;
  readonly nats_url: string;
  readonly org_id: OrgId;
  readonly api_key: string;
  readonly webhook_secret: string;
  readonly methods: Readonly<Record<string, string>>;
  readonly processes: readonly { readonly name: string; readonly pid: number }[];
  readonly data_dir: string;
  /** Where the mail of this stack is read; null: it has no mailbox of its own. */
  readonly mail_url: string | null;
  /** Who gets the mail about the examples' questions; null: the people who have signed in. */
  readonly mail_to: string | null;
}

export class LocalStack {
  private readonly embedded: EmbeddedPart[] = [];
  private readonly services: ServiceProcess[] = [];
  private folder: DataFolder | null = null;
  private mail: StackMail | null = null;
  private interrupted = false;
  private ready: { readonly line: ReadyLine; readonly file: string } | null = null;

  constructor(
    private readonly options: Options,
    private readonly say: (line: string) => void,
  ) {}

  /** @throws StackError with one sentence; then everything that was started is stopped again. */
  async start(): Promise<ReadyLine> {
    try {
      return await this.startAll();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** A pending start ends at its next part, like a failed one. */
  interrupt(): void {
    this.interrupted = true;
  }

  private goOn(): void {
    if (this.interrupted) throw new StackError('interrupted', 'The start was interrupted.');
    const broken = this.services.find(({ ended }) => ended >= ENDS_MAX);
    if (broken === undefined) return;
    throw new StackError('start_failed', `${broken.name} ended ${broken.ended} times; see ${broken.logFile}.`);
  }

  private async startAll(): Promise<ReadyLine> {
    const { options, say } = this;
    const methodsFolder = options.methods ?? EXAMPLES;
    methodFiles(methodsFolder);
    const folder = DataFolder.open(options.dataDir, options.reset);
    this.folder = folder;
    folder.saveSecrets();
    const choice = await gatewayPort(options.port);
    if (choice.instead !== null) say(`Port ${choice.instead} is taken, using ${choice.port}.`);
    const baseUrl = `http://127.0.0.1:${choice.port}`;
    const building = servedBuilds(say);
    const signIn = await SignIn.of(folder.partFolder('identity-provider'), baseUrl, say);
    const [postgresUrl, natsUrl] = [await this.postgres(folder), await this.nats(folder)];
    await signIn.takeOrganizationsAlong(postgresUrl);

    const registry = `127.0.0.1:${await freePort()}`;
    const common = { POSTGRES_URL: postgresUrl, NATS_URL: natsUrl, LOG_LEVEL: process.env.LOG_LEVEL ?? 'info' };
    const provider = signIn.providerEnvironment();
    if (provider !== null) await this.service('identity-provider', CODE.identityProvider, { ...common, ...provider });
    await this.service('method-registry', CODE.methodRegistry, {
      ...common,
      LISTEN: registry,
      SECRETS_KEY: folder.secrets.secretsKey,
    });
    const mail = await startMail(options.mail);
    this.mail = mail;
    const notifier = `127.0.0.1:${await freePort()}`;
    await this.service('notifier-1', CODE.notifier, {
      ...common,
      LISTEN: notifier,
      METHOD_REGISTRY_URL: registry,
      ALLOW_PRIVATE_WEBHOOKS: '1',
      PUBLIC_URL: baseUrl,
      LINK_KEY: folder.secrets.linkKey,
      ...mail.environment,
      ...given('MAIL_RETRY_MS', 'WEBHOOK_RETRY_MS', 'WEBHOOK_TIMEOUT_MS'),
    });
    const schedulers: { internal: string; worker: string }[] = [];
    for (let n = 1; n <= options.schedulers; n++) {
      const node = { internal: `127.0.0.1:${await freePort()}`, worker: `127.0.0.1:${await freePort()}` };
      schedulers.push(node);
      await this.service(`run-scheduler-${n}`, CODE.runScheduler, {
        ...common,
        LISTEN: node.internal,
        WORKER_LISTEN: node.worker,
        METHOD_REGISTRY_URL: registry,
        ...signIn.schedulerEnvironment(),
        ...given('WORKER_LEASE_MS', 'HEARTBEAT_MS', 'MAX_ATTEMPTS', 'SHARD_COUNT', 'FAULT_POINT', 'FAULT_ONCE'),
      });
    }
    const grpcUrl = schedulers.map((node) => node.worker).join(',');
    const gateways: string[] = [];
    for (let n = 1; n <= options.gateways; n++) {
      const port = n === 1 ? choice.port : await freePort();
      const url = `http://127.0.0.1:${port}`;
      gateways.push(url);
      await this.service(`gateway-${n}`, CODE.gateway, {
        LISTEN: `127.0.0.1:${port}`,
        ...signIn.gatewayEnvironment(),
        MCP_STATE_KEY: folder.secrets.mcpStateKey,
        GRPC_PUBLIC_URL: grpcUrl,
        ...(await building),
        METHOD_REGISTRY_URL: registry,
        NOTIFIER_URL: notifier,
        RUN_SCHEDULER_URLS: schedulers.map((node) => node.internal).join(','),
        NATS_URL: natsUrl,
        LOG_LEVEL: common.LOG_LEVEL,
        RATE_LIMIT_PER_KEY: process.env.RATE_LIMIT_PER_KEY ?? '0',
        RATE_LIMIT_PER_ORGANIZATION: process.env.RATE_LIMIT_PER_ORGANIZATION ?? '0',
        ALLOW_PRIVATE_WEBHOOKS: '1',
      });
    }

    const publisher = new Publisher(registry);
    try {
      const orgId = await publisher.organization(signIn.issuer, () => this.goOn());
      const mailTo = mail.pageUrl !== null && provider !== null ? DEVELOPMENT_ADMIN : null;
      if (mailTo !== null) await ensureDevelopmentAdmin(postgresUrl, orgId);
      const webhookSecret = await publisher.serviceKey(orgId, folder);
      const methods = await publisher.publishFolder(orgId, methodsFolder);
      for (let n = 1; n <= options.workers; n++) await this.worker(`worker-${n}`, grpcUrl, methods, folder);
      await this.untilReady(gateways, provider === null ? null : signIn.issuer);
      return this.readyLine({
        baseUrl,
        mcpUrl: signIn.mcpUrl,
        issuer: signIn.issuer,
        grpcUrl,
        postgresUrl,
        natsUrl,
        orgId,
        webhookSecret,
        methods,
        mailUrl: mail.pageUrl,
        mailTo,
      });
    } finally {
      publisher.close();
    }
  }

  private readyLine(facts: {
    baseUrl: string;
    mcpUrl: string;
    issuer: string;
    grpcUrl: string;
    postgresUrl: string;
    natsUrl: string;
    orgId: OrgId;
    webhookSecret: string;
    methods: Readonly<Record<string, string>>;
    mailUrl: string | null;
    mailTo: string | null;
  }): ReadyLine {
    const line: ReadyLine = {
      ready: true,
      base_url: facts.baseUrl,
      mcp_url: facts.mcpUrl,
      grpc_url: facts.grpcUrl,
      issuer: facts.issuer,
      postgres_url: facts.postgresUrl,
      nats_url: facts.natsUrl,
      org_id: facts.orgId,
      api_key: this.folder?.secrets.key.key ?? '',
      webhook_secret: facts.webhookSecret,
      methods: facts.methods,
      processes: this.processes(),
      data_dir: this.options.dataDir,
      mail_url: facts.mailUrl,
      mail_to: facts.mailTo,
    };
    this.ready = { line, file: writeReadyLine(line) };
    return line;
  }

  private restarted(name: string, logFile: string): void {
    this.say(`${name} ended and was started again; see ${logFile}.`);
    // Keeps the file up to date: a program that finds the stack by it finds the present processes.
    if (this.ready === null) return;
    const line: ReadyLine = { ...this.ready.line, processes: this.processes() };
    writeReadyLine(line);
  }

  processes(): { name: string; pid: number }[] {
    return [...this.embedded, ...this.services].map(({ name, pid }) => ({ name, pid }));
  }

  async stop(): Promise<void> {
    if (this.ready !== null) removeReadyLine(this.ready.file);
    this.ready = null;
    const workers = this.services.filter((service) => service.name.startsWith('worker'));
    const others = this.services.filter((service) => !service.name.startsWith('worker'));
    await Promise.allSettled(workers.map((service) => service.stop()));
    for (const service of others.reverse()) await service.stop().catch(() => {});
    for (const server of [...this.embedded].reverse()) await server.stop().catch(() => {});
    await this.mail?.stop();
    this.mail = null;
    this.folder?.release();
    this.folder = null;
  }

  private async postgres(folder: DataFolder): Promise<string> {
    const given = process.env.POSTGRES_URL;
    if (given) return given;
    const dataDir = folder.partFolder('postgres');
    const logFile = join(dataDir, 'log');
    return this.embed('postgres', logFile, (port) => startPostgres({ dataDir, port, logFile, say: this.say }));
  }

  private async nats(folder: DataFolder): Promise<string> {
    const given = process.env.NATS_URL;
    if (given) return given;
    if (findNatsServer() === null) {
      this.say('Installing nats-server, once.');
      await installNatsServer();
    }
    const dataDir = folder.partFolder('nats');
    const logFile = join(dataDir, 'log');
    return this.embed('nats', logFile, (port) => startNats({ dataDir, port, logFile }));
  }

  private async embed(
    name: string,
    logFile: string,
    launch: (port: number) => Promise<EmbeddedServer>,
  ): Promise<string> {
    this.goOn();
    const part = new EmbeddedPart(name, launch, () => this.restarted(name, logFile));
    this.embedded.push(part);
    return part.start();
  }

  private async service(name: string, code: URL, env: Readonly<Record<string, string>>): Promise<ServiceProcess> {
    this.goOn();
    const folder = this.folder?.partFolder(name) ?? '';
    const onRestart = () => this.restarted(name, `${folder}/log`);
    const service = new ServiceProcess({ name, code, env, folder, onRestart });
    this.services.push(service);
    await service.start();
    return service;
  }

  private async worker(name: string, grpcUrl: string, methods: Readonly<Record<string, string>>, folder: DataFolder) {
    const dataDir = folder.partFolder(name);
    // Secrets that methods declare come from the caller's environment.
    const inherited = Object.fromEntries(
      Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    await this.service(name, CODE.worker, {
      ...inherited,
      METHODS_GRPC_URL: grpcUrl,
      SERVICE_API_KEY: folder.secrets.key.key,
      WORKER_METHODS: Object.values(methods).join(','),
      WORKER_CONCURRENCY: String(this.options.concurrency),
      WORKER_DATA_DIR: join(dataDir, 'files'),
    });
  }

  /** Gateways answer, people can sign in, workers are connected. */
  private async untilReady(gateways: readonly string[], issuer: string | null): Promise<void> {
    const deadline = performance.now() + READY_MS;
    const waiting = new Map<string, () => Promise<boolean>>();
    for (const url of gateways) waiting.set(`the gateway at ${url}`, () => answers(`${url}/readyz`));
    if (issuer !== null)
      waiting.set('the identity provider', () => answers(`${issuer}/.well-known/openid-configuration`));
    for (const service of this.services.filter(({ name }) => name.startsWith('worker'))) {
      waiting.set(service.name, async () => service.logTail().includes('{"ready":true}'));
    }
    while (waiting.size > 0) {
      this.goOn();
      for (const [what, isReady] of waiting) if (await isReady()) waiting.delete(what);
      if (waiting.size === 0) return;
      if (performance.now() > deadline) {
        const [what] = waiting.keys();
        const { dataDir } = this.options;
        throw new StackError(
          'start_failed',
          `${what} was not ready within ${READY_MS / 1000} s; see the logs in ${dataDir}.`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).status === 200;
  } catch {
    return false;
  }
}

/** Settings for tests and special fleets, passed on where the caller has them. */
function given(...names: string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = process.env[name];
    if (value !== undefined) found[name] = value;
  }
  return found;
}

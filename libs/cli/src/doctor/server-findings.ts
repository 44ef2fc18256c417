// Checks what a worker or a person needs of the server: its address, its time, a sign-in and an accepted key.

import { connect } from 'node:http2';
import { parseBearerKey } from '@methods/auth/service-key';
import { type ChosenServer, chooseServer } from '../chosen-server/choose-server.ts';
import { credentialsFor } from '../chosen-server/open-server.ts';
import type { CommandContext } from '../command/command.ts';
import type { CommandLine } from '../command/command-line.ts';
import { CommandError } from '../errors/command-error.ts';
import { ServerApi } from '../server/server-api.ts';
import { type CallerFacts, callerWords, readServerFacts } from '../server/server-facts.ts';
import { certificateFault, ServerRefusal } from '../server/server-refusal.ts';
import { requestServer } from '../server/server-request.ts';
import { type Finding, ok, problem, warning } from './runtime-findings.ts';

/** A run that does not exist: the answer shows whether the caller is known. */
const NO_RUN = `/v1/runs/run_${'0'.repeat(26)}`;

const FROM = {
  option: '',
  environment: ', by METHODS_SERVER',
  'sign-in': ', by the last sign-in',
  'local-stack': ', the local stack',
} as const;

export async function serverFindings(line: CommandLine, context: CommandContext): Promise<Finding[]> {
  const { config, interrupted } = context;
  const key = keyForm(config.serviceKey);
  let server: ChosenServer;
  try {
    server = await chooseServer(line, config);
  } catch (error) {
    return [missing(error), ...key];
  }
  const { baseUrl, from } = server;
  const findings: Finding[] = [];
  try {
    const sentAtMs = Date.now();
    const response = await requestServer(baseUrl, '/.well-known/methods', { verb: 'HEAD', signal: interrupted });
    const clock = clockFinding(response.headers.get('date'), sentAtMs, Date.now());
    const facts = await readServerFacts(baseUrl, interrupted);
    findings.push(ok('server', `${baseUrl}${FROM[from]}`), clock, await workerEndpointFinding(facts.grpcUrl));
    const api = new ServerApi({
      baseUrl,
      facts,
      interrupted,
      credentials: await credentialsFor(server, facts, config),
    });
    return [...findings, ...mailFinding(facts.sendsMail), await signInFinding(api), ...(await keyFindings(api, key))];
  } catch (error) {
    if (interrupted.aborted) throw error;
    return [...findings, faultFinding('server', error), ...key];
  }
}

/** None if the server does not say. */
export function mailFinding(sendsMail: boolean | null): Finding[] {
  if (sendsMail === null) return [];
  if (sendsMail) return [ok('mail', 'the server mails questions to the people who answer them')];
  return [
    warning('mail', 'no mail goes out: questions are in the Inbox only', 'its operator sets SMTP_URL of the notifier'),
  ];
}

/** Checks only the form; a mistyped key is detected without the server. */
function keyForm(key: string | null): Finding[] {
  if (key === null) return [];
  const well = parseBearerKey(key.trim()) !== null;
  const remedy = 'copy it again, whole, or make another with  methods keys create --name NAME';
  return well ? [] : [problem('key', 'SERVICE_API_KEY is not a service key', remedy)];
}

async function signInFinding(api: ServerApi): Promise<Finding> {
  const kind = api.credentialKind('/api/');
  if (kind === 'none') {
    return warning('sign-in', 'not signed in', `methods login --server ${api.baseUrl}`);
  }
  try {
    const caller = callerWords(await api.get<CallerFacts>('/api/whoami'));
    return ok('sign-in', kind === 'local-stack' ? `${caller}, without a sign-in` : caller);
  } catch (error) {
    return faultFinding('sign-in', error);
  }
}

async function keyFindings(api: ServerApi, form: readonly Finding[]): Promise<readonly Finding[]> {
  const kind = api.credentialKind('/v1/');
  if (form.length > 0) return form;
  if (kind !== 'service-key' && kind !== 'local-stack') {
    return [warning('key', 'SERVICE_API_KEY is not set', 'a worker needs one:  methods keys create --name NAME')];
  }
  const name = kind === 'service-key' ? 'SERVICE_API_KEY' : "the local stack's key";
  try {
    await api.get(NO_RUN);
  } catch (error) {
    if (!(error instanceof ServerRefusal && error.status === 404)) return [faultFinding('key', error)];
  }
  return [ok('key', `${name} is good`)];
}

/** Working without a server is not a fault; several possible servers are. */
function missing(error: unknown): Finding {
  const fault = faultFinding('server', error);
  const none = error instanceof CommandError && error.code === 'no_server';
  return none ? { ...fault, state: 'warning' } : fault;
}

function faultFinding(name: string, error: unknown): Finding {
  if (!(error instanceof CommandError)) throw error;
  return problem(name, error.message, error.hint ?? 'the same with --debug may show more');
}

const WARNING_MS = 5_000;
const PROBLEM_MS = 60_000;

/** `date`: the server's Date header, in whole seconds; the request was in flight between the two times. */
export function clockFinding(date: string | null, sentAtMs: number, receivedAtMs: number): Finding {
  const serverMs = Date.parse(date ?? '');
  if (Number.isNaN(serverMs)) return ok('clock', 'the server sends no time to compare with');
  // The server's second began up to 1 s before it was written.
  const early = Math.max(0, serverMs - receivedAtMs);
  const late = Math.max(0, sentAtMs - (serverMs + 1_000));
  const differenceMs = Math.max(early, late);
  const found = `${Math.round(differenceMs / 1_000)} s ${early > 0 ? 'behind' : 'ahead of'} the server`;
  const remedy = 'let the system set its clock, for example  timedatectl set-ntp true';
  if (differenceMs > PROBLEM_MS) return problem('clock', found, remedy);
  if (differenceMs > WARNING_MS) return warning('clock', found, remedy);
  return ok('clock', 'agrees with the server');
}

// Checks whether a worker on this machine could reach the endpoint that grants runs: HTTP/2, which gRPC needs.

const TIME_MAX_MS = 5_000;
const ADDRESSES_MAX = 16;
const NAME = 'worker endpoint';

/** `grpcUrl`: `host:port`, or `https://host:port` over TLS, separated by commas. */
export async function workerEndpointFinding(grpcUrl: string | null): Promise<Finding> {
  if (grpcUrl === null) {
    return warning(NAME, 'the server names none', 'its operator sets GRPC_PUBLIC_URL, or workers get METHODS_GRPC_URL');
  }
  const addresses = grpcUrl.split(',').slice(0, ADDRESSES_MAX);
  const faults = await Promise.all(addresses.map(faultOf));
  const away = addresses.filter((_, i) => faults[i] !== null);
  if (away.length === 0) return ok(NAME, `${grpcUrl} speaks gRPC`);
  const first = faults.find((fault) => fault !== null);
  const found = `${away.join(', ')}: ${first?.words}`;
  const remedy = first?.hint ?? 'let this machine through the firewall to it; a proxy in between has to speak HTTP/2';
  return away.length < addresses.length ? warning(NAME, found, remedy) : problem(NAME, found, remedy);
}

interface EndpointFault {
  readonly words: string;
  /** Of a certificate. */
  readonly hint?: string;
}

function faultOf(address: string): Promise<EndpointFault | null> {
  return new Promise((resolve) => {
    const origin = address.startsWith('https://') ? address : `http://${address}`;
    if (!URL.canParse(origin)) return resolve({ words: 'is no address' });
    const session = connect(origin);
    const settle = (fault: EndpointFault | null) => {
      clearTimeout(timer);
      session.destroy();
      resolve(fault);
    };
    const timer = setTimeout(() => settle({ words: 'does not answer' }), TIME_MAX_MS);
    session.once('remoteSettings', () => settle(null));
    session.on('error', (error: NodeJS.ErrnoException) => {
      const certificate = certificateFault(error);
      if (certificate !== null) settle({ ...certificate, words: `its certificate ${certificate.words}` });
      else settle({ words: error.code === 'ECONNREFUSED' ? 'nothing listens there' : 'does not speak HTTP/2' });
    });
    session.once('close', () => settle({ words: 'ends the connection' }));
  });
}

// `methods worker`: executes runs of the named methods on this machine until it is stopped.
import { productionMethodId } from '@methods/base/ids';
import { namedMethod } from '../chosen-server/named-method.ts';
import { openServer, SERVER_OPTIONS } from '../chosen-server/open-server.ts';
import type { Command, CommandContext } from '../command/command.ts';
import type { CommandLine } from '../command/command-line.ts';
import { CommandError, EXIT, UsageError } from '../errors/command-error.ts';
import { RUNS } from '../server/run-calls.ts';
import type { ServerApi } from '../server/server-api.ts';
import { WorkerReport } from './worker-report.ts';

const CONCURRENCY_MAX = 10_000;
const NAME_CHARACTERS_MAX = 100;

export const workerCommand: Command = {
  name: 'worker',
  usage: '--method METHOD [--method METHOD]… [--concurrency N] [--name NAME] [--server URL]',
  summary: 'Execute runs of methods on this machine',
  details: [
    'METHOD is an id (wf_…), a saved file or a display name. The key comes from SERVICE_API_KEY, or is that of the local',
    'stack; without one, the worker uses your sign-in, as a member or an admin, but not in an organization that keeps run',
    'content on devices. Secrets that methods declare come from the environment. A first SIGTERM or Ctrl-C lets the present',
    'steps end and gives the runs back; the second ends at once.',
  ],
  endsByInterrupt: true,
  options: {
    method: { value: 'METHOD', many: true, help: 'a method whose runs it claims; may be given several times' },
    concurrency: { value: 'N', help: 'runs executed at the same time; default 10' },
    name: { value: 'NAME', help: 'shown in the list of workers, beside the name of this machine' },
    'no-sandbox': { help: 'let steps see what this process sees, even if bubblewrap works' },
    ...SERVER_OPTIONS,
  },
  operands: { min: 0, max: 0, word: 'METHOD' },
  examples: [
    'methods worker --method refund-order.method --concurrency 4',
    'methods worker --method wf_01hzy3k9q8m2n4p6r8s0t2v4w6 --json',
  ],

  async run(line, context) {
    const { output, interrupted, cwd } = context;
    const words = line.texts('method');
    if (words.length === 0)
      throw new UsageError('worker needs a --method', `usage: methods worker ${workerCommand.usage}`);
    const concurrency = concurrencyOf(line);
    const name = nameOf(line);
    const api = await openServer(line, context);
    const methods = await Promise.all(words.map((word) => namedMethod(api, word, cwd)));
    const { addresses, ...credential } = await schedulerOf(api);
    if (!('contentPart' in credential) || credential.contentPart === undefined) await refuseSealedRuns(api);
    const ids = [...new Set(methods.map(({ id }) => productionMethodId(id)))];
    const report = new WorkerReport(output, {
      methods: ids,
      concurrency,
      server: api.baseUrl,
      signedIn: 'renewedToken' in credential,
    });
    const { startWorker } = await import('./start-worker.ts');
    const sandbox = !line.flag('no-sandbox');
    const worker = await startWorker(
      { addresses, ...credential, methods: ids, concurrency, name, sandbox },
      report,
      context.config,
    );
    await Promise.race([untilAborted(interrupted), report.refused]);
    report.stopping();
    await worker.stop();
    const refusal = report.refusal;
    if (refusal !== null) throw refusal;
    report.stopped();
    return EXIT.done;
  },
};

/** Requested before the worker starts, so that a refused key is reported at once. */
async function schedulerOf(api: ServerApi) {
  const { grpcUrl } = api.facts;
  if (grpcUrl === null) {
    const hint = 'its operator sets GRPC_PUBLIC_URL';
    throw new CommandError('no_worker_address', `${api.baseUrl} does not say where workers connect`, { hint });
  }
  const authPart = await api.bearer(RUNS);
  if (authPart === null) {
    const hint = `methods login --server ${api.baseUrl},  or make a key and set SERVICE_API_KEY`;
    throw new CommandError('no_key', 'a worker needs a sign-in or a service key', { hint });
  }
  await api.get(RUNS, { limit: 1 });
  const addresses = grpcUrl.split(',');
  if (api.credentialKind(RUNS) !== 'sign-in') {
    return { addresses, authPart, contentPart: api.contentPart(RUNS) };
  }
  let present = authPart;
  const renewedToken = async (refused: boolean) => {
    if (refused) await api.renewBearer(RUNS, present);
    present = (await api.bearer(RUNS)) ?? present;
    return present;
  };
  return { addresses, authPart, renewedToken };
}

/** A worker without a content part would wait for runs that it is never offered. @throws CommandError */
async function refuseSealedRuns(api: ServerApi): Promise<void> {
  const { content_on_devices: onDevices } = await api.get<{ content_on_devices: boolean }>('/v1/whoami');
  if (!onDevices) return;
  const message = 'the organization keeps run content on devices: a worker needs a whole service key to open its runs';
  throw new CommandError('device_key_required', message, { hint: 'set SERVICE_API_KEY to the key of the app' });
}

function concurrencyOf(line: CommandLine): number {
  const text = line.text('concurrency') ?? '10';
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= CONCURRENCY_MAX) return count;
  throw new UsageError(`--concurrency is a number from 1 to ${CONCURRENCY_MAX}`);
}

function nameOf(line: CommandLine): string | undefined {
  const name = line.text('name');
  if (name === undefined || (name !== '' && [...name].length <= NAME_CHARACTERS_MAX)) return name;
  throw new UsageError(`--name has 1 to ${NAME_CHARACTERS_MAX} characters`);
}

function untilAborted(signal: CommandContext['interrupted']): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

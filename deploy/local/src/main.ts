// `npm start`: the whole service on this machine, and a demonstration of its main job.
import { GREETING, runDemonstration } from './demo/demonstration.ts';
import { StackError } from './embedded/stack-error.ts';
import { readOptions, UsageError, usage } from './options.ts';
import { LocalStack, type ReadyLine } from './stack.ts';

const METHODS_SHOWN_MAX = 10;

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2), process.env.INIT_CWD ?? process.cwd());
  if (options.help) {
    process.stdout.write(usage);
    return 0;
  }
  const say = (line: string) => {
    (options.json ? process.stderr : process.stdout).write(`${line}\n`);
  };
  const stack = new LocalStack(options, say);
  const stopped = untilStopped();
  say('Starting Postgres, NATS, the services and a worker ...');
  const started = stack.start();
  const ready = await Promise.race([started, stopped]);
  if (ready === 'stop') {
    stack.interrupt();
    await started.catch(() => {});
    await stack.stop();
    return 130;
  }
  try {
    if (options.json) process.stdout.write(`${JSON.stringify(ready)}\n`);
    if (options.demo || options.once) {
      const demonstration = runDemonstration(ready, say);
      // Its calls fail when the stack stops in the middle of them.
      demonstration.catch(() => {});
      const passed = await Promise.race([demonstration, stopped]);
      if (passed === 'stop') return 130;
      if (options.once) return passed ? 0 : 1;
    }
    if (!options.json) sayWhereItIs(ready, say);
    await stopped;
    say('Stopping ...');
    return 0;
  } finally {
    await stack.stop();
  }
}

function untilStopped(): Promise<'stop'> {
  // Children and timers do not keep this process alive; waiting for the signal must.
  setInterval(() => {}, 1 << 30);
  return new Promise((resolve) => {
    let asked = 0;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        asked++;
        // A person who presses Ctrl-C three times has waited long enough.
        if (asked >= 3) process.exit(130);
        resolve('stop');
      });
    }
  });
}

function sayWhereItIs(ready: ReadyLine, say: (line: string) => void): void {
  const published = Object.entries(ready.methods);
  // The example whose inputs are known; of a person's own methods, the first.
  const example = ready.methods[GREETING.method];
  const method = example ?? published[0]?.[1] ?? 'wf_...';
  const inputs = example === undefined ? '{}' : JSON.stringify(GREETING.inputs);
  say('');
  say(`The service runs at ${ready.base_url}  (API reference: ${ready.base_url}/reference)`);
  say(`People sign in at ${ready.issuer}, with any e-mail address.`);
  if (ready.mail_url !== null) {
    const to = ready.mail_to === null ? '' : `, also that to ${ready.mail_to}, who is asked for the team`;
    say(`Mail is read at ${ready.mail_url}${to}.`);
  }
  say('Webhooks may use http and private addresses here, and keys have no rate limit.');
  say('Methods:');
  for (const [name, id] of published.slice(0, METHODS_SHOWN_MAX)) say(`  ${id}  ${name}`);
  if (published.length > METHODS_SHOWN_MAX) say(`  and ${published.length - METHODS_SHOWN_MAX} more`);
  say(example === undefined ? 'Try, with inputs as the method names them:' : 'Try:');
  say(`  export SERVICE_API_KEY=${ready.api_key}`);
  say(`  curl -s '${ready.base_url}/v1/runs?wait_ms=5000' -H "authorization: Bearer $SERVICE_API_KEY" \\`);
  say(`    -H 'content-type: application/json' -d '{"method":"${method}","inputs":${inputs}}'`);
  say(`Logs and data: ${ready.data_dir}    Stop: Ctrl-C`);
}

// A closed terminal or reader must not keep the stack from stopping in order.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    const known = error instanceof StackError || error instanceof UsageError;
    const text = known ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`${text}\n${error instanceof UsageError ? `\n${usage}` : ''}`);
    process.exit(error instanceof UsageError ? 2 : 1);
  },
);

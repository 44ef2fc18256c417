// `npm test`, after the checks: all tests of the repository, or those whose path contains one of the arguments. They
// share one Postgres, started here; each makes databases of its own on it. They run as code that was built here, and
// call the `methods` command as a package that was packed here. Tests of whole systems come first. Those of packages that
// customers install run on the Node of this machine. Those that load the machine as much as they can come last, one file
// at a time. Nothing is left running, however this ends.
import { rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { findNatsServer, installNatsServer } from '@methods/local-stack/embedded/nats-binary';
import { servedBuilds } from '@methods/local-stack/served-builds';
import { root } from './checks/command.ts';
import { MACHINE_NODE } from './harness/machine-node.ts';
import { PackedCli } from './harness/packed-cli.ts';
import { makeCluster, type OwnPostgres, startSharedPostgres } from './harness/postgres.ts';
import { cpuSeconds } from './harness/process-tree.ts';
import { tempFolder } from './harness/temp-folder.ts';
import { BuiltCode } from './runner/built-code.ts';
import { cpuRanking } from './runner/cpu-ranking.ts';
import { folderOfRun, removeFolder } from './runner/folder-of-run.ts';
import { type NodeTests, runNodeTests } from './runner/node-tests.ts';
import { sharedProcesses, sharedStacks } from './runner/shared-processes.ts';
import { findTestFiles } from './runner/test-files.ts';
import { TestSummary } from './runner/test-summary.ts';

const TEST_MS_MAX = 1_800_000;
const CPU_FILE = 'node_modules/.cache/methods-test-cpu.txt';
// Certificates of this machine: every process of Node would read all of them when it starts, which takes it twice as
// long as the rest of its start. Tests call only servers of their own.
delete process.env.NODE_EXTRA_CA_CERTS;
/** Room for the stacks of a run, its environments of dependencies and its caches of npm. */
const ROOM_BYTES = 6 * 2 ** 30;
const folder = folderOfRun(ROOM_BYTES);
if (folder !== null) process.env.TMPDIR = folder;
const { beside, installed, wholeSystem, loads } = findTestFiles(root, process.argv.slice(2));
/** Many of the tests wait more than they work. */
const CONCURRENCY = availableParallelism() + 2;
const runs = [
  // The longest first.
  {
    groups: [...sharedStacks(root, wholeSystem), ...sharedProcesses(root, beside)],
    node: process.execPath,
    concurrency: CONCURRENCY,
  },
  { groups: sharedProcesses(root, installed), node: MACHINE_NODE, concurrency: CONCURRENCY },
  { groups: loads.map((file) => [file]), node: process.execPath, concurrency: 1 },
].filter((run) => run.groups.length > 0);

let running: NodeTests | null = null;
let stopped: NodeJS.Signals | null = null;

function stop(signal: NodeJS.Signals): void {
  // A second one is for the impatient: the servers' guards clean up after us.
  if (stopped !== null) process.exit(1);
  stopped = signal;
  running?.kill(signal);
}

async function runAll(env: NodeJS.ProcessEnv, built: BuiltCode, summary: TestSummary): Promise<boolean> {
  let passed = true;
  for (const run of runs) {
    if (stopped !== null) return false;
    summary.beginRun();
    running = runNodeTests({
      ...run,
      timeoutMs: TEST_MS_MAX,
      files: run.groups.map((group) => built.file(group)),
      root,
      env: { ...process.env, ...env },
      line(line) {
        console.log(line);
        summary.read(line);
      },
    });
    passed = (await running.passed) && passed;
  }
  if (runs.length > 1) console.log(`\nAll together:\n${summary.lines().join('\n')}`);
  return passed && stopped === null;
}

/** All servers of the run, this one too, begin with copies of the same files. */
async function startPostgres(): Promise<OwnPostgres> {
  process.env.METHODS_TEST_CLUSTER = await makeCluster();
  return startSharedPostgres();
}

process.on('SIGINT', stop);
process.on('SIGTERM', stop);
if (runs.length === 0) {
  console.error('No test file has that in its path.');
  process.exitCode = 1;
} else {
  if (findNatsServer() === null) await installNatsServer();
  const [built, postgres, cli, served] = await Promise.all([
    BuiltCode.build(
      root,
      runs.flatMap((run) => run.groups),
    ),
    startPostgres(),
    PackedCli.install(),
    // Each stack would start two processes to find them.
    wholeSystem.length + loads.length > 0 ? servedBuilds(console.error) : {},
  ]);
  const [pip, reports, compiled] = [tempFolder('pip'), tempFolder('cpu'), tempFolder('compiled')];
  const startS = cpuSeconds([process.pid])[0] ?? 0;
  const env = {
    ...served,
    METHODS_TEST_POSTGRES_URL: postgres.url,
    METHODS_TEST_CLI: cli.bin,
    METHODS_TEST_PIP: pip,
    METHODS_TEST_CPU: join(reports, 'rows'),
    // The code that test processes have in common is compiled once (from Node 22 on).
    NODE_COMPILE_CACHE: compiled,
    // Some thirty nats-servers run at a time or after another. One that uses several threads at once takes three times
    // the processor for the same messages.
    GOMAXPROCS: '1',
    // Services live for seconds: the first collections of a small young generation would find all of it in use.
    STACK_NODE_ARGS: process.env.STACK_NODE_ARGS ?? '--min-semi-space-size=16',
  };
  try {
    const summary = new TestSummary();
    process.exitCode = (await runAll(env, built, summary)) ? 0 : 1;
    const ranking = cpuRanking(join(reports, 'rows'), [
      { name: 'build, pack and start', cpuS: startS },
      { name: 'the Postgres of all', cpuS: cpuSeconds([postgres.pid])[0] ?? 0 },
    ]);
    writeFileSync(join(root, CPU_FILE), ranking);
    console.log(`\nCPU seconds, all of them in ${CPU_FILE}:\n${ranking.split('\n').slice(0, 12).join('\n')}`);
    const failures = summary.failures();
    if (failures.length > 0) console.log(`\nThe failures again:\n${failures.join('\n')}`);
  } finally {
    built.remove();
    for (const folder of [pip, reports, compiled]) rmSync(folder, { recursive: true, force: true });
    // Nothing is read again: no last checkpoint.
    await Promise.all([postgres.stop('SIGQUIT'), cli.remove()]);
    if (folder !== null) removeFolder(folder);
  }
}

// Builds the command, the arguments and the whole environment of a runner's process, and starts a warm one.

import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Timer } from '@methods/base/clock';
import { ChildGroup } from './child-group.ts';
import type { ExchangeFolder } from './exchange-folder.ts';
import type { RunnerOptions } from './runner.ts';
import type { RunnerJob } from './runner-job.ts';
import { RunnerOutput, type RunnerOutputEvents } from './runner-output.ts';
import { sandboxArguments } from './sandbox-command.ts';
import { newStepUser, type StepUser } from './step-user.ts';

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly sandboxed: boolean;
  /** A file that the process inherits as descriptor 5. */
  readonly tickets?: number | null;
}

export const RUNNER_DIR = fileURLToPath(new URL('../../runner', import.meta.url));

/** A new user for each runner. Null: its steps run as the worker's own user. */
export function stepUserOf({ isolation }: RunnerOptions): StepUser | null {
  return isolation.level === 'sandbox' && isolation.setpriv !== null ? newStepUser(isolation.setpriv) : null;
}

interface OwnLaunch {
  /** Variables for this process besides the environment that all steps have. */
  readonly env?: Readonly<Record<string, string>>;
  /** Of a warm runner: the token of its marks. */
  readonly token?: string;
}

export function launchOf(
  job: RunnerJob,
  folder: ExchangeFolder,
  options: RunnerOptions,
  { env = {}, token = '' }: OwnLaunch,
): Launch {
  const { isolation } = options;
  const { workDir, codeDir } = folder;
  const memoryMb = String(job.memoryMb);
  // The command `step` exists only for the shell.
  const own = job.language === 'shell' ? [`${RUNNER_DIR}/bin`] : [];
  const path = [...own, ...job.environment.path.split(':'), options.path].filter((it) => it !== '').join(':');
  const environment = {
    ...Object.fromEntries(job.secrets),
    ...env,
    PATH: path,
    LANG: options.lang,
    TZ: 'UTC',
    HOME: workDir,
    TMPDIR: workDir,
  };
  const [command, args] = {
    node: (): Command => [
      process.execPath,
      [`--max-old-space-size=${memoryMb}`, `${RUNNER_DIR}/node-runner.mjs`, workDir, codeDir, memoryMb, token],
    ],
    // Isolated (no user settings, no current folder on the module path), and no bytecode written beside modules.
    python: (): Command => [
      job.python?.executable ?? 'python3',
      ['-I', '-B', `${RUNNER_DIR}/python-runner.py`, workDir, memoryMb, token],
    ],
    shell: (): Command => [
      'bash',
      ['--noprofile', '--norc', '-euo', 'pipefail', `${RUNNER_DIR}/shell-runner.bash`, job.step, memoryMb],
    ],
  }[job.language]();
  if (isolation.level !== 'sandbox') return { command, args, cwd: workDir, env: environment, sandboxed: false };
  const readable = [RUNNER_DIR, ...(job.python?.folders ?? []), ...job.environment.folders];
  if (job.language === 'node') readable.push(process.execPath);
  const sandbox = sandboxArguments({ folder: folder.dir, readable, path, network: job.network, user: folder.user });
  return {
    command: isolation.command,
    args: [...sandbox, command, ...args],
    cwd: '/',
    env: environment,
    sandboxed: true,
  };
}

type Command = [command: string, args: readonly string[]];

const READY = '{"t":"ready"}';
/** A process that hangs before its first step would block steps whose deadline has not begun yet. */
const START_MS_MAX = 30_000;

/** Starts the process of a warm runner, and what reads its output step by step. */
interface WarmChildOptions {
  readonly job: RunnerJob;
  readonly folder: ExchangeFolder;
  readonly runner: RunnerOptions;
  /** The open file of tickets. */
  readonly tickets: number;
}

interface WarmChildEvents extends RunnerOutputEvents {
  /** It can take its first step. */
  readonly onReady: () => void;
  /** It has not reported for its first step in time. */
  readonly onStuck: () => void;
  readonly onGone: (code: number | null, signal: NodeJS.Signals | null) => void;
  /** It could not be started: called before this throws. */
  readonly onFailed: () => void;
}

interface WarmChild {
  readonly child: ChildGroup;
  readonly output: RunnerOutput;
  /** To be cancelled when it takes no more steps. */
  readonly startLimit: Timer;
}

export function startWarmChild({ job, folder, runner, tickets }: WarmChildOptions, events: WarmChildEvents): WarmChild {
  const { clock } = runner;
  const token = randomBytes(8).toString('hex');
  const output = new RunnerOutput(token, clock, events);
  const startLimit = clock.after(START_MS_MAX, events.onStuck);
  try {
    const launch = { ...launchOf(job, folder, runner, { token }), tickets };
    let isStarting = true;
    const child = new ChildGroup(launch, clock, {
      onLine(line) {
        if (!isStarting || line !== READY) return output.line(line);
        isStarting = false;
        startLimit.cancel();
        child.ready();
        events.onReady();
      },
      onOverflow: events.onOverflow,
      onPrint: (source, chunk) => output.print(source, chunk),
      onGone: events.onGone,
    });
    return { child, output, startLimit };
  } catch (error) {
    startLimit.cancel();
    events.onFailed();
    throw error;
  }
}

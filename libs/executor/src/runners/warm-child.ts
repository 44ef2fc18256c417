// Starts the process of a warm runner, and what reads its output step by step.
import { randomBytes } from 'node:crypto';
import type { Timer } from '@methods/base/clock';
import { ChildGroup } from './child-group.ts';
import type { ExchangeFolder } from './exchange-folder.ts';
import type { RunnerOptions } from './runner.ts';
import type { RunnerJob } from './runner-job.ts';
import { launchOf } from './runner-launch.ts';
import { RunnerOutput, type RunnerOutputEvents } from './runner-output.ts';

const READY = '{"t":"ready"}';
/** A process that hangs before its first step would block steps whose deadline has not begun yet. */
const START_MS_MAX = 30_000;

export interface WarmChildOptions {
  readonly job: RunnerJob;
  readonly folder: ExchangeFolder;
  readonly runner: RunnerOptions;
  /** The open file of tickets. */
  readonly tickets: number;
}

export interface WarmChildEvents extends RunnerOutputEvents {
  /** It can take its first step. */
  readonly onReady: () => void;
  /** It has not reported for its first step in time. */
  readonly onStuck: () => void;
  readonly onGone: (code: number | null, signal: NodeJS.Signals | null) => void;
  /** It could not be started: called before this throws. */
  readonly onFailed: () => void;
}

export interface WarmChild {
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

// Runs Node's test runner over some files and shows its output as it arrives.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface NodeTestsOptions {
  readonly root: string;
  /** The executable. */
  readonly node: string;
  /** Plain JavaScript. */
  readonly files: readonly string[];
  /** Files run at once. */
  readonly concurrency: number;
  /** A test that hangs fails after this time. */
  readonly timeoutMs: number;
  readonly env: NodeJS.ProcessEnv;
  readonly line: (line: string) => void;
}

export interface NodeTests {
  /** True when all passed. */
  readonly passed: Promise<boolean>;
  kill(signal: NodeJS.Signals): void;
}

export function runNodeTests(options: NodeTestsOptions): NodeTests {
  const args = ['--test', '--test-reporter=spec'];
  args.push(`--test-concurrency=${options.concurrency}`, `--test-timeout=${options.timeoutMs}`, ...options.files);
  const child: ChildProcess = spawn(options.node, args, {
    cwd: options.root,
    // The reporter prints no colours into a pipe.
    env: { ...options.env, ...(process.stdout.isTTY && { FORCE_COLOR: '1' }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.stdout !== null) createInterface({ input: child.stdout }).on('line', options.line);
  const passed = new Promise<boolean>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code === 0));
  });
  return { passed, kill: (signal) => void child.kill(signal) };
}

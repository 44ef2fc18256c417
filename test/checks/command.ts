// Runs one tool to its end and keeps what it said.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

export interface CommandOutcome {
  readonly ok: boolean;
  /** Both streams, in the order they came. */
  readonly output: string;
}

/**
 * `command` is a name in node_modules/.bin, or a path. Runs in the root of the repository. A tool in Go collects its
 * garbage less often: it ends within seconds.
 */
export function runTool(command: string, args: readonly string[]): Promise<CommandOutcome> {
  return new Promise((resolve) => {
    const path = command.includes('/') ? command : `${root}node_modules/.bin/${command}`;
    const env = { ...process.env, GOGC: '400' };
    const child = spawn(path, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.once('error', (error) => resolve({ ok: false, output: `${command} could not be run: ${error.message}` }));
    child.once('close', (code) => resolve({ ok: code === 0, output: Buffer.concat(chunks).toString('utf8') }));
  });
}

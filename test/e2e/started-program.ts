// A program of an application, as a process of its own.
import { type ChildProcess, spawn } from 'node:child_process';

export interface Program {
  readonly child: ChildProcess;
  /** Its lines so far. */
  readonly lines: string[];
  /** What it has printed so far, the unfinished line too. */
  readonly printed: () => string;
  readonly errors: () => string;
  readonly ended: Promise<number | null>;
  /** A line of the person at its terminal. */
  type(line: string): void;
}

interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function startProgram(command: string, args: readonly string[], { cwd, env }: Place): Program {
  const child = spawn(command, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  const lines: string[] = [];
  let errors = '';
  let printed = '';
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  // It may have ended.
  child.stdin.on('error', () => {});
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  return {
    child,
    lines,
    printed: () => printed,
    errors: () => errors,
    ended,
    type: (line) => void child.stdin.write(`${line}\n`),
  };
}

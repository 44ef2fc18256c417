// Parses the python and shell code of a method with the interpreters of this machine before any of it runs. Nothing is
// executed: python builds a syntax tree, and bash reads with -n.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { codeBlocks, type PlacedCode, type UnreadableCode } from '@methods/method/code-blocks';
import type { CompiledMethod } from '@methods/method/compiled-method';
import { RUNNER_DIR } from './runners/runner-launch.ts';
import { StepFailure } from './step-failure.ts';

export interface Interpreters {
  /** PATH of the steps. */
  readonly path: string;
  /** The interpreter of python steps; `python3` of PATH unless given. */
  readonly pythonCommand?: string;
}

const PYTHON_SYNTAX = join(RUNNER_DIR, 'python_syntax.py');
/** Limits one process; a block of code has at most 64 KiB. */
const PARSE_MS_MAX = 10_000;
const REPLY_BYTES_MAX = 1024 * 1024;
const MESSAGE_CHARACTERS_MAX = 200;

interface Parsed {
  /** Null: a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** In file order. A missing interpreter gives no findings: the worker that runs the step parses it. */
export async function unreadableCode(method: CompiledMethod, options: Interpreters): Promise<UnreadableCode[]> {
  const blocks = codeBlocks(method);
  const inPython = unreadablePython(blocks.filter(isOf('python')), options);
  const inShell: UnreadableCode[] = [];
  const shell = blocks.filter(isOf('shell'));
  const isExtended = shell.some(({ code }) => /\bextglob\b/.test(code));
  // Code that defines its own aliases is only parsed as it runs.
  const readable = shell.some(({ code }) => /\bexpand_aliases\b/.test(code)) ? [] : shell;
  for (const block of readable) {
    const fault = await unreadableShell(block, isExtended, options);
    if (fault !== null) inShell.push(fault);
  }
  const found = [...(await inPython), ...inShell];
  return blocks.flatMap((block) => found.filter((fault) => fault.block === block));
}

/** @throws StepFailure of kind syntax: a run would only notice when it reaches the step. */
export async function refuseUnreadableCode(method: CompiledMethod, options: Interpreters): Promise<void> {
  const [first] = await unreadableCode(method, options);
  if (first === undefined) return;
  const line = first.block.line + first.line - 1;
  throw new StepFailure('syntax', `The code at ${first.block.path}, line ${line}, does not parse: ${first.message}`, {
    line,
  });
}

function isOf(language: PlacedCode['language']) {
  return (block: PlacedCode) => block.language === language;
}

async function unreadablePython(
  blocks: readonly PlacedCode[],
  { path, pythonCommand = 'python3' }: Interpreters,
): Promise<UnreadableCode[]> {
  if (blocks.length === 0) return [];
  const given = JSON.stringify(blocks.map(({ code, names }) => ({ code, names })));
  const parsed = await parse(pythonCommand, ['-I', '-B', '-W', 'ignore', PYTHON_SYNTAX], given, path);
  if (parsed === null || parsed.code !== 0) return [];
  const faults = JSON.parse(parsed.stdout) as (Omit<UnreadableCode, 'block'> | null)[];
  return blocks.flatMap((block, index) => {
    const fault = faults[index];
    return fault ? [{ block, ...fault }] : [];
  });
}

async function unreadableShell(
  block: PlacedCode,
  isExtended: boolean,
  { path }: Interpreters,
): Promise<UnreadableCode | null> {
  const options = ['--norc', '--noprofile', ...(isExtended ? ['-O', 'extglob'] : []), '-n'];
  const parsed = await parse('bash', options, `${block.code}\n`, path);
  if (parsed === null || parsed.code === 0 || parsed.code === null) return null;
  const [, line = '1', said = ''] = /line (\d+): (.*)/.exec(parsed.stderr) ?? [];
  const message = said.slice(0, MESSAGE_CHARACTERS_MAX) || 'a syntax error';
  // An unclosed block is found after the end.
  const last = block.code.trimEnd().split('\n').length;
  return { block, line: Math.min(Number(line), last), column: 0, message };
}

/** Null: the program is not installed, or takes too long. */
function parse(command: string, options: readonly string[], code: string, path: string): Promise<Parsed | null> {
  return new Promise((resolve) => {
    const child = spawn(command, options, {
      cwd: '/',
      env: { PATH: path, LANG: 'C.UTF-8', LC_MESSAGES: 'C' },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: PARSE_MS_MAX,
      killSignal: 'SIGKILL',
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (stdout.length < REPLY_BYTES_MAX) stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (stderr.length < REPLY_BYTES_MAX) stderr += text;
    });
    child.on('error', () => resolve(null));
    child.on('close', (exitCode) => resolve({ code: exitCode, stdout, stderr }));
    // It may end before it has read everything.
    child.stdin.on('error', () => {});
    child.stdin.end(code);
  });
}

// Checks what steps need on this machine: Node, Python with pip, and a sandbox; and defines a finding of `methods
// doctor`.
import { execFile } from 'node:child_process';
import { isolationLevel } from '@methods/executor/isolation';

const NODE_MAJOR_MIN = 20;
const PYTHON_MIN = [3, 9] as const;
const TIME_MAX_MS = 10_000;

/** `path` is the PATH of the steps. */
export async function runtimeFindings(path: string): Promise<Finding[]> {
  const [python, pip] = await Promise.all([
    said('python3', ['--version'], path),
    said('python3', ['-m', 'pip', '--version'], path),
  ]);
  return [nodeFinding(process.versions.node), pythonFinding(python), pipFinding(pip), sandboxFinding(path)];
}

export function nodeFinding(version: string): Finding {
  if (Number.parseInt(version, 10) >= NODE_MAJOR_MIN) return ok('node', `Node ${version}`);
  return problem('node', `Node ${version} is too old`, `install Node ${NODE_MAJOR_MIN} or newer`);
}

/** `text`: the output of `python3 --version`, null when there is none. */
export function pythonFinding(text: string | null): Finding {
  const [, major = '0', minor = '0'] = /Python (\d+)\.(\d+)/.exec(text ?? '') ?? [];
  const [needMajor, needMinor] = PYTHON_MIN;
  const remedy = `install Python ${needMajor}.${needMinor} or newer, or run methods with Python steps on other workers`;
  if (text === null) return warning('python3', 'no python3 on PATH', remedy);
  const fits = Number(major) === needMajor && Number(minor) >= needMinor;
  return fits ? ok('python3', text) : warning('python3', `${text} is too old`, remedy);
}

function pipFinding(text: string | null): Finding {
  if (text !== null) return ok('pip', /^pip \S+/.exec(text)?.[0] ?? 'pip');
  return warning('pip', 'python3 has no pip', 'install python3-pip, for methods that name packages of Python');
}

function sandboxFinding(path: string): Finding {
  const isolation = isolationLevel(path);
  if (isolation.level === 'sandbox') return ok('bubblewrap', isolation.text);
  const remedy =
    process.platform === 'linux'
      ? 'install bubblewrap and allow user namespaces; until then steps see what their worker sees'
      : 'run workers on Linux where steps must not see what their worker sees';
  return warning('bubblewrap', isolation.text, remedy);
}

/** Returns the first line that a command prints; null when it fails or is missing. */
function said(command: string, args: readonly string[], path: string): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(command, [...args], { env: { PATH: path }, timeout: TIME_MAX_MS }, (error, stdout, stderr) => {
      resolve(error === null ? ((stdout || stderr).trim().split('\n')[0] ?? '') : null);
    });
  });
}

/** One check of `methods doctor`. */
export interface Finding {
  /** Stable and for programs, such as `clock`. */
  readonly name: string;
  /** `warning`: something works less well, or some methods cannot run. */
  readonly state: 'ok' | 'warning' | 'problem';
  /** The finding itself. */
  readonly found: string;
  /** The remedy; null if none is needed. */
  readonly remedy: string | null;
}

export function ok(name: string, found: string): Finding {
  return { name, state: 'ok', found, remedy: null };
}

export function warning(name: string, found: string, remedy: string): Finding {
  return { name, state: 'warning', found, remedy };
}

export function problem(name: string, found: string, remedy: string): Finding {
  return { name, state: 'problem', found, remedy };
}

// Decides which test files share a process, so that its start and the loading of the code are paid once for many. A
// file gets its own process when its text, or that of a fixture, shows that it tests the process itself or starts a
// Postgres. Files that wait for child processes or use much CPU share with few others.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

type Sharing = 'own' | 'few' | 'many';

/** Files per process. With more of them, one core would be busy while the other has nothing left. */
const FILES_MAX = { own: 1, few: 4, many: 12 } as const;
const OWN_PROCESS = [
  // Its signals and exit, its streams and memory, its environment where that is changed. Signal 0 only looks.
  /\bprocess\.(?:on|once|off|exit|exitCode|argv|chdir|cwd|stdin|stdout|stderr|memoryUsage|kill)\b(?!\(\w+, 0\))/,
  /\bprocess\.env(?:\.\w+|\[\w+\]) = |\bdelete process\.env\b/,
  /\bglobalThis\.\w|\bmock\.(?:method|fn|timers|module)\b|node:(?:process|worker_threads|v8)/,
  // Its event loop.
  /\bperformance\.(?!now\b)\w+\(/,
  /\bstartTestPostgres\b/,
  /harness\/(?!(?:until|test-doer|temp-folder|postgres|migrated-database|database-door|registry-process|own-certificate|plan-rows|cpu-time|nats|program-arguments|test-issuer)\b)/,
];
/** Allowed only at the top of a module, not in a function. */
const OF_MODULE = /^(?:export|await) |^(?:const|let) .* = await /m;
const LONG = /node:child_process|\bcreateServer\b|harness\/(?:nats|cpu-time)/;
const IMPORT = /^(?:import|export) [^;]*?'([^']+)';$/gm;
/** A module gives what its importers have in common: `commonStack`, `commonRegistry`. */
const COMMON = /^import \{[^}]*\bcommon[A-Z]\w*\b[^}]*\} from '([^']+)';$/m;
/** At the head of a file; a line further down may be part of a text. */
const IMPORTS = /^(?:(?:import [^;]*?'[^']+';|\/\/.*)?\n)*/;

/**
 * Groups of paths from `root`; a group of one has its own process. Files that wait for processes and servers come first:
 * those that only compute fill the machine to the end.
 */
export function sharedProcesses(root: string, files: readonly string[]): string[][] {
  const kinds: Record<Sharing, string[]> = { many: [], few: [], own: [] };
  const common = new Map<string, string[]>();
  for (const file of files) {
    const sharing = sharingOf(root, file);
    const asked = sharing === 'own' ? null : commonOf(root, file);
    if (asked === null) kinds[sharing].push(file);
    else common.set(asked, [...(common.get(asked) ?? []), file]);
  }
  const asking = [...common.values()].flatMap((group) => parts(group, FILES_MAX.many));
  return [...asking, ...(['own', 'few', 'many'] as const).flatMap((kind) => parts(kinds[kind], FILES_MAX[kind]))];
}

function parts(files: readonly string[], max: number): string[][] {
  return Array.from({ length: Math.ceil(files.length / max) }, (_, n) => files.slice(n * max, (n + 1) * max));
}

/** The module whose common server a file or one of its fixtures asks for. */
function commonOf(root: string, file: string): string | null {
  if (!existsSync(join(root, file))) return null;
  const source = readFileSync(join(root, file), 'utf8');
  const [, asked] = COMMON.exec(source) ?? [];
  const place = (path: string) => (path.startsWith('.') ? normalize(join(dirname(file), path)) : path);
  const fixtures = [...source.matchAll(IMPORT)].flatMap(([, path = '']) =>
    path.endsWith('.fixture.ts') ? [path] : [],
  );
  for (const fixture of fixtures) {
    const common = commonOf(root, place(fixture));
    if (common !== null) return common;
  }
  return asked === undefined ? null : place(asked);
}

/** Files that import the same running stack are one group. */
export function sharedStacks(root: string, files: readonly string[]): string[][] {
  const groups = new Map<string, string[]>();
  for (const file of files) {
    const [, asked] = COMMON.exec(readFileSync(join(root, file), 'utf8')) ?? [];
    const name = asked === undefined ? file : normalize(join(dirname(file), asked));
    groups.set(name, [...(groups.get(name) ?? []), file]);
  }
  return [...groups.values()];
}

function sharingOf(root: string, file: string, seen = new Set<string>()): Sharing {
  if (seen.has(file) || !existsSync(join(root, file))) return 'many';
  seen.add(file);
  const source = readFileSync(join(root, file), 'utf8');
  if (OWN_PROCESS.some((pattern) => pattern.test(source))) return 'own';
  if (seen.size === 1 && OF_MODULE.test(source)) return 'own';
  const used = [...source.matchAll(IMPORT)].map(([, path = '']) => {
    const isTestCode = path.startsWith('.') && (path.endsWith('.fixture.ts') || file.startsWith('test/'));
    return isTestCode ? sharingOf(root, normalize(join(dirname(file), path)), seen) : 'many';
  });
  if (used.includes('own')) return 'own';
  return LONG.test(source) || used.includes('few') ? 'few' : 'many';
}

const REPORT = '@methods/test/runner/cpu-report';

/** Wraps the file's tests and hooks in a suite of its name; lines are kept. */
export function inSuite(file: string, source: string): string {
  const imports = IMPORTS.exec(source)?.[0] ?? '';
  const name = JSON.stringify(file);
  const suite = `import { describe as inFile } from 'node:test'; import { reportCpuOfFile } from '${REPORT}';`;
  return `${suite} ${imports} inFile(${name}, () => { reportCpuOfFile(${name});${source.slice(imports.length)}\n});`;
}

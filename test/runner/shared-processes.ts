// Which test files share a process, so that its start and the loading of the code are paid once for many. A file has one
// of its own when what it tests, or measures, is the process itself, or when it starts servers: its text, or that of a
// fixture, says so.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Files of one process. More of them would keep one core busy while the other has nothing left. */
const FILES_MAX = 12;
const OWN_PROCESS = [
  // Its environment, signals and exit; its memory, CPU and event loop.
  /\b(process|performance|globalThis|mock)\.\w|node:(process|child_process|worker_threads|perf_hooks|v8)/,
  /\bstartTestPostgres\b|\bcreateServer\b|harness\/(?!until|test-doer|temp-folder|postgres|own-certificate|plan-rows)/,
  // Of the module itself: it has no place in a function.
  /^(export|await) |^(const|let) .* = await /m,
];
const IMPORT = /^(?:import|export) [^;]*?'([^']+)';$/gm;
/** At the head of a file; a line further down may be one of a text. */
const IMPORTS = /^(?:(?:import [^;]*?'[^']+';|\/\/.*)?\n)*/;

/** Groups of paths from `root`; a group of one has a process of its own. */
export function sharedProcesses(root: string, files: readonly string[]): string[][] {
  const [shared, own] = [[] as string[], [] as string[]];
  for (const file of files) (needsOwnProcess(root, file) ? own : shared).push(file);
  const groups = Array.from({ length: Math.ceil(shared.length / FILES_MAX) }, (_, n) =>
    shared.slice(n * FILES_MAX, (n + 1) * FILES_MAX),
  );
  return [...groups, ...own.map((file) => [file])];
}

function needsOwnProcess(root: string, file: string, seen = new Set<string>()): boolean {
  if (seen.has(file) || !existsSync(join(root, file))) return false;
  seen.add(file);
  const source = readFileSync(join(root, file), 'utf8');
  const [ofProcess, ofServers, ofModule] = OWN_PROCESS as [RegExp, RegExp, RegExp];
  if (ofProcess.test(source) || ofServers.test(source)) return true;
  if (seen.size === 1 && ofModule.test(source)) return true;
  return [...source.matchAll(IMPORT)].some(([, path = '']) => {
    const isTestCode = path.startsWith('.') && (path.endsWith('.fixture.ts') || file.startsWith('test/'));
    return isTestCode && needsOwnProcess(root, normalize(join(dirname(file), path)), seen);
  });
}

/** The file's tests under its name, its hooks with them, on the lines they have. */
export function inSuite(file: string, source: string): string {
  const imports = IMPORTS.exec(source)?.[0] ?? '';
  const suite = `import { describe as inFile } from 'node:test';`;
  return `${suite} ${imports} inFile(${JSON.stringify(file)}, () => {${source.slice(imports.length)}\n});`;
}

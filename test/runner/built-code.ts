// Builds all tests and the programs they start as plain JavaScript, once for a run: through tsx, each of some five
// hundred processes would resolve and translate a thousand files again, in a separate loader thread.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning } from '@methods/base/running-process';
import { buildCode, builtName, referencedCode } from '@methods/built-code/build-code';
import type { Plugin } from 'esbuild';
import { inSuite } from './shared-processes.ts';

/** Below the packages, which built code imports by name. */
const FOLDER = 'node_modules/.cache';
const NAME = /^methods-built-(\d+)$/;
const GROUP = 'tests: ';
const REPORT = 'cpu report: ';
const SOURCES = ['libs', 'services', 'gateway', 'deploy', 'test'];

export class BuiltCode {
  private constructor(
    readonly folder: string,
    private readonly tests: readonly (readonly string[])[],
  ) {}

  /** `tests`: groups of paths from `root`, one for each process. */
  static async build(root: string, tests: readonly (readonly string[])[]): Promise<BuiltCode> {
    const cache = join(root, FOLDER);
    mkdirSync(cache, { recursive: true });
    for (const name of readdirSync(cache)) {
      // Left by a killed run.
      const pid = Number(NAME.exec(name)?.[1]);
      if (pid > 0 && !isRunning(pid)) rmSync(join(cache, name), { recursive: true, force: true });
    }
    const folder = join(cache, `methods-built-${process.pid}`);
    const inSuites = new Set(tests.filter((group) => group.length > 1).flat());
    const built = new BuiltCode(folder, tests);
    const groups = tests.map((group) => [built.nameOf(group).replace(/\.mjs$/, ''), GROUP + group.join(' ')]);
    const { files } = await buildCode({
      root,
      entries: referencedCode(root, sourcesOf(root)),
      made: Object.fromEntries(groups),
      folder,
      textOf: (file, text) => (inSuites.has(file) ? inSuite(file, text) : text),
      plugins: [groupsOfTests(root)],
    });
    mkdirSync(folder);
    for (const { path, contents } of files) writeFileSync(path, contents);
    return built;
  }

  /** The path of a group's built form. */
  file(group: readonly string[]): string {
    return join(this.folder, this.nameOf(group));
  }

  /** A group is named after its number and first file: Node's runner takes files in the order of their names. */
  private nameOf(group: readonly string[]): string {
    const [first = '', ...others] = group;
    const name = builtName(others.length === 0 ? first : first.replace(/\.test\.ts$/, '.and-others.test.ts'));
    return `${String(this.tests.indexOf(group)).padStart(4, '0')}.${name}`;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function sourcesOf(root: string): string[] {
  return SOURCES.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.includes('node_modules'))
      .map((path) => `${folder}/${path}`),
  );
}

function groupsOfTests(root: string): Plugin {
  return {
    name: 'test files of one process',
    setup(builder) {
      builder.onResolve({ filter: new RegExp(`^${GROUP}`) }, ({ path }) => ({ path, namespace: 'group' }));
      builder.onLoad({ filter: /^/, namespace: 'group' }, ({ path }) => {
        const files = path.slice(GROUP.length).split(' ');
        const imported = [REPORT + path, ...files.map((file) => `./${file}`)];
        return { contents: imported.map((name) => `import ${JSON.stringify(name)};`).join('\n'), resolveDir: root };
      });
      builder.onResolve({ filter: new RegExp(`^${REPORT}`) }, ({ path }) => ({ path, namespace: 'report' }));
      builder.onLoad({ filter: /^/, namespace: 'report' }, ({ path }) => {
        const files = path.slice(REPORT.length + GROUP.length).split(' ');
        const name = files.length === 1 ? files[0] : `start of ${files[0]} and ${files.length - 1} others`;
        const reports = `import { reportCpu } from './test/runner/cpu-report.ts';`;
        return { contents: `${reports} reportCpu(${JSON.stringify(name)});`, resolveDir: root };
      });
    },
  };
}

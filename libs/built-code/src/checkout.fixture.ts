// A checkout of one small service, with the packages of this one: its starts build their own code.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tempFolder } from '@methods/test/harness/temp-folder';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PACKAGE = 'libs/built-code';
const MAIN = 'services/words/src/main.ts';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class Checkout {
  readonly root = tempFolder('built-code');
  readonly kept = join(this.root, 'node_modules/.cache/methods');
  /** XDG_CACHE_HOME and TMPDIR of its starts. */
  readonly caches = join(this.root, 'caches');
  readonly temporary = join(this.root, 'temporary');

  constructor(files: Readonly<Record<string, string>>) {
    for (const folder of [this.caches, this.temporary]) mkdirSync(folder);
    cpSync(join(ROOT, PACKAGE), join(this.root, PACKAGE), { recursive: true });
    const packages = join(ROOT, 'node_modules');
    mkdirSync(join(this.root, 'node_modules'));
    for (const name of readdirSync(packages).filter((each) => !each.startsWith('.'))) {
      symlinkSync(join(packages, name), join(this.root, 'node_modules', name));
    }
    this.write('package.json', '{ "type": "module" }');
    for (const [name, text] of Object.entries(files)) this.write(`services/words/src/${name}`, text);
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  /** `wrapper`: a command in front, with its arguments. */
  start(args: readonly string[] = [], wrapper: readonly string[] = []): Promise<Ended> {
    const words = [...wrapper, process.execPath, `${PACKAGE}/start/run.mjs`, MAIN, ...args];
    const child = spawn(words[0] as string, words.slice(1), {
      cwd: this.root,
      env: { PATH: '/usr/bin:/bin', HOME: this.root, XDG_CACHE_HOME: this.caches, TMPDIR: this.temporary },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        said[name] += text;
      });
    }
    return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...said })));
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

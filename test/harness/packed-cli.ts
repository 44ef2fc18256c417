// The `methods` command as an installed package: packed by npm and unpacked in an empty folder, with only its declared
// dependencies beside it. Those are copied from the workspace, so no registry is needed.
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface PackedManifest {
  readonly name: string;
  readonly files: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
}

export class PackedCli {
  private constructor(
    /** The empty folder it was installed in. */
    readonly dir: string,
    readonly packageDir: string,
    readonly manifest: PackedManifest,
  ) {}

  static async install(): Promise<PackedCli> {
    const dir = await realpath(await mkdtemp(join(tmpdir(), 'methods-packed-')));
    const packageDir = join(dir, 'node_modules/@methods/cli');
    await mkdir(packageDir, { recursive: true });
    const packed = await succeeded('npm', ['pack', '--silent', '--pack-destination', dir], join(ROOT, 'libs/cli'));
    const tarball = packed.stdout.trim().split('\n').at(-1) ?? '';
    await succeeded('tar', ['-xzf', join(dir, tarball), '--strip-components=1', '-C', packageDir], dir);
    await rm(join(dir, tarball));
    const manifest = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8')) as PackedManifest;
    for (const name of Object.keys(manifest.dependencies)) {
      const place = join(dir, 'node_modules', name);
      await mkdir(dirname(place), { recursive: true });
      await symlink(join(ROOT, 'node_modules', name), place);
    }
    return new PackedCli(dir, packageDir, manifest);
  }

  get bin(): string {
    return join(this.packageDir, 'bin/methods.mjs');
  }

  methods(...args: readonly string[]): Promise<Ended> {
    return this.methodsWith({}, ...args);
  }

  /** Sets these variables besides those of this process. */
  methodsWith(variables: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Ended> {
    return ended(process.execPath, [this.bin, ...args], this.dir, variables);
  }

  remove(): Promise<void> {
    return rm(this.dir, { recursive: true, force: true });
  }
}

async function succeeded(command: string, args: readonly string[], cwd: string): Promise<Ended> {
  const end = await ended(command, args, cwd);
  if (end.code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${end.code}:\n${end.stderr}`);
  return end;
}

async function ended(
  command: string,
  args: readonly string[],
  cwd: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const env = { ...process.env, ...variables };
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  return { code, ...texts };
}

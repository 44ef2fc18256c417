// A package registry on loopback for tests: npm packages and python wheels made on demand.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { withLockFile } from '@methods/base/lock-file';
import type { MethodDependencies } from '@methods/method/compiled-method';
import { pipFolder } from '@methods/test/harness/temp-folder';
import { PLAIN_ENVIRONMENT } from '../prepared-environment.ts';
import { PythonRuntimes } from '../runners/python-runtime.ts';
import { StepFailure } from '../step-failure.ts';
import { pipName } from './dependency-lock.ts';
import { sharedPip } from './pip-packages.ts';
import { type PreparedDependencies, prepareDependencies } from './prepare-dependencies.ts';
import type { PrepareOptions } from './prepare-options.ts';

const run = promisify(execFile);
/** PATH of the tests. */
export const PATH = [join(process.execPath, '..'), '/usr/local/bin', '/usr/bin', '/bin'].join(':');
export const NOTHING: MethodDependencies = { node: null, python: null, npm: [], pip: [], commands: [] };
const MAKE_WHEEL = `import sys, zipfile
path, name, version, tag, code, start = sys.argv[1:]
info = f"{name}-{version}.dist-info"
with zipfile.ZipFile(path, "w") as wheel:
    wheel.writestr(f"{name}.py", code)
    if start: wheel.writestr(f"{name}.pth", start)
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
    wheel.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: {tag}\\n")
    wheel.writestr(f"{info}/entry_points.txt", f"[console_scripts]\\n{name}-say = {name}:say\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;

const WHILE_IT_IS_MADE = { waitMaxMs: 600_000, againMs: 50, tooLong: () => new Error('no pip was made') };

export class PackageIndex {
  readonly requests: string[] = [];
  /** The number of further requests answered with 503. */
  awayFor = 0;
  /** A project of the index whose page has no hashes. */
  hashless = '';
  /** Requests whose URL ends with this get no reply. */
  silentAbout = '';
  private readonly pythons = new PythonRuntimes();
  private readonly files = new Map<string, Buffer>();
  private readonly npm = new Map<string, Record<string, unknown>>();
  private readonly wheels = new Map<string, { file: string; sha256: string }[]>();

  private constructor(
    readonly dir: string,
    private readonly server: Server,
  ) {}

  static async start(): Promise<PackageIndex> {
    const dir = await mkdtemp(join(tmpdir(), 'package-index-'));
    let index: PackageIndex | null = null;
    const server = createServer((request, response) => {
      const url = decodeURIComponent(request.url ?? '');
      const body = index?.answer(url);
      if (index !== null && index.silentAbout !== '' && url.endsWith(index.silentAbout)) return;
      if (index !== null && index.awayFor > 0) {
        index.awayFor--;
        response.statusCode = 503;
        response.end();
        return;
      }
      response.statusCode = body === undefined ? 404 : 200;
      response.setHeader(
        'content-type',
        typeof body === 'string' && body.startsWith('<') ? 'text/html' : 'application/json',
      );
      response.end(body ?? '{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    index = new PackageIndex(dir, server);
    return index;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await rm(this.dir, { recursive: true, force: true });
  }

  /** The settings with which npm and pip use only this index. */
  get host(): Map<string, string> {
    return new Map([
      ['HOME', this.dir],
      ['npm_config_registry', `${this.url}/npm/`],
      ['npm_config_cache', join(this.dir, 'npm-cache')],
      ['PIP_INDEX_URL', `${this.url}/simple/`],
      ['PIP_NO_CACHE_DIR', '1'],
      ['NOT_A_SETTING', 'of-the-worker'],
    ]);
  }

  /** With a cache folder of this index's own unless another is given. */
  async prepare(
    dependencies: Partial<MethodDependencies>,
    options: Partial<PrepareOptions> = {},
  ): Promise<PreparedDependencies> {
    const cacheDir = join(this.dir, 'cache');
    const defaults = { cacheDir, allowScripts: false, path: PATH, host: this.host };
    if (dependencies.pip !== undefined && options.cacheDir === undefined) await this.borrowPip(defaults);
    return prepareDependencies({ dependencies: { ...NOTHING, ...dependencies } }, { ...defaults, ...options });
  }

  /** Creating a pip takes seconds: under the test runner all indexes share one, which the first of them creates. */
  private async borrowPip(options: PrepareOptions): Promise<void> {
    const cacheDir = pipFolder();
    if (cacheDir === undefined) return;
    const python = await this.pythons.get(PLAIN_ENVIRONMENT.pythonCommand, PATH);
    // The others wait: creating a second pip would take seconds of processor time.
    const interpreter = await withLockFile(join(cacheDir, 'pip.lock'), WHILE_IT_IS_MADE, () =>
      sharedPip({ ...options, cacheDir }, python),
    );
    if (interpreter === null) return;
    const lent = dirname(dirname(dirname(interpreter)));
    await mkdir(options.cacheDir, { recursive: true });
    await symlink(lent, join(options.cacheDir, basename(lent))).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }

  /** The message of the refusal. Rejects where there is none. */
  async refused(dependencies: Partial<MethodDependencies>, options: Partial<PrepareOptions> = {}): Promise<string> {
    const error = await this.prepare(dependencies, options).then(
      () => new Error('it was not refused'),
      (refusal: unknown) => refusal,
    );
    if (error instanceof StepFailure && error.kind === 'dependency') return error.message;
    throw error;
  }

  /** `files`: besides package.json. Publishing a version again replaces its bytes. */
  async addNpm(
    name: string,
    version: string,
    files: Record<string, string>,
    more: object = {},
    { hashed = true }: { hashed?: boolean } = {},
  ): Promise<void> {
    const folder = await mkdtemp(join(this.dir, 'npm-'));
    await mkdir(join(folder, 'package'));
    const manifest = { name, version, type: 'module', main: 'index.js', ...more };
    for (const [file, text] of Object.entries({ 'package.json': JSON.stringify(manifest), ...files })) {
      await writeFile(join(folder, 'package', file), text);
    }
    const archive = `${name}-${version}.tgz`;
    await run('tar', ['-czf', join(folder, archive), '-C', folder, 'package']);
    const bytes = await readFile(join(folder, archive));
    this.files.set(`/files/${archive}`, bytes);
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    const hasInstallScript = 'scripts' in more;
    const dist = { tarball: `${this.url}/files/${archive}`, ...(hashed && { integrity }) };
    this.npm.set(name, {
      ...this.npm.get(name),
      [version]: { ...manifest, hasInstallScript, dist },
    });
  }

  /** `start`: a line that Python runs whenever it starts. */
  async addWheel(name: string, version: string, code: string, tag = 'py3-none-any', start = ''): Promise<void> {
    const file = `${name}-${version}-${tag}.whl`;
    await run('python3', ['-c', MAKE_WHEEL, join(this.dir, file), name, version, tag, code, start], { env: { PATH } });
    const bytes = await readFile(join(this.dir, file));
    this.files.set(`/files/${file}`, bytes);
    const project = pipName(name);
    const others = this.wheels.get(project)?.filter((it) => it.file !== file) ?? [];
    this.wheels.set(project, [...others, { file, sha256: createHash('sha256').update(bytes).digest('hex') }]);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  private answer(url: string): string | Buffer | undefined {
    this.requests.push(url);
    const file = this.files.get(url);
    if (file !== undefined) return file;
    const [, npm] = /^\/npm\/(.+)$/.exec(url) ?? [];
    const versions = npm === undefined ? undefined : this.npm.get(npm);
    if (versions !== undefined) {
      const latest = Object.keys(versions).at(-1);
      return JSON.stringify({ name: npm, 'dist-tags': { latest }, versions });
    }
    const [, pip] = /^\/simple\/([^/]+)\/$/.exec(url) ?? [];
    const wheels = pip === undefined ? undefined : this.wheels.get(pip);
    const hash = (it: { sha256: string }) => (url === this.hashless ? '' : `#sha256=${it.sha256}`);
    return wheels?.map((it) => `<a href="/files/${it.file}${hash(it)}">${it.file}</a>`).join('\n');
  }
}

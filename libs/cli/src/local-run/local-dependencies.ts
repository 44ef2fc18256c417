// Prepares packages, runtimes and commands of a local run before its first step. Environments and locks are kept in the
// user's cache, so that only the first run of a set of packages waits for them.
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { prepareDependencies } from '@methods/executor/dependencies/prepare-dependencies';
import type { PreparedEnvironment } from '@methods/executor/prepared-environment';
import { StepFailure } from '@methods/executor/step-failure';
import { refuseUnreadableCode } from '@methods/executor/unreadable-code';
import type { CompiledMethod } from '@methods/method/compiled-method';
import type { CommandContext } from '../command/command.ts';
import { CommandError } from '../errors/command-error.ts';
import type { LocalMethod } from '../method-file/local-method.ts';

export interface PreparedMethod {
  readonly environment: PreparedEnvironment;
  /** Of the lock of the method itself, hex; null: it has no packages. */
  readonly lockSha256: string | null;
  /** Environments of called files, by absolute path. */
  readonly called: ReadonlyMap<string, PreparedEnvironment>;
}

/** @throws CommandError `dependency`, `invalid_method`. */
export async function prepareMethod({ method, called }: LocalMethod, context: CommandContext): Promise<PreparedMethod> {
  const { config, cwd } = context;
  const cacheDir = join(config.cacheDir ?? join(cwd, '.methods', 'cache'), 'methods');
  await refuseUnreadable({ method, called }, context);
  const own = await prepare(method, cacheDir, context);
  const environments = new Map<string, PreparedEnvironment>();
  for (const [path, inner] of called) {
    environments.set(path, (await prepare(inner.method, cacheDir, context)).environment);
  }
  return { environment: own.environment, lockSha256: own.lockSha256, called: environments };
}

/** Runs before packages are installed for it. */
async function refuseUnreadable({ method, called }: LocalMethod, { config }: CommandContext): Promise<void> {
  for (const one of [method, ...[...called.values()].map((inner) => inner.method)]) {
    try {
      await refuseUnreadableCode(one, { path: config.path });
    } catch (error) {
      if (!(error instanceof StepFailure)) throw error;
      throw new CommandError('invalid_method', `${one.name} cannot run: ${error.message}`);
    }
  }
}

async function prepare(method: CompiledMethod, cacheDir: string, { config, output, interrupted }: CommandContext) {
  const { npm, pip } = method.dependencies;
  const hasPackages = npm.length + pip.length > 0;
  if (hasPackages) output.line(output.paint('dim', `${method.name}: preparing its packages`));
  const lockFile = join(cacheDir, 'locks', sha256Of(JSON.stringify([npm, pip])));
  const known = hasPackages ? await readFile(lockFile).catch(() => null) : null;
  const prepareWith = (lock: Uint8Array | null) =>
    prepareDependencies(method, {
      cacheDir: join(cacheDir, 'environments'),
      ...(lock === null ? {} : { lock }),
      allowScripts: false,
      path: config.path,
      host: config.variables,
      // Package managers have their own process groups, so Ctrl-C does not reach them by itself.
      signal: interrupted,
    });
  try {
    const kept = known === null ? null : await prepareWith(known).catch(unlessOutdated);
    if (kept !== null) return kept;
    const prepared = await prepareWith(null);
    if (prepared.lock !== null) await keep(cacheDir, lockFile, prepared.lock);
    return prepared;
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    throw new CommandError('dependency', `${method.name} cannot run here: ${error.message}`);
  }
}

/** A lock created on this machine is only a cache: one that no longer fits (a newer Python) is made again. */
function unlessOutdated(error: unknown): null {
  if (error instanceof StepFailure && error.message.startsWith('M704:')) return null;
  throw error;
}

async function keep(cacheDir: string, file: string, lock: Uint8Array): Promise<void> {
  await mkdir(join(cacheDir, 'locks'), { recursive: true });
  await writeFile(`${file}.${process.pid}`, lock);
  await rename(`${file}.${process.pid}`, file);
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

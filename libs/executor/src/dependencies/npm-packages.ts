// npm packages of a method: the lock by npm's own resolver, the installation by `npm ci`, which takes only what the
// lock names and checks every package's integrity.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExactPackage } from '@methods/method/compiled-method';
import type { JsonObject } from '@methods/method/json';
import { StepFailure } from '../step-failure.ts';
import { findCommand } from './find-command.ts';
import { directPackages, leanNpmLock, unlockedIn } from './npm-lock.ts';
import { callManager } from './package-manager.ts';
import type { PrepareOptions } from './prepare-options.ts';

// Set explicitly, to override the settings of the machine. Retries are ours: npm's own take minutes.
const FLAGS = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error', '--logs-max=0'];
const PLACE = ['--global=false', '--workspaces=false', '--dry-run=false', '--include=optional', '--fetch-retries=0'];

export async function lockNpm(
  packages: readonly ExactPackage[],
  folder: string,
  options: PrepareOptions,
): Promise<JsonObject> {
  const cwd = join(folder, 'npm');
  await mkdir(cwd);
  await writeFile(join(cwd, 'package.json'), JSON.stringify(manifest(packages)));
  // Without addresses: a worker may take the same packages from another registry.
  const lock = ['install', '--package-lock-only', '--package-lock', '--omit-lockfile-registry-resolved'];
  await npm([...lock, '--ignore-scripts'], cwd, 'npm could not find the packages', options);
  const made = leanNpmLock(JSON.parse(await readFile(join(cwd, 'package-lock.json'), 'utf8')) as JsonObject);
  const unlocked = unlockedIn(made);
  if (unlocked === null) return made;
  throw new StepFailure('dependency', `${unlocked} does not come from a registry and cannot be locked`);
}

export async function installNpm(lock: JsonObject, folder: string, options: PrepareOptions): Promise<void> {
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest(directPackages(lock))));
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const scripts = options.allowScripts ? '--ignore-scripts=false' : '--ignore-scripts';
  await npm(['ci', scripts], folder, 'npm could not install the packages', options);
  await mkdir(join(folder, 'node_modules'), { recursive: true });
}

function npm(args: readonly string[], cwd: string, what: string, options: PrepareOptions): Promise<string> {
  const all = [...args, '--prefix', cwd, ...FLAGS, ...PLACE];
  return callManager({ command: findCommand(options.path, 'npm'), args: all, cwd, what }, options);
}

function manifest(packages: readonly ExactPackage[]): JsonObject {
  const dependencies = Object.fromEntries(packages.map(({ name, version }) => [name, version]));
  return { name: 'environment', version: '0.0.0', private: true, dependencies };
}

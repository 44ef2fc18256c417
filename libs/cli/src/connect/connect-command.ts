// `methods connect`: prepares an app to start a method: a key in its `.env`, and the code to paste.
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { openServer } from '../chosen-server/open-server.ts';
import type { Command, CommandContext } from '../command/command.ts';
import { CommandError, EXIT, UsageError } from '../errors/command-error.ts';
import { withFileLock } from '../files/file-lock.ts';
import { CONNECT_WORDS } from '../help-words.ts';
import { makeKey, revokeKey, type ServerKey } from '../keys/key-calls.ts';
import type { ServerApi } from '../server/server-api.ts';
import { plainText } from '../terminal/plain-text.ts';
import { askLine } from '../terminal/prompt.ts';
import { type AppLanguage, appLanguages, type Install, installs } from './app-packages.ts';
import { type Program, programOf } from './code-to-paste.ts';
import { type ConnectedMethod, connectedMethod, methodWord } from './connected-method.ts';
import { ENV_FILE, EnvFile, KEY_VARIABLE } from './env-file.ts';
import { type Ignored, ignoreEnvFile } from './git-ignore.ts';

// Creates the app's key and writes it into its `.env` without showing it. An older one is replaced only on request.

const NAME_CHARACTERS_MAX = 200;

/** Returns the key's name: that of the app's folder. @throws UsageError */
function keyName(app: string): string {
  const name = basename(app).slice(0, NAME_CHARACTERS_MAX);
  if (name === '') throw new UsageError('an app has a folder of its own');
  return name;
}

/**
 * Reports whether to create a key: there is none, or the older one should be replaced. `shown`: the file's name in
 * messages.
 */
async function wantsKey(
  env: EnvFile,
  shown: string,
  replace: boolean,
  { output, interrupted }: CommandContext,
): Promise<boolean> {
  if (!(await env.hasKey()) || replace) return true;
  if (!output.interactive) return false;
  const question = `${shown} has ${KEY_VARIABLE} already. Put a new key in its place? (y/N) `;
  return /^y(es)?$/i.test((await askLine(question, output, interrupted)) ?? '');
}

/** Of two commands at once for an app one makes its key. Without the lock the other's key is valid, and in no file. */
function withAppLock<T>(app: string, { config, interrupted }: CommandContext, work: () => Promise<T>): Promise<T> {
  const name = createHash('sha256').update(app).digest('hex').slice(0, 32);
  return withFileLock(join(config.stateDir, 'methods', 'apps', `${name}.lock`), interrupted, work);
}

/**
 * A key that could not be written is revoked, since no one has it. `hadKey`: before the caller asked for another one;
 * null: another command has written one since. @throws CommandError
 */
async function keyInto(env: EnvFile, hadKey: boolean, name: string, api: ServerApi): Promise<ServerKey | null> {
  if ((await env.hasKey()) !== hadKey) return null;
  const { key, serviceKey } = await makeKey(api, name);
  try {
    await env.setKey(serviceKey);
    return key;
  } catch (error) {
    await revokeKey(api, key.id).catch(() => {});
    throw error;
  }
}

const LANGUAGES: Readonly<Record<AppLanguage, string>> = {
  node: 'Node 20 or later',
  python: 'Python 3.9 or later',
};
const NO_PACKAGE = 'this server has no packages; its operator sets PACKAGES_DIR.';

interface Connected {
  readonly app: string;
  readonly method: ConnectedMethod;
  /** Null: the existing one stays. */
  readonly key: ServerKey | null;
  readonly ignored: Ignored;
  readonly installs: readonly Install[];
  readonly programs: readonly Program[];
}

export const connectCommand: Command = {
  ...CONNECT_WORDS,

  async run(line, context) {
    const { cwd, config } = context;
    const app = await appFolder(line.operands[0] ?? '', cwd);
    const name = keyName(app);
    const word = await methodWord(line.text('method'), app, cwd);
    const env = new EnvFile(app);
    const hadKey = await env.hasKey();
    const fresh = await wantsKey(env, shownPath(app, cwd), line.flag('replace'), context);
    const api = await openServer(line, context);
    const method = await connectedMethod(api, word, context);
    // Called before the key is created: it must never be in a file that git would add.
    const ignored = await ignoreEnvFile(app, config.path);
    const key = fresh ? await withAppLock(app, context, () => keyInto(env, hadKey, name, api)) : null;
    const found = await appLanguages(app);
    const languages: readonly AppLanguage[] = found.length > 0 ? found : ['node', 'python'];
    const { productionId, inputs, name: methodName } = method;
    const options = { baseUrl: api.baseUrl, methodId: productionId, name: methodName, inputs };
    const programs = languages.map((language) => programOf(language, options));
    const commands = await installs(api, languages, context.interrupted);
    say({ app, method, key, ignored, installs: commands, programs }, context);
    return EXIT.done;
  },
};

/** @throws CommandError `not_found` */
async function appFolder(path: string, cwd: string): Promise<string> {
  const app = resolve(cwd, path);
  const found = await stat(app).catch(() => null);
  if (found?.isDirectory()) return app;
  throw new CommandError('not_found', found === null ? `there is no folder ${path}` : `${path} is not a folder`);
}

function shownPath(app: string, cwd: string): string {
  return relative(cwd, join(app, ENV_FILE));
}

function say(
  { app, method, key, ignored, installs: commands, programs }: Connected,
  { output, cwd }: CommandContext,
): void {
  const { productionId, versionId, publishedNow, secrets } = method;
  const env = shownPath(app, cwd);
  output.document({
    app,
    method: productionId,
    version_id: versionId,
    published_now: publishedNow,
    key: key === null ? null : { id: key.id, name: key.name },
    env_file: join(app, ENV_FILE),
    gitignore: ignored.state,
    install: commands,
    code: programs,
    secrets,
  });
  const called = `${plainText(method.displayName)} (${productionId})`;
  output.line(publishedNow ? `Published ${versionId} of ${called}.` : `${versionId} of ${called} is published.`);
  for (const text of ignoredWords(ignored, cwd)) output.line(text);
  output.line(
    key === null
      ? `${env} already has ${KEY_VARIABLE}; it is unchanged. A new key in its place:  --replace`
      : `Made the key "${plainText(key.name)}" (${key.id}) and wrote ${KEY_VARIABLE} to ${env}. It is not shown.`,
  );
  if (ignored.state === 'tracked') {
    output.complaint(`warning: git already has ${env}, with its key. Take it out:  git rm --cached ${env}\n`);
  }
  output.line();
  output.line(`In the folder ${relative(cwd, app) || '.'}:`);
  for (const { language, file, code, command } of programs) {
    output.line();
    const install = commands.find((each) => each.language === language);
    output.line(`${LANGUAGES[language]}. Install:${install === undefined ? ` ${NO_PACKAGE}` : ''}`);
    output.line();
    if (install !== undefined) {
      output.line(`  ${install.command}`);
      output.line();
      output.line(`(sha256 ${install.sha256})`);
    }
    output.line(`Save as ${file}:`);
    output.line();
    output.result(code);
    output.line();
    output.line(`Start:  ${command}`);
  }
  output.line();
  output.line(`In its place another worker may run it:  methods worker --method ${productionId}`);
  if (secrets.length > 0) output.line(`Secrets to set where it runs: ${secrets.join(', ')}`);
}

function ignoredWords(ignored: Ignored, cwd: string): string[] {
  if (ignored.state === 'already' || ignored.file === null) return [];
  return [`Added ${ENV_FILE} to ${relative(cwd, ignored.file)}.`];
}

// `methods editor-setup`: the schema of method files, and the editor's settings that use it, in this folder.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { editorSchema } from '@methods/method/editor/editor-schema';
import { isJsonObject, type JsonObject, type JsonValue } from '@methods/method/json';
import type { Command } from '../command/command.ts';
import { CommandError, EXIT } from '../errors/command-error.ts';
import { reasonOf } from '../method-file/method-file.ts';

const FOLDER = '.vscode';
const SCHEMA = `${FOLDER}/method-2.schema.json`;
const SETTINGS = `${FOLDER}/settings.json`;
const PATTERN = '*.method';

export const editorSetupCommand: Command = {
  name: 'editor-setup',
  usage: '',
  summary: 'Let the editor complete and check *.method files in this folder',
  details: [
    `Writes ${SCHEMA}, and in ${SETTINGS} that ${PATTERN} files are YAML of that schema.`,
    'For VS Code and its kin, with the extension "YAML" (redhat.vscode-yaml).',
  ],
  options: {},
  operands: { min: 0, max: 0, word: 'FILE' },
  examples: ['methods editor-setup', 'methods editor-setup --json'],

  async run(_line, { cwd, output }) {
    // Written first: if the settings must not be changed, the lines to add to them name the schema.
    await write(cwd, SCHEMA, editorSchema());
    await write(cwd, SETTINGS, withMethods(await readSettings(join(cwd, SETTINGS))));
    output.document({ schema: SCHEMA, settings: SETTINGS });
    output.line(`Wrote ${SCHEMA} and ${SETTINGS}. The editor needs the extension "YAML" (redhat.vscode-yaml).`);
    return EXIT.done;
  },
};

/** @throws CommandError */
async function write(cwd: string, file: string, value: JsonValue): Promise<void> {
  try {
    await mkdir(join(cwd, FOLDER), { recursive: true });
    await writeFile(join(cwd, file), jsonText(value));
  } catch (error) {
    throw new CommandError('not_written', `cannot write ${file}: ${reasonOf(error as NodeJS.ErrnoException)}`);
  }
}

/** Settings with comments are not changed: writing them again would lose the comments. @throws CommandError */
async function readSettings(path: string): Promise<JsonObject> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}';
    throw new CommandError('not_found', `cannot read ${SETTINGS}: ${reasonOf(error)}`);
  });
  try {
    const settings = JSON.parse(text) as JsonValue;
    if (isJsonObject(settings)) return settings;
  } catch {
    // Reported below: comments and trailing commas are not JSON.
  }
  const lines = JSON.stringify(withMethods({})).slice(1, -1);
  throw new CommandError('not_written', `${SETTINGS} holds comments or is not JSON, and was not changed`, {
    hint: `add to it:  ${lines}`,
  });
}

function withMethods(settings: JsonObject): JsonObject {
  const { 'files.associations': kinds, 'yaml.schemas': schemas } = settings;
  return {
    ...settings,
    'files.associations': { ...(isJsonObject(kinds) ? kinds : {}), [PATTERN]: 'yaml' },
    'yaml.schemas': { ...(isJsonObject(schemas) ? schemas : {}), [`./${SCHEMA}`]: PATTERN },
  };
}

function jsonText(value: JsonValue): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

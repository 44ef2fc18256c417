// Finds the method that a word of the command line names: an id, a saved file, a display name, or a local stack's own
// name for it.
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { bareMethodId, type MethodId } from '@methods/base/ids';
import { CommandError } from '../errors/command-error.ts';
import { FileLinks, LINK_FILE, type MethodLink } from '../link/link-file.ts';
import type { ServerMethod } from '../server/method-calls.ts';
import type { ServerApi } from '../server/server-api.ts';

/** Further methods with the same name are not searched. */
const SAME_NAME_MAX = 500;
const SHOWN_MAX = 5;

export interface NamedMethod {
  /** Bare. */
  readonly id: MethodId;
  /** Set if the word is a file. */
  readonly link: Extract<MethodLink, { state: 'saved' }> | null;
}

/** @throws CommandError `not_saved`, `not_found`, `ambiguous`. */
export async function namedMethod(api: ServerApi, word: string, cwd: string): Promise<NamedMethod> {
  const id = bareMethodId(word);
  if (id !== null) return { id, link: null };
  if (await isFileName(word, cwd)) {
    const link = await savedLink(api.baseUrl, word, cwd);
    return { id: link.methodId, link };
  }
  return { id: await idOfName(api, word), link: null };
}

/** A word ending in `.method` counts as a file even if there is none, so that a misspelled path is reported as such. */
export async function isFileName(word: string, cwd: string): Promise<boolean> {
  if (word.endsWith('.method')) return true;
  return stat(resolve(cwd, word)).then(
    (found) => found.isFile(),
    () => false,
  );
}

/** @throws CommandError `not_found`, `not_saved`. */
async function savedLink(server: string, file: string, cwd: string): Promise<Extract<MethodLink, { state: 'saved' }>> {
  const link = await new FileLinks(resolve(cwd, file)).read(server);
  if (link?.state === 'saved') return link;
  const there = await stat(resolve(cwd, file)).catch(() => null);
  if (there === null) throw new CommandError('not_found', `cannot read ${file}: there is no such file`);
  throw new CommandError('not_saved', `${file} has no method on ${server}: ${LINK_FILE} does not name one`, {
    hint: `methods save ${file}`,
  });
}

async function idOfName(api: ServerApi, name: string): Promise<MethodId> {
  const found: ServerMethod[] = [];
  for await (const method of api.items<ServerMethod>('/api/methods', { q: name.slice(0, 200) }, SAME_NAME_MAX)) {
    if (method.display_name === name) found.push(method);
  }
  const [only, ...others] = found;
  if (only === undefined) {
    // The names a local stack prints when it is ready.
    const published = api.methodNames.get(name);
    if (published !== undefined) return published;
    throw new CommandError('not_found', `there is no method called "${name}"`, {
      hint: 'a method is named by its id (wf_…), its file or its whole display name; see  methods list',
    });
  }
  if (others.length > 0) {
    const ids = found.slice(0, SHOWN_MAX).map((method) => method.production_id);
    throw new CommandError('ambiguous', `${found.length} methods are called "${name}"`, {
      hint: `give the id: ${ids.join(', ')}${found.length > SHOWN_MAX ? ', …' : ''}`,
    });
  }
  return only.id;
}

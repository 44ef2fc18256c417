// `methods publish`, `rename` and `offer`: change a method on the server: the version that runs get when they name none,
// the name that people see, and whether agents get it as a separate tool.
import { resolve } from 'node:path';
import { type NamedMethod, namedMethod } from '../chosen-server/named-method.ts';
import { openServer, SERVER_OPTIONS } from '../chosen-server/open-server.ts';
import type { Command, CommandContext } from '../command/command.ts';
import { CommandError, EXIT, UsageError } from '../errors/command-error.ts';
import { readMethodFile } from '../method-file/method-file.ts';
import { getMethod, publishVersion, type ServerMethod, sha256Of, versionNamed } from '../server/method-calls.ts';
import type { ServerApi } from '../server/server-api.ts';
import { plainText } from '../terminal/plain-text.ts';

export const publishCommand: Command = {
  name: 'publish',
  usage: 'FILE|METHOD [--version VERSION] [--server URL]',
  summary: 'Publish a saved version, which runs use by default',
  details: ['For a FILE, the version it was saved as; for a METHOD, the current one. A changed file is not published.'],
  options: {
    version: { value: 'VERSION', help: 'this version (ver_…) instead' },
    ...SERVER_OPTIONS,
  },
  operands: { min: 1, max: 1, word: 'FILE or a METHOD' },
  examples: ['methods publish refund-order.method', 'methods publish wf_01kac0t6xgy9s2m4n8p3q5r7v1 --version current'],

  async run(line, context) {
    const [word = ''] = line.operands;
    const api = await openServer(line, context);
    const named = await namedMethod(api, word, context.cwd);
    const versionId = await versionToPublish(api, named, word, line.text('version'), context);
    const before = (await getMethod(api, named.id)).published_version;
    const method = await publishVersion(api, named.id, versionId);
    context.output.document(method);
    const name = `${plainText(method.display_name)} (${method.production_id})`;
    context.output.line(
      before === versionId ? `${versionId} of ${name} was published already.` : `Published ${versionId} of ${name}.`,
    );
    return EXIT.done;
  },
};

async function versionToPublish(
  api: ServerApi,
  { id, link }: NamedMethod,
  word: string,
  asked: string | undefined,
  { cwd }: CommandContext,
): Promise<string> {
  if (asked !== undefined || link === null) return versionNamed(api, id, asked ?? 'current');
  const { bytes } = await readMethodFile(resolve(cwd, word), cwd);
  if (sha256Of(bytes) === link.sha256) return link.versionId;
  throw new CommandError('not_saved', `${word} was changed after it was saved as ${link.versionId}`, {
    hint: `methods save ${word}, or publish the saved one:  methods publish ${word} --version ${link.versionId}`,
  });
}

const NAME_CHARACTERS_MAX = 200;

export const renameCommand: Command = {
  name: 'rename',
  usage: 'METHOD NAME [--server URL]',
  summary: 'Give a method another display name',
  options: { ...SERVER_OPTIONS },
  operands: { min: 2, max: 2, word: 'METHOD and a NAME' },
  examples: ['methods rename refund-order.method "Refund an order"', 'methods rename "Greet" "Greet a customer"'],

  async run(line, context) {
    const [word = '', name = ''] = line.operands;
    if (name.trim() === '' || name.length > NAME_CHARACTERS_MAX) {
      throw new UsageError(`a name has 1 to ${NAME_CHARACTERS_MAX} characters`);
    }
    const api = await openServer(line, context);
    const { id } = await namedMethod(api, word, context.cwd);
    const change = { display_name: name };
    const { value: method } = await api.send<ServerMethod>('PATCH', `/api/methods/${id}`, change, { idempotent: true });
    context.output.document(method);
    context.output.line(`${method.production_id} is called "${plainText(method.display_name)}" now.`);
    return EXIT.done;
  },
};

export const offerCommand: Command = {
  name: 'offer',
  usage: 'METHOD [--off] [--server URL]',
  summary: 'Offer a published method to agents as a tool of its own',
  details: [
    'Agents that are connected to the server then have the tool run_NAME with the inputs of the published version. It',
    'starts runs in the name of the person whose agent calls it. Admins only; at most 100 methods. --off takes it back.',
  ],
  options: { off: { help: 'agents no longer get it' }, ...SERVER_OPTIONS },
  operands: { min: 1, max: 1, word: 'METHOD' },
  examples: ['methods offer refund-order.method', 'methods offer "Refund an order" --off'],

  async run(line, context) {
    const [word = ''] = line.operands;
    const offered = !line.flag('off');
    const api = await openServer(line, context);
    const { id } = await namedMethod(api, word, context.cwd);
    const change = { offer_to_agents: offered };
    const { value: method } = await api.send<ServerMethod>('PATCH', `/api/methods/${id}`, change, { idempotent: true });
    const name = `${plainText(method.display_name)} (${method.production_id})`;
    context.output.document(method);
    context.output.line(`${name} is ${offered ? 'offered' : 'no longer offered'} to agents.`);
    if (!offered || method.published_version !== null) return EXIT.done;
    context.output.note(`warning: no version of it is published; agents get it after  methods publish wf_${id}`);
    return EXIT.warnings;
  },
};

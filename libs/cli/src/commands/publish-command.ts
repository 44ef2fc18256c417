// `methods publish`: sets the version that runs get when they name none.
import { resolve } from 'node:path';
import { type NamedMethod, namedMethod } from '../chosen-server/named-method.ts';
import { openServer, SERVER_OPTIONS } from '../chosen-server/open-server.ts';
import type { Command, CommandContext } from '../command/command.ts';
import { CommandError } from '../errors/command-error.ts';
import { EXIT } from '../errors/exit-code.ts';
import { readMethodFile } from '../method-file/method-file.ts';
import { getMethod, publishVersion, sha256Of, versionNamed } from '../server/method-calls.ts';
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

// `methods source`: prints the exact bytes of a version to stdout, for `> FILE`.
import { namedMethod } from '../chosen-server/named-method.ts';
import { openServer, SERVER_OPTIONS } from '../chosen-server/open-server.ts';
import type { Command } from '../command/command.ts';
import { EXIT } from '../errors/exit-code.ts';
import { getSource, versionNamed } from '../server/method-calls.ts';

export const sourceCommand: Command = {
  name: 'source',
  usage: 'METHOD [--version VERSION] [--server URL]',
  summary: 'Print the exact text of a saved version',
  options: {
    version: { value: 'VERSION', help: 'ver_…, published or current; default current' },
    ...SERVER_OPTIONS,
  },
  operands: { min: 1, max: 1, word: 'METHOD' },
  examples: [
    'methods source wf_01kac0t6xgy9s2m4n8p3q5r7v1 > refund-order.method',
    'methods source Greet --version published',
  ],

  async run(line, context) {
    const api = await openServer(line, context);
    const { id } = await namedMethod(api, line.operands[0] ?? '', context.cwd);
    const asked = line.text('version');
    const version = await getSource(api, id, asked === undefined ? null : await versionNamed(api, id, asked));
    context.output.document(version);
    // Adds not even a line feed at the end, since the version is its bytes.
    if (!context.output.json) context.output.streams.stdout.write(version.source);
    return EXIT.done;
  },
};

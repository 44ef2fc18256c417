// `methods diff`: what changed between two versions of a method.
import { namedMethod } from '../chosen-server/named-method.ts';
import { openServer, SERVER_OPTIONS } from '../chosen-server/open-server.ts';
import type { Command } from '../command/command.ts';
import { EXIT } from '../errors/exit-code.ts';
import { getSource, versionNamed } from '../server/method-calls.ts';
import { showDifference, unifiedDifference } from '../terminal/difference.ts';

export const diffCommand: Command = {
  name: 'diff',
  usage: 'METHOD VERSION VERSION [--server URL]',
  summary: 'Show what changed between two versions, as a unified difference',
  details: ['A VERSION is ver_…, published or current. Nothing is printed where both hold the same text.'],
  options: { ...SERVER_OPTIONS },
  operands: { min: 3, max: 3, word: 'METHOD and two VERSIONs' },
  examples: ['methods diff refund-order.method published current', 'methods diff Greet published current --json'],

  async run(line, context) {
    const { output } = context;
    const [word = '', before = '', after = ''] = line.operands;
    const api = await openServer(line, context);
    const { id } = await namedMethod(api, word, context.cwd);
    const [from, to] = await Promise.all(
      [before, after].map(async (version) => getSource(api, id, await versionNamed(api, id, version))),
    );
    if (from === undefined || to === undefined) return EXIT.failed;
    const difference = unifiedDifference(from.source, to.source, [from.version_id, to.version_id]);
    output.document({
      method_id: id,
      from: from.version_id,
      to: to.version_id,
      changed: difference !== '',
      difference,
    });
    // Unchanged for `patch`; on a terminal nothing in it may act on the screen.
    if (output.streams.stdout.isTTY) output.result(showDifference(difference, output));
    else output.result(difference);
    return EXIT.done;
  },
};
